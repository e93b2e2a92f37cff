# Unités. La mémoire se compte par 1 024 (Kio), le stockage par 1 000 (ko) ; on ne les mélange jamais.
# L’espace avant l’unité est une espace fine insécable.

unit-unknown = inconnu
unit-percent = { $number } %
unit-bytes = { $number } octets
unit-kib = { $number } Kio
unit-mib = { $number } Mio
unit-gib = { $number } Gio
unit-tib = { $number } Tio
unit-kb = { $number } ko
unit-mb = { $number } Mo
unit-gb = { $number } Go
unit-tb = { $number } To
unit-us = { $number } µs
unit-ms = { $number } ms
unit-s = { $number } s
unit-min = { $number } min
unit-h = { $number } h
unit-d = { $number } j
