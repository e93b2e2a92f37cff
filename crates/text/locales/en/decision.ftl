# Decisions, receipts, the history of a project, the gate before a campaign, and closing.

decision-launch = launch
decision-mend = mend
decision-replan = replan
decision-kept-launch = The decision to launch on { $trial } is kept as its decision number { $number }. “pilote run --campaign --dry-run” says whether anything else lacks.
decision-kept-mend = The decision to mend is kept as decision number { $number } of { $trial }: { $condition } is to be resolved. The next trial will say whether it is.
decision-kept-replan = The decision to replan is kept as decision number { $number } of { $trial }: { $condition } is to be resolved. The next trial will say whether it is.

decide-look = { $count ->
    [one] Look at one result beside its input. A valid form can still be wrong.
   *[other] Look at { $count } results beside their inputs. A valid form can still be wrong.
}
decide-input = input: { $text }
decide-result = result: { $text }
decide-right-or-wrong = Is it right? r, or w and why:
decide-because = Why this decision:
decide-accepted = What is accepted although it is not perfect:
decide-left = What is left to fix:
decide-no-answer = That is neither r nor w.

receipt-written = Receipt: { $file }. Bring it to the machine that computed: “pilote receipt { $trial } { $file }” takes it in there.
receipt-taken = Another machine has verified a copy of { $trial }: { $copy }, read { $at }.

log-none = No trial yet. “pilote run” makes the first one.
log-changed = changed since { $since }: { $factors }
log-elsewhere = a copy was verified on another machine
log-decision = decision { $number }, { $at }: { $choice }
log-because = because: { $words }
log-accepted = accepted as it is: { $words }
log-left = left to fix: { $words }
log-condition = to be resolved: { $condition }
log-samples = { $count ->
    [one] one result looked at, { $wrong } of it wrong
   *[other] { $count } results looked at, { $wrong } of them wrong
}
log-by-length = long files were compared by length only: { $files }
log-broken = The trial was changed after this decision, so nothing rests on it any more: { $files }
log-unreadable = decision { $number } cannot be read, so nothing rests on it: { $why }
log-resolution-resolved = { $condition } of { $of } is resolved by this trial.
log-resolution-standing = { $condition } of { $of } is not resolved: it fails again.
log-resolution-unknown = Whether { $condition } of { $of } is resolved cannot be told from this trial.

gate-open = The campaign may start: it rests on the pilot { $pilot }.
gate-closed = The campaign is not started.
gate-next = Next: { $command }
gate-lacks = lacks: { $lacks }
gate-declared = the project declares a campaign: `campaign` with inputs, count and refused_max in config/pilote.json
gate-ladder = the ladder of checks was climbed on this machine and passed
gate-pilot-holds = a pilot was read again, is whole, and holds
gate-same-as-pilot = it had this deliverable, model, program and parameters, on this machine and card
gate-copy-elsewhere = another machine has verified a copy of it
gate-decided = the decision to launch on it is written down, and it is unchanged since

close-trial = { $trial } is copied and read again: { $copy }
close-trial-elsewhere = { $trial } is copied and read again, and another machine has verified a copy of it: { $copy }
close-bundle = Configuration, code and decisions are in { $bundle }: { $files } files, { $size }, each read again. “sha256sum -c manifest-sha256.txt” there checks them anywhere.
close-model = The model is not carried, since it can be had again by its reference and its digests: { $model }
close-lost = If the machine were taken back now, this would be lost, or could not be proved:
close-known = Not copied; make sure that you have it elsewhere:
close-loss-unfinished = { $what }: the trial is not finished. “pilote run --resume” goes on.
close-loss-not-copied = { $what }: no whole copy was made.
close-loss-not-verified-elsewhere = { $what }: no other machine has verified a copy. Take the copy there, run “pilote verify COPY --receipt receipt.json”, and bring the receipt back with “pilote receipt”.
close-loss-bundle-here = { $what } lies on the file system of this machine. Take it elsewhere, or name another place: “pilote close DIR”.
close-loss-not-plain = { $what } cannot be part of a copy.
close-loss-weights = the weights in { $what } could not be read, and nobody else has them.
close-loss-inputs = { $what }
close-safe = It is safe: nothing that only this machine has would be lost. Nothing was deleted.
close-not-safe = It is not safe yet to give the machine back. Nothing was deleted.
