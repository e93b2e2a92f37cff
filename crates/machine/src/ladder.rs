//! Climbing: rungs in order, up to the first that fails, or as far as nothing stands in the way.

use pilote_spec::Clock;

use crate::verdict::{Finding, RungCode, RungReport, RungVerdict, Weight};

/// What looking at a rung came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It was looked at; a fault among the findings makes it fail.
    Judged(Vec<Finding>),
    /// There is nothing for it to look at; why, as a code.
    NotApplicable(&'static str),
    /// The facts that it judges were not collected.
    NotSeen,
}

/// One step of the ladder: looks at one thing and judges it.
pub trait Rung {
    /// Which rung it is.
    fn code(&self) -> RungCode;

    /// Looks and judges. Called once, and only when nothing stands in the way.
    fn judge(&mut self) -> Judgement;
}

/// How far to climb.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Climb {
    /// The rung to begin with; none begins at the first.
    pub from: Option<RungCode>,
    /// The last rung; none climbs all.
    pub to: Option<RungCode>,
    /// Whether a rung that failed stops only those that need it.
    pub all: bool,
}

/// Climbs `rungs`, which stand in order, and tells of each as soon as it is judged.
pub fn climb(
    rungs: &mut [Box<dyn Rung + '_>],
    how: Climb,
    clock: &dyn Clock,
    told: &mut dyn FnMut(&RungReport),
) -> Vec<RungReport> {
    let mut reports: Vec<RungReport> = Vec::new();
    for rung in rungs {
        let code = rung.code();
        if how.to.is_some_and(|last| code > last) {
            break;
        }
        if how.from.is_some_and(|first| code < first) {
            continue;
        }
        let report = match in_the_way(code, &reports, how.all) {
            Some(by) => RungReport {
                rung: code,
                verdict: RungVerdict::Skipped { by },
                findings: Vec::new(),
                took_ms: None,
            },
            None => judged(rung.as_mut(), clock),
        };
        told(&report);
        reports.push(report);
    }
    reports
}

/// The rung that keeps `code` from being looked at, to the one where it all began.
fn in_the_way(code: RungCode, reports: &[RungReport], all: bool) -> Option<RungCode> {
    let stands = |report: &RungReport| match &report.verdict {
        RungVerdict::Failed => Some(report.rung),
        RungVerdict::Skipped { by } => Some(*by),
        _ => None,
    };
    if !all {
        return reports.iter().find_map(stands);
    }
    reports.iter().filter(|report| code.needs().contains(&report.rung)).find_map(stands)
}

fn judged(rung: &mut dyn Rung, clock: &dyn Clock) -> RungReport {
    let code = rung.code();
    let start = clock.monotonic();
    let judgement = rung.judge();
    let took = u64::try_from(clock.monotonic().saturating_sub(start).as_millis()).ok();
    match judgement {
        Judgement::Judged(mut findings) => {
            findings.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
            let fails = findings.iter().any(|finding| finding.weight == Weight::Fault);
            let verdict = if fails { RungVerdict::Failed } else { RungVerdict::Passed };
            RungReport { rung: code, verdict, findings, took_ms: took }
        }
        Judgement::NotApplicable(why) => RungReport {
            rung: code,
            verdict: RungVerdict::NotApplicable { why: why.to_owned() },
            findings: Vec::new(),
            took_ms: None,
        },
        Judgement::NotSeen => {
            RungReport { rung: code, verdict: RungVerdict::NotSeen, findings: Vec::new(), took_ms: None }
        }
    }
}

/// Whether nothing failed, nothing was skipped, and nothing that was asked for is unseen.
#[must_use]
pub fn passes(reports: &[RungReport]) -> bool {
    reports
        .iter()
        .all(|report| matches!(report.verdict, RungVerdict::Passed | RungVerdict::NotApplicable { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stub(RungCode, Judgement);

    impl Rung for Stub {
        fn code(&self) -> RungCode {
            self.0
        }
        fn judge(&mut self) -> Judgement {
            self.1.clone()
        }
    }

    struct Still;
    impl Clock for Still {
        fn monotonic(&self) -> std::time::Duration {
            std::time::Duration::ZERO
        }
        fn wall(&self) -> pilote_spec::Stamp {
            pilote_spec::Stamp(0)
        }
        fn wait(&self, _: std::time::Duration) {}
    }

    fn verdicts(failing: &[RungCode], how: Climb) -> Vec<(RungCode, RungVerdict)> {
        let mut rungs: Vec<Box<dyn Rung>> = RungCode::ALL
            .iter()
            .map(|code| {
                let findings =
                    if failing.contains(code) { vec![Finding::fault("x")] } else { vec![Finding::note("y")] };
                Box::new(Stub(*code, Judgement::Judged(findings))) as Box<dyn Rung>
            })
            .collect();
        let mut told = 0;
        let reports = climb(&mut rungs, how, &Still, &mut |_| told += 1);
        assert_eq!(told, reports.len());
        reports.into_iter().map(|report| (report.rung, report.verdict)).collect()
    }

    #[test]
    fn the_first_rung_that_fails_stands_in_the_way_of_all_that_follow() {
        let verdicts = verdicts(&[RungCode::Bus], Climb::default());
        assert_eq!(verdicts.len(), RungCode::ALL.len());
        assert_eq!(verdicts[3].1, RungVerdict::Passed);
        assert_eq!(verdicts[4].1, RungVerdict::Failed);
        assert!(
            verdicts[5..].iter().all(|(_, verdict)| *verdict == RungVerdict::Skipped { by: RungCode::Bus })
        );
    }

    #[test]
    fn all_goes_on_where_independent_and_names_where_it_began() {
        let verdicts = verdicts(&[RungCode::Bus], Climb { all: true, ..Climb::default() });
        let of = |code| verdicts.iter().find(|(rung, _)| *rung == code).map(|(_, verdict)| verdict.clone());
        assert_eq!(of(RungCode::Container), Some(RungVerdict::Passed));
        assert_eq!(of(RungCode::Computation), Some(RungVerdict::Passed));
        assert_eq!(of(RungCode::Order), Some(RungVerdict::Skipped { by: RungCode::Bus }));
    }

    #[test]
    fn a_climb_ends_at_the_rung_that_was_named() {
        let verdicts = verdicts(&[], Climb { to: Some(RungCode::Environment), ..Climb::default() });
        assert_eq!(verdicts.last().map(|(rung, _)| *rung), Some(RungCode::Environment));
    }

    #[test]
    fn a_climb_may_begin_further_up_and_what_stands_before_is_not_looked_at() {
        let how = Climb { from: Some(RungCode::Engine), ..Climb::default() };
        let verdicts = verdicts(&[RungCode::Bus], how);
        assert_eq!(verdicts.len(), 2);
        assert!(verdicts.iter().all(|verdict| verdict.1 == RungVerdict::Passed), "{verdicts:?}");
    }

    #[test]
    fn every_rung_needs_only_rungs_before_it() {
        for rung in RungCode::ALL {
            assert!(rung.needs().iter().all(|needed| needed < rung), "{rung:?}");
        }
    }
}
