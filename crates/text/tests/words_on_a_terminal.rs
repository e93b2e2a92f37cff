//! Lookups, quantities, columns, and the balance as each language shows it.

use std::time::Duration;

use insta::assert_snapshot;
use pilote_spec::{Balance, Criterion, CriterionCode, Reason, Refusal, Verdict, WorkReason};
use pilote_text::{Lang, Texts, fit, pad, pad_start, printable, width};

fn criterion(code: CriterionCode, verdict: Verdict) -> Criterion {
    Criterion { code, verdict, facts: Default::default(), concerned: Vec::new() }
}

/// A pilot with one item too many refused, in all its lines.
fn lines(lang: Lang) -> String {
    let balance = Balance { declared: 12, accepted: 10, refused: 2, ..Balance::default() };
    let sum = criterion(CriterionCode::BalanceAddsUp, Verdict::Holds);
    let sum = [("declared", 12), ("accepted", 10), ("refused", 2), ("pending", 0), ("stray", 0)]
        .into_iter()
        .fold(sum, |sum, (name, value)| sum.with(name, value));
    let refusals = criterion(CriterionCode::RefusalsExpected, Verdict::Fails)
        .with("seen", 2)
        .with("expected", 1)
        .with("unexpected", 1)
        .with("absent", 0)
        .concerning(["lettre\u{1b}[2J.txt (ambiguous)"]);
    let criteria = [
        criterion(CriterionCode::InputsCount, Verdict::Holds).with("seen", 12).with("expected", 12),
        sum,
        refusals,
        criterion(CriterionCode::CopyWhole, Verdict::Unknown),
    ];
    Texts::new(lang).balance_lines(&balance, &criteria).join("\n")
}

#[test]
fn the_balance_in_english() {
    assert_snapshot!(lines(Lang::En), @r"
      Declared    12
      Accepted    10
      Refused      2
      Pending      0
      Missing      0
      Duplicated   0
      Invented     0

      ✓ holds    All 12 declared inputs are there.
      ✓ holds    10 accepted + 2 refused + 0 pending = 12 declared, none duplicated, none invented.
      ✗ fails    Refused: 2, expected: 1; not expected among them: 1, expected and not refused: 0. Correct the items or the expected refusals. Concerned: lettre␛[2J.txt (ambiguous)
      ? unknown  No copy has been read again yet. Make one with `pilote export`.

    The balance does not hold: see the criteria above that fail or are unknown.
    ");
}

#[test]
fn the_balance_in_french() {
    assert_snapshot!(lines(Lang::Fr), @r"
      Déclarés    12
      Acceptés    10
      Refusés      2
      En attente   0
      Manquants    0
      En double    0
      Inventés     0

      ✓ tenu      Les 12 entrées déclarées sont là.
      ✓ tenu      10 acceptés + 2 refusés + 0 en attente = 12 déclarés, aucun en double, aucun inventé.
      ✗ non tenu  Refusés : 2, attendus : 1 ; dont non attendus : 1, attendus et non refusés : 0. Corrigez les éléments ou les refus attendus. Concernés : lettre␛[2J.txt (ambiguous)
      ? inconnu   Aucune copie n’a encore été relue. Faites-en une avec `pilote export`.

    Le bilan ne tient pas : voir ci-dessus les critères non tenus ou inconnus.
    ");
}

#[test]
fn the_balance_in_japanese() {
    assert_snapshot!(lines(Lang::Ja), @r"
      宣言    12
      受理    10
      拒否     2
      未処理   0
      不足     0
      重複     0
      宣言外   0

      ✓ 成立    宣言した 12 件の入力がすべてそろっています。
      ✓ 成立    受理 10 + 拒否 2 + 未処理 0 = 宣言 12。重複も宣言外もありません。
      ✗ 不成立  拒否は 2 件、予定は 1 件です。うち予定外 1 件、予定したのに拒否されなかったもの 0 件。項目か、予定した拒否を直してください。 該当：lettre␛[2J.txt (ambiguous)
      ? 不明    コピーはまだ読み直されていません。`pilote export` でコピーを作ってください。

    集計は成立していません。上の基準のうち、不成立または不明のものを確認してください。
    ");
}

#[test]
fn the_columns_of_the_balance_line_up_in_every_language() {
    for lang in Lang::ALL {
        let texts = Texts::new(lang);
        let balance = Balance { declared: 1_234_567, accepted: 12, ..Balance::default() };
        let widths: Vec<usize> = texts.count_lines(&balance).iter().map(|line| width(line)).collect();
        assert_eq!(widths.len(), 7);
        assert!(widths.iter().all(|columns| *columns == widths[0]), "{lang:?}: {widths:?}");
        // The sentence begins at one column whatever the verdict.
        let criteria =
            Verdict::ALL.map(|verdict| criterion(CriterionCode::CopyWhole, verdict).with("seen", 3));
        let starts: Vec<usize> = texts
            .criterion_lines(&criteria)
            .iter()
            .zip(&criteria)
            .map(|(line, criterion)| width(line) - width(&texts.criterion(criterion)))
            .collect();
        assert!(starts.iter().all(|column| *column == starts[0]), "{lang:?}: {starts:?}");
    }
}

#[test]
fn the_verdict_over_all_is_said_after_the_criteria() {
    let balance = Balance { holds: true, ..Balance::default() };
    let lines = Texts::new(Lang::En).balance_lines(&balance, &[]);
    assert_eq!(lines.last().map(String::as_str), Some("The balance holds: every criterion is met."));
}

#[test]
fn a_refusal_says_its_facts_behind_the_sentence() {
    let refusal = Refusal::new(Reason::Work(WorkReason::TooLong)).with("seen", 9_000).with("limit", 256);
    let says = |lang| Texts::new(lang).refusal(&refusal);
    assert_snapshot!(says(Lang::En), @"The input has more tokens than the limit. Shorten or split it, or declare that it is to be cut. (limit: 256; seen: 9,000)");
    assert_snapshot!(says(Lang::Fr), @"L’entrée compte plus de jetons que la limite. Raccourcissez-la ou découpez-la, ou déclarez qu’elle doit être coupée. (limite : 256 ; constaté : 9 000)");
    assert_snapshot!(says(Lang::Ja), @"入力のトークン数が上限を超えています。短くするか分割するか、切り詰めることを宣言してください。（上限：256、実際：9,000）");
}

#[test]
fn a_fact_without_a_name_of_its_own_is_shown_under_its_key() {
    let refusal = Refusal::new(Reason::Work(WorkReason::ByEngine)).with("http\u{7}", "429\u{1b}");
    assert!(Texts::new(Lang::En).refusal(&refusal).ends_with("(http␇: 429␛)"));
}

#[test]
fn a_share_is_shown_in_per_cent() {
    let share = criterion(CriterionCode::RefusalsWithinShare, Verdict::Fails)
        .with("refused", 12_000)
        .with("declared", 100_000)
        .with("share", 0.015);
    assert_snapshot!(Texts::new(Lang::En).criterion(&share), @"12,000 of 100,000 items are refused, more than the declared share of 1.50%. See the reasons before you go on.");
    assert_snapshot!(Texts::new(Lang::Fr).criterion(&share), @"12 000 éléments sur 100 000 sont refusés, plus que la part déclarée de 1,50 %. Voyez les motifs avant de continuer.");
}

#[test]
fn a_criterion_without_its_facts_is_said_with_what_is_unknown() {
    let bare = Texts::new(Lang::En).criterion(&criterion(CriterionCode::ResultsCount, Verdict::Fails));
    assert_eq!(
        bare,
        "unknown items are accepted and unknown were promised. See the refusals and the pending items."
    );
    let unjudged = Texts::new(Lang::En).criterion(&criterion(CriterionCode::RecordsWhole, Verdict::Unknown));
    assert_eq!(unjudged, "It could not be judged.");
}

#[test]
fn a_whole_number_chooses_the_plural_and_keeps_its_digits() {
    let says = |lang, seen: &str| {
        let criterion = criterion(CriterionCode::InputsUnique, Verdict::Fails).with("seen", seen);
        Texts::new(lang).criterion(&criterion)
    };
    assert!(says(Lang::En, "1").starts_with("One identifier stands"));
    assert!(says(Lang::En, "3").starts_with("3 identifiers stand"));
    assert!(says(Lang::Fr, "1").starts_with("1 identifiant se trouve"));
    assert!(says(Lang::Fr, "2").starts_with("2 identifiants se trouvent"));
    assert!(says(Lang::En, "007").starts_with("007 identifiers stand"), "no number in plain digits");
    assert!(says(Lang::En, "1500").starts_with("1,500 identifiers stand"));
}

#[test]
fn what_comes_from_outside_cannot_steer_the_terminal() {
    let texts = Texts::new(Lang::En);
    let shown = texts.get("fact", &[("label", "a"), ("value", "\u{1b}]0;x\u{7}\r\n\u{202e}")]);
    assert_eq!(shown, "a: ␛]0;x␇␍␊\\u{202e}");
    assert_eq!(printable("\0\u{7f}\u{9b}\u{2028}\u{feff}"), "␀␡\\u{9b}\\u{2028}\\u{feff}");
    let plain = "é 日本語 👩‍🔬 ␛";
    assert!(matches!(printable(plain), std::borrow::Cow::Borrowed(same) if same == plain));
}

#[test]
fn a_key_that_does_not_exist_gives_itself() {
    let texts = Texts::new(Lang::Ja);
    assert_eq!(texts.get("no-such-key", &[]), "no-such-key");
    assert_eq!(texts.find("criterion-copy-whole.no-such-attribute", &[]), None);
    assert_eq!(texts.lang(), Lang::Ja);
}

#[test]
fn french_sets_spaces_that_do_not_break_before_high_punctuation() {
    let ended = criterion(CriterionCode::TrialEnded, Verdict::Fails).with("ended", "breaker");
    let said = Texts::new(Lang::Fr).criterion(&ended);
    assert!(said.contains("«\u{a0}breaker\u{a0}»"), "{said}");
    assert!(lines(Lang::Fr).contains("attendus\u{a0}: 1\u{202f};"), "{}", lines(Lang::Fr));
}

#[test]
fn numbers_are_grouped_and_pointed_as_the_language_does() {
    let [en, fr, ja] = Lang::ALL.map(Texts::new);
    assert_eq!([en.number(0), en.number(999), en.number(1_000)], ["0", "999", "1,000"]);
    assert_eq!(fr.number(1_234_567), "1\u{202f}234\u{202f}567");
    assert_eq!(ja.number(u64::MAX), "18,446,744,073,709,551,615");
    assert_eq!([en.decimal(1234.5, 2), en.decimal(-0.25, 1), en.decimal(2.0, 0)], ["1,234.50", "-0.2", "2"]);
    assert_eq!(fr.decimal(1234.5, 1), "1\u{202f}234,5");
    assert_eq!([en.decimal(f64::NAN, 1), fr.decimal(f64::INFINITY, 1)], ["unknown", "inconnu"]);
    assert_eq!([en.percent(0.125, 1), fr.percent(0.125, 1)], ["12.5%", "12,5\u{202f}%"]);
}

#[test]
fn memory_and_storage_are_never_confused() {
    let [en, fr, ja] = Lang::ALL.map(Texts::new);
    let gib = 1 << 30;
    assert_eq!([en.memory(gib), en.storage(gib)], ["1.0 GiB", "1.0 GB"]);
    assert_eq!([en.memory(24 * gib), en.storage(24 * gib)], ["24.0 GiB", "25.7 GB"]);
    assert_eq!([fr.memory(1_536), fr.storage(1_536)], ["1,5\u{202f}Kio", "1,5\u{202f}ko"]);
    assert_eq!([ja.memory(gib - 1), ja.storage(999)], ["1,023.9 MiB", "999 バイト"]);
    assert_eq!(en.storage(u64::MAX), "18,446,744.0 TB");
    assert_eq!(en.memory(0), "0 bytes");
}

#[test]
fn durations_show_the_two_units_that_matter() {
    let [en, fr, ja] = Lang::ALL.map(Texts::new);
    let cases: [(Duration, [&str; 3]); 8] = [
        (Duration::from_micros(350), ["350 µs", "350\u{202f}µs", "350マイクロ秒"]),
        (Duration::from_micros(350_999), ["350 ms", "350\u{202f}ms", "350ミリ秒"]),
        (Duration::from_millis(3_460), ["3.4 s", "3,4\u{202f}s", "3.4秒"]),
        (Duration::from_millis(59_999), ["59.9 s", "59,9\u{202f}s", "59.9秒"]),
        (Duration::from_secs(60), ["1 min", "1\u{202f}min", "1分"]),
        (Duration::from_secs(125), ["2 min 5 s", "2\u{202f}min 5\u{202f}s", "2分5秒"]),
        (Duration::from_secs(11_520), ["3 h 12 min", "3\u{202f}h 12\u{202f}min", "3時間12分"]),
        (Duration::from_secs(183_600), ["2 d 3 h", "2\u{202f}j 3\u{202f}h", "2日3時間"]),
    ];
    for (time, expected) in cases {
        assert_eq!([en.duration(time), fr.duration(time), ja.duration(time)], expected);
    }
}

#[test]
fn columns_count_a_japanese_character_as_two() {
    assert_eq!([width("abc"), width("日本"), width("e\u{301}"), width("")], [3, 4, 1, 0]);
    assert_eq!([pad("日", 4), pad_start("日", 4), pad("日本語", 4)], ["日  ", "  日", "日本語"]);
    assert_eq!([&*fit("日本語", 6), &*fit("日本語", 5), &*fit("日本語", 4)], ["日本語", "日本…", "日…"]);
    assert_eq!([&*fit("abc", 1), &*fit("abc", 0), &*fit("日", 1)], ["…", "", "…"]);
}

#[test]
fn the_flag_chooses_the_language_before_the_locale_does() {
    let none = [None; 3];
    assert_eq!(Lang::choose(None, none), Ok(Lang::En));
    assert_eq!(Lang::choose(Some("ja"), [Some("fr_FR.UTF-8"), None, None]), Ok(Lang::Ja));
    assert_eq!(Lang::choose(None, [None, None, Some("fr_CA.UTF-8")]), Ok(Lang::Fr));
    assert_eq!(Lang::choose(None, [Some(""), Some("ja_JP"), Some("fr_FR")]), Ok(Lang::Ja));
    assert_eq!(Lang::choose(None, [Some("C.UTF-8"), None, Some("fr_FR")]), Ok(Lang::En));
    assert_eq!(Lang::choose(None, [None, None, Some("de_DE@euro")]), Ok(Lang::En));
    assert_eq!(Lang::choose(Some("FR-fr"), none), Ok(Lang::Fr));
    let error = Lang::choose(Some("klingon\u{1b}"), none).unwrap_err().to_string();
    assert_eq!(error, "there are no messages in the language `klingon␛`; give en, fr or ja");
}
