# Le rapport : report.html et ce que la preuve dit d’un essai.

report-skip = Aller au verdict
report-eyebrow-pilot = Pilote · rapport d’un essai pilote
report-eyebrow-campaign = Pilote · rapport d’une campagne
report-meta-trial = Essai
report-meta-started = Début
report-meta-engine = Moteur
report-meta-model = Modèle

report-holds = { $kind ->
    [pilot] Le pilote est tenu :
   *[campaign] La campagne est tenue :
} { $accepted ->
    [one] { $accepted_shown } élément accepté,
   *[other] { $accepted_shown } éléments acceptés,
} { $refused ->
    [0] aucun refusé.
    [one] { $refused_shown } refusé.
   *[other] { $refused_shown } refusés.
}
report-holds-expected = { $kind ->
    [pilot] Le pilote est tenu :
   *[campaign] La campagne est tenue :
} { $accepted ->
    [one] { $accepted_shown } élément accepté,
   *[other] { $accepted_shown } éléments acceptés,
} { $refused ->
    [one] { $refused_shown } refusé comme prévu.
   *[other] { $refused_shown } refusés comme prévu.
}
report-fails = { $kind ->
    [pilot] Le pilote n’est pas tenu :
   *[campaign] La campagne n’est pas tenue :
} { $count ->
    [one] un critère échoue.
   *[other] { $count } critères échouent.
}
report-unfinished = Inachevé : { $pending_shown } éléments sur { $declared_shown } n’ont pas encore d’issue.
report-unknown = { $count ->
    [one] Pas encore prouvé : un critère n’a pas pu être jugé.
   *[other] Pas encore prouvé : { $count } critères n’ont pas pu être jugés.
}
report-damaged = { $count ->
    [one] Cet essai est endommagé : une anomalie a été trouvée à la relecture.
   *[other] Cet essai est endommagé : { $count } anomalies ont été trouvées à la relecture.
}
report-copy-whole = { $files ->
    [one] Une copie d’un fichier a été relue : elle est entière.
   *[other] Une copie de { $files } fichiers a été relue : elle est entière.
}
report-copy-none = Aucune copie de cet essai n’a encore été relue. Faites-en une avec « pilote export ».
report-copy-damaged = La copie a été relue et n’est pas entière.
report-same-system = La copie est sur le même système de fichiers que l’essai. Ce n’est pas une sauvegarde : gardez-en une sur une autre machine.
report-no-backup = Une copie atteinte depuis la machine de calcul ne compte pas comme sauvegarde tant qu’elle n’est pas vérifiée sur une autre.
report-finding = { $place } : { $code }
report-findings = Anomalies trouvées

report-balance = Bilan
report-declared = déclarés
report-accepted = acceptés
report-refused = refusés
report-pending = en attente
report-missing = manquants
report-duplicated = en double
report-invented = inventés

report-criteria = Critères
report-refusals = Refus
report-no-refusal = Aucun élément n’a été refusé.
report-expected = prévu
report-unexpected = non prévu
report-unnamed = élément { $position } (sans identifiant)
report-more = { $count ->
    [one] et un autre, dans refused.jsonl
   *[other] et { $count_shown } autres, dans refused.jsonl
}
report-refused-items = { $count ->
    [one] Un élément
   *[other] { $count_shown } éléments
}

report-results = Les résultats à côté de leurs entrées
report-results-all = { $count ->
    [one] Le seul élément accepté, avec le début de son entrée. Une réponse valide peut être fausse : lisez-la.
   *[other] Les { $count_shown } éléments acceptés, chacun avec le début de son entrée. Une réponse valide peut être fausse : lisez-les.
}
report-results-sample = { $count_shown } éléments acceptés sur { $total_shown }, tirés selon leur longueur, du plus court au plus long. Une réponse valide peut être fausse : lisez-les.
report-results-none = Aucun élément n’a été accepté.
report-chars = { $count ->
    [one] { $count_shown } caractère
   *[other] { $count_shown } caractères
}
report-cut = Coupé après { $tokens } jetons, comme déclaré.
report-score = score { $score }
report-next = puis { $category } { $score }
report-vector = Vecteur de { $width } nombres
report-vector-start = commence par { $values }
report-file = Fichier { $name }, { $size }
report-text-absent = L’entrée n’est pas ici : son texte ne peut pas être montré.
report-text-changed = L’entrée a changé depuis l’essai : son texte n’est pas montré.
report-text-unreadable = L’entrée ne peut pas être lue ici.

report-measures = Mesures
report-took = Temps de calcul
report-took-value = { $batches ->
    [one] { $time } en un paquet
   *[other] { $time } en { $batches } paquets
}
report-rate = Débit
report-rate-value = { $items ->
    [one] { $rate } éléments/s sur un élément
   *[other] { $rate } éléments/s sur { $items_shown } éléments
}
report-tokens = Jetons
report-tokens-value = { $tokens }, plus { $padding } de remplissage
report-peak = Pic de mémoire du moteur
report-carried = Reprises
report-carried-value = { $times ->
    [one] une fois ; { $items } éléments conservés
   *[other] { $times } fois ; { $items } éléments conservés à la dernière
}
report-not-measured = non mesuré
report-lengths = Longueur des entrées, en caractères, de la plus courte à la plus longue.
report-lengths-refused = Longueur des entrées, en caractères, de la plus courte à la plus longue. Une barre en tirets est un élément refusé.
report-lengths-grouped = Nombre d’entrées selon leur longueur en caractères ; chaque groupe va jusqu’au double du précédent.
report-batches = Temps par paquet, dans l’ordre du travail.
report-batches-grouped = Temps du paquet le plus lent dans chacun des { $groups } groupes de paquets consécutifs.

report-reasons = Éléments refusés, par raison.
report-memory-chart = Pic de mémoire du moteur au fil des paquets, comparé à la mémoire disponible.
report-memory-of-card = mémoire de la carte
report-memory-of-machine = mémoire de la machine
report-history = Histoire du projet

report-colon = { "\u00A0: " }
report-about = Ce sur quoi il repose
report-fold-program = Programme et paramètres
report-fold-model = Modèle
report-fold-machine = Machine
report-fold-files = Fichiers et empreintes
report-fold-notes = Remarques
report-program = pilote
report-program-digest = Empreinte du programme
report-config-digest = Empreinte de config/pilote.json
report-part-items = Éléments par partie
report-batch-items = Éléments par paquet
report-device = Appareil
report-precision = Précision
report-longest = Entrée la plus longue
report-longest-value = { $tokens } jetons
report-reference = Référence
report-licence = Licence
report-licence-none = non nommée par les fichiers du modèle
report-system = Système
report-kernel = Noyau
report-processor = Processeur
report-processors = Processeurs
report-memory = Mémoire
report-card = Carte { $number }
report-cards = Cartes
report-card-none = aucune
report-unread = n’a pas pu être lu
report-limit = Cet essai a été limité à ses { $limit } premiers éléments ; un tel essai n’est jamais tenu.
report-since = Sur des entrées complétées : { $same } issues sont reprises de { $trial }, { $asked } éléments ont été calculés.
report-retries = Nouvelle tentative sur les éléments que { $trial } a refusés pour { $reason }.
report-check = Pour le vérifier à nouveau, avec la copie seule :
report-offline = Cette page a été faite par pilote { $version }. Elle ne charge rien, n’envoie rien et n’exécute aucun script.

# Ce qu’une vérification a trouvé, un code chacun.
finding-not-a-trial = il n’y a pas d’essai ici
finding-trial-unreadable = ce qui a été lancé ne peut pas être lu
finding-index-damaged = l’index est endommagé
finding-records-damaged = un enregistrement est endommagé
finding-torn-tail = une fin déchirée a été mise de côté
finding-late-bytes = des octets arrivés après une reprise ont été mis de côté
finding-record-differs = un enregistrement n’appartient pas à l’élément de sa position
finding-record-repeated = un élément a un second enregistrement
finding-record-invented = un enregistrement ne concerne aucun élément déclaré
finding-identifier-repeated = un identifiant se trouve à deux endroits
finding-output-unacceptable = un résultat accepté n’est pas acceptable
finding-not-sealed = une partie n’est pas achevée
finding-ledger-note = le registre a remarqué quelque chose
finding-journal-damaged = une ligne des événements ou des mesures ne peut pas être lue
finding-stray-answers = le moteur a donné des réponses que personne n’a demandées
finding-pins-unreadable = les empreintes fixées des entrées ne peuvent pas être lues
finding-results-absent = les résultats n’ont pas été rassemblés
finding-result-wrong = une ligne des résultats n’est pas ce que disent les enregistrements
finding-balance-unreadable = le bilan ne peut pas être lu
finding-balance-differs = le bilan écrit n’est pas celui qui a été recompté
finding-manifest-unreadable = la liste des fichiers ne peut pas être lue
finding-file-absent = un fichier de la liste manque
finding-file-differs = un fichier a une autre empreinte
finding-file-extra = un fichier n’est pas dans la liste
finding-not-plain = quelque chose ici n’est pas un fichier ordinaire
finding-unfinished-copy = la copie n’a pas été achevée
finding-unreadable = un fichier ne peut pas être lu
finding-balance-absent = le bilan qui clôt les résultats est absent
finding-list-absent = rien n’énumère ce qui doit se trouver ici
finding-stranger-file = un fichier du système, ou resté inachevé, se trouve aussi ici
finding-declaration-wrong = la déclaration du paquet manque ou est fausse
finding-list-note = une liste est écrite d’une façon que d’autres programmes peuvent ne pas lire
finding-path-outside = quelque chose mène hors de la copie
finding-not-fetched = un fichier est à chercher ailleurs et n’est pas ici
finding-oxum-differs = le contenu n’a pas la taille annoncée
finding-name-normalised = un nom est ici sous une autre forme Unicode que dans la liste
finding-name-twins = deux noms n’en font qu’un sur certains systèmes
finding-verdict-wrong = le verdict de l’export manque ou a été changé
finding-archive-damaged = l’archive ne peut être lue jusqu’au bout
finding-expands-too-much = l’archive se déploie au-delà de sa limite
finding-entry-repeated = l’archive contient deux fois un fichier
