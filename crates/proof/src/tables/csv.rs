//! Results as comma-separated values.

use std::io::Write as _;

use pilote_spec::{Item, Trial};

use super::cells::{Cell, Cells};
use super::{Rows, Told, line};
use crate::files::Pending;

/// A file of comma-separated values. What is absent is an empty field; an empty text is written `""`.
pub(super) struct Csv {
    to: Pending,
    cells: Cells,
}

impl Csv {
    pub(super) fn begin(mut to: Pending, trial: &Trial) -> std::io::Result<Self> {
        let cells = Cells::of(trial);
        let header: Vec<String> = cells.columns.iter().map(|column| quoted(&column.name)).collect();
        line(&mut to, header.join(",").as_bytes())?;
        Ok(Self { to, cells })
    }
}

impl Rows for Csv {
    fn row(&mut self, item: &Item, told: &Told<'_>) -> std::io::Result<()> {
        for (at, cell) in self.cells.row(item, told).iter().enumerate() {
            if at > 0 {
                self.to.write_all(b",")?;
            }
            match cell {
                Cell::None => {}
                Cell::Whole(value) => write!(self.to, "{value}")?,
                Cell::Float(value) => write!(self.to, "{value}")?,
                Cell::Text(text) => self.to.write_all(quoted(text).as_bytes())?,
                // A list has commas, so it is quoted; its numbers are the shortest that read as the same f32.
                Cell::Vector(values) => {
                    self.to.write_all(b"\"[")?;
                    for (at, value) in values.iter().enumerate() {
                        let comma = if at > 0 { "," } else { "" };
                        write!(self.to, "{comma}{value}")?;
                    }
                    self.to.write_all(b"]\"")?;
                }
            }
        }
        self.to.write_all(b"\n")
    }

    fn finish(self: Box<Self>) -> std::io::Result<Pending> {
        Ok(self.to)
    }
}

/// A field, in quotes where something in it would end or change it.
fn quoted(text: &str) -> String {
    let plain = !text.is_empty()
        && !text.contains(['"', ',', '\n', '\r'])
        && !text.starts_with([' ', '\t'])
        && !text.ends_with([' ', '\t']);
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}
