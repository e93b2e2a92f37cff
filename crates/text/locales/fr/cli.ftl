# La ligne de commande : résumés, questions et refus du programme pilote.

new-next = Un projet est créé dans { $dir }. Son README.md dit par où commencer ; « pilote run » lance son pilote.
model-kept = { $reference } est contrôlé et conservé dans { $dir }.

show-refused = Refusés, avec le motif :
show-results = Quelques résultats en regard du début de leur entrée. Regardez-les : une forme valide peut être fausse.
show-vector = vecteur de { $width }

verify-copy-whole = La copie est entière : { $files } fichiers, { $size }, chacun relu et conforme à son empreinte.
verify-trial-whole = L’essai est entier : { $files } fichiers, { $size }, relus et recomptés.
verify-damaged = Pas entier : { $errors ->
    [one] une anomalie trouvée, indiquée ci-dessus.
   *[other] { $errors } anomalies trouvées, indiquées ci-dessus.
}
verify-bag-whole = Le paquet est valide : { $files } fichiers, { $size }, chacun relu et conforme à son empreinte. Il ne contient pas d’essai.
verify-sample-whole = Rien d’anormal dans l’échantillon : { $files } fichiers, { $size }, relus et conformes à leur empreinte.
verify-checked = Contrôlé : { $what }.
verify-unchecked = Non contrôlé : { $what }.
check-list = chaque fichier de la liste est là
check-digests = empreintes des fichiers
check-balance = le bilan, recompté
check-records = sommes de contrôle des enregistrements et sceaux
check-outputs = les sorties acceptées
check-results = les lignes des résultats
check-inputs = les entrées
why-no-list = { $check } (un essai n’a pas de liste de ses fichiers)
why-sampled = { $check } (un échantillon seulement)
why-not-carried = { $check } (la copie ne les contient pas)
why-no-trial = { $check } (il n’y a pas d’essai)
why-unreadable = { $check } (ce sur quoi cela repose est illisible)
why-one-stream = { $check } (l’archive est un seul long flux : dépliez-la et vérifiez le dossier)

state-begun = commencé, rien de calculé : relancer
state-unfinished = inachevé
state-sealed = scellé
state-collected = recueilli
state-damaged = endommagé
state-stray = pas un essai

outcome-pending = en attente : pas encore d’issue
outcome-accepted = accepté : { $output }
outcome-refused = refusé : { $reason }

runs-none = Aucun essai pour l’instant. « pilote run » fait le premier.
runs-holds = tenu · acceptés { $accepted }, refusés { $refused }, en attente { $pending }
runs-fails = non tenu · acceptés { $accepted }, refusés { $refused }, en attente { $pending }

export-progress = copie
export-whole = La copie a été relue et elle est entière : { $copy } ({ $files } fichiers, { $size }).
export-damaged = La copie n’est pas entière et n’a pas de verdict : { $copy }. Relancez la même commande ; elle reprend où elle s’est arrêtée.
export-damaged-since = La copie faite auparavant est maintenant endommagée : { $copy }. Elle est laissée telle quelle, et son verdict le dit. Nommez une autre destination, ou supprimez ce dossier et exportez de nouveau.
export-same-disk = Elle se trouve sur le même système de fichiers que l’essai : ce n’est pas une sauvegarde. Portez-la sur une autre machine et vérifiez-la là-bas.
export-no-backup-yet = Ce n’est pas une sauvegarde tant qu’une autre machine ne l’a pas vérifiée : lancez-y « pilote verify ».

unlock-part = La partie { $part } peut être reprise ; elle était tenue en dernier par { $owner }.
unlock-alive = Attention, { $owner } est vivant : il sera écarté, et ce qu’il n’a pas validé sera recalculé.
unlock-nothing = Rien n’est verrouillé : aucune partie de cet essai n’est tenue.

run-device-held = Note : le processus { $pid } ({ $name }) occupe { $devices } ; cela peut manquer à cet essai.
run-secret-unset = Note : le secret déclaré { $name } n’est pas défini ; aucun programme ne le reçoit.
run-progress = calcul
run-refused-so-far = { $refused } refusés
run-dry-plan = { $items } éléments, dont { $faults } seront refusés tels quels ; { $batches } paquets en { $parts } parties. Rien n’a été écrit.
run-trial = Essai : { $trial }
run-report = Rapport : { $report }
run-carried = Repris : { $done } issues sont conservées, { $pending } éléments restent à faire.
run-stopped-interrupted = Arrêté en ordre. Ce qui est fait est conservé : « pilote run --resume { $trial } » continue.
run-stopped-breaker = Arrêté : le moteur a échoué plusieurs fois de suite, d’abord avec : { $error }. Les éléments concernés restent en attente ; « pilote run --resume { $trial } » continue.
run-stopped-refused-max = Arrêté : plus d’éléments refusés que le projet n’en supporte. Regardez les refus avant de continuer.
run-stopped-guard = Arrêté : les réponses contredisent ce qui est connu, ou se contredisent entre elles : { $error }. Rien de ce paquet n’a été enregistré ; trouvez la cause avant de continuer par « pilote run --resume { $trial } ».
run-stopped-fault = Arrêté : { $error }. Ce qui est fait est conservé ; « pilote run --resume { $trial } » continue.
run-engine-start = Le moteur n’a pas démarré et rien n’a été calculé : { $error }.
run-after = L’échelle commence là où cela a échoué : pilote check --after { $trial }
runs-failed-at = échec à { $rung } : { $error }
run-no-copy = Pas encore de copie : « pilote export { $trial } DOSSIER » en fait une et la relit.
run-limited = Seulement les { $limit } premiers éléments : un essai à regarder, dont le bilan n’est jamais tenu.
run-estimate = { $rate }/s, environ { $left } restants, d’après { $items } éléments en { $over }
run-detached = L’essai { $trial } continue sans ce terminal, dans le processus { $pid } ; ce qu’il dit se trouve dans { $log }.
    « pilote follow { $trial } » l’observe, « pilote stop { $trial } » l’arrête en bon ordre. Il ne survit pas à la fin de son conteneur ou de sa machine, ni à un gestionnaire de sessions qui tue ce que son utilisateur laisse derrière lui.
follow-elsewhere = Le processus qui y travaille n’est pas visible d’ici : { $why }. On voit ce qu’il a écrit.
follow-left = Vous êtes parti ; l’essai continue. « pilote follow { $trial } » y revient.
follow-collecting = collecte, copie et rapport
crew-workers = { $workers ->
    [one] un processus
   *[other] { $workers } processus
}
crew-ended-early = Le processus { $number } s’est arrêté avant l’heure, avec l’état { $status } : { $log } dit pourquoi. Ce qu’il tenait a été laissé aux autres.
work-done = Il ne reste rien à faire dans { $trial } : { $items } de ses éléments ont reçu leur issue ici. Qui l’a lancé rassemble les résultats.
status-parts = { $sealed } parties sur { $all } sont finies.
share-worker = processus { $pid } sur { $host }
share-worker-unknown = un processus qui n’a pas été noté
share-devices = { $who } (cartes { $devices })
share-done = { $who } : { $parts } parties, soit { $items } éléments
share-at-work = au travail
share-gone = n’est plus là
share-unseen = invisible d’ici
share-rate = { $rate }/s
share-slow = moins de la moitié de la vitesse des autres
stop-nothing = Rien ne travaille sur cet essai.
stop-asked = Il est demandé au processus { $pid } de s’arrêter : il termine ce qui est en cours. « pilote stop --now » le tue.
stop-killed = Le processus { $pid } a été tué.
stop-waiting = attente de l’arrêt
stop-gone = Le processus { $pid } n’est plus là. Ce qui est fait est gardé : « pilote run --resume { $trial } » continue.
stop-still-there = Le processus { $pid } travaille encore sur { $trial }.

demo-project = Projet d’exemple : { $dir }
demo-next = Ensuite : « pilote new mon-projet », et écrivez ce que vous attendez avant de lancer quoi que ce soit.

worker-check-greeting = Il salue à temps, avec un nom
worker-check-answers = Chaque élément a une réponse avant la fin de son paquet
worker-check-names = Les noms reviennent exactement comme ils ont été donnés
worker-check-identity = Chaque réponse appartient à son texte, dans tout ordre et seul
worker-check-batches = Il prend autant de paquets à la fois qu’il en accorde
worker-check-text-file = Un texte venu d’un fichier est le même texte
worker-check-odd-texts = Textes étranges et vides ont une réponse, et il continue
worker-check-longest-line = La plus longue ligne est lue
worker-check-unknown-fields = Les champs qu’il ne connaît pas sont ignorés
worker-check-end = Averti que rien ne suit, il se termine avec l’état 0
worker-check-other-version = Il n’annonce jamais une autre version du protocole
worker-check-summary = { $kept } règles sur { $all } sont respectées.

status-remaining = Reste à calculer : { $items } éléments, de { $low } à { $high } de calcul, d’après { $measured } éléments mesurés par cet essai.
run-since = Repris de { $trial } : { $same } issues ; { $asked } éléments sont calculés.
run-since-changed = Modifiés depuis, et calculés de nouveau ({ $count }) : { $names }
run-since-removed = Absents des entrées désormais ({ $count }) : { $names }
results-written = Écrit dans { $file } ({ $size }) : { $accepted } acceptés, { $refused } refusés, dans l’ordre des entrées.
sample-column-group = longueur
sample-column-lengths = caractères
sample-column-corpus = corpus
sample-column-sample = échantillon
sample-group-short = court
sample-group-usual = courant
sample-group-near-limit = proche de la limite
sample-faulty = { $count } éléments du corpus ne peuvent être traités et n’ont pas été tirés ; mettez-en un de cette sorte dans le pilote à la main.
sample-written = Écrit dans { $folder }, en lecture seule ; les empreintes sont fixées dans { $digests }.
sample-declare = Déclarez-les dans config/pilote.json :
