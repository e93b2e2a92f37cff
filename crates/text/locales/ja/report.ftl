# レポート：report.html と、証拠が試行について述べること。

report-skip = 判定へ移動
report-eyebrow-pilot = Pilote · パイロットのレポート
report-eyebrow-campaign = Pilote · キャンペーンのレポート
report-meta-trial = 試行
report-meta-started = 開始
report-meta-engine = エンジン
report-meta-model = モデル

report-holds = { $kind ->
    [pilot] パイロットは成立しました。
   *[campaign] キャンペーンは成立しました。
}受理 { $accepted_shown } 項目、{ $refused ->
    [0] 拒否はありません。
   *[other] 拒否 { $refused_shown } 項目。
}
report-holds-expected = { $kind ->
    [pilot] パイロットは成立しました。
   *[campaign] キャンペーンは成立しました。
}受理 { $accepted_shown } 項目、予定どおりの拒否 { $refused_shown } 項目。
report-fails = { $kind ->
    [pilot] パイロットは成立していません。
   *[campaign] キャンペーンは成立していません。
}{ $count } 件の基準を満たしていません。
report-unfinished = 未完了です。{ $declared_shown } 項目のうち { $pending_shown } 項目にまだ結果がありません。
report-unknown = まだ証明されていません。{ $count } 件の基準を判定できませんでした。
report-damaged = この試行は破損しています。読み直したところ { $count } 件の異常が見つかりました。
report-copy-whole = { $files } 個のファイルからなるコピーを読み直し、完全であることを確かめました。
report-copy-none = この試行のコピーはまだ読み直されていません。「pilote export」でコピーを作ってください。
report-copy-damaged = コピーを読み直しましたが、完全ではありません。
report-same-system = コピーは試行と同じファイルシステムにあります。これはバックアップではありません。別のマシンにもコピーを保管してください。
report-no-backup = 計算するマシンから届く場所のコピーは、別のマシンで検証されるまでバックアップとは数えません。
report-finding = { $place }：{ $code }
report-findings = 見つかった異常

report-balance = 集計
report-declared = 宣言
report-accepted = 受理
report-refused = 拒否
report-pending = 未処理
report-missing = 不足
report-duplicated = 重複
report-invented = 宣言外

report-criteria = 基準
report-refusals = 拒否された項目
report-no-refusal = 拒否された項目はありません。
report-expected = 予定どおり
report-unexpected = 予定外
report-unnamed = 項目 { $position }（識別子なし）
report-more = ほか { $count_shown } 件は refused.jsonl にあります
report-refused-items = { $count_shown } 項目

report-results = 入力と並べた結果
report-results-all = 受理した { $count_shown } 項目すべてを、入力の冒頭とともに示します。形式が正しい答えでも内容が誤っていることがあります。必ず読んで確かめてください。
report-results-sample = 受理した { $total_shown } 項目から、最短から最長まで長さに応じて選んだ { $count_shown } 項目を示します。形式が正しい答えでも内容が誤っていることがあります。必ず読んで確かめてください。
report-results-none = 受理した項目はありません。
report-chars = { $count_shown } 文字
report-cut = 宣言どおり { $tokens } トークンで切りました。
report-score = スコア { $score }
report-next = 次点 { $category } { $score }
report-vector = { $width } 個の数からなるベクトル
report-vector-start = 冒頭 { $values }
report-file = ファイル { $name }、{ $size }
report-text-absent = 入力がここにないため、本文を表示できません。
report-text-changed = 入力が試行の後に変更されたため、本文を表示しません。
report-text-unreadable = 入力をここで読み取れません。

report-measures = 計測
report-took = 計算時間
report-took-value = { $time }（{ $batches } バッチ）
report-rate = 処理速度
report-rate-value = 毎秒 { $rate } 項目（{ $items_shown } 項目で計測）
report-tokens = トークン
report-tokens-value = { $tokens }、ほかにパディング { $padding }
report-peak = エンジンの最大メモリー使用量
report-carried = 再開
report-carried-value = { $times } 回。最後の再開で { $items } 項目を引き継ぎました
report-not-measured = 計測なし
report-lengths = 入力の長さ（文字数）。短い順。
report-lengths-refused = 入力の長さ（文字数）。短い順。破線は拒否された項目です。
report-lengths-grouped = 長さ（文字数）ごとの入力の数。各区間の上限は前の区間の 2 倍です。
report-batches = バッチごとの時間。処理した順。
report-batches-grouped = 連続するバッチを { $groups } 組に分け、各組で最も遅いバッチの時間を示します。

report-reasons = 拒否された項目（理由別）。
report-memory-chart = バッチの進行に沿ったエンジンの最大メモリー使用量と、搭載メモリーの比較。
report-memory-of-card = カードのメモリー
report-memory-of-machine = マシンのメモリー
report-history = プロジェクトの履歴

report-colon = ：
report-about = 根拠
report-fold-program = プログラムとパラメーター
report-fold-model = モデル
report-fold-machine = マシン
report-fold-files = ファイルとダイジェスト
report-fold-notes = 注記
report-program = pilote
report-program-digest = プログラムのダイジェスト
report-config-digest = config/pilote.json のダイジェスト
report-part-items = 区分あたりの項目数
report-batch-items = バッチあたりの項目数
report-device = デバイス
report-precision = 精度
report-longest = 最長の入力
report-longest-value = { $tokens } トークン
report-reference = 参照
report-licence = ライセンス
report-licence-none = モデルのファイルには記載がありません
report-system = システム
report-kernel = カーネル
report-processor = プロセッサー
report-processors = プロセッサー数
report-memory = メモリー
report-card = カード { $number }
report-cards = カード
report-card-none = なし
report-unread = 読み取れませんでした
report-limit = この試行は最初の { $limit } 項目に限られています。このような試行は成立しません。
report-since = 追加された入力に対する試行です。{ $trial } から { $same } 件の結果を引き継ぎ、{ $asked } 項目を計算しました。
report-retries = { $trial } が { $reason } の理由で拒否した項目の再試行です。
report-check = コピーだけでもう一度検証するには：
report-offline = このページは pilote { $version } が作成しました。何も読み込まず、何も送信せず、スクリプトも実行しません。

# 検証で見つかったこと。コードごとに一つ。
finding-not-a-trial = ここに試行はありません
finding-trial-unreadable = 開始時の記録を読み取れません
finding-index-damaged = 索引が破損しています
finding-records-damaged = 記録が破損しています
finding-torn-tail = 途中で切れた末尾を取り分けました
finding-late-bytes = 引き継ぎの後に届いたバイトを取り分けました
finding-record-differs = 記録がその位置の項目のものではありません
finding-record-repeated = 項目に二つ目の記録があります
finding-record-invented = 宣言されていない項目の記録があります
finding-identifier-repeated = 識別子が二か所にあります
finding-output-unacceptable = 受理された出力が条件を満たしていません
finding-not-sealed = 完了していない区分があります
finding-ledger-note = 台帳に注意すべき点があります
finding-journal-damaged = イベントまたは計測の行を読み取れません
finding-stray-answers = 求めていない答えがエンジンから届きました
finding-pins-unreadable = 固定した入力のダイジェストを読み取れません
finding-results-absent = 結果がまだまとめられていません
finding-result-wrong = 結果の行が記録と一致しません
finding-balance-unreadable = 集計を読み取れません
finding-balance-differs = 書かれた集計が数え直した集計と一致しません
finding-manifest-unreadable = ファイルの一覧を読み取れません
finding-file-absent = 一覧にあるファイルがありません
finding-file-differs = ファイルのダイジェストが異なります
finding-file-extra = 一覧にないファイルがあります
finding-not-plain = 通常のファイルではないものがあります
finding-unfinished-copy = コピーが完了していません
finding-unreadable = ファイルを読み取れません
finding-balance-absent = 結果を締めくくる集計がありません
finding-list-absent = ここにあるべきものの一覧がありません
finding-stranger-file = システムのファイル、または書きかけのファイルがあります
finding-declaration-wrong = バッグの宣言がないか、正しくありません
finding-list-note = 他のプログラムが読めないかもしれない書き方の一覧です
finding-path-outside = コピーの外を指すものがあります
finding-not-fetched = 別の場所から取得するはずのファイルがありません
finding-oxum-differs = 内容の大きさが記載と違います
finding-name-normalised = 名前の Unicode 形式が一覧と違います
finding-name-twins = 一部のシステムでは同じになる名前が二つあります
finding-verdict-wrong = エクスポートの判定がないか、変更されています
finding-archive-damaged = アーカイブを最後まで読めません
finding-expands-too-much = アーカイブの展開が上限を超えます
finding-entry-repeated = アーカイブに同じファイルが二つあります
