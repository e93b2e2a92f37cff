# Les mots fixes de docs/glossary.md. Un test compare les deux ; les messages de tous les fichiers les emploient.

word-project = projet
word-deliverable = livrable
word-item = élément
word-outcome = issue
word-accepted = accepté
word-refused = refusé
word-pending = en attente
word-balance = bilan
word-engine = moteur
word-trial = essai
word-pilot = pilote
word-campaign = campagne
word-part = partie
word-seal = sceau
word-rung = échelon
word-card = carte
word-lot = lot
word-period = durée
word-plan = forfait
word-proof = preuve
word-decision = décision
