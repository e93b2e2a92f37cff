# 単位。メモリは 1,024 倍（KiB）、保存容量は 1,000 倍（kB）で数え、混ぜて使うことはない。

unit-unknown = 不明
unit-percent = { $number }%
unit-bytes = { $number } バイト
unit-kib = { $number } KiB
unit-mib = { $number } MiB
unit-gib = { $number } GiB
unit-tib = { $number } TiB
unit-kb = { $number } kB
unit-mb = { $number } MB
unit-gb = { $number } GB
unit-tb = { $number } TB
unit-us = { $number }マイクロ秒
unit-ms = { $number }ミリ秒
unit-s = { $number }秒
unit-min = { $number }分
unit-h = { $number }時間
unit-d = { $number }日
