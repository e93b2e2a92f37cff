# 集計：件数、判定、全体の判定。

balance-title = 集計

count-declared = 宣言
count-accepted = 受理
count-refused = 拒否
count-pending = 未処理
count-missing = 不足
count-duplicated = 重複
count-invented = 宣言外

verdict-holds = 成立
verdict-fails = 不成立
verdict-unknown = 不明

balance-holds = 集計は成立しています。すべての基準を満たしました。
balance-fails = 集計は成立していません。上の基準のうち、不成立または不明のものを確認してください。
