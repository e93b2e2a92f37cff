# Un critère chacun : son nom, puis une phrase par verdict. Ce qui n’est pas tenu dit aussi quoi faire.

criterion-concerning = { $sentence } Concernés : { $names }
criterion-unjudged = Ce critère n’a pas pu être jugé.

criterion-inputs-count = Nombre d’entrées
    .holds = { $seen ->
        [one] La seule entrée déclarée est là.
       *[other] Les { $seen } entrées déclarées sont là.
    }
    .fails = { $seen ->
        [one] { $seen } entrée est là
       *[other] { $seen } entrées sont là
    } pour { $expected } déclarées. Ajoutez ou retirez des entrées, ou corrigez le nombre déclaré.
    .unknown = Non jugé, car l’essai a été limité à { $limit } éléments. Relancez-le sans limite.

criterion-inputs-unique = Identifiants
    .holds = Chaque identifiant apparaît une seule fois.
    .fails = { $seen ->
        [one] { $seen } identifiant se trouve
       *[other] { $seen } identifiants se trouvent
    } à plus d’un endroit. Donnez à chaque élément un identifiant qui lui soit propre.

criterion-inputs-readable = Entrées lisibles
    .holds = Chaque entrée est lisible, ou refusée pour ce qui la rend illisible.
    .fails = { $seen ->
        [one] Le défaut de { $seen } entrée
       *[other] Les défauts de { $seen } entrées
    } et l’issue enregistrée ne concordent pas. Terminez l’essai, ou lancez-en un nouveau.

criterion-inputs-unchanged = Entrées inchangées
    .holds = Chaque entrée a l’empreinte qui lui a été fixée.
    .fails = { $seen ->
        [one] { $seen } entrée n’a pas l’empreinte fixée.
       *[other] { $seen } entrées n’ont pas l’empreinte fixée.
    } Remettez l’ancien contenu, ou fixez les nouvelles empreintes et lancez un nouvel essai.
    .unknown = La liste des empreintes fixées n’a pas pu être lue. Remettez-la là où le projet la déclare.

criterion-invalid-case-present = Cas invalide
    .holds = { $seen ->
        [one] L’entrée qui doit être refusée est parmi les éléments.
       *[other] Les { $seen } entrées qui doivent être refusées sont parmi les éléments.
    }
    .fails = { $seen } des { $expected } entrées qui doivent être refusées sont parmi les éléments. Remettez-les, ou corrigez les refus attendus.
    .unknown = L’essai limité n’a pas atteint toutes les entrées qui doivent être refusées. Relancez-le sans limite.

criterion-records-whole = Enregistrements
    .holds = Tous les enregistrements ont été relus, aucun n’est endommagé.
    .fails = { $seen ->
        [one] { $seen } enregistrement est endommagé.
       *[other] { $seen } enregistrements sont endommagés.
    } Reprenez la copie intacte, ou lancez un nouvel essai.

criterion-balance-adds-up = Somme
    .holds = { $accepted } acceptés + { $refused } refusés + { $pending } en attente = { $declared } déclarés, aucun en double, aucun inventé.
    .fails = { $accepted } acceptés + { $refused } refusés + { $pending } en attente pour { $declared } déclarés ; en double : { $duplicated }, inventés : { $invented }, réponses que personne n’a demandées : { $stray }. Examinez le moteur avant d’utiliser un résultat.

criterion-nothing-pending = En attente
    .holds = Aucun élément n’est en attente.
    .fails = { $pending ->
        [one] { $pending } élément est encore en attente.
       *[other] { $pending } éléments sont encore en attente.
    } Reprenez l’essai.

criterion-results-count = Nombre de résultats
    .holds = { $seen ->
        [one] Le seul élément promis est accepté.
       *[other] Les { $seen } éléments promis sont acceptés.
    }
    .fails = { $seen ->
        [one] { $seen } élément est accepté
       *[other] { $seen } éléments sont acceptés
    } pour { $expected } promis. Voyez les refus et les éléments en attente.
    .unknown = { $seen } des { $expected } éléments promis sont acceptés dans l’essai limité. Relancez-le sans limite.

criterion-results-acceptable = Résultats acceptables
    .holds = { $seen ->
        [one] La seule sortie acceptée a été relue et est conforme
       *[other] Les { $seen } sorties acceptées ont été relues et sont conformes
    } au livrable.
    .fails = { $expected ->
        [0] Aucun élément n’est accepté, il n’y a donc pas de résultat. Voyez les refus.
        [one] La sortie acceptée, relue, n’est pas acceptable. Ne l’utilisez pas.
       *[other] Sur { $expected } sorties acceptées, { $wrong } ne sont pas acceptables à la relecture. N’utilisez pas ces résultats.
    }
    .unknown = Seules { $seen } des { $expected } sorties acceptées ont pu être relues. Retrouvez les fichiers manquants, ou faites une nouvelle copie.

criterion-results-complete = Fichiers de résultats
    .holds = Les fichiers de résultats contiennent les { $seen } issues, une fois chacune, dans l’ordre des entrées.
    .fails = Les fichiers de résultats contiennent { $seen } issues là où les enregistrements en ont { $expected }, ou disent autre chose. Rassemblez les résultats à nouveau.
    .unknown = Les résultats n’ont pas été rassemblés. Terminez l’essai, puis rassemblez-les.

criterion-refusals-expected = Refus attendus
    .holds = { $seen ->
        [0] Rien n’a été refusé, comme déclaré.
        [one] { $seen } élément a été refusé, exactement comme déclaré.
       *[other] { $seen } éléments ont été refusés, exactement comme déclaré.
    }
    .fails = Refusés : { $seen }, attendus : { $expected } ; dont non attendus : { $unexpected }, attendus et non refusés : { $absent }. Corrigez les éléments ou les refus attendus.
    .unknown = { $absent } des { $expected } refus attendus n’ont pas été atteints par l’essai limité. Relancez-le sans limite.

criterion-refusals-within-share = Part des refus
    .holds = { $refused } éléments sur { $declared } sont refusés, dans la part déclarée de { $share }.
    .fails = { $refused } éléments sur { $declared } sont refusés, plus que la part déclarée de { $share }. Voyez les motifs avant de continuer.
    .unknown = Le projet ne déclare pas de part de refus. Déclarez `campaign.refused_max`.

criterion-trial-ended = Fin de l’essai
    .holds = { $seen ->
        [one] L’essai s’est terminé dans les règles et sa seule partie porte son sceau.
       *[other] L’essai s’est terminé dans les règles et ses { $seen } parties portent leur sceau.
    }
    .fails = { $seen } parties sur { $expected } portent leur sceau, et l’essai s’est terminé par « { $ended } ». Reprenez-le.
    .unknown = Les { $seen } parties portent leur sceau, mais la fin de l’essai n’a pas été enregistrée. Reprenez-le pour le clore.

criterion-copy-whole = Copie
    .holds = { $seen ->
        [one] Le seul fichier de la copie a été relu : il est intact.
       *[other] Les { $seen } fichiers de la copie ont été relus : ils sont intacts.
    }
    .fails = { $seen ->
        [one] { $seen } fichier de la copie manque ou diffère.
       *[other] { $seen } fichiers de la copie manquent ou diffèrent.
    } Faites une nouvelle copie.
    .unknown = Aucune copie n’a encore été relue. Faites-en une avec `pilote export`.
