# 判断、受領書、プロジェクトの履歴、キャンペーン前の関門、締めくくり。

decision-launch = 開始
decision-mend = 修正
decision-replan = プラン変更
decision-kept-launch = { $trial } に基づく開始の判断を、判断 { $number } として保存しました。ほかに足りないものは「pilote run --campaign --dry-run」で分かります。
decision-kept-mend = 修正の判断を { $trial } の判断 { $number } として保存しました。解決すべきもの：{ $condition }。次の試行が解決の有無を示します。
decision-kept-replan = プラン変更の判断を { $trial } の判断 { $number } として保存しました。解決すべきもの：{ $condition }。次の試行が解決の有無を示します。

decide-look = { $count } 件の結果を入力と見比べてください。形式が正しくても内容が誤っていることがあります。
decide-input = 入力：{ $text }
decide-result = 結果：{ $text }
decide-right-or-wrong = 正しければ r、誤りなら w と理由：
decide-because = この判断の理由：
decide-accepted = 完全ではないが受理するもの：
decide-left = 直すべき残り：
decide-no-answer = r でも w でもありません。

receipt-written = 受領書：{ $file }。計算したマシンへ持ち帰り、「pilote receipt { $trial } { $file }」で取り込んでください。
receipt-taken = 別のマシンが { $trial } のコピーを検証しました：{ $copy }（{ $at } に読み取り）。

log-none = 試行はまだありません。「pilote run」で最初の試行を行います。
log-changed = { $since } から変わったもの：{ $factors }
log-elsewhere = コピーが別のマシンで検証されました
log-decision = 判断 { $number }（{ $at }）：{ $choice }
log-because = 理由：{ $words }
log-accepted = そのまま受理：{ $words }
log-left = 直すべき残り：{ $words }
log-condition = 解決すべきもの：{ $condition }
log-samples = 結果 { $count } 件を確認、うち誤り { $wrong } 件
log-by-length = 長いファイルは長さだけを比べました：{ $files }
log-broken = この判断の後に試行が変更されたため、もう根拠になりません：{ $files }
log-unreadable = 判断 { $number } を読み取れないため、根拠になりません：{ $why }
log-resolution-resolved = { $of } の { $condition } は、この試行で解決しました。
log-resolution-standing = { $of } の { $condition } は解決していません。再び満たされませんでした。
log-resolution-unknown = { $of } の { $condition } が解決したかどうかは、この試行からは分かりません。

gate-open = キャンペーンを開始できます。根拠となるパイロット：{ $pilot }。
gate-closed = キャンペーンは開始されません。
gate-next = 次の手順：{ $command }
gate-lacks = 足りないもの：{ $lacks }
gate-declared = プロジェクトがキャンペーンを宣言している（config/pilote.json の `campaign` に inputs、count、refused_max）
gate-ladder = このマシンで点検のすべての段を登り、通過している
gate-pilot-holds = パイロットを読み直し、完全であり成立している
gate-same-as-pilot = そのパイロットは、この成果物・モデル・プログラム・パラメーターで、このマシンとカードで実行された
gate-copy-elsewhere = 別のマシンがそのコピーを検証した
gate-decided = それに基づく開始の判断が書き残され、その後変更されていない

close-trial = { $trial } をコピーし、読み直しました：{ $copy }
close-trial-elsewhere = { $trial } をコピーして読み直し、別のマシンもコピーを検証しています：{ $copy }
close-bundle = 設定・コード・判断は { $bundle } にあります（{ $files } 個のファイル、{ $size }、すべて読み直し済み）。そこで「sha256sum -c manifest-sha256.txt」を実行すれば、どこでも確かめられます。
close-model = モデルは参照とダイジェストから再び入手できるため、持ち出しません：{ $model }
close-lost = いまマシンを返却すると、次のものが失われるか、証明できなくなります：
close-known = コピーしていません。ほかの場所にあることを確かめてください：
close-loss-unfinished = { $what }：試行が完了していません。「pilote run --resume」で続けられます。
close-loss-not-copied = { $what }：完全なコピーがありません。
close-loss-not-verified-elsewhere = { $what }：別のマシンで検証されたコピーがありません。コピーを持ち出して「pilote verify COPY --receipt receipt.json」を実行し、受領書を「pilote receipt」で取り込んでください。
close-loss-bundle-here = { $what } はこのマシンのファイルシステムにあります。持ち出すか、別の場所を「pilote close DIR」で指定してください。
close-loss-not-plain = { $what } はコピーに含められません。
close-loss-weights = { $what } の重みを読み取れず、ほかには誰も持っていません。
close-loss-inputs = { $what }
close-safe = 安全です。このマシンにしかないもので失われるものはありません。何も削除していません。
close-not-safe = まだマシンを返却できる状態ではありません。何も削除していません。
