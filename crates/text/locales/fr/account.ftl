# Le bilan : les comptes, les verdicts et le verdict d’ensemble.

balance-title = Bilan

count-declared = Déclarés
count-accepted = Acceptés
count-refused = Refusés
count-pending = En attente
count-missing = Manquants
count-duplicated = En double
count-invented = Inventés

verdict-holds = tenu
verdict-fails = non tenu
verdict-unknown = inconnu

balance-holds = Le bilan tient : tous les critères sont remplis.
balance-fails = Le bilan ne tient pas : voir ci-dessus les critères non tenus ou inconnus.
