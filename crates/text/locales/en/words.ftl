# The fixed words of docs/glossary.md. A test compares the two; messages of every area use these words.

word-project = project
word-deliverable = deliverable
word-item = item
word-outcome = outcome
word-accepted = accepted
word-refused = refused
word-pending = pending
word-balance = balance
word-engine = engine
word-trial = trial
word-pilot = pilot
word-campaign = campaign
word-part = part
word-seal = seal
word-rung = rung
word-card = card
word-lot = lot
word-period = period
word-plan = plan
word-proof = proof
word-decision = decision
