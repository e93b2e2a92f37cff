//! The report: escaped, whole in three languages, the same bytes each time, and honest about what is not there.

use std::path::Path;

use pilote_proof::{collect, export, report, report_data, report_markdown, write_report};
use pilote_spec::{Campaign, Stamp, TrialKind, WorkReason};
use pilote_text::{Lang, Texts};

use crate::support::{Fixture, Plan, expected, pilot, refused};

/// The page's text without its tags and styles.
fn text(html: &str) -> String {
    let body = &html[html.find("<body>").unwrap()..];
    let mut text = String::new();
    for piece in body.split('<') {
        text.push_str(piece.split_once('>').map_or("", |(_, text)| text));
        text.push('\n');
    }
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Keeps a page where it can be looked at: `target/tmp/reports/`.
fn keep(name: &str, html: &str) {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reports");
    std::fs::create_dir_all(&dir).unwrap();
    write_report(&dir.join(format!("{name}.html")), html).unwrap();
}

fn page(fixture: &Fixture, lang: Lang) -> String {
    report(&fixture.trial, Some(&fixture.project), None, &Texts::new(lang)).unwrap()
}

/// Words that stand only in keys of messages: one of them in a page is a message that no language has.
fn missing_keys(html: &str) -> Vec<String> {
    let words = text(html);
    let words = words.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
    let areas = ["report-", "finding-", "criterion-", "refusal-", "verdict-", "unit-", "fact-", "count-"];
    words.filter(|word| areas.iter().any(|area| word.starts_with(area))).map(str::to_owned).collect()
}

#[test]
fn the_pilots_report_says_its_verdict_first_in_each_language() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    export(&fixture.trial, &fixture.elsewhere(), Stamp(1), &mut |_, _| {}).unwrap();
    for (lang, verdict) in [
        (Lang::En, "The pilot holds. 11 items accepted, 1 refused as expected."),
        (Lang::Fr, "Le pilote est tenu\u{a0}: 11 éléments acceptés, 1 refusé comme prévu."),
        (Lang::Ja, "パイロットは成立しました。受理 11 項目、予定どおりの拒否 1 項目。"),
    ] {
        let html = page(&fixture, lang);
        keep(&format!("pilot-{}", lang.code()), &html);
        assert!(html.contains(&format!("<html lang=\"{}\">", lang.code())));
        assert!(text(&html).contains(verdict), "{}", text(&html));
        assert_eq!(missing_keys(&html), [""; 0]);
        assert!(html.contains("06-scan.pdf") && html.contains("12-electricity.txt"));
        assert!(html.contains("Streetlight") || html.contains("street lamp") || html.contains("lamp"));
    }
}

#[test]
fn the_same_trial_gives_the_same_page() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    assert_eq!(page(&fixture, Lang::Fr), page(&fixture, Lang::Fr));
}

#[test]
fn a_report_loads_nothing_and_runs_nothing() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let html = page(&fixture, Lang::En);
    assert!(html.contains("default-src 'none'"));
    for forbidden in ["<script", "<link", "<img", "<iframe", "http://", "https://", "url(", "@import", " on"]
    {
        let markup: String = html.split('<').map(|piece| piece.split('>').next().unwrap_or("")).collect();
        let found = if forbidden == " on" { markup.contains(" onload") } else { html.contains(forbidden) };
        assert!(!found, "{forbidden}");
    }
}

#[test]
fn nothing_from_outside_becomes_markup() {
    let plan = Plan {
        inputs: |project| {
            let inputs = project.join("data/pilote");
            std::fs::write(inputs.join("<script>alert(1)<"), "<img src=x onerror=alert(2)> & \"quoted\"")
                .unwrap();
            std::fs::write(inputs.join("turned \u{202e}txt.exe"), "plain").unwrap();
        },
        declare: |project| {
            project.name = "</title><script>alert(3)".into();
            project.purpose = "<b>bold</b>".into();
        },
        ..Plan::default()
    };
    let fixture = Fixture::new(&plan, |item| match item.position.0 {
        1 => Some(pilote_spec::Outcome::Refused(
            pilote_spec::Refusal::new(pilote_spec::Reason::Work(WorkReason::ByEngine))
                .with("detail", "<svg onload=1>"),
        )),
        _ => Some(expected(item)),
    });
    collect(&fixture.trial).unwrap();
    for lang in Lang::ALL {
        let html = page(&fixture, lang);
        keep(&format!("hostile-{}", lang.code()), &html);
        for markup in ["<script", "<img", "<b>", "<svg onload", "</title><"] {
            assert!(!html.contains(markup), "{markup}");
        }
        assert!(!html.contains('\u{202e}'), "a character that turns the reading order");
        assert_eq!(html.matches("<html").count(), 1);
    }
}

#[test]
fn a_trial_that_does_not_hold_says_so_and_why() {
    let fixture = Fixture::new(&Plan::default(), |item| {
        Some(if item.position.0 % 2 == 0 { refused(WorkReason::Ambiguous) } else { expected(item) })
    });
    collect(&fixture.trial).unwrap();
    for lang in Lang::ALL {
        let html = page(&fixture, lang);
        keep(&format!("fails-{}", lang.code()), &html);
        assert_eq!(missing_keys(&html), [""; 0]);
    }
    let words = text(&page(&fixture, Lang::En));
    assert!(words.contains("The pilot does not hold: 2 criteria fail."), "{words}");
    assert!(words.contains("not expected"));
}

#[test]
fn an_unfinished_trial_is_never_shown_as_finished() {
    let plan = Plan { sealed: 1, ended: None, ..Plan::default() };
    let fixture = Fixture::new(&plan, |item| (item.position.0 < 7).then(|| expected(item)));
    for lang in Lang::ALL {
        let html = page(&fixture, lang);
        keep(&format!("unfinished-{}", lang.code()), &html);
        assert_eq!(missing_keys(&html), [""; 0]);
        assert!(!html.contains("class=\"verdict holds\""));
    }
    assert!(text(&page(&fixture, Lang::En)).contains("Not finished: 5 of 12 items have no outcome yet."));
}

#[test]
fn damage_stands_at_the_top_and_is_listed() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    crate::support::flip(&fixture.path("results.jsonl"), "\"category\":\"");
    let html = page(&fixture, Lang::En);
    keep("damaged-en", &html);
    let words = text(&html);
    assert!(words.contains("This trial is damaged"), "{words}");
    assert!(words.contains("results.jsonl: a file has another digest"), "{words}");
}

#[test]
fn inputs_that_are_not_there_are_said_to_be_absent() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    std::fs::remove_file(fixture.project.join("data/pilote/01-street-lamp.txt")).unwrap();
    std::fs::write(fixture.project.join("data/pilote/03-allotments.md"), "Another text.").unwrap();
    let words = text(&page(&fixture, Lang::En));
    assert_eq!(words.matches("The input is not here, so its text cannot be shown.").count(), 1);
    assert_eq!(words.matches("The input has changed since the trial, so its text is not shown.").count(), 1);
    assert!(!words.contains("Another text."));
    let alone = report(&fixture.trial, None, None, &Texts::new(Lang::En)).unwrap();
    assert_eq!(text(&alone).matches("The input is not here").count(), 11);
}

#[test]
fn a_campaign_shows_a_sample_by_length_and_counts_the_rest() {
    let plan = Plan {
        kind: TrialKind::Campaign,
        part_items: 100,
        declare: |project| {
            let mut inputs = project.pilot.inputs.clone();
            if let pilote_spec::Inputs::Directory { directory, .. } = &mut inputs {
                *directory = "data/corpus".into();
            }
            project.campaign = Some(Campaign { inputs, count: 700, refused_max: 0.5 });
        },
        inputs: |project| {
            let corpus = project.join("data/corpus");
            std::fs::create_dir_all(&corpus).unwrap();
            for n in 0..700_usize {
                std::fs::write(corpus.join(format!("{n:04}.txt")), "word ".repeat(1 + n * n % 1_009))
                    .unwrap();
            }
        },
        ..Plan::default()
    };
    let fixture = Fixture::new(&plan, |item| {
        Some(if item.position.0 % 3 == 0 { refused(WorkReason::TooLong) } else { expected(item) })
    });
    collect(&fixture.trial).unwrap();
    for lang in Lang::ALL {
        let html = page(&fixture, lang);
        keep(&format!("campaign-{}", lang.code()), &html);
        assert_eq!(missing_keys(&html), [""; 0]);
    }
    let words = text(&page(&fixture, Lang::En));
    assert!(words.contains("24 of 466 accepted items, drawn by length"), "{words}");
    assert!(words.contains("234 items\ntoo-long"), "{words}");
    assert!(words.contains("and 222 more, in refused.jsonl"), "{words}");
}

#[test]
fn the_page_keeps_its_outline() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let html = page(&fixture, Lang::En);
    let mut outline = Vec::new();
    for piece in html.split('<').skip(1) {
        let (tag, words) = piece.split_once('>').unwrap_or((piece, ""));
        let name = tag.split([' ', '/']).next().unwrap_or("");
        match name {
            "main" | "header" | "section" | "figure" | "footer" => outline.push(format!("<{tag}>")),
            "h1" | "h2" | "caption" | "summary" => outline.push(format!("  {name} {}", words.trim())),
            _ => {}
        }
    }
    outline.dedup();
    insta::assert_snapshot!(outline.join("\n"));
}

#[test]
fn the_markdown_says_what_the_page_says_and_nothing_from_outside_becomes_markup() {
    let plan = Plan {
        inputs: |project| {
            std::fs::write(
                project.join("data/pilote/00-[x](y).txt"),
                "# not a heading\n<script>alert(1)</script>",
            )
            .unwrap();
        },
        declare: |project| project.purpose = "<b>*bold*</b>".into(),
        ..Plan::default()
    };
    let fixture = Fixture::new(&plan, |item| Some(expected(item)));
    collect(&fixture.trial).unwrap();
    for lang in Lang::ALL {
        let texts = Texts::new(lang);
        let markdown = report_markdown(&fixture.trial, Some(&fixture.project), &texts).unwrap();
        keep(&format!("markdown-{}", lang.code()), &markdown);
        assert!(markdown.starts_with("# twelve-documents\n\n\\<b\\>\\*bold\\*\\</b\\>\n"), "{markdown}");
        assert!(
            markdown.contains("> \\# not a heading\\\n> \\<script\\>alert(1)\\</script\\>\n"),
            "{markdown}"
        );
        assert!(markdown.contains("### 00-\\[x\\](y).txt\n"), "{markdown}");
        // Code is set as it stands, and an escaped sign is none.
        let prose: String = markdown.split('`').step_by(2).collect::<String>().replace("\\<", "");
        assert!(!prose.contains("<script") && !prose.contains("[x]("), "{prose}");
        assert_eq!(missing_keys(&format!("<body>{}", markdown.replace('<', ""))), [""; 0]);
    }
}

#[test]
fn the_facts_for_programs_are_those_of_the_page_without_a_word() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let data = report_data(&fixture.trial, Some(&fixture.project)).unwrap();
    assert_eq!((data.format, data.accepted, data.samples.len()), ("pilote.report-facts/1", 11, 11));
    assert_eq!(data.refused.get("unsupported-kind"), Some(&1));
    assert_eq!((data.measures.batches, data.measures.items), (3, 12));
    assert_eq!(data.measures.peak_bytes, Some(380 << 20));
    assert!(data.samples.iter().all(|sample| sample.input.is_some() && sample.output.is_some()));
}

#[test]
fn reasons_memory_and_history_are_shown_where_there_is_something_to_show() {
    let fixture = Fixture::new(&Plan::default(), |item| {
        Some(if item.position.0 % 3 == 0 { refused(WorkReason::Ambiguous) } else { expected(item) })
    });
    collect(&fixture.trial).unwrap();
    let html = page(&fixture, Lang::En);
    assert!(html.contains("Refused items by reason.") && html.contains("memory of the machine"));
    assert!(!html.contains("History of the project"), "one trial without a decision is the report itself");
    let proposal = pilote_proof::Proposal {
        choice: pilote_proof::Choice::Mend,
        because: Some("the <margin> is wrong".into()),
        accepted: None,
        left: None,
        condition: Some("refusals-expected".parse().unwrap()),
        samples: Vec::new(),
        quality: Vec::new(),
    };
    let decision = pilote_proof::weigh(&fixture.trial, proposal, Stamp(1)).unwrap();
    pilote_proof::keep(&fixture.trial, &decision).unwrap();
    for lang in Lang::ALL {
        let html = page(&fixture, lang);
        keep(&format!("history-{}", lang.code()), &html);
        assert!(text(&html).contains("criterion:refusals-expected"), "{}", text(&html));
        assert!(
            html.contains("the &#60;margin&#62; is wrong") || html.contains("the &lt;margin&gt; is wrong")
        );
    }
    let whole = pilot();
    collect(&whole.trial).unwrap();
    assert!(!page(&whole, Lang::En).contains("Refused items by reason."), "one refusal is told by itself");
}
