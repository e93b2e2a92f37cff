# 基準ごとに、名前と判定ごとの一文。不成立のときは、何をすればよいかも述べる。

criterion-concerning = { $sentence } 該当：{ $names }
criterion-unjudged = この基準は判定できませんでした。

criterion-inputs-count = 入力の数
    .holds = 宣言した { $seen } 件の入力がすべてそろっています。
    .fails = 入力は { $seen } 件ですが、宣言は { $expected } 件です。入力を足すか減らすか、宣言した件数を直してください。
    .unknown = 試行を { $limit } 項目に限ったため、判定していません。制限なしで実行し直してください。

criterion-inputs-unique = 識別子
    .holds = どの識別子も一度だけ現れます。
    .fails = { $seen } 個の識別子が複数の場所にあります。項目ごとに別の識別子を付けてください。

criterion-inputs-readable = 読める入力
    .holds = どの入力も読めるか、読めない理由で拒否されています。
    .fails = { $seen } 件の入力で、入力の問題と記録された結果が一致しません。試行を終わらせるか、新しい試行を始めてください。

criterion-inputs-unchanged = 入力の不変
    .holds = どの入力も、固定したダイジェストのとおりです。
    .fails = { $seen } 件の入力のダイジェストが、固定したものと異なります。元の内容に戻すか、新しいダイジェストを固定して新しい試行を始めてください。
    .unknown = 固定したダイジェストの一覧を読み取れませんでした。プロジェクトで宣言した場所に戻してください。

criterion-invalid-case-present = 不正な入力
    .holds = 拒否されるべき { $seen } 件の入力が項目の中にあります。
    .fails = 拒否されるべき入力 { $expected } 件のうち、項目の中にあるのは { $seen } 件です。戻すか、予定した拒否を直してください。
    .unknown = 項目数を限った試行では、拒否されるべき入力のすべてには届きませんでした。制限なしで実行し直してください。

criterion-records-whole = 記録
    .holds = すべての記録を読み直し、破損はありませんでした。
    .fails = { $seen } 件の記録が破損しています。完全なコピーを使うか、新しい試行を始めてください。

criterion-balance-adds-up = 合計
    .holds = 受理 { $accepted } + 拒否 { $refused } + 未処理 { $pending } = 宣言 { $declared }。重複も宣言外もありません。
    .fails = 受理 { $accepted } + 拒否 { $refused } + 未処理 { $pending }、宣言は { $declared }。重複 { $duplicated }、宣言外 { $invented }、求めていない答え { $stray }。結果を使う前にエンジンを調べてください。

criterion-nothing-pending = 未処理
    .holds = 未処理の項目はありません。
    .fails = { $pending } 項目が未処理です。試行を再開してください。

criterion-results-count = 結果の数
    .holds = 約束した { $seen } 項目がすべて受理されました。
    .fails = 受理は { $seen } 項目ですが、約束は { $expected } 項目です。拒否された項目と未処理の項目を確認してください。
    .unknown = 項目数を限った試行で、約束した { $expected } 項目のうち { $seen } 項目が受理されました。制限なしで実行し直してください。

criterion-results-acceptable = 結果の内容
    .holds = 受理した { $seen } 件の出力をすべて読み直し、成果物の宣言どおりでした。
    .fails = { $expected ->
        [0] 受理した項目がないため、結果がありません。拒否の理由を確認してください。
       *[other] 受理した { $expected } 件の出力を読み直したところ、{ $wrong } 件が条件を満たしていません。この結果は使わないでください。
    }
    .unknown = 受理した { $expected } 件の出力のうち、読み直せたのは { $seen } 件だけです。足りないファイルを探すか、コピーを作り直してください。

criterion-results-complete = 結果ファイル
    .holds = 結果ファイルに { $seen } 件の結果が、入力の順に一度ずつあります。
    .fails = 結果ファイルの結果は { $seen } 件で、記録の { $expected } 件と数か内容が異なります。結果をまとめ直してください。
    .unknown = 結果がまだまとめられていません。試行を終わらせてから、まとめてください。

criterion-refusals-expected = 予定した拒否
    .holds = { $seen ->
        [0] 宣言どおり、拒否はありませんでした。
       *[other] 宣言どおり、{ $seen } 項目が拒否されました。
    }
    .fails = 拒否は { $seen } 件、予定は { $expected } 件です。うち予定外 { $unexpected } 件、予定したのに拒否されなかったもの { $absent } 件。項目か、予定した拒否を直してください。
    .unknown = 項目数を限った試行では、予定した拒否 { $expected } 件のうち { $absent } 件に届きませんでした。制限なしで実行し直してください。

criterion-refusals-within-share = 拒否の割合
    .holds = { $declared } 項目のうち { $refused } 項目が拒否され、宣言した割合 { $share } 以内です。
    .fails = { $declared } 項目のうち { $refused } 項目が拒否され、宣言した割合 { $share } を超えています。先に進む前に理由を確認してください。
    .unknown = プロジェクトが拒否の割合を宣言していません。`campaign.refused_max` を宣言してください。

criterion-trial-ended = 試行の終了
    .holds = 試行は正しく終了し、{ $seen } 個の区分すべてに封印があります。
    .fails = { $expected } 個の区分のうち封印があるのは { $seen } 個で、試行は「{ $ended }」で終わりました。再開してください。
    .unknown = { $seen } 個の区分すべてに封印がありますが、試行の終わり方が記録されていません。再開して閉じてください。

criterion-copy-whole = コピー
    .holds = コピーの { $seen } 個のファイルをすべて読み直し、完全でした。
    .fails = コピーの { $seen } 個のファイルがないか、異なっています。コピーを作り直してください。
    .unknown = コピーはまだ読み直されていません。`pilote export` でコピーを作ってください。
