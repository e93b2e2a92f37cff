//! Heads over HTTP, against a server on the loopback that counts the bytes it sends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use pilote_size::model::{HttpRanges, RangeReader, read};

use super::fixtures::{GgufFile, Held, folder};

/// A server of files in memory. It counts the bytes of bodies that it sent, by file.
struct Server {
    address: String,
    sent: Arc<Mutex<std::collections::BTreeMap<String, u64>>>,
    requests: Arc<AtomicU64>,
}

#[derive(Clone, Copy)]
enum Manner {
    Ranges,
    Whole,
    Refusing,
    /// As the hub does: a redirect first, and nothing without the token.
    Guarded,
}

fn serve(held: Held, manner: Manner) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let sent = Arc::new(Mutex::new(std::collections::BTreeMap::new()));
    let requests = Arc::new(AtomicU64::new(0));
    let (count, asked) = (Arc::clone(&sent), Arc::clone(&requests));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (held, count, asked) = (held.clone(), Arc::clone(&count), Arc::clone(&asked));
            std::thread::spawn(move || {
                asked.fetch_add(1, Ordering::Relaxed);
                answer(&held, manner, &count, stream);
            });
        }
    });
    Server { address, sent, requests }
}

fn answer(
    held: &Held,
    manner: Manner,
    sent: &Mutex<std::collections::BTreeMap<String, u64>>,
    mut stream: TcpStream,
) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    let name = request.split(' ').nth(1).unwrap_or("/").trim_start_matches('/').to_owned();
    let (mut range, mut allowed) = (None, false);
    for line in lines.by_ref().take_while(|line| !line.is_empty()) {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
            let (first, last) = value.split_once('-').unwrap();
            range = Some((first.parse::<u64>().unwrap(), last.parse::<u64>().unwrap()));
        }
        allowed |= line.eq_ignore_ascii_case("authorization: Bearer hf_secret");
    }
    if let Some(moved) = name.strip_prefix("moved/") {
        let answer = format!(
            "HTTP/1.1 307 Moved\r\nLocation: /{moved}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        let _ = stream.write_all(answer.as_bytes());
        return;
    }
    let Some((_, length)) = held.0.get(&name).cloned() else {
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
    };
    let (head, body) = match (manner, range) {
        (Manner::Guarded, _) if !allowed => {
            ("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0".to_owned(), Vec::new())
        }
        (Manner::Refusing, _) => ("HTTP/1.1 403 Forbidden\r\nContent-Length: 0".to_owned(), Vec::new()),
        (Manner::Ranges | Manner::Guarded, Some((first, last))) => {
            let end = (last + 1).min(length);
            let body = held.read(&name, first, end - first).unwrap();
            let place = format!("Content-Range: bytes {first}-{}/{length}", end - 1);
            (format!("HTTP/1.1 206 Partial Content\r\n{place}\r\nContent-Length: {}", body.len()), body)
        }
        _ => {
            // As much as a client may take before it hangs up; the length announced is that of the file.
            let body = held.read(&name, 0, length.min(1 << 20)).unwrap();
            (format!("HTTP/1.1 200 OK\r\nContent-Length: {length}"), body)
        }
    };
    // Counted before it is sent, so that a client that has its answer also finds it counted.
    *sent.lock().unwrap().entry(name).or_default() += body.len() as u64;
    let _ = stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes());
    let _ = stream.write_all(&body);
    // Reading to the end lets the client close first, so that what was sent is not reset.
    let _ = stream.read(&mut [0; 16]);
}

#[test]
fn a_sharded_model_costs_its_headers_and_64_kib_a_file_at_most() {
    let held = folder("llama-3.1-70b", 30);
    let server = serve(held.clone(), Manner::Ranges);
    let facts = read(&HttpRanges::new(&server.address, None)).unwrap();
    assert_eq!(facts.weight_bytes, Some(141_107_412_992));
    let sent = server.sent.lock().unwrap();
    assert_eq!(sent.len(), held.0.len(), "the shards, the index and the configuration");
    for (name, bytes) in sent.iter() {
        let header = held.0[name].0.len() as u64;
        assert!(*bytes <= header + 64 * 1024, "{name}: {bytes} bytes were sent for a header of {header}");
    }
}

#[test]
fn a_header_longer_than_the_first_piece_is_fetched_to_its_end_and_no_further() {
    let tensors: Vec<_> =
        (0..4000).map(|at| (format!("model.layers.{at}.some.long.name"), "F16", vec![8])).collect();
    let (head, length) = super::fixtures::safetensors(&tensors);
    let held = Held::default().with_length("model.safetensors", head.clone(), length + (1 << 30));
    let server = serve(held, Manner::Ranges);
    let facts = read(&HttpRanges::new(&server.address, None)).unwrap();
    assert_eq!(facts.tensors.all.len(), 4000);
    assert_eq!(server.sent.lock().unwrap()["model.safetensors"], head.len() as u64);
}

#[test]
fn a_gguf_file_is_read_by_its_address_alone() {
    let words: Vec<String> = (0..60_000).map(|at| format!("word{at}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let file = GgufFile::default()
        .text("general.architecture", "llama")
        .words("tokenizer.ggml.tokens", &words)
        .tensor("token_embd.weight", &[4096, 4096], 8, 17_825_792);
    let (head, length) = file.build(3);
    let server =
        serve(Held::default().with_length("org/model-Q8.gguf", head.clone(), length), Manner::Ranges);
    let facts = read(&HttpRanges::new(&format!("{}/org/model-Q8.gguf", server.address), None)).unwrap();
    assert_eq!(facts.weight_bytes, Some(17_825_792));
    assert_eq!(facts.architecture.unwrap().vocabulary, Some(60_000));
    let sent = server.sent.lock().unwrap()["org/model-Q8.gguf"];
    assert!(sent <= head.len() as u64 + 64 * 1024, "{sent} bytes for a head of {}", head.len());
}

#[test]
fn a_server_that_ignores_ranges_is_used_up_to_the_first_piece() {
    let (head, length) = super::fixtures::safetensors(&[("t".into(), "F32", vec![1 << 20])]);
    let server = serve(Held::default().with_length("model.safetensors", head, length), Manner::Whole);
    assert_eq!(read(&HttpRanges::new(&server.address, None)).unwrap().weight_bytes, Some(4 << 20));
    let tensors: Vec<_> =
        (0..4000).map(|at| (format!("model.layers.{at}.some.long.name"), "F16", vec![8])).collect();
    let (head, length) = super::fixtures::safetensors(&tensors);
    let server = serve(Held::default().with_length("model.safetensors", head, length), Manner::Whole);
    let error = read(&HttpRanges::new(&server.address, None)).unwrap_err();
    assert!(error.to_string().contains("ignores range requests"), "{error}");
}

#[test]
fn refused_access_says_what_to_give_and_never_shows_the_token() {
    let server = serve(folder("llama-3.1-8b", 1), Manner::Refusing);
    let error = read(&HttpRanges::new(&server.address, Some("hf_secret".into()))).unwrap_err();
    assert_eq!(error.code(), "http");
    assert!(error.to_string().contains("token"), "{error}");
    assert!(!format!("{error:?}").contains("hf_secret"));
}

#[test]
fn a_redirect_on_the_same_host_keeps_range_and_token() {
    let (head, length) = super::fixtures::safetensors(&[("t".into(), "F32", vec![1 << 20])]);
    let server = serve(Held::default().with_length("model.safetensors", head, length), Manner::Guarded);
    let address = format!("{}/moved", server.address);
    let facts = read(&HttpRanges::new(&address, Some("hf_secret".into()))).unwrap();
    assert_eq!(facts.weight_bytes, Some(4 << 20));
    assert!(server.sent.lock().unwrap()["model.safetensors"] <= 64 * 1024);
    assert_eq!(read(&HttpRanges::new(&address, None)).unwrap_err().code(), "http");
}

#[test]
fn an_absent_model_and_an_absent_server_are_told_apart() {
    let server = serve(Held::default(), Manner::Ranges);
    let error = read(&HttpRanges::new(&server.address, None)).unwrap_err();
    assert_eq!(error.code(), "no-model");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = read(&HttpRanges::new(&format!("http://{closed}"), None)).unwrap_err();
    assert_eq!(error.code(), "http");
}

#[test]
fn a_file_is_asked_for_once_when_its_head_is_short() {
    let (head, length) = super::fixtures::safetensors(&[("t".into(), "F32", vec![4])]);
    let server = serve(Held::default().with_length("m.safetensors", head, length), Manner::Ranges);
    read(&HttpRanges::new(&format!("{}/m.safetensors", server.address), None)).unwrap();
    assert_eq!(server.requests.load(Ordering::Relaxed), 1);
}
