# One criterion each: its name, then a sentence for each verdict. What fails also says what to do.

criterion-concerning = { $sentence } Concerned: { $names }
criterion-unjudged = It could not be judged.

criterion-inputs-count = Number of inputs
    .holds = { $seen ->
        [one] The one declared input is there.
       *[other] All { $seen } declared inputs are there.
    }
    .fails = { $seen ->
        [one] One input is there
       *[other] { $seen } inputs are there
    } and { $expected } were declared. Add or remove inputs, or correct the count.
    .unknown = Not judged, since the trial was limited to { $limit } items. Run it again without a limit.

criterion-inputs-unique = Identifiers
    .holds = Every identifier is there once.
    .fails = { $seen ->
        [one] One identifier stands
       *[other] { $seen } identifiers stand
    } at more than one place. Give each item an identifier of its own.

criterion-inputs-readable = Readable inputs
    .holds = Every input is readable, or refused for what makes it unreadable.
    .fails = { $seen ->
        [one] The fault of one input
       *[other] The faults of { $seen } inputs
    } and the recorded outcome do not agree. Finish the trial, or start a new one.

criterion-inputs-unchanged = Unchanged inputs
    .holds = Every input has the digest that was fixed for it.
    .fails = { $seen ->
        [one] One input has
       *[other] { $seen } inputs have
    } another digest than was fixed. Put the old content back, or fix the new digests and start a new trial.
    .unknown = The list of fixed digests could not be read. Put it back where the project declares it.

criterion-invalid-case-present = Invalid case
    .holds = { $seen ->
        [one] The input that must be refused is among the items.
       *[other] The { $seen } inputs that must be refused are among the items.
    }
    .fails = { $seen } of { $expected } inputs that must be refused are among the items. Put them back, or correct the expected refusals.
    .unknown = Not every input that must be refused was reached by the limited trial. Run it again without a limit.

criterion-records-whole = Records
    .holds = Every record was read again and none is damaged.
    .fails = { $seen ->
        [one] One record is damaged.
       *[other] { $seen } records are damaged.
    } Take up the copy that is whole, or start a new trial.

criterion-balance-adds-up = Sum
    .holds = { $accepted } accepted + { $refused } refused + { $pending } pending = { $declared } declared, none duplicated, none invented.
    .fails = { $accepted } accepted + { $refused } refused + { $pending } pending against { $declared } declared; duplicated: { $duplicated }, invented: { $invented }, answers nobody asked for: { $stray }. Look into the engine before you use any result.

criterion-nothing-pending = Pending
    .holds = No item is pending.
    .fails = { $pending ->
        [one] One item is
       *[other] { $pending } items are
    } still pending. Take the trial up again.

criterion-results-count = Number of results
    .holds = { $seen ->
        [one] The one promised item is accepted.
       *[other] All { $seen } promised items are accepted.
    }
    .fails = { $seen ->
        [one] One item is accepted
       *[other] { $seen } items are accepted
    } and { $expected } were promised. See the refusals and the pending items.
    .unknown = { $seen } of { $expected } promised items are accepted in the limited trial. Run it again without a limit.

criterion-results-acceptable = Acceptable results
    .holds = { $seen ->
        [one] The one accepted output was read again and is
       *[other] All { $seen } accepted outputs were read again and are
    } as the deliverable declares.
    .fails = { $expected ->
        [0] No item is accepted, so there is no result. See the refusals.
        [one] The accepted output was read again and is not acceptable. Do not use it.
       *[other] Of { $expected } accepted outputs, { $wrong } are not acceptable on reading them again. Do not use these results.
    }
    .unknown = Only { $seen } of { $expected } accepted outputs could be read again. Find the missing files, or make a new copy.

criterion-results-complete = Results files
    .holds = The results files hold all { $seen } outcomes once, in the order of the inputs.
    .fails = The results files hold { $seen } outcomes where the records have { $expected }, or say something else. Collect the results again.
    .unknown = The results have not been collected. Finish the trial, then collect them.

criterion-refusals-expected = Expected refusals
    .holds = { $seen ->
        [0] Nothing was refused, as declared.
        [one] One item was refused, exactly as declared.
       *[other] { $seen } items were refused, exactly as declared.
    }
    .fails = Refused: { $seen }, expected: { $expected }; not expected among them: { $unexpected }, expected and not refused: { $absent }. Correct the items or the expected refusals.
    .unknown = { $absent } of { $expected } expected refusals were not reached by the limited trial. Run it again without a limit.

criterion-refusals-within-share = Share of refusals
    .holds = { $refused } of { $declared } items are refused, within the declared share of { $share }.
    .fails = { $refused } of { $declared } items are refused, more than the declared share of { $share }. See the reasons before you go on.
    .unknown = The project declares no share of refusals. Declare `campaign.refused_max`.

criterion-trial-ended = End of the trial
    .holds = { $seen ->
        [one] The trial ended in order, and its one part bears its seal.
       *[other] The trial ended in order, and all { $seen } parts bear their seal.
    }
    .fails = { $seen } of { $expected } parts bear their seal, and the trial ended as “{ $ended }”. Take it up again.
    .unknown = All { $seen } parts bear their seal, but how the trial ended was not recorded. Take it up again to close it.

criterion-copy-whole = Copy
    .holds = { $seen ->
        [one] The one file of the copy was
       *[other] All { $seen } files of the copy were
    } read again and are whole.
    .fails = { $seen ->
        [one] One file of the copy is
       *[other] { $seen } files of the copy are
    } absent or different. Make a new copy.
    .unknown = No copy has been read again yet. Make one with `pilote export`.
