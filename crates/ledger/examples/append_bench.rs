//! Measures appending against a raw loop of write and fdatasync over the same bytes, and reading a part back.
//!
//! `append_bench DIR [RECORDS] [ROUNDS] [EACH]` works in a new directory under DIR and prints one JSON object; EACH is
//! the number of records in a commit, by default that of the default sync interval. In each round
//! the ledger appends, the raw loop writes and the part is read back, so that all meet the same machine. The records of
//! a commit are made just before it and outside the time, as those of a trial were just made by its engine. Seconds
//! are medians; processor seconds are this process's own, absent where the system does not tell them.

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

/// What one round took on the wall and, where the system tells it, on the processor.
type Round = (Duration, Option<Duration>);

/// What the rounds of one kind of work took.
#[derive(Default)]
struct Took {
    wall: Vec<f64>,
    processor: Vec<f64>,
}

impl Took {
    /// Adds a round.
    fn add(&mut self, (wall, processor): Round) {
        self.wall.push(wall.as_secs_f64());
        self.processor.extend(processor.map(|processor| processor.as_secs_f64()));
    }

    fn report(self) -> serde_json::Value {
        serde_json::json!({ "seconds": median(self.wall), "processor_seconds": median(self.processor) })
    }
}

/// A point in time on the wall and on the processor.
struct Watch {
    wall: Instant,
    processor: Option<Duration>,
}

impl Watch {
    fn start() -> Self {
        Self { wall: now(), processor: processor_time() }
    }

    fn taken(&self) -> Round {
        let processor = processor_time().zip(self.processor).map(|(end, start)| end.saturating_sub(start));
        (self.wall.elapsed(), processor)
    }
}

/// Time of all threads of this process on the processor.
#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(unix))]
fn processor_time() -> Option<Duration> {
    None
}

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "measuring is all that this program does")]
    Instant::now()
}

fn record(position: u64) -> Record {
    let others = vec![("letter".to_owned(), 0.257_341)];
    let output = Output::Category {
        category: "invoice".to_owned(),
        score: Some(0.612_004),
        others,
        cut_at_tokens: None,
    };
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

/// Appends and commits `count` records; the time, and the bytes of each commit as they stand in the entry.
fn append(dir: &Path, count: u64, each: usize) -> Result<(Round, Vec<Vec<u8>>), Failure> {
    let ledger = ledger(dir)?;
    let Opened::Writer(mut writer) = ledger.open_part(1)? else { return Err("the part is sealed".into()) };
    let entry = dir.join("parts/000001/000001");
    let mut ends = vec![fs::metadata(&entry)?.len()];
    let (mut wall, mut processor) = (Duration::ZERO, Some(Duration::ZERO));
    for first in (0..count).step_by(each) {
        let records: Vec<Record> = (first..count.min(first + each as u64)).map(record).collect();
        let watch = Watch::start();
        writer.append(&records)?;
        writer.commit()?;
        let taken = watch.taken();
        wall += taken.0;
        processor = processor.zip(taken.1).map(|(sum, more)| sum + more);
        ends.push(fs::metadata(&entry)?.len());
    }
    let bytes = fs::read(&entry)?;
    let range = |pair: &[u64]| -> Result<Vec<u8>, Failure> {
        Ok(bytes[usize::try_from(pair[0])?..usize::try_from(pair[1])?].to_vec())
    };
    Ok(((wall, processor), ends.windows(2).map(range).collect::<Result<_, _>>()?))
}

fn raw(path: &Path, commits: &[Vec<u8>]) -> Result<Round, Failure> {
    let mut file = File::create_new(path)?;
    let watch = Watch::start();
    for bytes in commits {
        file.write_all(bytes)?;
        file.sync_data()?;
    }
    Ok(watch.taken())
}

/// Reads a part back, every record checked.
fn read_back(dir: &Path, count: u64) -> Result<Round, Failure> {
    let watch = Watch::start();
    let store = DirStore::open(dir)?;
    let mut read = 0_u64;
    for record in PartReader::new(&store, 1)? {
        record?;
        read += 1;
    }
    let took = watch.taken();
    if read == count { Ok(took) } else { Err(format!("{read} of {count} records were read back").into()) }
}

fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().ok_or("usage: append_bench DIR [RECORDS] [ROUNDS] [EACH]")?;
    let count: u64 = arguments.next().as_deref().unwrap_or("1000000").parse()?;
    let rounds: usize = arguments.next().as_deref().unwrap_or("3").parse()?;
    let each: usize = arguments.next().map_or(Ok(COMMIT), |each| each.parse())?;
    let dir = Path::new(&dir).join(format!("append-bench-{}", std::process::id()));
    let mut output_bytes = 0;
    for record in (0..count).map(record) {
        output_bytes += serde_json::to_vec(&record.outcome)?.len();
    }
    let (mut append_took, mut raw_took, mut read_took) = (Took::default(), Took::default(), Took::default());
    let mut bytes = 0;
    for round in 0..rounds {
        let part = dir.join(round.to_string());
        let (took, commits) = append(&part, count, each)?;
        append_took.add(took);
        raw_took.add(raw(&dir.join(format!("raw-{round}")), &commits)?);
        bytes = commits.iter().map(Vec::len).sum();
        drop(commits);
        read_took.add(read_back(&part, count)?);
    }
    let report = serde_json::json!({
        "format": "pilote.ledger-bench/1",
        "records": count,
        "records_each_commit": each,
        "rounds": rounds,
        "bytes": bytes,
        "output_bytes": output_bytes,
        "append": append_took.report(),
        "raw": raw_took.report(),
        "read_back": read_took.report(),
    });
    fs::remove_dir_all(&dir)?;
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}
