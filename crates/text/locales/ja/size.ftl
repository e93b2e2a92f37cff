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
size-measured-pages = 重みは最初に使うときにファイルからページ単位で読み込まれます。読み込み時に触れなかった分は一時領域に含まれます。
size-covered = このピークはタスクを満たします：試行が計算したのは最長 { $longest } トークン、同時に最大 { $at-once } トークン。必要なのは { $longest-asked } と { $at-once-asked } です。
size-not-covered = このピークはタスクに足りません：試行が計算したのは最長 { $longest } トークン、同時に最大 { $at-once } トークン。必要なのは { $longest-asked } と { $at-once-asked } です。

size-cards-title = カード（メモリの { $percent } を空けておく）
size-this-machine = この機械
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
plan-built-in-sample = 組み込みの例
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
plan-standing-other-backend = 別のバックエンド
plan-no-price = —
plan-not-offered = このカタログにないカード：{ $cards }。
plan-none = この条件に合うカードはカタログにありません。
plan-page-title = プラン
plan-page-open-task = タスクは未確定です。カードに収まると言う前に、パイロットでピークを測る必要があります。
plan-page-memory = 各カードに対するメモリ
plan-page-memory-note = カードごとに 1 本、すべて同じ縮尺です。枠はカード 1 枚がこのタスクに使えるメモリ（予約するエンジンではその割合）、塗りつぶしはタスクの上限値です。斜線の部分は推定です。
plan-page-memory-unknown = { $note }図にないもの（まだ誰にもわからないため）：{ $parts }。
plan-page-parts = 内訳ごとのメモリ
plan-page-no-task = タスクを計算していないため、収まるカードは示しません。モデルとトークン数を指定するとメモリを表示します。
plan-page-candidates = 候補
plan-page-says = プランの意味
plan-page-periods = 各期間に向くこと
plan-page-duration = 所要時間
plan-page-part = 内訳
plan-page-amount = メモリ
plan-page-origin = 出所
plan-page-basis = 式または理由

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
libraries-python = 検出：{ $implementation } { $version }、{ $platform }（{ $place }）。
libraries-python-unknown = 検出：版を答える Python がないため、ホイールの索引は不明です。
libraries-index = このシステム、Python、ドライバー、カードには PyTorch の索引 { $name }（{ $source }）。カードで計算して確かめてください。
libraries-index-none = 合う索引がありません：{ $why }。
libraries-copied = 別の機械から写したコマンドは仮定です。入っているものは動かす場所で確かめます。

## 数値の計算式または理由

size-basis-tensors = { $files } のテンソル
size-basis-adapter-missing = adapter_model.safetensors がありません
size-basis-weights-missing = 重みも、構成を示す config.json もありません
size-basis-weights-undivided = config.json がないため、どのテンソルをカード間で分けられるか分かりません
size-basis-weights-spread = 層 { $first }～{ $last } のテンソルをカード { $cards } 枚に。分けられないものは各カードにそのまま
size-basis-weights-held = { $from } の浮動小数点数を各 { $width } バイトで保持、残りは保存形式のまま
size-basis-weights-by-build = { $family } の構成によるパラメーター { $parameters } 個 × { $width } バイト
size-basis-weights-reduced = 重みは縮小形式です。フォルダーを指定すれば、ヘッダーからバイト数が分かります
size-basis-weights-folder = 重みのフォルダーを指定してください。カード間で分けられるものがヘッダーから分かります
size-basis-reduced = 層の行列は bitsandbytes で縮小（スケール込み）、残りは 16 ビット
size-basis-reduced-unknown = この系統で bitsandbytes がどの行列を縮小するか不明です。パイロットでピークを測ってください
size-basis-not-covered = 計算式がこの構造に対応していません。パイロットでピークを測ってください
size-basis-build-lacks = { $source } に { $fields } がありません。重みのフォルダーを指定するか、パイロットでピークを測ってください
size-basis-family-folder = 系統 { $family } のテンソルはここでは不明です。重みのフォルダーを指定してください
size-basis-family-unknown = この系統のテンソルはここでは不明です。パイロットでピークを測ってください
size-basis-field-missing = モデルのファイルに項目 { $field } がありません。パイロットでピークを測ってください
size-basis-parameters-missing = パラメーター数がモデルのファイルにありません
size-basis-layers-missing = 層の大きさがモデルのファイルにありません
size-basis-ubatch-missing = llama.cpp のバッファーは --ubatch-size とともに増えます。ubatch を指定してください
size-basis-only-estimated = 推定のみ：パイロットでピークを測る必要があります
size-basis-cache-not-kept = キャッシュなし：この作業はキーと値を保持しません
size-basis-cache-encoder = キャッシュなし：エンコーダーはキーと値を保持しません
size-basis-cache-ubatch = llama.cpp はウィンドウに --ubatch-size 分のセルを加えて保持します。ubatch を指定してください
size-basis-temporaries = 1 層の最大時点、{ $rows } トークン：{ $attention } × { $vector } バイト + 注意スコア { $scores } と { $outer } × { $vector } + { $count } × { $inner } バイトの大きいほうと、残り続ける最大 { $beside } バイト、±{ $spread } %
size-basis-inputs = { $tokens } トークン × 2 × 8 バイト：トークン番号とマスク
size-basis-logits-none = ロジットなし：エンコーダーはベクトルを返します
size-basis-logits = { $rows } 行 × 語彙 { $vocabulary } × 4 バイト、1 部
size-basis-logits-training = { $rows } トークン × 語彙 { $vocabulary } × 4 バイト、1～2.5 部（ロジット、勾配、16 ビットの写し）
size-basis-outputs-none = 学習は出力を保持しません
size-basis-outputs-vectors = ベクトル { $kept } 個 × { $hidden } × 4 バイト
size-basis-outputs-tokens = { $concurrency } × トークン番号 { $tokens } 個 × 8 バイト
size-basis-adapter = アダプターのパラメーター { $count } 個 × { $bytes } バイト：重み、勾配、Adam の状態 2 つ
size-basis-unsharded = 4 バイト × 最大の層のパラメーター { $largest } 個
size-basis-graphs = vLLM が記録したグラフ
size-basis-runtime-native = プロセッサー上のネイティブプログラム
size-basis-runtime-python = プロセッサー上の Python とライブラリー
size-basis-runtime-cuda = カード 1 枚での CUDA のコンテキストとライブラリー
size-basis-runtime-rocm = カード 1 枚での ROCm のコンテキストとライブラリー
size-basis-cache = { $layers } 層 × セル ×（キー + 値）× { $values ->
    [1] { $bytes } バイト
   *[other] { $values } 値につき { $bytes } バイト
}、{ $concurrency } × { $tokens } トークン、{ $engine ->
    [builtin] 内蔵エンジン
    [vllm] vLLM（ページ単位）
    [llama-cpp] llama.cpp（256 セル単位）
   *[transformers] transformers
}
size-basis-cache-and-states = { $layers } 層 × セル ×（キー + 値）× { $values ->
    [1] { $bytes } バイト
   *[other] { $values } 値につき { $bytes } バイト
}、{ $concurrency } × { $tokens } トークン、{ $engine ->
    [builtin] 内蔵エンジン
    [vllm] vLLM（ページ単位）
    [llama-cpp] llama.cpp（256 セル単位）
   *[transformers] transformers
}。固定長の状態は 16～32 ビット
size-basis-cache-twice = { $layers } 層 × セル ×（キー + 値）× { $values ->
    [1] { $bytes } バイト
   *[other] { $values } 値につき { $bytes } バイト
}、{ $concurrency } × { $tokens } トークン、{ $engine ->
    [builtin] 内蔵エンジン
    [vllm] vLLM（ページ単位）
    [llama-cpp] llama.cpp（256 セル単位）
   *[transformers] transformers
}。入力の分も含めて 2 倍
size-basis-activations = { $layers } 層 × { $one } バイト（{ $batch } × { $tokens } トークン、幅 { $hidden }、ヘッド { $heads }）、±{ $spread } %
size-basis-activations-again = { $layers } 層 × { $one } バイト（{ $batch } × { $tokens } トークン、幅 { $hidden }、ヘッド { $heads }）、±{ $spread } %、再計算する 1 層を含む
size-basis-training-weights = { $bytes } バイト × パラメーター { $parameters } 個{ $cards ->
    [1] {""}
   *[other] {" "}÷ カード { $cards } 枚
}
size-basis-training-gradients = { $bytes } バイト × パラメーター { $parameters } 個{ $cards ->
    [1] {""}
   *[other] {" "}÷ カード { $cards } 枚
}
size-basis-training-optimizer = （マスター { $master } + 状態 { $states }{ $gradients ->
    [0] {""}
   *[other] {" "}+ 勾配 { $gradients }
}）バイト × パラメーター { $parameters } 個{ $cards ->
    [1] {""}
   *[other] {" "}÷ カード { $cards } 枚
}
size-basis-training-factored = 各行列の行と列ごとに 4 バイト{ $cards ->
    [1] {""}
   *[other] {" "}÷ カード { $cards } 枚
}
size-basis-index-no-python = この機械に Python が見つかりません
size-basis-index-no-platform = { $platform } 用の { $backend } 版 PyTorch は公開されていません
size-basis-index-python = 公開されているのは Python 3.{ $least }～3.{ $most } 用で、この機械は 3.{ $python } です
size-basis-index-driver = ドライバー { $driver } とカード { $card } に合うものがありません。新しいドライバーなら選択肢が広がります

## 要求またはファイルの誤り

size-error-unreadable = { $file } を読めません。
size-error-no-model = { $place } に読めるモデルがありません：{ $names } のどれも見つかりません。モデルのフォルダーかファイルを指定してください。
size-error-http = { $address }：{ $problem }
size-error-truncated = { $file } は { $bytes } バイト目で終わっています（{ $what }）。ファイルが不完全です。もう一度取得してください。
size-error-malformed = { $file } は { $format } ファイルではありません：{ $problem }
size-error-impossible-value = { $file }：{ $field } が { $value } になっていますが、ありえません：{ $why }。
size-error-missing-field = { $file }：項目 { $field } がありません。それに依存するものは不明のままです。
size-error-does-not-divide = { $what }（{ $count }）はカード { $cards } 枚に割り切れません。割り切れる枚数にしてください。
size-error-not-allowed = { $field }：{ $value } は使えません。使えるもの：{ $allowed }。
size-error-wrong-currency = { $file }：{ $card } の価格は { $found } ですが、合計は { $wanted } で出します。ここでは換算しません。{ $wanted } のカタログを指定してください。
size-error-bad-table = { $file }：{ $problem }
size-allowed-lots = 1～10 の整数
size-allowed-period = 3、7、30 日
size-allowed-margin = カードのメモリの 0～90 パーセント
size-allowed-tokens = 1 以上の整数。タスクのトークン数を指定してください。モデルの最大長とみなすことはありません
size-allowed-shards = --zero に必要なカードの枚数
size-allowed-utilisation = 0 より大きく 1 以下
size-allowed-adapter-modules = このモデルの行列（q_proj、k_proj、v_proj、o_proj など）
size-allowed-batch = 1～2^32 の整数
size-allowed-concurrency = 1～2^32 の整数
size-allowed-rank = 1～2^32 の整数
size-divided-number-of-heads = ヘッド数
size-divided-feed-forward-width = 中間層の幅
size-divided-number-of-key-and-value-heads = キーと値のヘッド数
size-divided-number-of-layers = 層の数
size-basis-why-rank = 1～65536 のランクが必要です
size-basis-why-total = 合計が数えられる範囲を超えています
size-basis-why-whole = 0 以上の整数が必要です
size-basis-why-large = それほど大きなモデルはありません
size-basis-why-one = 1 以上でなければなりません
size-basis-why-layers = 10,000 層を超えるモデルはありません
size-basis-why-types = このモデルの層は { $count } です
size-basis-why-range = 1～2^32 でなければなりません
