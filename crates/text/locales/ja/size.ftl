# メモリ、カード、プラン。`pilote size` と `pilote plan` が表示する文。

size-model = モデル：{ $place }
size-weights-in-files = ファイル内の重み：{ $memory }（{ $storage }）。{ $files } 個のファイルのヘッダーから読み取り。
size-parameters = パラメーター数：{ $parameters }
size-build = 構成：{ $family }（{ $source } による）
size-own-code = このモデルにはコードが付属し、エンジンがそれを実行します：{ $files }。許可する前に読んでください。
size-note = 注記：{ $note }

size-memory-title = カード 1 枚での 1 タスクのメモリ
size-memory-stage = カード { $cards } 枚それぞれでの 1 タスクのメモリ、ステージ { $stage }
size-range = { $low }～{ $high }
size-unknown = 不明
size-total = 既知の合計
size-not-in-total = この合計に含まれないもの：{ $parts }。
size-cache-growth = ウィンドウが埋まるまで、1 系列の 1 トークンごとにキャッシュが { $memory } 増えます。
size-link-direct = カードどうしが 1 トークンごとに { $memory } を送ります。直接リンクのあるカードを 1 台の機械で使ってください。
size-link-plain = ステージ間で 1 トークンごとに { $memory } を渡します。カード間は通常のリンクで足ります。

size-part-weights = 重み
size-part-adapter = アダプター
size-part-cache = キャッシュ
size-part-inputs = 入力
size-part-temporaries = 一時領域
size-part-activations = 活性値
size-part-logits = ロジット
size-part-kept-outputs = 保持する出力
size-part-gradients = 勾配
size-part-optimizer = オプティマイザー
size-part-unsharded = 最大の層
size-part-graphs = グラフ
size-part-runtime = 実行環境

size-origin-measured = 実測
size-origin-read = 読取
size-origin-computed = 計算
size-origin-declared = 宣言
size-origin-estimated = 推定
size-origin-unknown = 不明

size-measured-title = { $trial } での実測と推定の比較
size-measured-whole = 全体のピーク
size-measured-line = { $part }：実測 { $measured }、推定 { $estimated }、差 { $difference }
size-measured-alone = { $part }：実測 { $measured }、推定は不明
size-above = { $memory } 上回る
size-below = { $memory } 下回る
size-inside = なし

size-cards-title = カード（メモリの { $percent } を空けておく）
size-fits = 収まる：実測ピーク { $peak }、残り { $headroom }（必要な余裕 { $margin }）
size-no-margin = 余裕不足：実測ピーク { $peak }、残り { $headroom }、必要な余裕 { $margin }
size-does-not-fit = 収まらない：確実な分だけで { $certain }、{ $over } 超過
size-open = 未確定：既知は { $known }。パイロットでピークを測る必要があります
size-open-beyond = 未確定：既知の { $known } がこのカードを超えています。パイロットでピークを測る必要があります
size-reserve = エンジンはモデルの必要量にかかわらず { $budget } を確保します：重み { $weights }、作業領域 { $working }、実行環境 { $runtime }、キャッシュ { $cache }。
size-precision-card = このカードでの { $format }：{ $known }
size-precision-engine = このエンジンでの { $format }：{ $known }
size-precision-tested = このカードでは試行 { $trial } で確認済み
size-known-supported = 対応
size-known-not-supported = 非対応
size-known-unknown = 不明、要確認

size-open-points = パイロットで確かめる点
size-open-point = { $part }：{ $missing }
size-open-points-written = 確かめる点を { $file } に書きました。
size-never-by-count = パラメーター数だけで収まるとは言いません。証明できるのは実測したピークだけです。

plan-title = プラン：{ $lots } ロット、価格は { $from } による
plan-examples = この価格は例です。この価格で売る人はいません。窓口にカタログを求めてください。
plan-column-card = カード
plan-column-memory = カード 1 枚のメモリ
plan-column-cards = カード数
plan-column-standing = タスク
plan-column-days = { $days } 日
plan-standing-fits = 収まる
plan-standing-no-margin = 余裕不足
plan-standing-open = 未確定
plan-standing-open-beyond = 未確定、おそらく不足
plan-standing-does-not-fit = 収まらない
plan-standing-not-sized = 未計算
plan-no-price = —
plan-not-offered = このカタログにないカード：{ $cards }。
plan-none = この条件に合うカードはカタログにありません。

plan-total-is-lots-times-price = 合計 = ロットの価格 × ロット数。ロット内のカードは価格に含まれ、二重には数えません。
plan-cards-do-not-merge = 複数のカードのメモリは一つになりません。各プログラムに見えるのはカード 1 枚の分です。
plan-program-must-share-out = 複数のカードがプログラムを自動で分担することはありません。エンジンかワーカーが分担します。
plan-lot-is-not-a-batch = ロットはまとめて借りる単位であり、項目のバッチではありません。
plan-period-is-no-promise = 期間は作業を組み立てるためのもので、所要時間を約束しません。
plan-reserve-time = 期間のうち、導入、確認、書き出しの時間を残してください。計算だけではありません。
plan-suits-3 = 3 日：導入、検証、最初の使える結果。
plan-suits-7 = 7 日：変種の比較と修正。
plan-suits-30 = 30 日：繰り返し、固め、キャンペーンを続ける。

plan-projection-none-no-sample = 所要時間は示しません：まだ何も測っていません。
plan-projection-none-only-pilot = 所要時間は示しません：パイロットの少数の項目はコーパスの標本ではありません。
plan-projection-none-too-few = 所要時間は示しません：測った標本が 30 項目に足りません。
plan-projection-none-lengths-not-covered = 所要時間は示しません：測った標本がコーパスの長さを網羅していません。
plan-projection-none-bad-times = 所要時間は示しません：測定値に時間でないものがあります。
plan-projection = カード 1 枚で { $items } 項目の計算：{ $low }～{ $high }（{ $trial } で測った { $measured } 項目による）。
plan-projection-besides = ほかに：導入と確認に { $preparation }、書き出しに { $export }。

libraries-title = ライブラリー（{ $files } による）。表の確認日：{ $checked }
libraries-none = 既知のライブラリーを挙げるファイルはありません。
libraries-column-name = ライブラリー
libraries-runs-yes = 可
libraries-runs-no = 不可
libraries-runs-other-build = 別ビルド
libraries-runs-unknown = 不明
libraries-forces = { $name }（{ $place }）により { $backend } だけが残ります。
libraries-possible = 除外されないもの：{ $backends }。
libraries-impossible = 何も残りません。ライブラリーどうしが両立しません。
libraries-unknown = ここでは何も知られていないもの：{ $names }。多くは独自のカーネルを持ちません。確認の段階でわかります。
libraries-image = ベースイメージ { $image }：{ $backend }
libraries-index-named = { $place } が索引 { $name } を指定しています。機械で確かめるまでは仮定です。
libraries-conflict-cuda-majors = 衝突：異なる CUDA 用のホイールが並んでいます：{ $names }。
libraries-conflict-backends = 衝突：異なるバックエンド用のホイールが並んでいます：{ $names }。
libraries-conflict-not-on-planned = 衝突：{ $name }（{ $place }）は { $backend } で動きません。
libraries-conflict-versions = 衝突：{ $name } の版が二つ指定されています：{ $names }。
libraries-code-cuda-source = プロジェクトの CUDA ソース：{ $place }。コンパイラーが必要で、NVIDIA のカードで動きます。
libraries-code-hip-source = プロジェクトの HIP ソース：{ $place }。コンパイラーが必要で、AMD のカードで動きます。
libraries-code-torch-extension = 拡張が機械上でコンパイルされます：{ $place }。
libraries-code-triton-kernel = カーネルは最初の呼び出しでコンパイルされます：{ $place }。
libraries-code-model-code = モデル付属のコードの実行が許されています：{ $place }。先に読んでください。
libraries-index = このシステム、Python、ドライバー、カードには PyTorch の索引 { $name }（{ $source }）。カードで計算して確かめてください。
libraries-index-none = 合う索引がありません：{ $why }。
libraries-copied = 別の機械から写したコマンドは仮定です。入っているものは動かす場所で確かめます。
