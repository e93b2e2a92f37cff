//! A server that says what a test tells it to, and keeps a log of what it was asked: a second witness.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// One request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Its number among those for work, from 0.
    pub(crate) number: usize,
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: Value,
}

impl Asked {
    /// The text of the last message, or the prompt.
    pub(crate) fn text(&self) -> String {
        let chat = self.body["messages"].as_array().and_then(|all| all.last()).map(|last| &last["content"]);
        chat.unwrap_or(&self.body["prompt"]).as_str().unwrap_or_default().to_owned()
    }

    /// The texts of a request for vectors.
    pub(crate) fn texts(&self) -> Vec<String> {
        serde_json::from_value(self.body["input"].clone()).unwrap()
    }
}

/// What the server does.
pub(crate) enum Say {
    Status(u16, Vec<(&'static str, String)>, Value),
    /// 200 with a body that is no JSON.
    Raw(String),
    /// Closes the connection without a word.
    Reset,
}

/// A reply to a chat with this content and finish reason.
pub(crate) fn chat(content: &str, finish: &str) -> Say {
    let choice = json!({ "index": 0, "message": { "role": "assistant", "content": content }, "finish_reason": finish });
    let usage = json!({ "completion_tokens": 7 });
    Say::Status(200, Vec::new(), json!({ "model": "m-1", "choices": [choice], "usage": usage }))
}

/// Vectors of the texts' lengths and ones, in the order of `indexes`.
pub(crate) fn vectors(texts: &[String], indexes: impl IntoIterator<Item = usize>) -> Say {
    let one = |index: usize| json!({ "index": index, "embedding": [texts[index].len(), 1] });
    let data: Vec<Value> = indexes.into_iter().map(one).collect();
    Say::Status(200, Vec::new(), json!({ "data": data }))
}

/// A status with words.
pub(crate) fn status(status: u16, words: &str) -> Say {
    Say::Status(status, Vec::new(), json!({ "error": { "message": words } }))
}

type Handler = dyn Fn(&Asked) -> Say + Send + Sync;

pub(crate) struct FakeServer {
    pub(crate) endpoint: String,
    log: Arc<Mutex<Vec<Asked>>>,
}

impl FakeServer {
    /// A server that lists one model and answers everything else by `handler`.
    pub(crate) fn start(handler: impl Fn(&Asked) -> Say + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}/v1", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let handler: Arc<Handler> = Arc::new(handler);
        let seen = Arc::clone(&log);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, handler) = (Arc::clone(&seen), Arc::clone(&handler));
                std::thread::spawn(move || serve(stream, &seen, &*handler));
            }
        });
        Self { endpoint, log }
    }

    /// What was asked so far.
    pub(crate) fn log(&self) -> Vec<Asked> {
        self.log.lock().unwrap().clone()
    }
}

/// An endpoint where nobody listens.
pub(crate) fn dead() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

fn serve(mut stream: TcpStream, log: &Mutex<Vec<Asked>>, handler: &Handler) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let say = if path == "/v1/models" {
        Say::Status(200, Vec::new(), json!({ "data": [{ "id": "m-1" }] }))
    } else {
        let asked = {
            let mut log = log.lock().unwrap();
            let body = serde_json::from_slice(&body).unwrap();
            let number = log.len();
            log.push(Asked { number, path, authorization, body });
            log.last().unwrap().clone()
        };
        handler(&asked)
    };
    let (status, headers, body) = match say {
        Say::Status(status, headers, body) => (status, headers, body.to_string()),
        Say::Raw(body) => (200, Vec::new(), body),
        Say::Reset => return,
    };
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "HTTP/1.1 {status} x\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}
