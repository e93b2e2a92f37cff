//! A worker that gives every text back, for `cargo xtask bench engines`: what is left is the cost of the conversation.
//!
//! The file that its parameter `took` names gets the processor seconds that it used itself.

#![expect(clippy::disallowed_methods, reason = "a program of its own reads its own environment")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Said {
    Hello { parameters: Parameters },
    Batch { batch: String, items: Vec<Item> },
    End,
}

#[derive(Deserialize)]
struct Parameters {
    took: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    wire: String,
    #[serde(default)]
    text: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let channel =
        |name: &str| Ok::<_, Box<dyn std::error::Error>>(format!("/dev/fd/{}", std::env::var(name)?));
    let read = BufReader::with_capacity(1 << 18, File::open(channel("PILOTE_READ_FD")?)?);
    let mut write =
        BufWriter::with_capacity(1 << 18, File::options().write(true).open(channel("PILOTE_WRITE_FD")?)?);
    let mut took = None;
    for line in read.lines() {
        match serde_json::from_str(&line?)? {
            Said::Hello { parameters } => {
                took = parameters.took;
                writeln!(
                    write,
                    r#"{{"type":"hello","protocol":1,"name":"echo","version":"1","credits":4}}"#
                )?;
            }
            Said::Batch { batch, items } => {
                for Item { wire, text } in items {
                    write!(write, r#"{{"type":"answer","wire":"{wire}","output":{{"text":"#)?;
                    serde_json::to_writer(&mut write, &text)?;
                    write.write_all(b"}}\n")?;
                }
                writeln!(write, r#"{{"type":"done","batch":"{batch}"}}"#)?;
            }
            Said::End => break,
        }
        write.flush()?;
    }
    if let Some(took) = took {
        std::fs::write(took, processor_seconds()?.to_string())?;
    }
    Ok(())
}

/// User and system time of this process, from the fields 14 and 15 of its line in `/proc`, in hundredths of a second.
fn processor_seconds() -> Result<f64, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let rest = stat.rsplit_once(')').ok_or("no name in /proc/self/stat")?.1;
    let ticks = rest.split_whitespace().skip(11).take(2).map(str::parse::<u32>);
    Ok(ticks.sum::<Result<u32, _>>().map(|ticks| f64::from(ticks) / 100.0)?)
}
