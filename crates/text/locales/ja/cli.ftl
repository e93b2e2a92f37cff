# コマンドライン：プログラム pilote の要約、質問、拒否の文。

new-next = プロジェクトを { $dir } に作成しました。最初にすることは README.md にあります。「pilote run」でパイロットを実行します。
model-kept = { $reference } を検査し、{ $dir } に保存しました。

show-refused = 拒否された項目とその理由：
show-results = 結果の一部を入力の冒頭と並べて示します。目で確かめてください。形式が正しくても内容が誤っていることがあります。
show-vector = { $width } 次元のベクトル

verify-copy-whole = コピーは完全です：{ $files } ファイル、{ $size }。すべて読み直し、ダイジェストと一致しました。
verify-trial-whole = 試行は完全です：{ $files } ファイル、{ $size } を読み直し、数え直しました。
verify-damaged = 完全ではありません：上に示した { $errors } 件の問題が見つかりました。
verify-bag-whole = バッグは有効です：{ $files } ファイル、{ $size }。すべて読み直し、ダイジェストと一致しました。試行は含まれていません。
verify-sample-whole = 抜き取った範囲に問題はありません：{ $files } ファイル、{ $size } を読み直し、ダイジェストと一致しました。
verify-checked = 確かめたもの：{ $what }。
verify-unchecked = 確かめていないもの：{ $what }。
check-list = 一覧のファイルがすべてあること
check-digests = ファイルのダイジェスト
check-balance = 数え直した集計
check-records = 記録のチェックサムと封印
check-outputs = 受理された出力
check-results = 結果の各行
check-inputs = 入力
why-no-list = { $check }（試行にはファイルの一覧がありません）
why-sampled = { $check }（抜き取りのみ）
why-not-carried = { $check }（コピーに含まれていません）
why-no-trial = { $check }（試行がありません）
why-unreadable = { $check }（元になるものが読めません）
why-one-stream = { $check }（アーカイブが一続きです：展開してフォルダーを検証してください）

state-begun = 開始のみ（計算なし）：起動し直してください
state-unfinished = 未完了
state-sealed = 封印済み
state-collected = 収集済み
state-damaged = 破損
state-stray = 試行ではありません

outcome-pending = 未処理：まだ結果がありません
outcome-accepted = 受理：{ $output }
outcome-refused = 拒否：{ $reason }

runs-none = 試行はまだありません。「pilote run」で最初の試行を行います。
runs-holds = 成立 · 受理 { $accepted }、拒否 { $refused }、未処理 { $pending }
runs-fails = 不成立 · 受理 { $accepted }、拒否 { $refused }、未処理 { $pending }

export-progress = コピー中
export-whole = コピーを読み直し、完全であることを確かめました：{ $copy }（{ $files } ファイル、{ $size }）。
export-damaged = コピーは完全ではなく、判定はありません：{ $copy }。同じコマンドをもう一度実行すると、止まったところから続けます。
export-damaged-since = 以前に作ったコピーが破損しています：{ $copy }。そのまま残し、判定を書き換えました。別の宛先を指定するか、そのフォルダーを消してからもう一度エクスポートしてください。
export-same-disk = 試行と同じファイルシステムにあるため、バックアップではありません。別のマシンに移し、そこで検証してください。
export-no-backup-yet = 別のマシンで検証されるまではバックアップではありません。そのマシンで「pilote verify」を実行してください。

unlock-part = 区分 { $part } を引き継げるようになりました。最後に保持していたのは { $owner } です。
unlock-alive = 注意：{ $owner } は動作中です。締め出され、確定していない分は再計算されます。
unlock-nothing = ロックされているものはありません。この試行の区分は誰にも保持されていません。

run-device-held = 注意：プロセス { $pid }（{ $name }）が { $devices } を使用中です。この試行に不足するおそれがあります。
run-secret-unset = 注意：宣言された秘密 { $name } が設定されていないため、どのプログラムにも渡されません。
run-progress = 計算中
run-refused-so-far = 拒否 { $refused }
run-dry-plan = { $items } 項目。うち { $faults } 項目はこのままでは拒否されます。バッチ { $batches } 個、区分 { $parts } 個。何も書き込んでいません。
run-trial = 試行：{ $trial }
run-report = レポート：{ $report }
run-carried = 再開：{ $done } 件の結果を保持し、残りは { $pending } 項目です。
run-stopped-interrupted = 正常に停止しました。済んだ分は保持されています。「pilote run --resume { $trial }」で続けます。
run-stopped-breaker = 停止しました：エンジンが続けて失敗しました。最初のエラー：{ $error }。該当する項目は未処理のままです。「pilote run --resume { $trial }」で続けます。
run-stopped-refused-max = 停止しました：拒否された項目がプロジェクトの許容を超えました。続ける前に拒否の内容を確かめてください。
run-stopped-guard = 停止しました：回答が既知の答えと、または互いに食い違っています：{ $error }。このバッチの結果は何も記録されていません。原因を確かめてから「pilote run --resume { $trial }」で続けてください。
run-stopped-fault = 停止しました：{ $error }。済んだ分は保持されています。「pilote run --resume { $trial }」で続けます。
run-engine-start = エンジンを開始できず、何も計算していません：{ $error }。
run-after = 失敗した段から確かめます：pilote check --after { $trial }
runs-failed-at = { $rung } で失敗：{ $error }
run-no-copy = コピーはまだありません。「pilote export { $trial } フォルダー」でコピーを作り、読み直します。
run-limited = 最初の { $limit } 項目だけの試行です。確認用であり、集計が成立することはありません。
run-estimate = { $rate } 項目/秒、残り約{ $left }（{ $over }で{ $items } 項目から推定）
run-detached = 試行 { $trial } はこの端末なしで、プロセス { $pid } として続きます。出力は { $log } にあります。
    「pilote follow { $trial }」で見守り、「pilote stop { $trial }」で順に終わらせます。コンテナや機械の停止、または利用者の残したものを終了させるセッション管理には耐えません。
follow-elsewhere = 作業中のプロセスはここからは見えません：{ $why }。表示は書き残された内容です。
follow-left = 離れましたが、試行は続いています。「pilote follow { $trial }」で戻れます。
follow-collecting = 収集・複製・報告書作成中
crew-workers = { $workers } 個のワーカー
crew-ended-early = ワーカー { $number } は状態 { $status } で途中終了しました。理由は { $log } にあります。受け持ちはほかのワーカーに任せました。
work-done = { $trial } に残りはありません。うち { $items } 項目の結果がここで決まりました。結果は起動した側が集めます。
status-parts = 区分 { $all } 個のうち { $sealed } 個が完了しています。
share-worker = { $host } のプロセス { $pid }
share-worker-unknown = 記録のないプロセス
share-devices = { $who }（デバイス { $devices }）
share-done = { $who }: 区分 { $parts } 個、{ $items } 項目
share-at-work = 作業中
share-gone = 終了
share-unseen = ここからは見えない
share-rate = { $rate } 項目/秒
share-slow = ほかの半分未満の速さ
stop-nothing = この試行で動いているものはありません。
stop-asked = プロセス { $pid } に停止を求めました。手元の分を終えてから止まります。「pilote stop --now」で強制終了します。
stop-killed = プロセス { $pid } を強制終了しました。
stop-waiting = 停止待ち
stop-gone = プロセス { $pid } は終了しました。済んだ分は残っています。「pilote run --resume { $trial }」で続けられます。
stop-still-there = プロセス { $pid } はまだ { $trial } で動いています。

demo-project = 例のプロジェクト：{ $dir }
demo-next = 次は「pilote new my-project」。何かを実行する前に、期待する結果を書き出してください。

worker-check-greeting = 時間内に、名前を付けて挨拶する
worker-check-answers = バッチの終わりまでに、各項目に一つの回答がある
worker-check-names = 名前は渡されたとおりに返る
worker-check-identity = 順序を変えても単独でも、回答はそのテキストのもの
worker-check-batches = 許した数のバッチを同時に受け取る
worker-check-text-file = ファイルで渡したテキストも同じテキストである
worker-check-odd-texts = 特異なテキストや空のテキストにも回答し、続けられる
worker-check-longest-line = 最長の行を読む
worker-check-unknown-fields = 知らない欄は読み飛ばす
worker-check-end = 終わりを告げられると、終了状態 0 で終わる
worker-check-other-version = 別の版のプロトコルを名乗らない
worker-check-summary = { $all } の規則のうち { $kept } が守られています。

status-remaining = 残り { $items } 項目の計算は { $low } から { $high } です（この試行で測定した { $measured } 項目による）。
run-since = { $trial } から { $same } 件の結果を引き継ぎ、{ $asked } 項目を計算します。
run-since-changed = その後変更されたため計算し直す項目（{ $count }）：{ $names }
run-since-removed = 入力からなくなった項目（{ $count }）：{ $names }
results-written = { $file }（{ $size }）に書き込みました：受理 { $accepted }、拒否 { $refused }、入力順。
sample-column-group = 長さ
sample-column-lengths = 文字数
sample-column-corpus = コーパス
sample-column-sample = 標本
sample-group-short = 短い
sample-group-usual = 通常
sample-group-near-limit = 上限に近い
sample-faulty = コーパスのうち { $count } 項目は処理できないため抽出していません。その種の項目を一つ、手でパイロットに加えてください。
sample-written = { $folder } に読み取り専用で書き込みました。ダイジェストは { $digests } に固定されています。
sample-declare = config/pilote.json に次のように宣言してください：
