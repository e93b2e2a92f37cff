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

size-cards-title = Cards, with { $percent } of their memory to stay free
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
plan-no-price = —
plan-not-offered = Not in this catalogue: { $cards }.
plan-none = No card of the catalogue answers this request.

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
libraries-index = For this system, Python, driver and card: the wheel index { $name } of PyTorch ({ $source }). Check it by computing on the card.
libraries-index-none = No wheel index fits: { $why }.
libraries-copied = A command copied from another machine is an assumption; what is installed is checked where it runs.
