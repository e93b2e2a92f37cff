//! Time and memory at volume; run by hand in release mode, since figures of a debug build say nothing.

use std::time::Instant;

use pilote_proof::{Question, collect, compare, find, report, verify};
use pilote_spec::{Campaign, ItemId, QualityBar, TrialKind};
use pilote_text::{Lang, Texts};

use crate::support::{Fixture, Plan, expected};

/// Peak memory of this process so far, as `/proc` has it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM unknown").to_owned()
}

#[test]
#[ignore = "a minute of work; prints figures: cargo nextest run --release --run-ignored only --no-capture volume"]
#[expect(clippy::disallowed_methods, reason = "measures wall time and judges nothing by it")]
fn volume_of_a_million_rows() {
    let plan = Plan {
        kind: TrialKind::Campaign,
        rows: 1_000_000,
        part_items: 16_384,
        declare: |project| {
            let inputs = project.pilot.inputs.clone();
            project.campaign = Some(Campaign { inputs, count: 1_000_000, refused_max: 0.0 });
        },
        ..Plan::default()
    };
    let fixture = Fixture::new(&plan, |item| Some(expected(item)));
    println!("built                    {}", peak());
    let timed = |what: &str, work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        println!("{what:<12} {:>8.3} s  {}", start.elapsed().as_secs_f64(), peak());
    };
    timed("collect", &mut || assert!(collect(&fixture.trial).unwrap().balance.balance.holds));
    timed("verify", &mut || assert!(verify(&fixture.trial).unwrap().holds));
    let id = ItemId("row-00777777".into());
    timed("find", &mut || assert_eq!(find(&fixture.trial, &id).unwrap().len(), 1));
    let scratch = tempfile::tempdir().unwrap();
    let bar = QualityBar::default();
    let question = Question { project: None, scratch: scratch.path(), bar, labels: None };
    timed("compare", &mut || {
        let comparison = compare(&fixture.trial, &fixture.trial, &question).unwrap();
        assert_eq!((comparison.items.both, comparison.results.differing()), (1_000_000, 0));
    });
    timed("report", &mut || {
        assert!(!report(&fixture.trial, None, None, &Texts::new(Lang::En)).unwrap().is_empty());
    });
}
