//! A small S3 in threads of the test: what the object store's client asks for and nothing more. It checks signatures'
//! presence and the digest of every body, lists in short pages, and misbehaves as a test tells it to.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use pilote_ledger::{Access, Bucket};
use pilote_spec::Digest;

/// Keys of one page of a listing.
const PAGE: usize = 3;

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mishap {
    /// Nothing.
    None,
    /// The connection drops before anything was done.
    DropBefore,
    /// What was asked for is done, and the connection drops before the answer.
    DropAfter,
    /// The connection drops in the middle of the answer.
    DropWithin,
    /// Half of the body is kept, and the answer says that all is well.
    KeepHalf,
    /// An answer with this status and no work.
    Refuse(u16),
}

/// Decides what goes wrong with a method on a key.
type Decide = Box<dyn FnMut(&str, &str) -> Mishap + Send>;

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    uploads: BTreeMap<String, BTreeMap<usize, Vec<u8>>>,
    begun: usize,
    requests: Vec<String>,
    decide: Option<Decide>,
}

/// The server; it ends with the value.
pub(crate) struct S3 {
    port: u16,
    state: Arc<Mutex<State>>,
}

struct Request {
    method: String,
    key: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl S3 {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::downgrade(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Some(state) = shared.upgrade() else { return };
                let stream = stream.unwrap();
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        Self { port, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The address of a place in the one bucket.
    pub(crate) fn address(&self, folder: &str) -> String {
        format!("http://127.0.0.1:{}/backup/{folder}", self.port)
    }

    /// The same as a client sees it, with a key.
    pub(crate) fn place(&self, folder: &str) -> Bucket {
        let access = Access::from_variables(|name| name.contains("KEY").then(|| "made-up".to_owned()));
        Bucket::open(&self.address(folder), &access).unwrap().writable().unwrap()
    }

    /// From now on, `decide` says what goes wrong.
    pub(crate) fn misbehave(&self, decide: impl FnMut(&str, &str) -> Mishap + Send + 'static) {
        self.state().decide = Some(Box::new(decide));
    }

    /// From now on nothing goes wrong.
    pub(crate) fn behave(&self) {
        self.state().decide = None;
    }

    /// Everything that is kept.
    pub(crate) fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.state().objects.clone()
    }

    /// Keeps something behind the client's back.
    pub(crate) fn keep(&self, key: &str, bytes: Vec<u8>) {
        self.state().objects.insert(key.to_owned(), bytes);
    }

    /// Loses something.
    pub(crate) fn lose(&self, key: &str) {
        self.state().objects.remove(key).unwrap();
    }

    /// Uploads in pieces that were neither finished nor given up.
    pub(crate) fn open_uploads(&self) -> usize {
        self.state().uploads.len()
    }

    /// Methods and keys that were asked for, since the last time.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state().requests)
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        // The accepting thread looks whether anybody still holds the state when somebody knocks.
        self.state = Arc::default();
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let Some(request) = read(&stream) else { return };
    let mut state = state.lock().unwrap();
    let (method, key) = (request.method.clone(), request.key.clone());
    state.requests.push(format!("{method} {key}"));
    let mishap = state.decide.as_mut().map_or(Mishap::None, |decide| decide(&method, &key));
    let answer = match mishap {
        Mishap::DropBefore => return,
        Mishap::Refuse(status) => Answer { status, headers: Vec::new(), body: Vec::new() },
        _ => state.answer(request, mishap == Mishap::KeepHalf),
    };
    if mishap == Mishap::DropAfter {
        return;
    }
    drop(state);
    let mut head = format!("HTTP/1.1 {} -\r\nconnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        head += &format!("{name}: {value}\r\n");
    }
    if !answer.headers.iter().any(|(name, _)| *name == "content-length") {
        head += &format!("content-length: {}\r\n", answer.body.len());
    }
    let mut bytes = (head + "\r\n").into_bytes();
    if method != "HEAD" {
        bytes.extend(answer.body);
    }
    let length = if mishap == Mishap::DropWithin { bytes.len() - 1 } else { bytes.len() };
    let _ = stream.write_all(&bytes[..length]);
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut from = BufReader::new(stream);
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let query = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name.to_owned(), decoded(value))
    });
    let (key, query) = (decoded(path.strip_prefix("/backup").unwrap()), query.collect());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        from.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(0, |digits| digits.parse().unwrap());
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    Some(Request { method, key: key.trim_start_matches('/').to_owned(), query, headers, body })
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&after[..2]).unwrap(), 16).unwrap());
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn ok(body: impl Into<Vec<u8>>) -> Answer {
    Answer { status: 200, headers: vec![("etag", "\"etag\"".to_owned())], body: body.into() }
}

fn status(status: u16) -> Answer {
    Answer { status, headers: Vec::new(), body: Vec::new() }
}

impl State {
    fn answer(&mut self, request: Request, keep_half: bool) -> Answer {
        let header = |name: &str| request.headers.get(name).cloned().unwrap_or_default();
        if !header("authorization").starts_with("AWS4-HMAC-SHA256 Credential=made-up/")
            || (!request.body.is_empty()
                && header("x-amz-content-sha256") != Digest::of(&request.body).to_string())
        {
            return status(403);
        }
        let mut body = request.body;
        if keep_half {
            body.truncate(body.len() / 2);
        }
        let upload = request.query.get("uploadId").cloned();
        match (request.method.as_str(), upload) {
            ("GET", _) if request.key.is_empty() => self.list(&request.query),
            ("GET" | "HEAD", _) => self.get(&request.key, &request.headers),
            ("PUT", Some(upload)) => {
                let number = request.query["partNumber"].parse().unwrap();
                self.uploads.get_mut(&upload).unwrap().insert(number, body);
                ok("")
            }
            ("PUT", None) => {
                if request.headers.contains_key("if-none-match") && self.objects.contains_key(&request.key) {
                    return status(412);
                }
                self.objects.insert(request.key, body);
                ok("")
            }
            ("POST", None) if request.query.contains_key("delete") => {
                let body = String::from_utf8(body).unwrap();
                let mut gone = String::new();
                for key in body.split("<Key>").skip(1) {
                    let key = key.split("</Key>").next().unwrap();
                    self.objects.remove(key);
                    gone += &format!("<Deleted><Key>{key}</Key></Deleted>");
                }
                ok(format!("<DeleteResult>{gone}</DeleteResult>"))
            }
            ("POST", None) => {
                self.begun += 1;
                self.uploads.insert(self.begun.to_string(), BTreeMap::new());
                let id = self.begun;
                ok(format!(
                    "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
                ))
            }
            ("POST", Some(upload)) => {
                let parts = self.uploads.remove(&upload).unwrap();
                self.objects.insert(request.key, parts.into_values().flatten().collect());
                ok("<CompleteMultipartUploadResult><ETag>etag</ETag></CompleteMultipartUploadResult>")
            }
            ("DELETE", Some(upload)) => {
                self.uploads.remove(&upload);
                status(204)
            }
            ("DELETE", None) => {
                self.objects.remove(&request.key);
                status(204)
            }
            _ => status(405),
        }
    }

    fn get(&self, key: &str, headers: &BTreeMap<String, String>) -> Answer {
        let Some(bytes) = self.objects.get(key) else { return status(404) };
        let mut answer = ok(bytes.clone());
        answer.headers.push(("last-modified", "Mon, 30 Nov 2026 18:15:02 GMT".to_owned()));
        if let Some(range) = headers.get("range") {
            let (from, to) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
            let (from, to): (usize, usize) = (from.parse().unwrap(), to.parse().unwrap());
            if from >= bytes.len() {
                return status(416);
            }
            let end = (to + 1).min(bytes.len());
            answer.status = 206;
            answer.body = bytes[from..end].to_vec();
            answer.headers.push(("content-range", format!("bytes {from}-{}/{}", end - 1, bytes.len())));
        }
        answer.headers.push(("content-length", answer.body.len().to_string()));
        answer
    }

    fn list(&self, query: &BTreeMap<String, String>) -> Answer {
        let prefix = query.get("prefix").map_or("", String::as_str);
        let after = query.get("continuation-token").map_or("", String::as_str);
        let mut found =
            self.objects.iter().filter(|(key, _)| key.starts_with(prefix) && key.as_str() > after);
        let mut xml = "<ListBucketResult>".to_owned();
        let mut last = None;
        for (key, bytes) in found.by_ref().take(PAGE) {
            let key_shown = key.replace('&', "&amp;").replace('<', "&lt;");
            xml += &format!(
                "<Contents><Key>{key_shown}</Key><LastModified>2026-11-30T18:15:02.000Z</LastModified>\
                 <ETag>etag</ETag><Size>{}</Size></Contents>",
                bytes.len()
            );
            last = Some(key);
        }
        if let (Some(_), Some(last)) = (found.next(), last) {
            xml += &format!("<NextContinuationToken>{last}</NextContinuationToken>");
        }
        ok(xml + "</ListBucketResult>")
    }
}
