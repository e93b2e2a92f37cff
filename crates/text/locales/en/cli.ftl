# The command line: summaries, questions and refusals of the program pilote.

new-next = A project is laid out in { $dir }. Its README.md says what to do first; “pilote run” runs its pilot.
model-kept = { $reference } is checked and kept in { $dir }.

show-refused = Refused, with the reason:
show-results = Some results beside the start of their inputs. Look at them: a valid form can still be wrong.
show-vector = vector of { $width }

verify-copy-whole = The copy is whole: { $files } files, { $size }, each read and equal to its digest.
verify-trial-whole = The trial is whole: { $files } files, { $size }, read and counted again.
verify-damaged = Not whole: { $errors ->
    [one] one thing was found wrong, listed above.
   *[other] { $errors } things were found wrong, listed above.
}
verify-bag-whole = The bag is valid: { $files } files, { $size }, each read and equal to its digest. It holds no trial.
verify-sample-whole = Nothing wrong in the sample: { $files } files, { $size }, were read and are equal to their digests.
verify-checked = Checked: { $what }.
verify-unchecked = Not checked: { $what }.
check-list = every listed file is there
check-digests = digests of the files
check-balance = the balance, counted again
check-records = checksums of the records and the seals
check-outputs = the accepted outputs
check-results = the lines of the results
check-inputs = the inputs
why-no-list = { $check } (a trial has no list of its files)
why-sampled = { $check } (a sample only)
why-not-carried = { $check } (the copy does not carry them)
why-no-trial = { $check } (there is no trial)
why-unreadable = { $check } (what they rest on cannot be read)
why-one-stream = { $check } (the archive is one long stream: unpack it and verify the folder)

state-begun = begun, nothing computed: launch anew
state-unfinished = unfinished
state-sealed = sealed
state-collected = collected
state-damaged = damaged
state-stray = no trial

outcome-pending = pending: no outcome yet
outcome-accepted = accepted: { $output }
outcome-refused = refused: { $reason }

runs-none = No trial yet. “pilote run” makes the first one.
runs-holds = holds · accepted { $accepted }, refused { $refused }, pending { $pending }
runs-fails = does not hold · accepted { $accepted }, refused { $refused }, pending { $pending }

export-progress = copying
export-whole = The copy was read again and is whole: { $copy } ({ $files } files, { $size }).
export-damaged = The copy is not whole and got no verdict: { $copy }. Run the same command again; it goes on where it stopped.
export-damaged-since = The copy that was made earlier is damaged now: { $copy }. It was left as it is, and its verdict says so. Name another destination, or remove that folder and export again.
export-same-disk = It lies on the same file system as the trial, so it is no backup: take it to another machine and verify it there.
export-no-backup-yet = It is no backup until another machine has verified it: run “pilote verify” on it there.

unlock-part = Part { $part } can be taken over; it was last held by { $owner }.
unlock-alive = Mind that { $owner } is alive: it will be shut out, and what it has not committed is computed again.
unlock-nothing = Nothing is locked: no part of this trial is held.

run-device-held = Note: process { $pid } ({ $name }) holds { $devices }, which may lack in this trial.
run-secret-unset = Note: the declared secret { $name } is not set, so no program gets it.
run-progress = computing
run-refused-so-far = { $refused } refused
run-dry-plan = { $items } items, { $faults } of them will be refused as they are; { $batches } batches in { $parts } parts. Nothing was written.
run-trial = Trial: { $trial }
run-report = Report: { $report }
run-carried = Taken up: { $done } outcomes are kept, { $pending } items are still to do.
run-stopped-interrupted = Stopped in order. What is done is kept: “pilote run --resume { $trial }” goes on.
run-stopped-breaker = Stopped: the engine failed several times in a row, first with: { $error }. The items it concerns stay pending; “pilote run --resume { $trial }” goes on.
run-stopped-refused-max = Stopped: more items were refused than the project bears. Look at the refusals before going on.
run-stopped-guard = Stopped: the answers contradict what is known, or one another: { $error }. Nothing of that batch was recorded; find the cause before going on with “pilote run --resume { $trial }”.
run-stopped-fault = Stopped: { $error }. What is done is kept; “pilote run --resume { $trial }” goes on.
run-engine-start = The engine did not start, and nothing was computed: { $error }.
run-after = The ladder begins where this failed: pilote check --after { $trial }
runs-failed-at = failed at { $rung }: { $error }
run-no-copy = No copy yet: “pilote export { $trial } DIR” makes one and reads it again.
run-limited = Only the first { $limit } items: a trial to look at, whose balance never holds.
run-estimate = { $rate }/s, about { $left } left, going by { $items } items in { $over }
run-detached = The trial { $trial } works on without this terminal, as process { $pid }; what it says stands in { $log }.
    “pilote follow { $trial }” watches it, “pilote stop { $trial }” ends it in order. It does not survive the end of its container or machine, nor a session manager that kills what its user leaves behind.
follow-elsewhere = The process that works on it cannot be seen from here: { $why }. What is shown is what it wrote.
follow-left = You left; the trial works on. “pilote follow { $trial }” comes back to it.
follow-collecting = collecting, copying and reporting
crew-workers = { $workers ->
    [one] one worker
   *[other] { $workers } workers
}
crew-ended-early = Worker { $number } ended early, with status { $status }: { $log } says why. What it held was left to the others.
work-done = Nothing is left to do in { $trial }: { $items } of its items got their outcome here. Whoever launched it gathers the results.
status-parts = { $sealed } of { $all } parts are finished.
share-worker = process { $pid } on { $host }
share-worker-unknown = a process that was not written down
share-devices = { $who } (devices { $devices })
share-done = { $who }: { $parts } parts with { $items } items
share-at-work = at work
share-gone = gone
share-unseen = cannot be seen from here
share-rate = { $rate }/s
share-slow = less than half as fast as the others
stop-nothing = Nothing works on this trial.
stop-asked = Asked process { $pid } to stop: it finishes what is in hand. “pilote stop --now” kills it.
stop-killed = Killed process { $pid }.
stop-waiting = waiting for it to stop
stop-gone = Process { $pid } is gone. What is done is kept: “pilote run --resume { $trial }” goes on.
stop-still-there = Process { $pid } is still at work on { $trial }.

demo-project = Example project: { $dir }
demo-next = Next: “pilote new my-project”, and write down what you expect before anything runs.

worker-check-greeting = It greets within its time, with a name
worker-check-answers = Each item gets one answer before the batch is done
worker-check-names = Names come back exactly as they were given
worker-check-identity = Each answer belongs to its text, in any order and alone
worker-check-batches = It takes as many batches at once as it grants
worker-check-text-file = A text from a file is the same text
worker-check-odd-texts = Odd and empty texts get an answer, and it goes on
worker-check-longest-line = The longest line is read
worker-check-unknown-fields = Fields that it does not know are passed over
worker-check-end = Told that nothing more comes, it ends with status 0
worker-check-other-version = It never claims another version of the protocol
worker-check-summary = { $kept } of { $all } rules are kept.

status-remaining = Still to compute: { $items } items, { $low } to { $high } of computing, by { $measured } items that this trial measured.
run-since = Taken over from { $trial }: { $same } outcomes; { $asked } items are computed.
run-since-changed = Changed since then, and computed again ({ $count }): { $names }
run-since-removed = No more among the inputs ({ $count }): { $names }
results-written = Written to { $file } ({ $size }): { $accepted } accepted, { $refused } refused, in input order.
sample-column-group = length
sample-column-lengths = characters
sample-column-corpus = corpus
sample-column-sample = sample
sample-group-short = short
sample-group-usual = usual
sample-group-near-limit = near the limit
sample-faulty = { $count } items of the corpus are no work and were not drawn; take one of that kind into the pilot by hand.
sample-written = Written to { $folder }, for reading only; their digests are fixed in { $digests }.
sample-declare = Declare them in config/pilote.json:
