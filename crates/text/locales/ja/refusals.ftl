# 拒否の理由ごとに一文ずつ。何が問題か、次に何をすればよいか。

refusal-empty = 入力が空です。本文を入れるか、入力から外してください。
refusal-too-large = 入力のバイト数が宣言した上限を超えています。分割するか、`limits.bytes` を大きくしてください。
refusal-encoding = 宣言した文字コードのテキストとして読めません。その文字コードで保存し直すか、実際の文字コードを宣言してください。
refusal-nul = テキストの中に NUL 文字があります。テキストではない可能性があります。テキストに変換するか、入力から外してください。
refusal-unsupported-kind = この種類のファイルはテキストとして読めません。テキスト（.txt、.md、.html、.eml）に変換してから、もう一度実行してください。
refusal-unreadable = ファイルはありますが、読み取れません。Pilote を実行するユーザーに読み取りの権限を与えてください。
refusal-not-a-file = ファイルの代わりに、ディレクトリ、切れたリンク、またはデバイスがあります。ファイルを置いてください。
refusal-name-not-utf8 = ファイル名が UTF-8 ではないため、識別子にできません。ファイル名を変えてください。
refusal-bad-record = レコードが JSON オブジェクトではないか、本文のフィールドがないか文字列ではありません。行を直してください。
refusal-bad-id = レコードの識別子がないか、空か、識別子にできない型です。識別子を付けてください。
refusal-duplicate-id = 前にある項目と識別子が同じです。項目ごとに別の識別子を付けてください。
refusal-input-changed = 索引を作った後に入力が変わりました。元の内容に戻すか、新しい試行を始めてください。
refusal-too-long = 入力のトークン数が上限を超えています。短くするか分割するか、切り詰めることを宣言してください。
refusal-ambiguous = 次のカテゴリーとの差が足りず、一つに決められません。項目を自分で読むか、カテゴリーの説明をより明確にしてください。
refusal-not-finite = 出力に有限でない値があるか、すべてゼロです。精度とモデルを確認してください。
refusal-wrong-width = ベクトルの次元数が宣言と異なります。モデルの次元数を宣言するか、予定したモデルを使ってください。
refusal-outside-categories = エンジンが、宣言していないカテゴリーを答えました。カテゴリーを宣言するか、エンジンを直してください。
refusal-empty-output = エンジンが何も返しませんでした。入力を確認してから、項目を再試行してください。
refusal-output-cut = 出力が長さの上限で切れました。より長い出力を許してから、項目を再試行してください。
refusal-filtered = エンジン自身の内容規定により、出力が差し止められました。項目を自分で読んでください。
refusal-invalid-output = 出力が、成果物として宣言した形ではありません。エンジンの出力か、宣言した形を直してください。
refusal-bad-file = 出力ファイルがないか、空か、復号できません。エンジンが書いたものを確認してから、項目を再試行してください。
refusal-by-engine = エンジンが項目を拒否しました。理由はエンジンの言葉のとおりです。
refusal-poison = この項目だけで、エンジンが繰り返し停止するか壊れます。入力から外すか、エンジンの開発元に報告してください。
refusal-no-answer = エンジンはほかの項目には答えましたが、この項目は聞き直しても答えませんでした。入力を確認してから、再試行してください。

refusal-with-facts = { $sentence }（{ $facts }）
fact = { $label }：{ $value }
fact-separator = 、
list-separator = 、

# 詳細の名前。
fact-at = 位置
fact-deaths = エンジンの停止回数
fact-detail = 詳細
fact-expected = 予定
fact-first = 最も近い
fact-first_score = そのスコア
fact-limit = 上限
fact-margin = 必要な差
fact-second = 次に近い
fact-second_score = そのスコア
fact-seen = 実際
