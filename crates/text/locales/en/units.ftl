# Units. Memory is counted in 1,024 (KiB), storage in 1,000 (kB); the two are never mixed.

unit-unknown = unknown
unit-percent = { $number }%
unit-bytes = { $number } bytes
unit-kib = { $number } KiB
unit-mib = { $number } MiB
unit-gib = { $number } GiB
unit-tib = { $number } TiB
unit-kb = { $number } kB
unit-mb = { $number } MB
unit-gb = { $number } GB
unit-tb = { $number } TB
unit-us = { $number } µs
unit-ms = { $number } ms
unit-s = { $number } s
unit-min = { $number } min
unit-h = { $number } h
unit-d = { $number } d
