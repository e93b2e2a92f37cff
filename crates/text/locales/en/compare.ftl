# Two trials compared, and the quality of one against the other.

compare-a = A, the reference: { $trial } ({ $items } items)
compare-b = B: { $trial } ({ $items } items)
compare-limited = { $trial } was limited to its first { $limit } items; nothing is said of the others.
compare-lost = { $count } accepted outputs of { $trial } could not be read again. “pilote verify { $trial }” says why.

compare-factors = Factors
compare-same = the same
compare-partly = the same, as far as recorded; not recorded: { $what }
compare-not-recorded = not recorded
compare-change = { $field }: { $a } → { $b }
compare-absent = absent
compare-factor-inputs = inputs
compare-factor-configuration = configuration
compare-factor-parameters = parameters
compare-factor-model = model revision
compare-factor-tokenizer = tokenizer
compare-factor-program = program
compare-factor-engine = engine and version
compare-factor-precision = precision
compare-factor-device = device and driver
compare-factor-environment = environment
compare-factor-seeds = seeds
compare-unrecorded-model-digests = digests of the model
compare-unrecorded-program-digest = digest of the program
compare-unrecorded-sources = the code under src/
compare-unrecorded-engine-version = version of the engine
compare-unrecorded-card = card and driver
compare-unrecorded-machine = which very machine
compare-unrecorded-packages = required packages
compare-unrecorded-variables = variables

compare-items-changed = { $count } with other content
compare-items-only-a = { $count } in A alone
compare-items-only-b = { $count } in B alone
compare-items-moved = { $count } at another position
compare-names = Concerned: { $names }

compare-results = Results of the { $count } items in both
compare-change-same = the same
compare-change-label = another category
compare-change-vector = another vector
compare-change-text = another text
compare-change-json = another JSON value
compare-change-file = another file
compare-change-kind = another kind of output, or another width
compare-change-now-refused = refused in B only
compare-change-now-accepted = accepted in B only
compare-change-reason = refused for another reason
compare-change-pending = pending in one of the two only
compare-label = { $a } → { $b }: { $count }
compare-cosine = Cosine of { $count } pairs of vectors: lowest { $lowest }, mean { $mean }.
compare-leaves = Equal JSON fields: { $equal } of { $all }.
compare-scores = Scores of one and the same category differ by { $most } at most.
compare-labelled = Right by the labels: { $reference } in A, { $candidate } in B, of { $all }.
compare-most = Changed most, beside the start of their inputs

compare-nothing-differs = Nothing that was recorded differs, and the results are the same.
compare-one-factor = { $count ->
    [0] One factor changed, { $factor }, and the results are the same nonetheless.
    [one] Same but for one factor, { $factor }. The one difference in the results is due to it, or to something that was not recorded.
   *[other] Same but for one factor, { $factor }. The { $count } differences in the results are due to it, or to something that was not recorded.
}
compare-same-inputs-one-factor = { $count ->
    [0] Same inputs and one factor changed, { $factor }; the results are the same nonetheless.
    [one] Same inputs and one factor changed, { $factor }. The one difference in the results is due to it, or to something that was not recorded.
   *[other] Same inputs and one factor changed, { $factor }. The { $count } differences in the results are due to it, or to something that was not recorded.
}
compare-several-factors = { $count ->
    [0] Several factors changed ({ $factor }), and the results are the same nonetheless.
   *[other] Several factors changed ({ $factor }), so the cause of a difference in the results is unknown. Change one at a time.
}
compare-unexplained = { $count ->
    [one] Nothing that was recorded changed, and one result differs: either the engine is not deterministic, or something drifted.
   *[other] Nothing that was recorded changed, and { $count } results differ: either the engine is not deterministic, or something drifted.
}
compare-also = Not recorded, so it may differ as well: { $factors }.
compare-again = To tell the two apart, compute a sample again: “pilote compare { $a } { $b } --again { $count }”.
compare-again-chance = Computed again, { $from-b } of { $items } items differ from the second trial although nothing changed: the engine does not give the same twice ({ $trial }).
compare-again-drift = Computed again, all { $items } items are as in the second trial, and { $from-a } differ from the first: the engine gives the same twice, and something that is not recorded changed between the two trials ({ $trial }).
compare-again-beyond = Computed again, all { $items } items are as in both trials: none of those that differ is among them. Compute more of them again ({ $trial }).
compare-again-changed = Something that is recorded is otherwise now than in the second trial, so that nothing follows from { $trial }: “pilote compare” says what.
compare-again-needless = Nothing was computed again: what was recorded explains the difference, or there is none.

quality-agreement = outcomes as in the reference
quality-cosine = lowest cosine of a vector
quality-accuracy = right by the labels
quality-fields = equal JSON fields
quality-line = { $measure }: { $seen } over { $of }; at least { $minimum } is asked for
quality-holds = The bar is met.
quality-fails = The bar is not met: this change loses quality and is refused.
quality-unknown = The bar could not be judged, so this change is refused: nothing was there to measure it by.
