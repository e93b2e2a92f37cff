# Deux essais comparés, et la qualité de l’un par rapport à l’autre.

compare-a = A, la référence : { $trial } ({ $items } éléments)
compare-b = B : { $trial } ({ $items } éléments)
compare-limited = { $trial } a été limité à ses { $limit } premiers éléments ; rien n’est dit des autres.
compare-lost = { $count } résultats acceptés de { $trial } n’ont pas pu être relus. « pilote verify { $trial } » dit pourquoi.

compare-factors = Facteurs
compare-same = identique
compare-partly = identique pour ce qui est noté ; non noté : { $what }
compare-not-recorded = non noté
compare-change = { $field } : { $a } → { $b }
compare-absent = absent
compare-factor-inputs = entrées
compare-factor-configuration = configuration
compare-factor-parameters = paramètres
compare-factor-model = révision du modèle
compare-factor-tokenizer = segmenteur
compare-factor-program = programme
compare-factor-engine = moteur et version
compare-factor-precision = précision
compare-factor-device = appareil et pilote logiciel
compare-factor-environment = environnement
compare-factor-seeds = graines
compare-unrecorded-model-digests = empreintes du modèle
compare-unrecorded-program-digest = empreinte du programme
compare-unrecorded-sources = le code sous src/
compare-unrecorded-engine-version = version du moteur
compare-unrecorded-card = carte et pilote logiciel
compare-unrecorded-machine = la machine exacte
compare-unrecorded-packages = paquets requis
compare-unrecorded-variables = variables

compare-items-changed = { $count } avec un autre contenu
compare-items-only-a = { $count } dans A seulement
compare-items-only-b = { $count } dans B seulement
compare-items-moved = { $count } à une autre position
compare-names = Concernés : { $names }

compare-results = Résultats des { $count } éléments présents dans les deux
compare-change-same = identique
compare-change-label = autre catégorie
compare-change-vector = autre vecteur
compare-change-text = autre texte
compare-change-json = autre valeur JSON
compare-change-file = autre fichier
compare-change-kind = autre sorte de résultat, ou autre largeur
compare-change-now-refused = refusé dans B seulement
compare-change-now-accepted = accepté dans B seulement
compare-change-reason = refusé pour une autre raison
compare-change-pending = en attente dans un seul des deux
compare-label = { $a } → { $b } : { $count }
compare-cosine = Cosinus de { $count } paires de vecteurs : le plus bas { $lowest }, la moyenne { $mean }.
compare-leaves = Champs JSON égaux : { $equal } sur { $all }.
compare-scores = Les scores d’une même catégorie diffèrent de { $most } au plus.
compare-labelled = Justes d’après les étiquettes : { $reference } dans A, { $candidate } dans B, sur { $all }.
compare-most = Ce qui a le plus changé, à côté du début des entrées

compare-nothing-differs = Rien de ce qui est noté ne diffère, et les résultats sont les mêmes.
compare-one-factor = { $count ->
    [0] Un seul facteur a changé, { $factor }, et les résultats sont pourtant les mêmes.
    [one] Tout est identique sauf un facteur, { $factor }. La seule différence de résultat vient de lui, ou de quelque chose qui n’est pas noté.
   *[other] Tout est identique sauf un facteur, { $factor }. Les { $count } différences de résultat viennent de lui, ou de quelque chose qui n’est pas noté.
}
compare-same-inputs-one-factor = { $count ->
    [0] Mêmes entrées et un seul facteur changé, { $factor } ; les résultats sont pourtant les mêmes.
    [one] Mêmes entrées et un seul facteur changé, { $factor }. La seule différence de résultat vient de lui, ou de quelque chose qui n’est pas noté.
   *[other] Mêmes entrées et un seul facteur changé, { $factor }. Les { $count } différences de résultat viennent de lui, ou de quelque chose qui n’est pas noté.
}
compare-several-factors = { $count ->
    [0] Plusieurs facteurs ont changé ({ $factor }), et les résultats sont pourtant les mêmes.
   *[other] Plusieurs facteurs ont changé ({ $factor }) : la cause d’une différence de résultat est donc inconnue. N’en changez qu’un à la fois.
}
compare-unexplained = { $count ->
    [one] Rien de ce qui est noté n’a changé, et un résultat diffère : soit le moteur n’est pas déterministe, soit quelque chose a dérivé.
   *[other] Rien de ce qui est noté n’a changé, et { $count } résultats diffèrent : soit le moteur n’est pas déterministe, soit quelque chose a dérivé.
}
compare-also = Non noté, et peut donc différer aussi : { $factors }.
compare-again = Pour trancher, calculez de nouveau un échantillon : « pilote compare { $a } { $b } --again { $count } ».
compare-again-chance = Calculés de nouveau, { $from-b } éléments sur { $items } diffèrent du second essai alors que rien n’a changé : le moteur ne donne pas deux fois la même chose ({ $trial }).
compare-again-drift = Calculés de nouveau, les { $items } éléments sont comme dans le second essai, et { $from-a } diffèrent du premier : le moteur donne deux fois la même chose, et quelque chose qui n’est pas noté a changé entre les deux essais ({ $trial }).
compare-again-beyond = Calculés de nouveau, les { $items } éléments sont comme dans les deux essais : aucun de ceux qui diffèrent n’en fait partie. Calculez-en davantage ({ $trial }).
compare-again-changed = Quelque chose qui est noté n’est plus comme dans le second essai, si bien que rien ne découle de { $trial } : « pilote compare » dit quoi.
compare-again-needless = Rien n’a été calculé de nouveau : ce qui est noté explique la différence, ou il n’y en a pas.

quality-agreement = issues comme dans la référence
quality-cosine = plus bas cosinus d’un vecteur
quality-accuracy = justes d’après les étiquettes
quality-fields = champs JSON égaux
quality-line = { $measure } : { $seen } sur { $of } ; il est demandé au moins { $minimum }
quality-holds = L’exigence est tenue.
quality-fails = L’exigence n’est pas tenue : ce changement perd en qualité et il est refusé.
quality-unknown = L’exigence n’a pas pu être jugée, et ce changement est donc refusé : il n’y avait rien pour la mesurer.
