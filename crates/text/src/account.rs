//! The balance as a terminal shows it: the counts, then one line a criterion with its verdict.

use pilote_spec::{Balance, Criterion, Verdict};

use crate::{Texts, pad, pad_start, width};

impl Texts {
    /// The balance, line by line and without line ends: every count, zeros too, then the criteria in the order given,
    /// then the verdict over all.
    ///
    /// Columns line up on a terminal whatever the language. Nothing is coloured; the marks `✓`, `✗` and `?` stand
    /// beside the words so that neither colour nor a symbol alone carries the verdict.
    #[must_use]
    pub fn balance_lines(&self, balance: &Balance, criteria: &[Criterion]) -> Vec<String> {
        let mut lines = self.count_lines(balance);
        if !criteria.is_empty() {
            lines.push(String::new());
            lines.extend(self.criterion_lines(criteria));
        }
        lines.push(String::new());
        let overall = if balance.holds { "balance-holds" } else { "balance-fails" };
        lines.push(self.get(overall, &[]));
        lines
    }

    /// The counts, label and figure in two columns.
    #[must_use]
    pub fn count_lines(&self, balance: &Balance) -> Vec<String> {
        let rows = [
            ("count-declared", balance.declared),
            ("count-accepted", balance.accepted),
            ("count-refused", balance.refused),
            ("count-pending", balance.pending),
            ("count-missing", balance.missing),
            ("count-duplicated", balance.duplicated),
            ("count-invented", balance.invented),
        ]
        .map(|(key, count)| (self.get(key, &[]), self.number(count)));
        let labels = rows.iter().map(|(label, _)| width(label)).max().unwrap_or(0);
        let figures = rows.iter().map(|(_, figure)| width(figure)).max().unwrap_or(0);
        rows.iter()
            .map(|(label, figure)| format!("  {}  {}", pad(label, labels), pad_start(figure, figures)))
            .collect()
    }

    /// One line a criterion: mark, verdict, sentence.
    #[must_use]
    pub fn criterion_lines(&self, criteria: &[Criterion]) -> Vec<String> {
        let words = Verdict::ALL.map(|verdict| width(&self.verdict(verdict)));
        let columns = words.into_iter().max().unwrap_or(0);
        criteria
            .iter()
            .map(|criterion| {
                let word = pad(&self.verdict(criterion.verdict), columns);
                format!("  {} {word}  {}", mark(criterion.verdict), self.criterion(criterion))
            })
            .collect()
    }
}

/// The symbol beside a verdict's word; one column wide each.
fn mark(verdict: Verdict) -> char {
    match verdict {
        Verdict::Holds => '✓',
        Verdict::Fails => '✗',
        Verdict::Unknown => '?',
    }
}
