# Memory, cards and plans: what `pilote size` and `pilote plan` print.

size-model = Model: { $place }
size-weights-in-files = Weights in its files: { $memory } ({ $storage }), read from { $files ->
    [one] the header of one file
   *[other] the headers of { $files } files
}.
size-parameters = Parameters: { $parameters }
size-build = Build: { $family }, from { $source }
size-own-code = Code comes with this model and the engine would run it: { $files }. Read it before you allow it.
size-note = Note: { $note }

size-memory-title = Memory of one task on one card
size-memory-stage = Memory of one task on each of { $cards ->
    [one] one card
   *[other] { $cards } cards
}, stage { $stage }
size-range = { $low } to { $high }
size-unknown = unknown
size-total = known together
size-not-in-total = Not in this sum: { $parts }.
size-cache-growth = One more token of one sequence takes { $memory } of cache while no window is full.
size-link-direct = The cards send each other { $memory } for each token: take cards with a direct link, in one machine.
size-link-plain = The stages hand over { $memory } for each token: an ordinary link between the cards does.

size-part-weights = weights
size-part-adapter = adapter
size-part-cache = cache
size-part-inputs = inputs
size-part-temporaries = temporaries
size-part-activations = activations
size-part-logits = logits
size-part-kept-outputs = kept outputs
size-part-gradients = gradients
size-part-optimizer = optimizer
size-part-unsharded = largest layer
size-part-graphs = graphs
size-part-runtime = runtime

size-origin-measured = measured
size-origin-read = read
size-origin-computed = computed
size-origin-declared = declared
size-origin-estimated = estimated
size-origin-unknown = unknown

size-measured-title = Measured in { $trial }, beside the estimate
size-measured-whole = whole peak
size-measured-line = { $part }: measured { $measured }, estimated { $estimated }, difference { $difference }
size-measured-alone = { $part }: measured { $measured }; the estimate is unknown
size-above = { $memory } above
size-below = { $memory } below
size-inside = none
size-measured-pages = Weights are read from their file page by page when they are first used: what loading had not touched is among the temporaries.
size-covered = This peak covers the task: the trial computed texts of up to { $longest } tokens and up to { $at-once } tokens at once; asked for are { $longest-asked } and { $at-once-asked }.
size-not-covered = This peak does not cover the task: the trial computed texts of up to { $longest } tokens and up to { $at-once } tokens at once; asked for are { $longest-asked } and { $at-once-asked }.

size-cards-title = Cards, with { $percent } of their memory to stay free
size-this-machine = this machine
size-fits = fits: the measured peak { $peak } leaves { $headroom } ({ $margin } were asked for)
size-no-margin = too tight: the measured peak { $peak } leaves { $headroom }, and { $margin } were asked for
size-does-not-fit = does not fit: { $certain } are certain, { $over } too much
size-open = open: { $known } are known; the pilot has to measure the peak
size-open-beyond = open: { $known } are known, which is beyond this card; the pilot has to measure the peak
size-reserve = The engine reserves { $budget } whatever the model needs: weights { $weights }, working memory { $working }, runtime { $runtime }, cache { $cache }.
size-precision-card = { $format } on this card: { $known }
size-precision-engine = { $format } in this engine: { $known }
size-precision-tested = tested on this card in the trial { $trial }
size-known-supported = supported
size-known-not-supported = not supported
size-known-unknown = unknown, to be tested

size-open-points = Open points for the pilot
size-open-point = { $part }: { $missing }
size-open-points-written = The open points are written to { $file }.
size-never-by-count = Nothing is said to fit because of a number of parameters: only a measured peak proves it.

plan-title = Plan: { $lots ->
    [one] one lot
   *[other] { $lots } lots
}, prices from { $from }
plan-built-in-sample = the built-in sample
plan-examples = These prices are examples. Nobody sells at them; ask the desk for its catalogue.
plan-column-card = card
plan-column-memory = memory of one card
plan-column-cards = cards
plan-column-standing = task
plan-column-days = { $days ->
    [one] one day
   *[other] { $days } days
}
plan-standing-fits = fits
plan-standing-no-margin = too tight
plan-standing-open = open
plan-standing-open-beyond = open, likely too small
plan-standing-does-not-fit = does not fit
plan-standing-not-sized = not sized
plan-standing-other-backend = another backend
plan-no-price = —
plan-not-offered = Not in this catalogue: { $cards }.
plan-none = No card of the catalogue answers this request.
plan-page-title = Plan
plan-page-open-task = The task is open: the pilot has to measure its peak before a card is said to hold it.
plan-page-memory = Memory against each card
plan-page-memory-note = One bar a card, all to one scale: the outline is what one card gives this task (of an engine that reserves, its share), the filled part is the task at its high end. Hatched parts are estimated.
plan-page-memory-unknown = { $note } Not in the picture, since nobody knows them yet: { $parts }.
plan-page-parts = Memory by part
plan-page-no-task = No task was sized, so no card is said to hold it. Name a model and its tokens to see its memory.
plan-page-candidates = Candidates
plan-page-says = What a plan means
plan-page-periods = What each period suits
plan-page-duration = Duration
plan-page-part = part
plan-page-amount = memory
plan-page-origin = origin
plan-page-basis = formula or reason

plan-total-is-lots-times-price = Total = price of a lot x lots. The cards of a lot are in its price and are not counted again.
plan-cards-do-not-merge = Several cards do not merge their memory: each program sees one card's.
plan-program-must-share-out = Several cards do not share out a program by themselves: its engine or its workers must.
plan-lot-is-not-a-batch = A lot is what is rented together; it is not a batch of items.
plan-period-is-no-promise = A period is a way to organise work and no promise of duration.
plan-reserve-time = Keep time of the period for installation, checks and export: computing is not all of it.
plan-suits-3 = 3 days: install, validate, and bring back a first usable result.
plan-suits-7 = 7 days: compare variants and correct.
plan-suits-30 = 30 days: repeat, consolidate and keep a campaign going.

plan-projection-none-no-sample = No duration is given: nothing was measured yet.
plan-projection-none-only-pilot = No duration is given: the pilot’s few items are no sample of the corpus.
plan-projection-none-too-few = No duration is given: the measured sample has fewer than 30 items.
plan-projection-none-lengths-not-covered = No duration is given: the measured sample does not cover the lengths of the corpus.
plan-projection-none-bad-times = No duration is given: a measured time is none.
plan-projection = Computing { $items } items on one card: { $low } to { $high }, from { $measured } items measured in { $trial }.
plan-projection-besides = Besides: { $preparation } of installation and checks, { $export } of export.

libraries-title = Libraries, from { $files }; the table was checked on { $checked }
libraries-none = No file names a library of which anything is known here.
libraries-column-name = library
libraries-runs-yes = yes
libraries-runs-no = no
libraries-runs-other-build = another build
libraries-runs-unknown = unknown
libraries-forces = { $name } ({ $place }) leaves only { $backend }.
libraries-possible = Nothing rules out: { $backends }.
libraries-impossible = Nothing is left: the libraries rule each other out.
libraries-unknown = Nothing is known here of: { $names }. Most have no kernels of their own; the ladder of checks tells.
libraries-image = Base image { $image }: { $backend }
libraries-index-named = { $place } names the index { $name }: an assumption until it was checked on the machine.
libraries-conflict-cuda-majors = Conflict: wheels for different CUDA stand side by side: { $names }.
libraries-conflict-backends = Conflict: wheels for different backends stand side by side: { $names }.
libraries-conflict-not-on-planned = Conflict: { $name } ({ $place }) does not run on { $backend }.
libraries-conflict-versions = Conflict: { $name } is pinned twice: { $names }.
libraries-code-cuda-source = CUDA source of the project: { $place }. It needs a compiler and runs on NVIDIA cards.
libraries-code-hip-source = HIP source of the project: { $place }. It needs a compiler and runs on AMD cards.
libraries-code-torch-extension = An extension is compiled on the machine: { $place }.
libraries-code-triton-kernel = Kernels are compiled when first called: { $place }.
libraries-code-model-code = Code that comes with a model is allowed to run: { $place }. Read it before.
libraries-python = Found: { $implementation } { $version }, { $platform } ({ $place }).
libraries-python-unknown = Found: no Python that says its version; the wheel index stays unknown.
libraries-index = For this system, Python, driver and card: the wheel index { $name } of PyTorch ({ $source }). Check it by computing on the card.
libraries-index-none = No wheel index fits: { $why }.
libraries-copied = A command copied from another machine is an assumption; what is installed is checked where it runs.

## The formula or the reason behind a figure

size-basis-tensors = tensors of { $files }
size-basis-adapter-missing = adapter_model.safetensors is not there
size-basis-weights-missing = no weights are there and no config.json tells the build
size-basis-weights-undivided = without config.json it is not known which tensors divide over cards
size-basis-weights-spread = tensors of layers { $first } to { $last } over { $cards } cards; what does not divide is whole on each
size-basis-weights-held = floats of { $from } held in { $width } bytes each, the rest as stored
size-basis-weights-by-build = { $parameters } parameters by the build of { $family } x { $width } bytes
size-basis-weights-reduced = the weights are stored reduced; give their folder, whose headers tell their bytes
size-basis-weights-folder = give the folder of the weights: their headers tell what divides over the cards
size-basis-reduced = matrices of the layers reduced by bitsandbytes with their scales, the rest in 16 bits
size-basis-reduced-unknown = which matrices bitsandbytes reduces is not known for this family: measure the peak in the pilot
size-basis-not-covered = the formulas do not cover this architecture: measure the peak in the pilot
size-basis-build-lacks = { $source } lacks { $fields }: give the folder of the weights, or measure the peak in the pilot
size-basis-family-folder = the tensors of the family { $family } are not known here: give the folder of its weights
size-basis-family-unknown = the tensors of this family are not known here: measure the peak in the pilot
size-basis-field-missing = the field { $field } is not in the model’s files: measure the peak in the pilot
size-basis-parameters-missing = the number of parameters is not in the model’s files
size-basis-layers-missing = the layers’ sizes are not in the model’s files
size-basis-ubatch-missing = llama.cpp’s buffer grows with --ubatch-size: give its ubatch for a bound
size-basis-only-estimated = only estimated: the pilot has to measure the peak
size-basis-cache-not-kept = no cache: this work keeps no keys and values
size-basis-cache-encoder = no cache: an encoder keeps no keys and values
size-basis-cache-ubatch = llama.cpp keeps a window plus --ubatch-size cells: give its ubatch
size-basis-temporaries = largest moment of a layer, { $rows } tokens: the greater of { $attention } x { $vector } bytes + { $scores } of attention scores and { $outer } x { $vector } + { $count } x { $inner } bytes, and up to { $beside } kept beside, within { $spread } %
size-basis-inputs = { $tokens } tokens x 2 x 8 bytes: token numbers and mask
size-basis-logits-none = no logits: an encoder gives vectors
size-basis-logits = { $rows } rows x vocabulary { $vocabulary } x 4 bytes, one copy
size-basis-logits-training = { $rows } tokens x vocabulary { $vocabulary } x 4 bytes, 1 to 2.5 copies (logits, gradient, 16-bit copy)
size-basis-outputs-none = training keeps no outputs
size-basis-outputs-vectors = { $kept } vectors x { $hidden } x 4 bytes
size-basis-outputs-tokens = { $concurrency } x { $tokens } token numbers x 8 bytes
size-basis-adapter = { $count } adapter parameters x { $bytes } bytes: weight, gradient, 2 Adam states
size-basis-unsharded = 4 bytes x { $largest } parameters of the largest layer
size-basis-graphs = captured graphs of vLLM
size-basis-runtime-native = a native program on the processor
size-basis-runtime-python = Python with its libraries on the processor
size-basis-runtime-cuda = context and libraries of CUDA on one card
size-basis-runtime-rocm = context and libraries of ROCm on one card
size-basis-cache = { $layers } layers x cells x (keys + values) x { $values ->
    [1] { $bytes } bytes
   *[other] { $bytes } bytes per { $values } values
}, { $concurrency } x { $tokens } tokens, { $engine ->
    [builtin] the built-in engine
    [vllm] vLLM in whole pages
    [llama-cpp] llama.cpp in groups of 256 cells
   *[transformers] transformers
}
size-basis-cache-and-states = { $layers } layers x cells x (keys + values) x { $values ->
    [1] { $bytes } bytes
   *[other] { $bytes } bytes per { $values } values
}, { $concurrency } x { $tokens } tokens, { $engine ->
    [builtin] the built-in engine
    [vllm] vLLM in whole pages
    [llama-cpp] llama.cpp in groups of 256 cells
   *[transformers] transformers
}; states of fixed size in 16 to 32 bits
size-basis-cache-twice = { $layers } layers x cells x (keys + values) x { $values ->
    [1] { $bytes } bytes
   *[other] { $bytes } bytes per { $values } values
}, { $concurrency } x { $tokens } tokens, { $engine ->
    [builtin] the built-in engine
    [vllm] vLLM in whole pages
    [llama-cpp] llama.cpp in groups of 256 cells
   *[transformers] transformers
}; twice, for the input as well
size-basis-activations = { $layers } layers x { $one } bytes ({ $batch } x { $tokens } tokens, width { $hidden }, { $heads } heads), within { $spread } %
size-basis-activations-again = { $layers } layers x { $one } bytes ({ $batch } x { $tokens } tokens, width { $hidden }, { $heads } heads), within { $spread } %, and one layer that is computed again
size-basis-training-weights = { $bytes } bytes x { $parameters } parameters{ $cards ->
    [1] {""}
   *[other] {" "}/ { $cards } cards
}
size-basis-training-gradients = { $bytes } bytes x { $parameters } parameters{ $cards ->
    [1] {""}
   *[other] {" "}/ { $cards } cards
}
size-basis-training-optimizer = ({ $master } master + { $states } states{ $gradients ->
    [0] {""}
   *[other] {" "}+ { $gradients } gradients
}) bytes x { $parameters } parameters{ $cards ->
    [1] {""}
   *[other] {" "}/ { $cards } cards
}
size-basis-training-factored = 4 bytes for each row and column of each matrix{ $cards ->
    [1] {""}
   *[other] {" "}/ { $cards } cards
}
size-basis-index-no-python = no Python was found on this machine
size-basis-index-no-platform = no wheels of PyTorch for { $backend } are published for { $platform }
size-basis-index-python = wheels are published for Python 3.{ $least } to 3.{ $most }, and this is 3.{ $python }
size-basis-index-driver = no variant fits driver { $driver } and card { $card }; a newer driver widens the choice

## What is wrong with a request or a file

size-error-unreadable = { $file } cannot be read.
size-error-no-model = { $place } holds no model that can be read: none of { $names } is there. Name the folder or the file of a model.
size-error-http = { $address }: { $problem }
size-error-truncated = { $file } ends at byte { $bytes }, inside { $what }: the file is incomplete. Fetch it again.
size-error-malformed = { $file } is no { $format } file: { $problem }
size-error-impossible-value = { $file }: { $field } is { $value }, which is impossible: { $why }.
size-error-missing-field = { $file }: the field { $field } is missing; what depends on it stays unknown.
size-error-does-not-divide = { $what } ({ $count }) does not divide over { $cards } cards. Take a number of cards that divides it.
size-error-not-allowed = { $field }: { $value } is not allowed. Allowed: { $allowed }.
size-error-wrong-currency = { $file }: the price of { $card } is in { $found }, and totals are made in { $wanted }. Nothing is converted here: give a catalogue in { $wanted }.
size-error-bad-table = { $file }: { $problem }
size-allowed-lots = a whole number from 1 to 10
size-allowed-period = 3, 7 or 30 days
size-allowed-margin = 0 to 90 per cent of a card’s memory
size-allowed-tokens = a whole number from 1; say how many tokens the task has, since the model’s longest is never assumed
size-allowed-shards = the number of cards, which --zero needs
size-allowed-utilisation = more than 0, up to 1
size-allowed-adapter-modules = matrices of this model, such as q_proj, k_proj, v_proj, o_proj
size-allowed-batch = a whole number from 1 to 2^32
size-allowed-concurrency = a whole number from 1 to 2^32
size-allowed-rank = a whole number from 1 to 2^32
size-divided-number-of-heads = the number of heads
size-divided-feed-forward-width = the feed-forward width
size-divided-number-of-key-and-value-heads = the number of key and value heads
size-divided-number-of-layers = the number of layers
size-basis-why-rank = a rank from 1 to 65536 is expected
size-basis-why-total = the total is beyond what can be counted
size-basis-why-whole = a whole number from 0 is expected
size-basis-why-large = no model is that large
size-basis-why-one = it must be 1 or more
size-basis-why-layers = no model has more than 10,000 layers
size-basis-why-types = the model has { $count } layers
size-basis-why-range = it must be from 1 to 2^32
