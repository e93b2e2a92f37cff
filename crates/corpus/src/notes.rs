//! What a scan noticed that changes no outcome.

use serde::{Deserialize, Serialize};

/// Pairs that are named; the others are counted only.
pub(crate) const NAMED_PAIRS: usize = 20;

/// What a scan noticed. Kept in the index's closing entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Notes {
    /// Inputs whose byte order mark was removed.
    pub bom_removed: u64,
    /// Lines of a file of rows with nothing but white space; they are no items.
    pub blank_lines: u64,
    /// Files that are no items: what an operating system leaves behind (`.DS_Store`, `Thumbs.db`), and in a directory of
    /// files of rows whatever has another extension.
    pub skipped_files: u64,
    /// Attachments of messages; only the messages' own text is read.
    pub attachments: u64,
    /// Pages whose own `charset` was used instead of the declared encoding.
    pub page_charset: u64,
    /// Pairs of identifiers that differ only by Unicode normalisation or case.
    pub confusable: u64,
    /// The first twenty of these pairs.
    pub confusable_pairs: Vec<Pair>,
}

/// Two identifiers (or, of a directory, two names in one folder) that look alike and are kept apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// The one that stands first.
    pub first: String,
    /// The later one.
    pub second: String,
}

impl Notes {
    /// Counts a pair and names it while there is room.
    pub(crate) fn confusable(&mut self, first: &str, second: &str) {
        self.confusable += 1;
        if self.confusable_pairs.len() < NAMED_PAIRS {
            self.confusable_pairs.push(Pair { first: first.to_owned(), second: second.to_owned() });
        }
    }

    /// Puts pairs that were found together in the place of those that were counted as they came.
    pub(crate) fn alike<'p>(&mut self, count: u64, named: impl Iterator<Item = (&'p str, &'p str)>) {
        self.confusable = count;
        let pair =
            |(first, second): (&str, &str)| Pair { first: first.to_owned(), second: second.to_owned() };
        self.confusable_pairs = named.map(pair).collect();
    }

    /// Adds what was seen in one content.
    pub(crate) fn add(&mut self, seen: Seen) {
        self.bom_removed += u64::from(seen.bom);
        self.attachments += seen.attachments;
        self.page_charset += u64::from(seen.page_charset);
    }

    /// Each note that has something to say: its stable code and the figure or the names, for the trial's events.
    #[must_use]
    pub fn events(&self) -> Vec<(&'static str, String)> {
        let counts = [
            ("bom-removed", self.bom_removed),
            ("blank-lines", self.blank_lines),
            ("skipped-files", self.skipped_files),
            ("attachments-ignored", self.attachments),
            ("page-charset", self.page_charset),
        ];
        let mut events: Vec<_> = counts
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(code, count)| (code, count.to_string()))
            .collect();
        if self.confusable > 0 {
            let pairs: Vec<_> = self
                .confusable_pairs
                .iter()
                .map(|pair| format!("{:?} and {:?}", pair.first, pair.second))
                .collect();
            events.push(("confusable-ids", format!("{}: {}", self.confusable, pairs.join("; "))));
        }
        events
    }
}

/// What was seen while one content became text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) bom: bool,
    pub(crate) attachments: u64,
    pub(crate) page_charset: bool,
}
