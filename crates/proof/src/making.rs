//! Making a copy: its payload into a folder, several files at once, or into an archive; then the tag files that make
//! it a bag. Every byte is digested while it passes, and what changes meanwhile is named.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use jiff::Timestamp;

use crate::algorithm::{Algorithm, Digests, Hashers, digests_of, pass};
use crate::archive::Writer;
use crate::bag::{DECLARATION, encode};
use crate::contents::{Content, Origin};
use crate::error::{ProofError, io};
use crate::export::{Export, is_left_out};
use crate::files::{self, Found, Listing};
use crate::manifest::MANIFEST;
use crate::spot::{self, Spot};

/// What makes a folder a bag.
const DECLARED: &str = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

/// What making a copy came to.
pub(crate) struct Made {
    /// Its list of files by SHA-256.
    pub manifest: Vec<u8>,
    /// Files that were there whole and were not copied again.
    pub kept: u64,
}

/// A file that was copied.
struct Copied {
    path: String,
    digests: Digests,
    bytes: u64,
    kept: bool,
}

/// Makes the copy as a folder.
pub(crate) fn folder(
    export: &Export<'_>,
    name: &str,
    contents: &[Content],
    partial: &Spot,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Made, ProofError> {
    let there = take_up(contents, partial)?;
    // Whoever finds an unfinished copy in an object store sees what it was to be.
    partial.replace(DECLARATION, DECLARED.as_bytes())?;
    let copied = fill(export, contents, partial, &there, watch)?;
    let kept = copied.iter().filter(|file| file.kept).count() as u64;
    let listed: BTreeMap<String, Digests> =
        copied.into_iter().map(|file| (file.path, file.digests)).collect();
    let tags = tag_files(export, name, &listed, contents);
    for (name, bytes) in &tags {
        partial.replace(name, bytes)?;
    }
    partial.sync(contents.iter().map(|content| content.path.as_str()))?;
    let manifest = tags.into_iter().find(|(name, _)| name == MANIFEST).map(|(_, bytes)| bytes);
    Ok(Made { manifest: manifest.unwrap_or_default(), kept })
}

/// Looks at what an interrupted export left, and gives its files with their lengths; anything else there is not ours.
fn take_up(contents: &[Content], partial: &Spot) -> Result<BTreeMap<String, u64>, ProofError> {
    let taken = |first: String| ProofError::DestinationTaken { path: partial.shown(), first };
    if let Some(folder) = partial.disk() {
        if fs_err::symlink_metadata(folder).is_ok_and(|about| !about.is_dir()) {
            return Err(taken(".".to_owned()));
        }
        fs_err::create_dir_all(folder).map_err(|error| io("create", folder, error))?;
    }
    let expected: BTreeSet<&str> = contents.iter().map(|content| content.path.as_str()).collect();
    let there = partial.listing()?;
    if let Some((first, _)) = there.not_plain.into_iter().next() {
        return Err(taken(first));
    }
    let mut there = spot::lengths(Listing { not_plain: Vec::new(), ..there });
    let ours = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        expected.contains(path) || is_left_out(path) || is_tag(path) || name.starts_with(files::UNFINISHED)
    };
    let strangers: Vec<String> = there.keys().filter(|path| !ours(path)).cloned().collect();
    for path in strangers {
        // What an earlier export added of its own, and this one does not, goes; anything else stays and stops us.
        if !crate::export::is_of_an_export(&path) {
            return Err(taken(path));
        }
        partial.remove(&path)?;
        there.remove(&path);
    }
    Ok(there)
}

fn is_tag(path: &str) -> bool {
    let list = path.strip_prefix("tag").unwrap_or(path).starts_with("manifest-") && path.ends_with(".txt");
    path == DECLARATION || path == "bag-info.txt" || (list && !path.contains('/'))
}

/// Copies what is not there yet, several files at once; `watch` is told of each that is done.
fn fill(
    export: &Export<'_>,
    contents: &[Content],
    partial: &Spot,
    there: &BTreeMap<String, u64>,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Copied>, ProofError> {
    let total = contents.iter().map(Content::bytes).sum();
    let (algorithms, next, stop) = (export.algorithms(), AtomicUsize::new(0), AtomicBool::new(false));
    // No file is begun before the one before it was taken note of: what was said to be done is done.
    let (tell, told) = mpsc::sync_channel(0);
    let work = |tell: mpsc::SyncSender<(usize, Result<Copied, ProofError>)>| {
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(content) = contents.get(number) else { return };
            if tell.send((number, copy(content, partial, there, &algorithms))).is_err() {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..export.threads.clamp(1, contents.len().max(1)) {
            let tell = tell.clone();
            scope.spawn(|| work(tell));
        }
        drop(tell);
        let (mut copied, mut first, mut done) = (Vec::with_capacity(contents.len()), None, 0);
        // Moved in, so that a watcher that ends early ends the workers as well.
        for (number, result) in told {
            match result {
                Ok(file) => {
                    done += file.bytes;
                    watch(done, total);
                    copied.push(file);
                }
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    if first.as_ref().is_none_or(|(earlier, _)| number < *earlier) {
                        first = Some((number, error));
                    }
                }
            }
        }
        match first {
            Some((_, error)) => Err(error),
            None => Ok(copied),
        }
    })
}

/// Copies one file durably, unless it is there whole.
fn copy(
    content: &Content,
    partial: &Spot,
    there: &BTreeMap<String, u64>,
    algorithms: &[Algorithm],
) -> Result<Copied, ProofError> {
    let (path, bytes) = (&content.path, content.bytes());
    let there = match there.get(path) {
        Some(length) if *length == bytes => Some(partial.digests(path, bytes, algorithms)?),
        _ => None,
    };
    let done = |digests: Digests, kept| Copied { path: path.clone(), digests, bytes, kept };
    let (from, listed) = match &content.origin {
        Origin::Made(made) => {
            let mut hashers = Hashers::new(algorithms);
            hashers.update(made);
            let digests = hashers.finish();
            let kept = there.as_ref() == Some(&digests);
            if !kept {
                let mut target = partial.begin(path, bytes)?;
                target.write_all(made).map_err(|error| io("write", target.shown(), error))?;
                target.finish()?;
            }
            return Ok(done(digests, kept));
        }
        Origin::File(from, listed) | Origin::Input(from, listed, _) => (from, listed),
    };
    let mut source = files::open_plain(from).map_err(|error| io("read", from, error))?;
    if let Some(there) = there {
        if digests_of(&mut source, algorithms).map_err(|error| io("read", from, error))?.0 == there {
            is_indexed(content, &there)?;
            return Ok(done(there, true));
        }
        source.rewind().map_err(|error| io("read", from, error))?;
    }
    let mut target = partial.begin(path, bytes)?;
    let (digests, passed) =
        pass(&mut source, &mut target, algorithms).map_err(|error| io("copy to", target.shown(), error))?;
    unchanged(&source, from, listed, passed)?;
    is_indexed(content, &digests)?;
    target.finish()?;
    Ok(done(digests, false))
}

/// Refuses a source that is not what it was when the files were listed.
fn unchanged(source: &fs_err::File, from: &Path, listed: &Found, bytes: u64) -> Result<(), ProofError> {
    let about = source.metadata().map_err(|error| io("read", from, error))?;
    if bytes != listed.bytes || about.len() != listed.bytes || about.modified().ok() != listed.modified {
        return Err(ProofError::SourceChanged { path: from.to_owned() });
    }
    Ok(())
}

/// Refuses an input that is not the one that the trial was run over.
fn is_indexed(content: &Content, digests: &Digests) -> Result<(), ProofError> {
    let Origin::Input(from, _, expected) = &content.origin else { return Ok(()) };
    if digests.get(&Algorithm::Sha256) == Some(&expected.to_string()) {
        return Ok(());
    }
    Err(ProofError::InputChanged { path: from.clone() })
}

/// Makes the copy as one archive. What was begun earlier is begun anew: a compressed stream cannot be gone on with.
pub(crate) fn archive(
    export: &Export<'_>,
    name: &str,
    contents: &[Content],
    partial: &Spot,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Made, ProofError> {
    let shown = partial.shown();
    let write = |error| io("write", &shown, error);
    let algorithms = export.algorithms();
    let total = contents.iter().map(Content::bytes).sum();
    let target = std::io::BufWriter::with_capacity(1 << 17, partial.begin_whole(total)?);
    let mut writer = Writer::new(target, name);
    let (mut listed, mut done) = (BTreeMap::new(), 0);
    for content in contents {
        let digests = match &content.origin {
            Origin::Made(bytes) => {
                let length = bytes.len() as u64;
                writer.add(&content.path, &mut bytes.as_slice(), length, &algorithms).map_err(write)?.0
            }
            Origin::File(from, found) | Origin::Input(from, found, _) => {
                let mut source = files::open_plain(from).map_err(|error| io("read", from, error))?;
                let added = writer.add(&content.path, &mut source, found.bytes, &algorithms);
                let (digests, bytes) = added.map_err(write)?;
                unchanged(&source, from, found, bytes)?;
                digests
            }
        };
        is_indexed(content, &digests)?;
        listed.insert(content.path.clone(), digests);
        done += content.bytes();
        watch(done, total);
    }
    let tags = tag_files(export, name, &listed, contents);
    for (name, bytes) in &tags {
        writer.add(name, &mut bytes.as_slice(), bytes.len() as u64, &algorithms).map_err(write)?;
    }
    let target = writer.finish().map_err(write)?.into_inner().map_err(|error| write(error.into_error()))?;
    target.finish()?;
    if let Some(path) = partial.disk() {
        files::sync_parent(path)?;
    }
    let manifest = tags.into_iter().find(|(name, _)| name == MANIFEST).map(|(_, bytes)| bytes);
    Ok(Made { manifest: manifest.unwrap_or_default(), kept: 0 })
}

/// The files that make a payload a bag: declaration, information, lists of the payload, lists of these.
fn tag_files(
    export: &Export<'_>,
    name: &str,
    listed: &BTreeMap<String, Digests>,
    contents: &[Content],
) -> Vec<(String, Vec<u8>)> {
    let bytes: u64 = contents.iter().map(Content::bytes).sum();
    let milliseconds = i64::try_from(export.at.0).unwrap_or(i64::MAX);
    let date =
        Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH).strftime("%Y-%m-%d");
    let information = format!(
        "Bag-Software-Agent: pilote {}\nBagging-Date: {date}\nExternal-Identifier: {name}\n\
         External-Description: A trial with its results, its records and the balance over its items\n\
         Payload-Oxum: {bytes}.{}\n",
        env!("CARGO_PKG_VERSION"),
        contents.len(),
    );
    let mut tags: Vec<(String, Vec<u8>)> = vec![
        (DECLARATION.to_owned(), DECLARED.into()),
        ("bag-info.txt".to_owned(), information.into_bytes()),
    ];
    let algorithms = export.algorithms();
    for algorithm in &algorithms {
        let line = |(path, digests): (&String, &Digests)| {
            format!("{}  {}\n", digests.get(algorithm).map_or("", String::as_str), encode(path))
        };
        let list: String = listed.iter().map(line).collect();
        tags.push((format!("manifest-{algorithm}.txt"), list.into_bytes()));
    }
    let over = tags.clone();
    for algorithm in &algorithms {
        let list: String =
            over.iter().map(|(name, bytes)| format!("{}  {name}\n", algorithm.of(bytes))).collect();
        tags.push((format!("tagmanifest-{algorithm}.txt"), list.into_bytes()));
    }
    tags
}
