//! Files of a folder over HTTP, by ranges, with a count of the bytes that each was asked for.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;

/// Bytes of bodies that were sent, by file.
pub(super) type Sent = Arc<Mutex<BTreeMap<String, u64>>>;

/// Serves `folder` on the loopback until the process ends; the address and the count.
pub(super) fn serve(folder: &Path) -> anyhow::Result<(String, Sent)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    let sent = Sent::default();
    let (folder, count) = (folder.to_owned(), Arc::clone(&sent));
    std::thread::Builder::new().name("ranges".to_owned()).spawn(move || {
        for stream in listener.incoming().flatten() {
            let (folder, count) = (folder.clone(), Arc::clone(&count));
            // One that hangs up early is no failure of the server.
            std::thread::spawn(move || answer(&folder, &count, stream).ok());
        }
    })?;
    Ok((address, sent))
}

fn answer(folder: &Path, sent: &Sent, mut stream: TcpStream) -> anyhow::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut request = String::new();
        if reader.read_line(&mut request)? == 0 {
            return Ok(());
        }
        let mut range = None;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
                range = bounds(value.trim());
            }
        }
        let name = request.split(' ').nth(1).unwrap_or("/").trim_start_matches('/').to_owned();
        one(&folder.join(&name), &name, range, sent, &mut stream)?;
    }
}

/// `0-65535`.
fn bounds(value: &str) -> Option<(u64, u64)> {
    let (first, last) = value.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

fn one(
    path: &PathBuf,
    name: &str,
    range: Option<(u64, u64)>,
    sent: &Sent,
    stream: &mut TcpStream,
) -> anyhow::Result<()> {
    let Ok(mut file) = File::open(path) else {
        return Ok(stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?);
    };
    let length = file.metadata()?.len();
    let (first, end) = range.map_or((0, length), |(first, last)| (first, (last + 1).min(length)));
    file.seek(SeekFrom::Start(first))?;
    let mut body = Vec::new();
    file.take(end.checked_sub(first).context("a range ends before it begins")?).read_to_end(&mut body)?;
    *sent.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_default() +=
        body.len() as u64;
    let head = match range {
        Some(_) => format!(
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {first}-{}/{length}\r\nContent-Length: {}\r\n\r\n",
            end - 1,
            body.len()
        ),
        None => format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()),
    };
    stream.write_all(head.as_bytes())?;
    Ok(stream.write_all(&body)?)
}
