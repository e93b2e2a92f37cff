//! Numbers with their units, as each language writes them.

use std::time::Duration;

use crate::{Lang, Texts};

/// The narrow space that does not break, which French sets between thousands and before a unit.
const NARROW: char = '\u{202f}';

impl Texts {
    /// A whole number with its thousands set apart: `12,345`, `12 345` (narrow spaces), `12,345`.
    #[must_use]
    pub fn number(&self, number: u64) -> String {
        let digits = number.to_string();
        let separator = if self.lang() == Lang::Fr { NARROW } else { ',' };
        let mut grouped = String::with_capacity(digits.len() * 2);
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                grouped.push(separator);
            }
            grouped.push(digit);
        }
        grouped
    }

    /// A number with that many decimals; French writes a comma. What is not finite is unknown, never zero.
    #[must_use]
    pub fn decimal(&self, number: f64, decimals: usize) -> String {
        if !number.is_finite() {
            return self.get("unit-unknown", &[]);
        }
        let plain = format!("{number:.decimals$}");
        let (sign, plain) = plain.strip_prefix('-').map_or(("", plain.as_str()), |rest| ("-", rest));
        let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
        let whole = whole.parse().map_or_else(|_| whole.to_owned(), |whole| self.number(whole));
        match (fraction, self.lang()) {
            ("", _) => format!("{sign}{whole}"),
            (_, Lang::Fr) => format!("{sign}{whole},{fraction}"),
            (_, Lang::En | Lang::Ja) => format!("{sign}{whole}.{fraction}"),
        }
    }

    /// A share from 0 to 1 in per cent: `12.5%`, `12,5 %`.
    #[must_use]
    pub fn percent(&self, share: f64, decimals: usize) -> String {
        self.unit("unit-percent", &self.decimal(share * 100.0, decimals))
    }

    /// Bytes in units of 1,024 (KiB, MiB, GiB), as memory is counted: drivers, cards, processes.
    #[must_use]
    pub fn memory(&self, bytes: u64) -> String {
        self.scaled(bytes, 1024, ["unit-bytes", "unit-kib", "unit-mib", "unit-gib", "unit-tib"])
    }

    /// Bytes in units of 1,000 (kB, MB, GB), as files, disks and transfers are counted.
    #[must_use]
    pub fn storage(&self, bytes: u64) -> String {
        self.scaled(bytes, 1000, ["unit-bytes", "unit-kb", "unit-mb", "unit-gb", "unit-tb"])
    }

    /// A duration with the two units that matter at its size: `350 ms`, `3.4 s`, `2 min 5 s`, `3 h 12 min`.
    #[must_use]
    pub fn duration(&self, time: Duration) -> String {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        if micros < 1_000 {
            return self.unit("unit-us", &self.number(micros));
        }
        if micros < 1_000_000 {
            return self.unit("unit-ms", &self.number(micros / 1_000));
        }
        // Tenths are cut, not rounded, so that 59.99 s does not become a 60 s that the next line calls 1 min.
        if micros < 60_000_000 {
            let tenths = micros / 100_000;
            let text = format!("{}.{}", tenths / 10, tenths % 10);
            let text = if self.lang() == Lang::Fr { text.replace('.', ",") } else { text };
            return self.unit("unit-s", &text);
        }
        let seconds = micros / 1_000_000;
        let (large, small) = match seconds {
            0..3_600 => (("unit-min", seconds / 60), ("unit-s", seconds % 60)),
            3_600..86_400 => (("unit-h", seconds / 3_600), ("unit-min", seconds / 60 % 60)),
            _ => (("unit-d", seconds / 86_400), ("unit-h", seconds / 3_600 % 24)),
        };
        let part = |(key, number): (&str, u64)| self.unit(key, &self.number(number));
        if small.1 == 0 {
            return part(large);
        }
        let between = if self.lang() == Lang::Ja { "" } else { " " };
        format!("{}{between}{}", part(large), part(small))
    }

    fn unit(&self, key: &str, number: &str) -> String {
        self.get(key, &[("number", number)])
    }

    /// Below the first step whole bytes are shown; above it one decimal, always cut: no card shows more than it has.
    fn scaled(&self, bytes: u64, step: u64, units: [&str; 5]) -> String {
        let mut size = 1;
        let mut unit = 0;
        while unit + 1 < units.len() && bytes / size >= step {
            size *= step;
            unit += 1;
        }
        let whole = self.number(bytes / size);
        if unit == 0 {
            return self.unit(units[0], &whole);
        }
        let tenth = u128::from(bytes % size) * 10 / u128::from(size);
        let point = if self.lang() == Lang::Fr { ',' } else { '.' };
        self.unit(units[unit], &format!("{whole}{point}{tenth}"))
    }
}
