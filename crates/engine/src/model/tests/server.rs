//! A hub on the loopback, as good or as bad as a test wants it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What was asked.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// How many requests came before.
    pub(super) number: usize,
    pub(super) path: String,
    /// First byte of a `Range: bytes=N-`.
    pub(super) range: Option<usize>,
    pub(super) if_range: Option<String>,
    pub(super) authorization: Option<String>,
}

/// What is answered.
pub(super) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    cut_after: Option<usize>,
}

impl Reply {
    pub(super) fn of(body: Vec<u8>) -> Self {
        Self { status: 200, headers: Vec::new(), body, cut_after: None }
    }

    pub(super) fn status(status: u16) -> Self {
        Self { status, ..Self::of(Vec::new()) }
    }

    /// The rest of `whole` from a byte on.
    pub(super) fn part(whole: &[u8], from: usize) -> Self {
        let range = format!("bytes {from}-{}/{}", whole.len() - 1, whole.len());
        Self { status: 206, ..Self::of(whole[from..].to_vec()) }.with("content-range", &range)
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(super) fn tagged(self, etag: &str) -> Self {
        self.with("etag", etag)
    }

    /// Promises the whole body and hangs up after some of it.
    pub(super) fn cut_after(mut self, bytes: usize) -> Self {
        self.cut_after = Some(bytes);
        self
    }
}

pub(super) struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Starts a server that lives as long as the test's process. One connection a request.
    pub(super) fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                let Some(request) = read(&stream, seen.lock().unwrap().len()) else { continue };
                seen.lock().unwrap().push(request.clone());
                // The other side may have hung up; that is its business.
                let _ = write(&stream, &answer(&request));
            }
        });
        Self { port, requests }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub(super) fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// The ranges that were asked of a file, in order.
    pub(super) fn ranges(&self, file: &str) -> Vec<Option<usize>> {
        self.requests()
            .iter()
            .filter(|request| request.path.ends_with(file))
            .map(|request| request.range)
            .collect()
    }
}

fn read(stream: &TcpStream, number: usize) -> Option<Request> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let mut request = Request { number, path, range: None, if_range: None, authorization: None };
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(": ")?;
        match name.to_ascii_lowercase().as_str() {
            "range" => request.range = value.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok(),
            "if-range" => request.if_range = Some(value.to_owned()),
            "authorization" => request.authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    Some(request)
}

fn write(mut stream: &TcpStream, reply: &Reply) -> std::io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {} x\r\nconnection: close\r\ncontent-length: {}\r\n",
        reply.status,
        reply.body.len()
    );
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    stream.write_all(&reply.body[..reply.cut_after.unwrap_or(reply.body.len())])
}
