//! Fetching from a model hub over HTTP: resumable, checked against what the server announces, with bounded retries.

use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use pilote_spec::{Clock, Digest};
use ureq::http::{HeaderMap, Response, Uri};

use super::SourceError;
use super::check::{CARD, OPTIONAL, REQUIRED, SHARD_INDEX, WEIGHTS, digest, module_files};
use super::store::Environment;

/// Tries in a row that bring nothing before a file is given up.
const TRIES_MAX: u32 = 5;
/// Tries of one file in all, for a server that breaks off every time and ignores `Range`.
const TRIES_TOTAL_MAX: u32 = 100;
/// The longest wait between two tries, also where the server asks for more.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// Hops of one request.
const REDIRECTS_MAX: u32 = 5;
/// Bytes between two reports of progress.
const REPORT_BYTES: u64 = 1 << 20;

/// How far a file is: its name, bytes here, bytes in all.
type Report<'a> = &'a mut dyn FnMut(&str, u64, Option<u64>);

/// A model hub.
pub(super) struct Hub<'a> {
    agent: ureq::Agent,
    environment: &'a Environment,
    clock: &'a dyn Clock,
}

/// What one try came to, other than a whole file.
enum Trouble {
    /// Another try will not help.
    Final(SourceError),
    /// Another try may help, after the time that the server asked for.
    Passing(SourceError, Option<Duration>),
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Self::Final(error.into())
    }
}

/// What the server says of a file that is now here.
struct Received {
    /// The commit that the revision stands for.
    commit: Option<String>,
    /// The SHA-256 of the content, which hubs give for large files.
    announced: Option<Digest>,
}

impl<'a> Hub<'a> {
    pub(super) fn new(environment: &'a Environment, clock: &'a dyn Clock) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // Redirects are followed here, because the first answer carries the commit and the digest, and so that
            // the token is never sent to another host.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(Duration::from_secs(20)))
            .timeout_recv_response(Some(Duration::from_secs(60)))
            .timeout_per_read(Some(Duration::from_secs(60)))
            .user_agent(concat!("pilote/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        Self { agent, environment, clock }
    }

    /// Fetches the files of `repository` at `revision` into `staging`; returns the commit, where the hub names one.
    pub(super) fn fetch(
        &self,
        repository: &str,
        revision: &str,
        staging: &Path,
        report: Report<'_>,
    ) -> Result<Option<String>, SourceError> {
        let url = |revision: &str, file: &str| {
            format!("{}/{repository}/resolve/{revision}/{file}", self.environment.endpoint)
        };
        let missing = |file: &str| SourceError::NotFound { url: url(revision, file) };
        let first = REQUIRED[0];
        let received =
            self.file(&url(revision, first), first, staging, report)?.ok_or_else(|| missing(first))?;
        // A branch may move while its files are fetched, so the rest is asked for at the commit of the first.
        let at = received.commit.as_deref().unwrap_or(revision);
        for file in OPTIONAL.into_iter().chain([CARD]) {
            if self.file(&url(at, file), file, staging, report)?.is_some() && file == "modules.json" {
                for settings in module_files(&fs_err::read(staging.join(file))?)? {
                    self.file(&url(at, &settings), &settings, staging, report)?;
                }
            }
        }
        for file in &REQUIRED[1..] {
            if self.file(&url(at, file), file, staging, report)?.is_none() {
                let sharded = *file == WEIGHTS
                    && self.file(&url(at, SHARD_INDEX), SHARD_INDEX, staging, report)?.is_some();
                return Err(if sharded { SourceError::Sharded } else { missing(file) });
            }
        }
        Ok(received.commit)
    }

    /// Fetches one file into `staging`; none where the hub has no such file. What is there already of the weights is
    /// continued; the small files are always fetched whole.
    fn file(
        &self,
        url: &str,
        name: &str,
        staging: &Path,
        report: Report<'_>,
    ) -> Result<Option<Received>, SourceError> {
        let path = staging.join(name);
        fs_err::create_dir_all(path.parent().unwrap_or(staging))?;
        let partial = Partial::new(&path);
        if name != WEIGHTS {
            partial.forget()?;
        }
        let (mut fruitless, mut total) = (0, 0);
        loop {
            let before = partial.length();
            total += 1;
            match self.attempt(url, name, &partial, report) {
                Ok(None) => return Ok(None),
                Ok(Some(received)) => {
                    partial.finish(name, received.announced)?;
                    return Ok(Some(received));
                }
                Err(Trouble::Final(error)) => return Err(error),
                Err(Trouble::Passing(error, asked)) => {
                    fruitless = if partial.length() > before { 0 } else { fruitless + 1 };
                    if fruitless >= TRIES_MAX || total >= TRIES_TOTAL_MAX {
                        return Err(with_tries(error, total));
                    }
                    let patience = Duration::from_secs(1 << fruitless.min(5));
                    self.clock.wait(asked.unwrap_or(patience).min(WAIT_MAX));
                }
            }
        }
    }

    /// One try: asks for what is missing of the file and appends what comes.
    fn attempt(
        &self,
        url: &str,
        name: &str,
        partial: &Partial,
        report: Report<'_>,
    ) -> Result<Option<Received>, Trouble> {
        let passing = |detail: String| {
            Trouble::Passing(SourceError::Network { url: url.to_owned(), detail, tries: 0 }, None)
        };
        let from = partial.resumable();
        let (received, response) = self.ask(url, from.as_ref())?;
        let status = response.status().as_u16();
        match status {
            200 | 206 => {}
            404 => return Ok(None),
            401 | 403 => return Err(Trouble::Final(SourceError::Denied { url: url.to_owned(), status })),
            408 | 429 | 500..=599 => {
                let asked = header(response.headers(), "retry-after").and_then(|text| text.parse().ok());
                let error = SourceError::Status { url: url.to_owned(), status, tries: 0 };
                return Err(Trouble::Passing(error, asked.map(Duration::from_secs)));
            }
            416 => {
                // What is here is not the beginning of what is there.
                partial.forget()?;
                return Err(passing("the server has no such range".into()));
            }
            _ => return Err(Trouble::Final(SourceError::Status { url: url.to_owned(), status, tries: 1 })),
        }
        let headers = response.headers();
        let (start, total) = match (status, content_range(headers)) {
            (206, Some((start, total))) if from.as_ref().is_some_and(|(length, _)| *length == start) => {
                (start, total)
            }
            (206, _) => {
                partial.forget()?;
                return Err(passing("the server sent another range than asked for".into()));
            }
            _ => (0, header(headers, "content-length").and_then(|text| text.parse().ok())),
        };
        let mut file = partial.open(start, header(headers, "etag"))?;
        let mut body = response.into_body().into_reader();
        let (mut done, mut reported) = (start, start);
        report(name, done, total);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let count = body.read(&mut buffer).map_err(|error| passing(error.to_string()))?;
            if count == 0 {
                break;
            }
            file.write_all(&buffer[..count])?;
            done += count as u64;
            if done - reported >= REPORT_BYTES {
                reported = done;
                report(name, done, total);
            }
        }
        report(name, done, total);
        match total {
            Some(total) if total != done => {
                Err(passing(format!("the connection ended after {done} of {total} bytes")))
            }
            _ => Ok(Some(received)),
        }
    }

    /// Sends the request and follows redirects; what the hub itself says of the file is taken from its own answer.
    fn ask(
        &self,
        url: &str,
        from: Option<&(u64, String)>,
    ) -> Result<(Received, Response<ureq::Body>), Trouble> {
        let network = |detail: String| {
            Trouble::Passing(SourceError::Network { url: url.to_owned(), detail, tries: 0 }, None)
        };
        let origin: Uri = url.parse().map_err(|error| network(format!("{error}")))?;
        let mut target = origin.clone();
        let mut received = Received { commit: None, announced: None };
        for _ in 0..=REDIRECTS_MAX {
            let mut request = self.agent.get(target.clone()).header("accept-encoding", "identity");
            if let Some(token) =
                self.environment.token.as_ref().filter(|_| target.authority() == origin.authority())
            {
                request = request.header("authorization", format!("Bearer {}", token.0));
            }
            if let Some((length, etag)) = from {
                request = request.header("range", format!("bytes={length}-")).header("if-range", etag);
            }
            let response = request.call().map_err(|error| network(error.to_string()))?;
            let headers = response.headers();
            received.commit =
                received.commit.or_else(|| header(headers, "x-repo-commit").filter(|text| is_commit(text)));
            let linked =
                header(headers, "x-linked-etag").and_then(|text| text.trim_matches('"').parse().ok());
            received.announced = received.announced.or(linked);
            if !response.status().is_redirection() {
                return Ok((received, response));
            }
            let location =
                header(headers, "location").ok_or_else(|| network("a redirect to nowhere".into()))?;
            target = redirected(&target, &location)
                .ok_or_else(|| network(format!("a redirect to `{location}`")))?;
        }
        Err(network(format!("more than {REDIRECTS_MAX} redirects")))
    }
}

/// A file that may be here in part: `NAME.partial`, with the server's tag of that content in `NAME.partial.etag`.
struct Partial {
    whole: std::path::PathBuf,
    data: std::path::PathBuf,
    etag: std::path::PathBuf,
}

impl Partial {
    fn new(path: &Path) -> Self {
        let data = path.with_added_extension("partial");
        Self { whole: path.to_owned(), etag: data.with_added_extension("etag"), data }
    }

    fn length(&self) -> u64 {
        fs_err::metadata(&self.data).map_or(0, |data| data.len())
    }

    /// The length to continue from and the tag that the content must still have; none where the whole is needed.
    fn resumable(&self) -> Option<(u64, String)> {
        let etag = fs_err::read_to_string(&self.etag).ok().filter(|etag| !etag.is_empty())?;
        Some((self.length(), etag)).filter(|(length, _)| *length > 0)
    }

    /// Opens the file for writing at `start`. A tag is kept only where it is a strong one: weak tags do not promise
    /// equal bytes.
    fn open(&self, start: u64, etag: Option<String>) -> std::io::Result<fs_err::File> {
        if start == 0 {
            self.forget()?;
            if let Some(etag) = etag.filter(|etag| etag.starts_with('"')) {
                fs_err::write(&self.etag, etag)?;
            }
        }
        fs_err::OpenOptions::new().create(true).append(true).open(&self.data)
    }

    fn forget(&self) -> std::io::Result<()> {
        for path in [&self.data, &self.etag] {
            if path.exists() {
                fs_err::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// Checks the whole file and gives it its name within the staging directory.
    fn finish(&self, name: &str, announced: Option<Digest>) -> Result<(), SourceError> {
        if let Some(expected) = announced {
            let seen = digest(&self.data)?;
            if seen != expected {
                self.forget()?;
                return Err(SourceError::WrongDigest {
                    file: name.to_owned(),
                    origin: "announced",
                    expected,
                    seen,
                });
            }
        }
        fs_err::rename(&self.data, &self.whole)?;
        self.forget()?;
        Ok(())
    }
}

fn with_tries(error: SourceError, total: u32) -> SourceError {
    match error {
        SourceError::Network { url, detail, .. } => SourceError::Network { url, detail, tries: total },
        SourceError::Status { url, status, .. } => SourceError::Status { url, status, tries: total },
        other => other,
    }
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// First byte and total of `Content-Range: bytes 100-199/200`.
fn content_range(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let text = header(headers, "content-range")?;
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    Some((range.split_once('-')?.0.parse().ok()?, total.parse().ok()))
}

fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// The target of a redirect: a whole URL, or a path on the same host.
fn redirected(from: &Uri, location: &str) -> Option<Uri> {
    let text = if location.starts_with('/') {
        format!("{}://{}{location}", from.scheme_str()?, from.authority()?)
    } else {
        location.to_owned()
    };
    text.parse().ok().filter(|uri: &Uri| uri.authority().is_some())
}
