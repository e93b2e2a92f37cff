# The balance: counts, verdicts and the verdict over all.

balance-title = Balance

count-declared = Declared
count-accepted = Accepted
count-refused = Refused
count-pending = Pending
count-missing = Missing
count-duplicated = Duplicated
count-invented = Invented

verdict-holds = holds
verdict-fails = fails
verdict-unknown = unknown

balance-holds = The balance holds: every criterion is met.
balance-fails = The balance does not hold: see the criteria above that fail or are unknown.
