//! The requests themselves, over HTTP.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::policy::{Reply, words};

/// Bytes of a reply that are read, at the most.
const REPLY_BYTES_MAX: u64 = 256 << 20;
/// How long a connection may take.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// The way to the endpoints.
pub(super) struct Wire {
    agent: ureq::Agent,
    endpoints: Vec<String>,
    key: Option<String>,
}

impl Wire {
    pub(super) fn new(endpoints: &[String], key: Option<String>, request_max: Duration) -> Self {
        // A proxy is for servers elsewhere; one that runs here is not seen from there.
        let here = |endpoint: &String| {
            ["://127.", "://localhost", "://[::1]"].iter().any(|place| endpoint.contains(place))
        };
        let mut config = ureq::Agent::config_builder();
        if endpoints.iter().all(here) {
            config = config.proxy(None);
        }
        let config = config
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_MAX))
            .timeout_global(Some(request_max))
            .max_idle_connections_per_host(64)
            .build();
        let endpoints = endpoints.iter().map(|endpoint| endpoint.trim_end_matches('/').to_owned()).collect();
        Self { agent: config.new_agent(), endpoints, key }
    }

    /// Posts `body` to a path below an endpoint.
    pub(super) fn post(&self, endpoint: usize, path: &str, body: String) -> Reply {
        let request = self.agent.post(format!("{}/{path}", self.endpoints[endpoint]));
        let request = request.header("Content-Type", "application/json");
        self.without_key(reply(self.with_key(request).send(body)))
    }

    /// What the server says of its models, for the trial's record.
    ///
    /// # Errors
    /// A sentence with the address, where the server does not answer. One that does not list models is no error.
    pub(super) fn models(&self, endpoint: usize) -> Result<BTreeMap<String, String>, String> {
        let address = format!("{}/models", self.endpoints[endpoint]);
        match self.without_key(reply(self.with_key(self.agent.get(&address)).call())) {
            Reply::Http { status: 200, body, .. } => Ok(models(&body)),
            Reply::Http { status: status @ 401..=403, body, .. } => {
                Err(format!("{address} answers {status}: {}", words(&body)))
            }
            Reply::Http { .. } => Ok(BTreeMap::new()),
            Reply::NotReached(why) | Reply::Broken(why) => Err(format!("{address} does not answer: {why}")),
        }
    }

    /// Whether `address` answers 200.
    pub(super) fn answers(&self, address: &str) -> bool {
        matches!(reply(self.with_key(self.agent.get(address)).call()), Reply::Http { status: 200, .. })
    }

    /// The address below the first endpoint that lists its models.
    pub(super) fn models_address(&self) -> String {
        self.endpoints.first().map(|endpoint| format!("{endpoint}/models")).unwrap_or_default()
    }

    /// A reply in which the server repeats our key bears the word `[key]` in its place.
    fn without_key(&self, reply: Reply) -> Reply {
        match (&self.key, reply) {
            (Some(key), Reply::Http { status, retry_after, body }) if !key.is_empty() => {
                let text = String::from_utf8_lossy(&body);
                let body =
                    if text.contains(key.as_str()) { text.replace(key, "[key]").into_bytes() } else { body };
                Reply::Http { status, retry_after, body }
            }
            (_, reply) => reply,
        }
    }

    fn with_key<B>(&self, request: ureq::RequestBuilder<B>) -> ureq::RequestBuilder<B> {
        match &self.key {
            Some(key) => request.header("Authorization", format!("Bearer {key}")),
            None => request,
        }
    }
}

/// Names and owners of the listed models.
fn models(body: &[u8]) -> BTreeMap<String, String> {
    let listed = serde_json::from_slice::<Value>(body).unwrap_or_default();
    let names = listed["data"].as_array().into_iter().flatten().filter_map(|model| model["id"].as_str());
    let names: Vec<&str> = names.take(20).collect();
    if names.is_empty() { BTreeMap::new() } else { BTreeMap::from([("served".to_owned(), names.join(" "))]) }
}

fn reply(sent: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Reply {
    match sent {
        Ok(mut response) => {
            let status = response.status().as_u16();
            let header = response.headers().get("retry-after");
            let retry_after = header.and_then(|value| value.to_str().ok()).map(str::to_owned);
            match response.body_mut().with_config().limit(REPLY_BYTES_MAX).read_to_vec() {
                Ok(body) => Reply::Http { status, retry_after, body },
                Err(error) => Reply::Broken(error.to_string()),
            }
        }
        Err(error @ (ureq::Error::ConnectionFailed | ureq::Error::HostNotFound)) => {
            Reply::NotReached(error.to_string())
        }
        Err(ureq::Error::Io(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            Reply::NotReached(error.to_string())
        }
        Err(error @ ureq::Error::Timeout(ureq::Timeout::Connect)) => Reply::NotReached(error.to_string()),
        Err(error) => Reply::Broken(error.to_string()),
    }
}
