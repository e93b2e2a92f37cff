# 二つの試行の比較と、基準に対する品質。

compare-a = A（基準）：{ $trial }（{ $items } 項目）
compare-b = B：{ $trial }（{ $items } 項目）
compare-limited = { $trial } は最初の { $limit } 項目に限られています。それ以外については何も言えません。
compare-lost = { $trial } の受理された出力のうち { $count } 件を読み直せませんでした。理由は「pilote verify { $trial }」で分かります。

compare-factors = 要因
compare-same = 同じ
compare-partly = 記録された範囲では同じ。記録なし：{ $what }
compare-not-recorded = 記録なし
compare-change = { $field }：{ $a } → { $b }
compare-absent = なし
compare-factor-inputs = 入力
compare-factor-configuration = 設定
compare-factor-parameters = パラメーター
compare-factor-model = モデルのリビジョン
compare-factor-tokenizer = トークナイザー
compare-factor-program = プログラム
compare-factor-engine = エンジンとバージョン
compare-factor-precision = 精度
compare-factor-device = デバイスとドライバー
compare-factor-environment = 環境
compare-factor-seeds = シード
compare-unrecorded-model-digests = モデルのダイジェスト
compare-unrecorded-program-digest = プログラムのダイジェスト
compare-unrecorded-sources = src/ 以下のコード
compare-unrecorded-engine-version = エンジンのバージョン
compare-unrecorded-card = カードとドライバー
compare-unrecorded-machine = どのマシンか
compare-unrecorded-packages = 必要なパッケージ
compare-unrecorded-variables = 変数

compare-items-changed = 内容が異なる：{ $count }
compare-items-only-a = A だけにある：{ $count }
compare-items-only-b = B だけにある：{ $count }
compare-items-moved = 位置が異なる：{ $count }
compare-names = 該当：{ $names }

compare-results = 両方にある { $count } 項目の結果
compare-change-same = 同じ
compare-change-label = 別の分類
compare-change-vector = 別のベクトル
compare-change-text = 別のテキスト
compare-change-json = 別の JSON 値
compare-change-file = 別のファイル
compare-change-kind = 出力の種類または次元が異なる
compare-change-now-refused = B だけで拒否
compare-change-now-accepted = B だけで受理
compare-change-reason = 別の理由で拒否
compare-change-pending = 一方だけ未処理
compare-label = { $a } → { $b }：{ $count }
compare-cosine = ベクトル { $count } 組のコサイン：最小 { $lowest }、平均 { $mean }。
compare-leaves = 等しい JSON フィールド：{ $all } のうち { $equal }。
compare-scores = 同じ分類のスコアの差は最大 { $most } です。
compare-labelled = ラベルどおりの数：A で { $reference }、B で { $candidate }（全 { $all }）。
compare-most = 最も大きく変わったもの（入力の冒頭とともに）

compare-nothing-differs = 記録されたものに違いはなく、結果も同じです。
compare-one-factor = { $count ->
    [0] 変わった要因は一つ（{ $factor }）ですが、結果は同じです。
   *[other] 違いは一つの要因（{ $factor }）だけです。結果の { $count } 件の違いは、その要因か、記録されていない何かによるものです。
}
compare-same-inputs-one-factor = { $count ->
    [0] 入力は同じで、変わった要因は一つ（{ $factor }）ですが、結果は同じです。
   *[other] 入力は同じで、変わった要因は一つ（{ $factor }）です。結果の { $count } 件の違いは、その要因か、記録されていない何かによるものです。
}
compare-several-factors = { $count ->
    [0] 複数の要因（{ $factor }）が変わりましたが、結果は同じです。
   *[other] 複数の要因（{ $factor }）が変わったため、結果の違いの原因は分かりません。一度に一つだけ変えてください。
}
compare-unexplained = 記録されたものは何も変わっていませんが、{ $count } 件の結果が異なります。エンジンが決定的でないか、何かがずれています。
compare-also = 記録がないため、次のものも違う可能性があります：{ $factors }。
compare-again = どちらかを見分けるには、標本をもう一度計算してください：「pilote compare { $a } { $b } --again { $count }」。
compare-again-chance = もう一度計算したところ、何も変わっていないのに { $items } 項目中 { $from-b } 項目が二つ目の試行と異なります。エンジンは同じ結果を二度出しません（{ $trial }）。
compare-again-drift = もう一度計算した { $items } 項目はすべて二つ目の試行と同じで、{ $from-a } 項目が一つ目と異なります。エンジンは同じ結果を出しており、記録されていない何かが二つの試行の間に変わりました（{ $trial }）。
compare-again-beyond = もう一度計算した { $items } 項目はすべて両方の試行と同じです。異なる項目はこの中にありません。もっと多く計算してください（{ $trial }）。
compare-again-changed = 記録されたものが二つ目の試行と違っているため、{ $trial } からは何も言えません。「pilote compare」で違いが分かります。
compare-again-needless = もう一度計算したものはありません。記録されたものが違いを説明しているか、違いがありません。

quality-agreement = 基準と同じ結果
quality-cosine = ベクトルの最小コサイン
quality-accuracy = ラベルどおり
quality-fields = 等しい JSON フィールド
quality-line = { $measure }：{ $seen }（{ $of } 件）、求める最小値 { $minimum }
quality-holds = 求める品質を満たしています。
quality-fails = 求める品質を満たしていません。この変更は品質を落とすため拒否されます。
quality-unknown = 求める品質を判定できないため、この変更は拒否されます。測るものがありませんでした。
