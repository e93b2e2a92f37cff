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
size-measured-pages = Les poids sont lus de leur fichier page par page à la première utilisation : ce que le chargement n’a pas touché compte dans les temporaires.
size-covered = Ce pic couvre la tâche : l’essai a calculé des textes jusqu’à { $longest } jetons et jusqu’à { $at-once } jetons à la fois ; il en faut { $longest-asked } et { $at-once-asked }.
size-not-covered = Ce pic ne couvre pas la tâche : l’essai a calculé des textes jusqu’à { $longest } jetons et jusqu’à { $at-once } jetons à la fois ; il en faut { $longest-asked } et { $at-once-asked }.

size-cards-title = Cartes, avec { $percent } de leur mémoire à laisser libres
size-this-machine = cette machine
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
plan-built-in-sample = l’exemple intégré
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
plan-standing-other-backend = autre plateforme
plan-no-price = —
plan-not-offered = Absentes de ce catalogue : { $cards }.
plan-none = Aucune carte du catalogue ne répond à cette demande.
plan-page-title = Forfait
plan-page-open-task = La tâche reste ouverte : le pilote doit mesurer son pic avant qu’une carte soit dite suffisante.
plan-page-memory = La mémoire face à chaque carte
plan-page-memory-note = Une barre par carte, toutes à la même échelle : le contour est ce qu’une carte donne à cette tâche (la part réservée, pour un moteur qui réserve), la partie pleine est la tâche à sa borne haute. Les parties hachurées sont estimées.
plan-page-memory-unknown = { $note } Hors de l’image, puisque personne ne les connaît encore : { $parts }.
plan-page-parts = Mémoire par poste
plan-page-no-task = Aucune tâche n’a été dimensionnée, donc aucune carte n’est dite suffisante. Nommez un modèle et ses jetons pour voir sa mémoire.
plan-page-candidates = Candidats
plan-page-says = Ce que veut dire un forfait
plan-page-periods = À quoi convient chaque durée
plan-page-duration = Temps de calcul
plan-page-part = poste
plan-page-amount = mémoire
plan-page-origin = origine
plan-page-basis = formule ou raison

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
libraries-python = Trouvé : { $implementation } { $version }, { $platform } ({ $place }).
libraries-python-unknown = Trouvé : aucun Python qui dise sa version ; l’index de paquets reste inconnu.
libraries-index = Pour ce système, ce Python, ce pilote graphique et cette carte : l’index { $name } de PyTorch ({ $source }). Vérifiez-le en calculant sur la carte.
libraries-index-none = Aucun index ne convient : { $why }.
libraries-copied = Une commande copiée d’une autre machine est une supposition ; ce qui est installé se vérifie là où cela tourne.

## La formule ou la raison derrière un chiffre

size-basis-tensors = tenseurs de { $files }
size-basis-adapter-missing = adapter_model.safetensors est absent
size-basis-weights-missing = ni poids ni config.json qui dise la construction
size-basis-weights-undivided = sans config.json, on ne sait quels tenseurs se partagent entre les cartes
size-basis-weights-spread = tenseurs des couches { $first } à { $last } sur { $cards } cartes ; ce qui ne se partage pas est entier sur chacune
size-basis-weights-held = flottants de { $from } tenus sur { $width } octets chacun, le reste tel quel
size-basis-weights-by-build = { $parameters } paramètres d’après la construction { $family } x { $width } octets
size-basis-weights-reduced = les poids sont stockés réduits ; donnez leur dossier, dont les en-têtes disent les octets
size-basis-weights-folder = donnez le dossier des poids : leurs en-têtes disent ce qui se partage entre les cartes
size-basis-reduced = matrices des couches réduites par bitsandbytes avec leurs échelles, le reste en 16 bits
size-basis-reduced-unknown = on ne sait quelles matrices bitsandbytes réduit pour cette famille : mesurez le pic dans le pilote
size-basis-not-covered = les formules ne couvrent pas cette architecture : mesurez le pic dans le pilote
size-basis-build-lacks = il manque à { $source } : { $fields } ; donnez le dossier des poids, ou mesurez le pic dans le pilote
size-basis-family-folder = les tenseurs de la famille { $family } ne sont pas connus ici : donnez le dossier de ses poids
size-basis-family-unknown = les tenseurs de cette famille ne sont pas connus ici : mesurez le pic dans le pilote
size-basis-field-missing = le champ { $field } manque dans les fichiers du modèle : mesurez le pic dans le pilote
size-basis-parameters-missing = le nombre de paramètres manque dans les fichiers du modèle
size-basis-layers-missing = les tailles des couches manquent dans les fichiers du modèle
size-basis-ubatch-missing = le tampon de llama.cpp croît avec --ubatch-size : donnez son ubatch
size-basis-only-estimated = estimé seulement : le pilote doit mesurer le pic
size-basis-cache-not-kept = aucun cache : ce travail ne garde ni clés ni valeurs
size-basis-cache-encoder = aucun cache : un encodeur ne garde ni clés ni valeurs
size-basis-cache-ubatch = llama.cpp garde une fenêtre plus --ubatch-size cellules : donnez son ubatch
size-basis-temporaries = plus grand moment d’une couche, { $rows } jetons : le plus grand de { $attention } x { $vector } octets + { $scores } de scores d’attention et { $outer } x { $vector } + { $count } x { $inner } octets, et jusqu’à { $beside } gardés à côté, à { $spread } % près
size-basis-inputs = { $tokens } jetons x 2 x 8 octets : numéros et masque
size-basis-logits-none = aucun logit : un encodeur donne des vecteurs
size-basis-logits = { $rows } lignes x vocabulaire { $vocabulary } x 4 octets, une copie
size-basis-logits-training = { $rows } jetons x vocabulaire { $vocabulary } x 4 octets, 1 à 2,5 copies (logits, gradient, copie en 16 bits)
size-basis-outputs-none = l’entraînement ne garde aucune sortie
size-basis-outputs-vectors = { $kept } vecteurs x { $hidden } x 4 octets
size-basis-outputs-tokens = { $concurrency } x { $tokens } numéros de jetons x 8 octets
size-basis-adapter = { $count } paramètres d’adaptateur x { $bytes } octets : poids, gradient, 2 états d’Adam
size-basis-unsharded = 4 octets x { $largest } paramètres de la plus grande couche
size-basis-graphs = graphes capturés de vLLM
size-basis-runtime-native = un programme natif sur le processeur
size-basis-runtime-python = Python et ses bibliothèques sur le processeur
size-basis-runtime-cuda = contexte et bibliothèques de CUDA sur une carte
size-basis-runtime-rocm = contexte et bibliothèques de ROCm sur une carte
size-basis-cache = { $layers } couches x cellules x (clés + valeurs) x { $values ->
    [1] { $bytes } octets
   *[other] { $bytes } octets pour { $values } valeurs
}, { $concurrency } x { $tokens } jetons, { $engine ->
    [builtin] le moteur intégré
    [vllm] vLLM par pages entières
    [llama-cpp] llama.cpp par groupes de 256 cellules
   *[transformers] transformers
}
size-basis-cache-and-states = { $layers } couches x cellules x (clés + valeurs) x { $values ->
    [1] { $bytes } octets
   *[other] { $bytes } octets pour { $values } valeurs
}, { $concurrency } x { $tokens } jetons, { $engine ->
    [builtin] le moteur intégré
    [vllm] vLLM par pages entières
    [llama-cpp] llama.cpp par groupes de 256 cellules
   *[transformers] transformers
} ; états de taille fixe en 16 à 32 bits
size-basis-cache-twice = { $layers } couches x cellules x (clés + valeurs) x { $values ->
    [1] { $bytes } octets
   *[other] { $bytes } octets pour { $values } valeurs
}, { $concurrency } x { $tokens } jetons, { $engine ->
    [builtin] le moteur intégré
    [vllm] vLLM par pages entières
    [llama-cpp] llama.cpp par groupes de 256 cellules
   *[transformers] transformers
} ; deux fois, pour l’entrée aussi
size-basis-activations = { $layers } couches x { $one } octets ({ $batch } x { $tokens } jetons, largeur { $hidden }, { $heads } têtes), à { $spread } % près
size-basis-activations-again = { $layers } couches x { $one } octets ({ $batch } x { $tokens } jetons, largeur { $hidden }, { $heads } têtes), à { $spread } % près, et une couche recalculée
size-basis-training-weights = { $bytes } octets x { $parameters } paramètres{ $cards ->
    [1] {""}
   *[other] {" "}/ { $cards } cartes
}
size-basis-training-gradients = { $bytes } octets x { $parameters } paramètres{ $cards ->
    [1] {""}
   *[other] {" "}/ { $cards } cartes
}
size-basis-training-optimizer = ({ $master } maître + { $states } états{ $gradients ->
    [0] {""}
   *[other] {" "}+ { $gradients } gradients
}) octets x { $parameters } paramètres{ $cards ->
    [1] {""}
   *[other] {" "}/ { $cards } cartes
}
size-basis-training-factored = 4 octets par ligne et par colonne de chaque matrice{ $cards ->
    [1] {""}
   *[other] {" "}/ { $cards } cartes
}
size-basis-index-no-python = aucun Python n’a été trouvé sur cette machine
size-basis-index-no-platform = aucun paquet de PyTorch pour { $backend } n’est publié pour { $platform }
size-basis-index-python = les paquets sont publiés pour Python 3.{ $least } à 3.{ $most }, et celui-ci est 3.{ $python }
size-basis-index-driver = aucune variante ne convient au pilote graphique { $driver } et à la carte { $card } ; un pilote plus récent élargit le choix

## Ce qui ne va pas dans une demande ou un fichier

size-error-unreadable = { $file } ne peut pas être lu.
size-error-no-model = { $place } ne contient aucun modèle lisible : aucun de { $names } n’est là. Donnez le dossier ou le fichier d’un modèle.
size-error-http = { $address } : { $problem }
size-error-truncated = { $file } s’arrête à l’octet { $bytes } ({ $what }) : le fichier est incomplet. Téléchargez-le de nouveau.
size-error-malformed = { $file } n’est pas un fichier { $format } : { $problem }
size-error-impossible-value = { $file } : { $field } vaut { $value }, ce qui est impossible : { $why }.
size-error-missing-field = { $file } : le champ { $field } manque ; ce qui en dépend reste inconnu.
size-error-does-not-divide = { $what } ({ $count }) ne se partage pas entre { $cards } cartes. Prenez un nombre de cartes qui le divise.
size-error-not-allowed = { $field } : { $value } n’est pas permis. Permis : { $allowed }.
size-error-wrong-currency = { $file } : le prix de { $card } est en { $found }, et les totaux se font en { $wanted }. Rien n’est converti ici : donnez un catalogue en { $wanted }.
size-error-bad-table = { $file } : { $problem }
size-allowed-lots = un nombre entier de 1 à 10
size-allowed-period = 3, 7 ou 30 jours
size-allowed-margin = de 0 à 90 pour cent de la mémoire d’une carte
size-allowed-tokens = un nombre entier à partir de 1 ; dites combien de jetons a la tâche, car la longueur maximale du modèle n’est jamais supposée
size-allowed-shards = le nombre de cartes, dont --zero a besoin
size-allowed-utilisation = plus de 0, jusqu’à 1
size-allowed-adapter-modules = des matrices de ce modèle, telles que q_proj, k_proj, v_proj, o_proj
size-allowed-batch = un nombre entier de 1 à 2^32
size-allowed-concurrency = un nombre entier de 1 à 2^32
size-allowed-rank = un nombre entier de 1 à 2^32
size-divided-number-of-heads = le nombre de têtes
size-divided-feed-forward-width = la largeur intermédiaire
size-divided-number-of-key-and-value-heads = le nombre de têtes de clés et de valeurs
size-divided-number-of-layers = le nombre de couches
size-basis-why-rank = un rang de 1 à 65536 est attendu
size-basis-why-total = le total dépasse ce qui se compte
size-basis-why-whole = un nombre entier à partir de 0 est attendu
size-basis-why-large = aucun modèle n’est si grand
size-basis-why-one = il faut 1 ou plus
size-basis-why-layers = aucun modèle n’a plus de 10 000 couches
size-basis-why-types = le modèle a { $count } couches
size-basis-why-range = il faut de 1 à 2^32
