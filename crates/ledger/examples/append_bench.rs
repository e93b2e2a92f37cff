//! Measures appending against a raw loop of write and fdatasync over the same bytes, and reading a part back.
//!
//! `append_bench DIR [RECORDS] [ROUNDS]` works in a new directory under DIR and prints one JSON object. Rounds of the
//! ledger and of the raw loop alternate, so that both meet the same machine.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pilote_ledger::{DirStore, Ledger, Nonce, Opened, Owner, PartReader, ProcessLiveness, Record};
use pilote_spec::{Digest, ItemId, Outcome, Output, Position};

type Failure = Box<dyn std::error::Error>;

/// Records of one commit: the default sync interval.
const COMMIT: usize = 4096;

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "measuring is all that this program does")]
    Instant::now()
}

fn record(position: u64) -> Record {
    let others = vec![("letter".to_owned(), 0.257_341)];
    let output =
        Output::Category { category: "invoice".to_owned(), score: 0.612_004, others, cut_at_tokens: None };
    Record {
        position: Position(position),
        id: Some(ItemId(format!("reports/2026/document-{position:07}.txt"))),
        sha256: Some(Digest::of(&position.to_le_bytes())),
        attempt: 1,
        outcome: Outcome::Accepted(output),
    }
}

fn ledger(dir: &Path) -> Result<Ledger, Failure> {
    fs::create_dir_all(dir)?;
    let owner = Owner::of_this_process(Nonce(1))?;
    let liveness = Arc::new(ProcessLiveness::new(owner.clone()));
    Ok(Ledger::new(Arc::new(DirStore::open(dir)?), owner, liveness))
}

/// Appends and commits all of `records`; the time, and the bytes of each commit as they stand in the entry.
fn append(dir: &Path, records: &[Record]) -> Result<(Duration, Vec<Vec<u8>>), Failure> {
    let ledger = ledger(dir)?;
    let Opened::Writer(mut writer) = ledger.open_part(1)? else { return Err("the part is sealed".into()) };
    let entry = dir.join("parts/000001/000001");
    let mut ends = vec![fs::metadata(&entry)?.len()];
    let mut took = Duration::ZERO;
    for batch in records.chunks(COMMIT) {
        let start = now();
        writer.append(batch)?;
        writer.commit()?;
        took += start.elapsed();
        ends.push(fs::metadata(&entry)?.len());
    }
    let bytes = fs::read(&entry)?;
    let range = |pair: &[u64]| -> Result<Vec<u8>, Failure> {
        Ok(bytes[usize::try_from(pair[0])?..usize::try_from(pair[1])?].to_vec())
    };
    Ok((took, ends.windows(2).map(range).collect::<Result<_, _>>()?))
}

fn raw(path: &Path, commits: &[Vec<u8>]) -> Result<Duration, Failure> {
    let mut file = File::create_new(path)?;
    let start = now();
    for bytes in commits {
        file.write_all(bytes)?;
        file.sync_data()?;
    }
    Ok(start.elapsed())
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().ok_or("usage: append_bench DIR [RECORDS] [ROUNDS]")?;
    let count: u64 = arguments.next().as_deref().unwrap_or("1000000").parse()?;
    let rounds: usize = arguments.next().as_deref().unwrap_or("3").parse()?;
    let dir = Path::new(&dir).join(format!("append-bench-{}", std::process::id()));
    let records: Vec<Record> = (0..count).map(record).collect();
    let (mut appended, mut written) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    for round in 0..rounds {
        let (took, commits) = append(&dir.join(round.to_string()), &records)?;
        appended.push(took);
        written.push(raw(&dir.join(format!("raw-{round}")), &commits)?);
        bytes = commits.iter().map(Vec::len).sum();
    }
    let start = now();
    let store = DirStore::open(&dir.join("0"))?;
    let mut read = 0_u64;
    for record in PartReader::new(&store, 1)? {
        record?;
        read += 1;
    }
    let reading = start.elapsed().as_secs_f64();
    let (append_s, raw_s) = (median(appended), median(written));
    let report = serde_json::json!({
        "format": "pilote.ledger-bench/1",
        "records": count,
        "records_each_commit": COMMIT,
        "rounds": rounds,
        "bytes": bytes,
        "append_s": append_s,
        "raw_s": raw_s,
        "append_share_of_raw": raw_s / append_s,
        "read_back": read,
        "read_back_s": reading,
    });
    fs::remove_dir_all(&dir)?;
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}
