# Mémoire, cartes et forfaits : ce que `pilote size` et `pilote plan` affichent.

size-model = Modèle : { $place }
size-weights-in-files = Poids dans ses fichiers : { $memory } ({ $storage }), lus dans { $files ->
    [one] l’en-tête d’un fichier
   *[other] les en-têtes de { $files } fichiers
}.
size-parameters = Paramètres : { $parameters }
size-build = Construction : { $family }, d’après { $source }
size-own-code = Du code accompagne ce modèle et le moteur l’exécuterait : { $files }. Lisez-le avant de l’autoriser.
size-note = Remarque : { $note }

size-memory-title = Mémoire d’une tâche sur une carte
size-memory-stage = Mémoire d’une tâche sur { $cards ->
    [one] une carte
   *[other] chacune des { $cards } cartes
}, étage { $stage }
size-range = { $low } à { $high }
size-unknown = inconnu
size-total = connu au total
size-not-in-total = Hors de cette somme : { $parts }.
size-cache-growth = Un jeton de plus d’une séquence prend { $memory } de cache tant qu’aucune fenêtre n’est pleine.
size-link-direct = Les cartes s’envoient { $memory } par jeton : prenez des cartes à lien direct, dans une seule machine.
size-link-plain = Les étages se transmettent { $memory } par jeton : un lien ordinaire entre les cartes suffit.

size-part-weights = poids
size-part-adapter = adaptateur
size-part-cache = cache
size-part-inputs = entrées
size-part-temporaries = temporaires
size-part-activations = activations
size-part-logits = logits
size-part-kept-outputs = sorties gardées
size-part-gradients = gradients
size-part-optimizer = optimiseur
size-part-unsharded = plus grande couche
size-part-graphs = graphes
size-part-runtime = environnement d’exécution

size-origin-measured = mesuré
size-origin-read = lu
size-origin-computed = calculé
size-origin-declared = déclaré
size-origin-estimated = estimé
size-origin-unknown = inconnu

size-measured-title = Mesuré dans { $trial }, à côté de l’estimation
size-measured-whole = pic entier
size-measured-line = { $part } : mesuré { $measured }, estimé { $estimated }, écart { $difference }
size-measured-alone = { $part } : mesuré { $measured } ; l’estimation est inconnue
size-above = { $memory } au-dessus
size-below = { $memory } au-dessous
size-inside = nul

size-cards-title = Cartes, avec { $percent } de leur mémoire à laisser libres
size-fits = tient : le pic mesuré { $peak } laisse { $headroom } ({ $margin } étaient demandés)
size-no-margin = trop juste : le pic mesuré { $peak } laisse { $headroom }, et { $margin } étaient demandés
size-does-not-fit = ne tient pas : { $certain } sont certains, { $over } de trop
size-open = ouvert : { $known } sont connus ; le pilote doit mesurer le pic
size-open-beyond = ouvert : { $known } sont connus, au-delà de cette carte ; le pilote doit mesurer le pic
size-reserve = Le moteur réserve { $budget } quel que soit le besoin du modèle : poids { $weights }, mémoire de travail { $working }, environnement { $runtime }, cache { $cache }.
size-precision-card = { $format } sur cette carte : { $known }
size-precision-engine = { $format } dans ce moteur : { $known }
size-precision-tested = essayé sur cette carte dans l’essai { $trial }
size-known-supported = pris en charge
size-known-not-supported = non pris en charge
size-known-unknown = inconnu, à essayer

size-open-points = Points ouverts pour le pilote
size-open-point = { $part } : { $missing }
size-open-points-written = Les points ouverts sont écrits dans { $file }.
size-never-by-count = Rien n’est dit tenir à cause d’un nombre de paramètres : seul un pic mesuré le prouve.

plan-title = Forfait : { $lots ->
    [one] un lot
   *[other] { $lots } lots
}, prix de { $from }
plan-examples = Ces prix sont des exemples. Personne ne vend à ces prix ; demandez son catalogue au guichet.
plan-column-card = carte
plan-column-memory = mémoire d’une carte
plan-column-cards = cartes
plan-column-standing = tâche
plan-column-days = { $days ->
    [one] un jour
   *[other] { $days } jours
}
plan-standing-fits = tient
plan-standing-no-margin = trop juste
plan-standing-open = ouvert
plan-standing-open-beyond = ouvert, sans doute trop petit
plan-standing-does-not-fit = ne tient pas
plan-standing-not-sized = non dimensionné
plan-no-price = —
plan-not-offered = Absentes de ce catalogue : { $cards }.
plan-none = Aucune carte du catalogue ne répond à cette demande.

plan-total-is-lots-times-price = Total = prix d’un lot x nombre de lots. Les cartes d’un lot sont dans son prix et ne se comptent pas une seconde fois.
plan-cards-do-not-merge = Plusieurs cartes ne fusionnent pas leur mémoire : chaque programme voit celle d’une carte.
plan-program-must-share-out = Plusieurs cartes ne se partagent pas un programme d’elles-mêmes : son moteur ou ses ouvriers doivent le faire.
plan-lot-is-not-a-batch = Un lot est ce qui se loue ensemble ; ce n’est pas un paquet d’éléments.
plan-period-is-no-promise = Une durée de location sert à organiser le travail et ne promet aucun temps de calcul.
plan-reserve-time = Gardez du temps de cette durée pour l’installation, les contrôles et l’export : le calcul n’est pas tout.
plan-suits-3 = 3 jours : installer, valider, rapporter un premier résultat utilisable.
plan-suits-7 = 7 jours : comparer des variantes et corriger.
plan-suits-30 = 30 jours : répéter, consolider et faire durer une campagne.

plan-projection-none-no-sample = Aucun temps n’est annoncé : rien n’a encore été mesuré.
plan-projection-none-only-pilot = Aucun temps n’est annoncé : les quelques éléments du pilote ne sont pas un échantillon du corpus.
plan-projection-none-too-few = Aucun temps n’est annoncé : l’échantillon mesuré compte moins de 30 éléments.
plan-projection-none-lengths-not-covered = Aucun temps n’est annoncé : l’échantillon mesuré ne couvre pas les longueurs du corpus.
plan-projection-none-bad-times = Aucun temps n’est annoncé : un temps mesuré n’en est pas un.
plan-projection = Calcul de { $items } éléments sur une carte : { $low } à { $high }, d’après { $measured } éléments mesurés dans { $trial }.
plan-projection-besides = En plus : { $preparation } d’installation et de contrôles, { $export } d’export.

libraries-title = Bibliothèques, d’après { $files } ; table vérifiée le { $checked }
libraries-none = Aucun fichier ne nomme une bibliothèque dont on sache quelque chose ici.
libraries-column-name = bibliothèque
libraries-runs-yes = oui
libraries-runs-no = non
libraries-runs-other-build = autre version compilée
libraries-runs-unknown = inconnu
libraries-forces = { $name } ({ $place }) ne laisse que { $backend }.
libraries-possible = Rien n’exclut : { $backends }.
libraries-impossible = Rien ne reste : les bibliothèques s’excluent les unes les autres.
libraries-unknown = On ne sait rien ici de : { $names }. La plupart n’ont pas de noyaux à elles ; l’échelle des contrôles le dira.
libraries-image = Image de base { $image } : { $backend }
libraries-index-named = { $place } nomme l’index { $name } : une supposition tant qu’elle n’est pas vérifiée sur la machine.
libraries-conflict-cuda-majors = Conflit : des paquets pour des CUDA différents se côtoient : { $names }.
libraries-conflict-backends = Conflit : des paquets pour des plateformes différentes se côtoient : { $names }.
libraries-conflict-not-on-planned = Conflit : { $name } ({ $place }) ne tourne pas sur { $backend }.
libraries-conflict-versions = Conflit : { $name } est figé deux fois : { $names }.
libraries-code-cuda-source = Code CUDA du projet : { $place }. Il faut un compilateur, et il tourne sur les cartes NVIDIA.
libraries-code-hip-source = Code HIP du projet : { $place }. Il faut un compilateur, et il tourne sur les cartes AMD.
libraries-code-torch-extension = Une extension est compilée sur la machine : { $place }.
libraries-code-triton-kernel = Des noyaux sont compilés au premier appel : { $place }.
libraries-code-model-code = Du code venu avec un modèle a le droit de tourner : { $place }. Lisez-le avant.
libraries-index = Pour ce système, ce Python, ce pilote graphique et cette carte : l’index { $name } de PyTorch ({ $source }). Vérifiez-le en calculant sur la carte.
libraries-index-none = Aucun index ne convient : { $why }.
libraries-copied = Une commande copiée d’une autre machine est une supposition ; ce qui est installé se vérifie là où cela tourne.
