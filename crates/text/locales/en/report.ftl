# The report: report.html and what the proof says of a trial.

report-skip = Go to the verdict
report-eyebrow-pilot = Pilote · report of a pilot
report-eyebrow-campaign = Pilote · report of a campaign
report-meta-trial = Trial
report-meta-started = Started
report-meta-engine = Engine
report-meta-model = Model

report-holds = { $kind ->
    [pilot] The pilot holds.
   *[campaign] The campaign holds.
} { $accepted ->
    [one] { $accepted_shown } item accepted,
   *[other] { $accepted_shown } items accepted,
} { $refused ->
    [0] none refused.
   *[other] { $refused_shown } refused.
}
report-holds-expected = { $kind ->
    [pilot] The pilot holds.
   *[campaign] The campaign holds.
} { $accepted ->
    [one] { $accepted_shown } item accepted,
   *[other] { $accepted_shown } items accepted,
} { $refused_shown } refused as expected.
report-fails = { $kind ->
    [pilot] The pilot does not hold:
   *[campaign] The campaign does not hold:
} { $count ->
    [one] one criterion fails.
   *[other] { $count } criteria fail.
}
report-unfinished = Not finished: { $pending_shown } of { $declared_shown } items have no outcome yet.
report-unknown = { $count ->
    [one] Not proved yet: one criterion could not be judged.
   *[other] Not proved yet: { $count } criteria could not be judged.
}
report-damaged = { $count ->
    [one] This trial is damaged: one thing was found wrong on reading it again.
   *[other] This trial is damaged: { $count } things were found wrong on reading it again.
}
report-copy-whole = { $files ->
    [one] A copy of one file was read again, and it is whole.
   *[other] A copy of { $files } files was read again, and it is whole.
}
report-copy-none = No copy of this trial has been read again yet. Make one with “pilote export”.
report-copy-damaged = The copy was read again and is not whole.
report-same-system = The copy is on the same file system as the trial. That is no backup: keep one on another machine.
report-no-backup = A copy reached from the machine that computes counts as no backup until it is verified on another one.
report-finding = { $place }: { $code }
report-findings = What was found wrong

report-balance = Balance
report-declared = declared
report-accepted = accepted
report-refused = refused
report-pending = pending
report-missing = missing
report-duplicated = duplicated
report-invented = invented

report-criteria = Criteria
report-refusals = Refusals
report-no-refusal = No item was refused.
report-expected = expected
report-unexpected = not expected
report-unnamed = item { $position } (without an identifier)
report-more = { $count ->
    [one] and one more, in refused.jsonl
   *[other] and { $count_shown } more, in refused.jsonl
}
report-refused-items = { $count ->
    [one] One item
   *[other] { $count_shown } items
}

report-results = Results beside their inputs
report-results-all = { $count ->
    [one] The one accepted item, with the start of its input. A valid answer can still be wrong: please read it.
   *[other] All { $count_shown } accepted items, each with the start of its input. A valid answer can still be wrong: please read them.
}
report-results-sample = { $count_shown } of { $total_shown } accepted items, drawn by length from the shortest to the longest. A valid answer can still be wrong: please read them.
report-results-none = No item was accepted.
report-chars = { $count ->
    [one] { $count_shown } character
   *[other] { $count_shown } characters
}
report-cut = Cut after { $tokens } tokens, as declared.
report-score = score { $score }
report-next = then { $category } { $score }
report-vector = Vector of { $width } numbers
report-vector-start = starts { $values }
report-file = File { $name }, { $size }
report-text-absent = The input is not here, so its text cannot be shown.
report-text-changed = The input has changed since the trial, so its text is not shown.
report-text-unreadable = The input cannot be read here.

report-measures = Measures
report-took = Computing time
report-took-value = { $batches ->
    [one] { $time } in one batch
   *[other] { $time } in { $batches } batches
}
report-rate = Rate
report-rate-value = { $items ->
    [one] { $rate } items/s over one item
   *[other] { $rate } items/s over { $items_shown } items
}
report-tokens = Tokens
report-tokens-value = { $tokens }, and { $padding } of padding
report-peak = Peak memory of the engine
report-carried = Taken up again
report-carried-value = { $times ->
    [one] once; { $items } items carried over
   *[other] { $times } times; { $items } items carried over at the last
}
report-not-measured = not measured
report-lengths = Length of the inputs, in characters, shortest to longest.
report-lengths-refused = Length of the inputs, in characters, shortest to longest. A dashed bar is a refused item.
report-lengths-grouped = Number of inputs by length in characters; each group reaches to twice the last.
report-batches = Time per batch, in the order of the work.
report-batches-grouped = Time of the slowest batch in each of { $groups } consecutive groups of batches.

report-reasons = Refused items by reason.
report-memory-chart = Peak memory of the engine as the batches went on, against the memory there is.
report-memory-of-card = memory of the card
report-memory-of-machine = memory of the machine
report-history = History of the project

report-colon = { ": " }
report-about = What it rests on
report-fold-program = Program and parameters
report-fold-model = Model
report-fold-machine = Machine
report-fold-files = Files and digests
report-fold-notes = Notes
report-program = pilote
report-program-digest = Digest of the program
report-config-digest = Digest of config/pilote.json
report-part-items = Items of a part
report-batch-items = Items of a batch
report-device = Device
report-precision = Precision
report-longest = Longest input
report-longest-value = { $tokens } tokens
report-reference = Reference
report-licence = Licence
report-licence-none = not named by the model’s own files
report-system = System
report-kernel = Kernel
report-processor = Processor
report-processors = Processors
report-memory = Memory
report-card = Card { $number }
report-cards = Cards
report-card-none = none
report-unread = could not be read
report-limit = This trial was limited to its first { $limit } items; such a trial never holds.
report-since = Over inputs that grew: { $same } outcomes are taken over from { $trial }, { $asked } items were computed.
report-retries = Second attempt at the items that { $trial } refused as { $reason }.
report-check = To check it again, without anything but the copy:
report-offline = This page was made by pilote { $version }. It loads nothing, sends nothing and runs no script.

# What a verification found, one code each.
finding-not-a-trial = there is no trial here
finding-trial-unreadable = what was launched cannot be read
finding-index-damaged = the index is damaged
finding-records-damaged = a record is damaged
finding-torn-tail = a torn tail was set aside
finding-late-bytes = bytes arrived after a takeover and were set aside
finding-record-differs = a record does not belong to the item at its position
finding-record-repeated = an item has a second record
finding-record-invented = a record is about no declared item
finding-identifier-repeated = an identifier stands at two places
finding-output-unacceptable = an accepted output is not acceptable
finding-not-sealed = a part is not finished
finding-ledger-note = the ledger noticed something
finding-journal-damaged = a line of the events or measures cannot be read
finding-stray-answers = the engine gave answers that nobody asked for
finding-pins-unreadable = the fixed digests of the inputs cannot be read
finding-results-absent = the results were not collected
finding-result-wrong = a line of the results is not what the records say
finding-balance-unreadable = the balance cannot be read
finding-balance-differs = the balance that was written is not the one that was counted again
finding-manifest-unreadable = the list of files cannot be read
finding-file-absent = a listed file is not there
finding-file-differs = a file has another digest
finding-file-extra = a file is not listed
finding-not-plain = something here is no plain file
finding-unfinished-copy = the copy was not finished
finding-unreadable = a file cannot be read
finding-balance-absent = the balance that closes the results is not there
finding-list-absent = there is no list of what must be here
finding-stranger-file = a file of the operating system, or one left unfinished, is here too
finding-declaration-wrong = the declaration of the bag is missing or wrong
finding-list-note = a list is written in a way that other programs may not read
finding-path-outside = something leads out of the copy
finding-not-fetched = a file is to be fetched from elsewhere and is not here
finding-oxum-differs = the payload is not of the stated size
finding-name-normalised = a name is here in another Unicode form than listed
finding-name-twins = two names are one on some systems
finding-verdict-wrong = the verdict of the export is missing or was changed
finding-archive-damaged = the archive cannot be read to its end
finding-expands-too-much = the archive expands beyond its bound
finding-entry-repeated = the archive holds a file twice
