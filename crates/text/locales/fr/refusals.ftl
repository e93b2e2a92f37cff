# Une phrase par motif de refus : ce qui ne va pas avec l’élément, puis ce qu’il faut faire.

refusal-empty = L’entrée est vide. Mettez-y son texte, ou retirez-la des entrées.
refusal-too-large = L’entrée dépasse la limite déclarée en octets. Découpez-la, ou relevez `limits.bytes`.
refusal-encoding = Les octets ne forment pas un texte dans l’encodage déclaré. Enregistrez l’entrée dans cet encodage, ou déclarez le sien.
refusal-nul = Un caractère NUL se trouve dans le texte. Ce n’est sans doute pas du texte : convertissez l’entrée, ou retirez-la.
refusal-unsupported-kind = Ce type de fichier n’est pas lu comme du texte. Convertissez-le en texte (.txt, .md, .html ou .eml), puis relancez.
refusal-unreadable = Le fichier existe mais ne peut pas être lu. Donnez le droit de le lire à l’utilisateur qui lance Pilote.
refusal-not-a-file = Un répertoire, un lien rompu ou un périphérique tient la place d’un fichier. Mettez-y le fichier.
refusal-name-not-utf8 = Le nom du fichier n’est pas en UTF-8 : aucun identifiant ne peut en être tiré. Renommez le fichier.
refusal-bad-record = L’enregistrement n’est pas un objet JSON, ou son champ de texte manque ou n’est pas du texte. Corrigez la ligne.
refusal-bad-id = L’identifiant de l’enregistrement manque, est vide ou n’est pas d’un type admis. Donnez-lui un identifiant.
refusal-duplicate-id = Un élément précédent porte le même identifiant. Donnez à chaque élément un identifiant qui lui soit propre.
refusal-input-changed = L’entrée a changé depuis la création de l’index. Remettez l’ancien contenu, ou lancez un nouvel essai.
refusal-too-long = L’entrée compte plus de jetons que la limite. Raccourcissez-la ou découpez-la, ou déclarez qu’elle doit être coupée.
refusal-ambiguous = Aucune catégorie ne se détache assez de la suivante. Lisez l’élément vous-même, ou décrivez mieux les catégories.
refusal-not-finite = La sortie contient une valeur non finie, ou rien que des zéros. Vérifiez la précision et le modèle.
refusal-wrong-width = Le vecteur n’a pas la largeur déclarée. Déclarez celle du modèle, ou utilisez le modèle prévu.
refusal-outside-categories = Le moteur a répondu par une catégorie non déclarée. Déclarez-la, ou corrigez le moteur.
refusal-empty-output = Le moteur n’a rien donné. Regardez l’entrée, puis retentez l’élément.
refusal-output-cut = La sortie a été coupée à une limite de longueur. Autorisez une sortie plus longue, puis retentez l’élément.
refusal-filtered = Le moteur a retenu la sortie selon ses propres règles de contenu. Lisez l’élément vous-même.
refusal-invalid-output = La sortie n’est pas celle que le livrable déclare. Corrigez la sortie du moteur ou la forme déclarée.
refusal-bad-file = Le fichier de sortie manque, est vide ou ne se décode pas. Regardez ce que le moteur a écrit, puis retentez l’élément.
refusal-by-engine = Le moteur a refusé l’élément. Ses propres mots disent pourquoi.
refusal-poison = L’élément, à lui seul, arrête ou casse le moteur à chaque fois. Retirez-le, ou signalez-le aux auteurs du moteur.
refusal-no-answer = Le moteur a répondu pour les autres éléments et, relancé, pas pour celui-ci. Regardez l’entrée, puis retentez l’élément.

refusal-with-facts = { $sentence } ({ $facts })
fact = { $label } : { $value }
fact-separator = {""} ; {""}
list-separator = {""}, {""}

# Les noms des faits.
fact-at = position
fact-deaths = arrêts du moteur
fact-detail = détail
fact-expected = attendu
fact-first = la plus proche
fact-first_score = son score
fact-limit = limite
fact-margin = marge
fact-second = la suivante
fact-second_score = son score
fact-seen = constaté
