//! How requests travel: by the HTTP client that the rest of the program uses.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use http_body_util::BodyExt as _;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use ureq::http::{Method, Response};

use super::PIECE_BYTES;

/// How long a connection may take.
const CONNECT_TIME: Duration = Duration::from_secs(20);

/// How long one request may take, which moves a piece at most.
const REQUEST_TIME: Duration = Duration::from_secs(300);

/// The largest answer: a piece, or a page of a listing.
const ANSWER_MAX: u64 = 2 * PIECE_BYTES as u64;

/// Makes clients.
#[derive(Debug)]
pub(super) struct Web;

impl HttpConnector for Web {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        let config = ureq::Agent::config_builder()
            .timeout_connect(Some(CONNECT_TIME))
            .timeout_global(Some(REQUEST_TIME))
            .http_status_as_error(false)
            // A signature is good for one address only.
            .max_redirects(0)
            .user_agent("pilote")
            .build();
        Ok(HttpClient::new(Client(config.into())))
    }
}

#[derive(Debug)]
struct Client(ureq::Agent);

type Answer<'f> = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>;

impl HttpService for Client {
    // Written out as the library's macro would write it, which saves a dependency.
    fn call<'s, 'f>(&'s self, request: HttpRequest) -> Answer<'f>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let bodiless = matches!(parts.method, Method::GET | Method::HEAD | Method::DELETE);
            let sent = if bodiless {
                self.0.run(ureq::http::Request::from_parts(parts, ()))
            } else {
                self.0.run(ureq::http::Request::from_parts(parts, &body[..]))
            };
            let (parts, mut body) = sent.map_err(failed)?.into_parts();
            // Whole before it is handed on: a connection that drops in the middle is one that is tried again.
            let bytes = body.with_config().limit(ANSWER_MAX).read_to_vec().map_err(failed)?;
            Ok(Response::from_parts(parts, bytes.into()))
        })
    }
}

/// An error as the library tells them apart: which of them are tried again hangs on it.
fn failed(error: ureq::Error) -> HttpError {
    let kind = match &error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => HttpErrorKind::Connect,
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => HttpErrorKind::Connect,
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            HttpErrorKind::Connect
        }
        ureq::Error::Io(_) | ureq::Error::Protocol(_) => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    };
    let error: Box<dyn Error + Send + Sync> = Box::new(error);
    HttpError::new_boxed(kind, error)
}
