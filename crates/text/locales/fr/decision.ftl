# Décisions, reçus, histoire d’un projet, passage vers la campagne, et clôture.

decision-launch = lancer
decision-mend = réparer
decision-replan = changer de forfait
decision-kept-launch = La décision de lancer d’après { $trial } est gardée : c’est sa décision numéro { $number }. « pilote run --campaign --dry-run » dit s’il manque autre chose.
decision-kept-mend = La décision de réparer est gardée, numéro { $number } pour { $trial } : { $condition } est à résoudre. Le prochain essai dira si c’est fait.
decision-kept-replan = La décision de changer de forfait est gardée, numéro { $number } pour { $trial } : { $condition } est à résoudre. Le prochain essai dira si c’est fait.

decide-look = { $count ->
    [one] Regardez un résultat à côté de son entrée. Une forme valide peut être fausse.
   *[other] Regardez { $count } résultats à côté de leurs entrées. Une forme valide peut être fausse.
}
decide-input = entrée : { $text }
decide-result = résultat : { $text }
decide-right-or-wrong = Est-ce juste ? r pour juste, ou w pour faux, avec la raison :
decide-because = Pourquoi cette décision :
decide-accepted = Ce qui est accepté bien qu’imparfait :
decide-left = Ce qui reste à corriger :
decide-no-answer = Ce n’est ni r ni w.

receipt-written = Reçu : { $file }. Apportez-le à la machine de calcul : « pilote receipt { $trial } { $file } » l’y enregistre.
receipt-taken = Une autre machine a vérifié une copie de { $trial } : { $copy }, lue le { $at }.

log-none = Aucun essai pour l’instant. « pilote run » fait le premier.
log-changed = changé depuis { $since } : { $factors }
log-elsewhere = une copie a été vérifiée sur une autre machine
log-decision = décision { $number }, { $at } : { $choice }
log-because = parce que : { $words }
log-accepted = accepté tel quel : { $words }
log-left = reste à corriger : { $words }
log-condition = à résoudre : { $condition }
log-samples = { $count ->
    [one] un résultat regardé, dont { $wrong } faux
   *[other] { $count } résultats regardés, dont { $wrong } faux
}
log-by-length = les longs fichiers n’ont été comparés que par leur longueur : { $files }
log-broken = L’essai a été changé après cette décision : plus rien ne repose sur elle : { $files }
log-unreadable = la décision { $number } ne peut pas être lue, et rien ne repose sur elle : { $why }
log-resolution-resolved = { $condition } de { $of } est résolu par cet essai.
log-resolution-standing = { $condition } de { $of } n’est pas résolu : cela échoue de nouveau.
log-resolution-unknown = Cet essai ne permet pas de dire si { $condition } de { $of } est résolu.

gate-open = La campagne peut commencer : elle repose sur le pilote { $pilot }.
gate-closed = La campagne n’est pas lancée.
gate-next = Ensuite : { $command }
gate-lacks = manque : { $lacks }
gate-declared = le projet déclare une campagne : `campaign` avec inputs, count et refused_max dans config/pilote.json
gate-ladder = l’échelle des contrôles a été montée et passée sur cette machine
gate-pilot-holds = un pilote a été relu, il est entier et tenu
gate-same-as-pilot = il avait ce livrable, ce modèle, ce programme et ces paramètres, sur cette machine et cette carte
gate-copy-elsewhere = une autre machine en a vérifié une copie
gate-decided = la décision de lancer d’après lui est écrite, et il n’a pas changé depuis

close-trial = { $trial } est copié et relu : { $copy }
close-trial-elsewhere = { $trial } est copié et relu, et une autre machine en a vérifié une copie : { $copy }
close-bundle = Configuration, code et décisions sont dans { $bundle } : { $files } fichiers, { $size }, chacun relu. « sha256sum -c manifest-sha256.txt » les y vérifie n’importe où.
close-model = Le modèle n’est pas emporté, puisque sa référence et ses empreintes permettent de le retrouver : { $model }
close-lost = Si la machine était reprise maintenant, ceci serait perdu ou ne pourrait pas être prouvé :
close-known = Non copié ; assurez-vous de l’avoir ailleurs :
close-loss-unfinished = { $what } : l’essai n’est pas achevé. « pilote run --resume » le continue.
close-loss-not-copied = { $what } : aucune copie entière n’a été faite.
close-loss-not-verified-elsewhere = { $what } : aucune autre machine n’a vérifié de copie. Emportez-y la copie, lancez « pilote verify COPY --receipt receipt.json », et rapportez le reçu avec « pilote receipt ».
close-loss-bundle-here = { $what } est sur le système de fichiers de cette machine. Emportez-le, ou nommez un autre endroit : « pilote close DIR ».
close-loss-not-plain = { $what } ne peut pas faire partie d’une copie.
close-loss-weights = les poids de { $what } n’ont pas pu être lus, et personne d’autre ne les a.
close-loss-inputs = { $what }
close-safe = Tout est en sûreté : rien de ce que seule cette machine possède ne serait perdu. Rien n’a été supprimé.
close-not-safe = Il est encore trop tôt pour rendre la machine. Rien n’a été supprimé.
