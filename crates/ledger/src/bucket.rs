//! A place in an object store that speaks S3: what copies are made in and read again from, and a [`Store`] like the
//! others.
//!
//! Requests are repeated by the library under this, and never hold more than a piece of an object in memory. Keys are
//! relative to the place; those of a copy may bear any name that a file may, those of a [`Store`] are stricter.

mod upload;
mod web;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{
    BackoffConfig, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig,
};

pub use upload::Upload;
use web::Web;

use crate::store::{Creation, Listed, Store, StoreError, check_key};

/// Bytes that one request moves at most; a bound on memory, and on what a dropped connection costs.
pub const PIECE_BYTES: usize = 8 << 20;

/// How often a request is tried again.
const RETRIES: usize = 5;

/// How long a request is tried again. A signature is good for longer.
const RETRY_TIME: Duration = Duration::from_secs(120);

/// Pages of one listing, of a thousand keys each.
const PAGES_MAX: usize = 100_000;

/// The variable that holds the name of a key to an object store.
pub const ACCESS_KEY: &str = "AWS_ACCESS_KEY_ID";

/// The variable that holds the secret of that key.
pub const SECRET_KEY: &str = "AWS_SECRET_ACCESS_KEY";

/// Variables that hold the address of an object store that is not Amazon's, the first one set counts.
const ENDPOINTS: [&str; 2] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"];

/// Variables that hold the region, the first one set counts.
const REGIONS: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];

/// The region where none is named; stores that are not Amazon's take it.
const REGION: &str = "us-east-1";

/// How requests are signed, and where they go: read from the environment at the edge of the program. Never printed.
#[derive(Clone, Default)]
pub struct Access {
    variables: BTreeMap<&'static str, String>,
}

impl Access {
    /// From variables as `read` gives them; only names that are known here are asked for.
    pub fn from_variables(read: impl Fn(&str) -> Option<String>) -> Self {
        let names = [ACCESS_KEY, SECRET_KEY, "AWS_SESSION_TOKEN"].into_iter().chain(ENDPOINTS).chain(REGIONS);
        let set = |name| Some((name, read(name).filter(|value| !value.is_empty())?));
        Self { variables: names.filter_map(set).collect() }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }
}

impl fmt::Debug for Access {
    /// Names only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.variables.keys()).finish()
    }
}

/// Why a place in an object store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// An address of another form.
    #[error(
        "`{address}` is no place in an object store: {why}; write s3://BUCKET/FOLDER or https://example.org/BUCKET/FOLDER"
    )]
    Address {
        /// The address, without what a password might be in.
        address: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Writing without a key.
    #[error("writing to an object store needs a key; set the variables {ACCESS_KEY} and {SECRET_KEY}")]
    NoKey,
    /// What the library says of its settings.
    #[error("the object store cannot be used")]
    Settings(#[source] Box<object_store::Error>),
}

impl BucketError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address { .. } => "no-place",
            Self::NoKey => "no-key",
            Self::Settings(_) => "object-store",
        }
    }
}

/// Whether text is the address of a place in an object store and no path.
#[must_use]
pub fn is_bucket(text: &str) -> bool {
    ["s3://", "http://", "https://"].into_iter().any(|scheme| text.starts_with(scheme))
}

/// A place in a bucket.
#[derive(Clone)]
pub struct Bucket {
    client: Arc<AmazonS3>,
    /// The address up to the bucket, as messages name it.
    address: String,
    /// What stands before every key: nothing, or a folder with its `/`.
    prefix: String,
    signed: bool,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown(""))
    }
}

impl Bucket {
    /// The place that `address` names: `s3://BUCKET/FOLDER`, or `https://example.org/BUCKET/FOLDER` for a store that is named
    /// with it. Asks nothing yet. Without a key in `access`, requests are not signed, and only what is public can be read.
    ///
    /// # Errors
    /// When the address is of another form, or holds a password.
    pub fn open(address: &str, access: &Access) -> Result<Self, BucketError> {
        let Address { shown, endpoint, bucket, prefix } = Address::parse(address)?;
        let endpoint = endpoint.or_else(|| access.first(&ENDPOINTS).map(str::to_owned));
        let signed = access.get(ACCESS_KEY).is_some() && access.get(SECRET_KEY).is_some();
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_region(access.first(&REGIONS).unwrap_or(REGION))
            .with_virtual_hosted_style_request(false)
            .with_allow_http(true)
            .with_skip_signature(!signed)
            .with_http_connector(Web)
            .with_retry(RetryConfig {
                backoff: BackoffConfig::default(),
                max_retries: RETRIES,
                retry_timeout: RETRY_TIME,
            });
        if let Some(endpoint) = endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        if let (Some(key), Some(secret)) = (access.get(ACCESS_KEY), access.get(SECRET_KEY)) {
            builder = builder.with_access_key_id(key).with_secret_access_key(secret);
        }
        if let Some(token) = access.get("AWS_SESSION_TOKEN").filter(|_| signed) {
            builder = builder.with_token(token);
        }
        let client = builder.build().map_err(|error| BucketError::Settings(Box::new(error)))?;
        Ok(Self { client: Arc::new(client), address: shown, prefix, signed })
    }

    /// The same, for writing.
    ///
    /// # Errors
    /// When there is no key, so that nothing could be written.
    pub fn writable(self) -> Result<Self, BucketError> {
        if self.signed { Ok(self) } else { Err(BucketError::NoKey) }
    }

    /// The folder of that name below this place.
    #[must_use]
    pub fn within(&self, folder: &str) -> Self {
        Self { prefix: format!("{}{folder}/", self.prefix), ..self.clone() }
    }

    /// A key as messages name it; the place itself where `key` is empty.
    #[must_use]
    pub fn shown(&self, key: &str) -> String {
        let whole = format!("{}/{}{key}", self.address, self.prefix);
        whole.trim_end_matches('/').to_owned()
    }

    /// The last name of the place, and the place above it; none for a whole bucket.
    #[must_use]
    pub fn split(&self) -> Option<(Self, String)> {
        let plain = self.prefix.strip_suffix('/')?;
        let (above, name) = plain.rsplit_once('/').map_or(("", plain), |(above, name)| (above, name));
        let prefix = if above.is_empty() { String::new() } else { format!("{above}/") };
        Some((Self { prefix, ..self.clone() }, name.to_owned()))
    }

    fn path(&self, key: &str) -> io::Result<Path> {
        let whole = format!("{}{key}", self.prefix);
        let path = Path::parse(&whole).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        if path.as_ref() == whole {
            Ok(path)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{whole}` is no key")))
        }
    }

    /// Length of an object; none where it is absent.
    ///
    /// # Errors
    /// When the store cannot be asked.
    pub fn length(&self, key: &str) -> io::Result<Option<u64>> {
        let Ok(path) = self.path(key) else { return Ok(None) };
        let about = absent_is_none(wait(self.client.head(&path))?)?;
        Ok(about.map(|about| about.size))
    }

    /// Every object whose key begins with `folder`, which is empty or ends in `/`, in the order of the keys' bytes.
    ///
    /// # Errors
    /// When the listing is not whole, or holds a key that no file could have.
    pub fn objects(&self, folder: &str) -> io::Result<Vec<Listed>> {
        let below = format!("{}{folder}", self.prefix);
        let (mut listed, mut token) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let options = PaginatedListOptions { page_token: token, ..PaginatedListOptions::default() };
            let page = wait(self.client.list_paginated(Some(&below), options))?.map_err(failed)?;
            for object in page.result.objects {
                let Some(key) = object.location.as_ref().strip_prefix(&self.prefix) else { continue };
                listed.push(Listed { key: key.to_owned(), bytes: object.size });
            }
            token = page.page_token;
            if token.is_none() {
                listed.sort_by(|a, b| a.key.cmp(&b.key));
                return Ok(listed);
            }
        }
        Err(io::Error::other("the listing does not end"))
    }

    /// Up to `length` bytes of an object from `offset`, fewer only at its end; none where it is absent.
    ///
    /// # Errors
    /// When the store cannot be asked, or gives other bytes than were asked for.
    pub fn range(&self, key: &str, offset: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
        let Ok(path) = self.path(key) else { return Ok(None) };
        if length == 0 {
            return Ok(self.length(key)?.map(|_| Vec::new()));
        }
        let range = GetRange::Bounded(offset..offset.saturating_add(length as u64));
        let options = GetOptions { range: Some(range), ..GetOptions::default() };
        let got = wait(async {
            match self.client.get_opts(&path, options).await {
                Ok(got) => got.bytes().await,
                Err(error) => Err(error),
            }
        })?;
        match got {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            // What begins at the end has no bytes; stores refuse to say so.
            Err(error @ object_store::Error::Generic { .. }) => match self.length(key) {
                Ok(Some(there)) if offset >= there => Ok(Some(Vec::new())),
                Ok(None) => Ok(None),
                Ok(Some(_)) | Err(_) => Err(failed(error)),
            },
            Err(error) => Err(failed(error)),
        }
    }

    /// The bytes of an object from its start, `bytes` of them, read piece by piece.
    #[must_use]
    pub fn reader(&self, key: &str, bytes: u64) -> ObjectReader {
        self.reader_from(key, 0, bytes)
    }

    /// The bytes of an object from `from` up to `to`, read piece by piece.
    #[must_use]
    pub fn reader_from(&self, key: &str, from: u64, to: u64) -> ObjectReader {
        ObjectReader { bucket: self.clone(), key: key.to_owned(), at: from, to, piece: Vec::new(), taken: 0 }
    }

    /// Puts an object, whatever was there.
    ///
    /// # Errors
    /// When it is not certain that it is there.
    pub fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(key)?;
        wait(self.client.put(&path, bytes.to_vec().into()))?.map(|_| ()).map_err(failed)
    }

    /// Begins an object of about `bytes` bytes, which is there when [`Upload::finish`] returned and not before.
    ///
    /// # Errors
    /// When the key is none.
    pub fn upload(&self, key: &str, bytes: u64) -> io::Result<Upload> {
        Ok(Upload::new(Arc::clone(&self.client), self.path(key)?, bytes))
    }

    /// Removes an object.
    ///
    /// # Errors
    /// When it is not certain that it is gone.
    pub fn remove(&self, key: &str) -> io::Result<()> {
        let path = self.path(key)?;
        absent_is_none(wait(self.client.delete(&path))?).map(|_| ())
    }
}

/// Runs a request to its end on this thread. The library is asynchronous; nothing here is, so each call has a runtime
/// of its own, which holds no more than the clock of its repetitions.
fn wait<T>(request: impl Future<Output = T>) -> io::Result<T> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(request))
}

/// An error of the library as one of the system, with the kinds that callers tell apart.
fn failed(error: object_store::Error) -> io::Error {
    let kind = match &error {
        object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            io::ErrorKind::PermissionDenied
        }
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

fn absent_is_none<T>(result: object_store::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// An object being read, a piece with each request.
pub struct ObjectReader {
    bucket: Bucket,
    key: String,
    at: u64,
    to: u64,
    piece: Vec<u8>,
    taken: usize,
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.piece.len() {
            let left = usize::try_from(self.to - self.at).unwrap_or(usize::MAX).min(PIECE_BYTES);
            if left == 0 {
                return Ok(0);
            }
            let piece = self.bucket.range(&self.key, self.at, left)?;
            self.piece = piece.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            self.taken = 0;
            if self.piece.len() > left {
                return Err(io::Error::other("the store gave more than was asked for"));
            }
            self.at += self.piece.len() as u64;
        }
        let bytes = &self.piece[self.taken..];
        let length = bytes.len().min(buffer.len());
        buffer[..length].copy_from_slice(&bytes[..length]);
        self.taken += length;
        Ok(length)
    }
}

impl Store for Bucket {
    fn create(&self, key: &str, bytes: &[u8]) -> Result<Creation, StoreError> {
        check_key(key)?;
        let store = |source| StoreError::io("create", key, source);
        let path = self.path(key).map_err(store)?;
        let create = || {
            let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
            wait(self.client.put_opts(&path, bytes.to_vec().into(), options)).map_err(store)
        };
        // The library does not repeat a creation whose answer was lost. Here it may: whoever finds his own bytes knows.
        let mut tried = 0;
        loop {
            match create()? {
                Ok(_) => return Ok(Creation::Created),
                Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                    return Ok(Creation::Exists);
                }
                Err(object_store::Error::Generic { .. }) if tried < RETRIES => tried += 1,
                Err(error) => return Err(store(failed(error))),
            }
        }
    }

    fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let store = |source| StoreError::io("read", key, source);
        let Ok(path) = self.path(key) else { return Ok(None) };
        let got = wait(async {
            match self.client.get(&path).await {
                Ok(got) => got.bytes().await,
                Err(error) => Err(error),
            }
        });
        Ok(absent_is_none(got.map_err(store)?).map_err(store)?.map(Into::into))
    }

    fn read_range(&self, key: &str, offset: u64, length: usize) -> Result<Option<Vec<u8>>, StoreError> {
        self.range(key, offset, length).map_err(|source| StoreError::io("read", key, source))
    }

    fn exists(&self, key: &str) -> Result<bool, StoreError> {
        let there = self.length(key).map_err(|source| StoreError::io("read", key, source))?;
        Ok(there.is_some())
    }

    fn list(&self, prefix: &str) -> Result<Vec<Listed>, StoreError> {
        self.objects(prefix).map_err(|source| StoreError::io("list", prefix, source))
    }
}

/// An address in its parts.
#[derive(Debug, PartialEq, Eq)]
struct Address {
    /// Up to the bucket, as messages name it.
    shown: String,
    /// The store, where the address names it.
    endpoint: Option<String>,
    bucket: String,
    /// The folder with its `/`, or nothing.
    prefix: String,
}

impl Address {
    fn parse(text: &str) -> Result<Self, BucketError> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let host = rest.split('/').next().unwrap_or(rest);
        let wrong = |why| {
            // Whatever stands before an `@` may be a password, and a query may be a signature.
            let plain = rest.split_once('@').map_or(rest, |(_, after)| after);
            let plain = plain.split('?').next().unwrap_or(plain);
            Err(BucketError::Address { address: format!("{scheme}://{plain}"), why })
        };
        if host.contains('@') {
            return wrong("it holds a name or a password, which travel in variables only");
        }
        if rest.contains(['?', '#']) {
            return wrong("it holds more than a path");
        }
        let (endpoint, path) = match (scheme, rest.split_once('/')) {
            ("s3", _) => (None, rest),
            ("http" | "https", Some((host, path))) if !host.is_empty() => {
                (Some(format!("{scheme}://{host}")), path)
            }
            _ => return wrong("it names no bucket"),
        };
        let mut parts = path.trim_end_matches('/').split('/');
        let bucket = parts.next().unwrap_or_default().to_owned();
        if bucket.is_empty() {
            return wrong("it names no bucket");
        }
        let folders: Vec<&str> = parts.collect();
        if folders.iter().any(|part| matches!(*part, "" | "." | "..")) {
            return wrong("its folder leads elsewhere");
        }
        let shown = endpoint.as_ref().map_or_else(|| format!("s3://{bucket}"), |it| format!("{it}/{bucket}"));
        let prefix = folders.iter().map(|part| format!("{part}/")).collect();
        Ok(Self { shown, endpoint, bucket, prefix })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_bucket_and_a_folder_of_it() {
        let of = |text: &str| Address::parse(text).unwrap();
        let plain = of("s3://backup/trials/2026/");
        assert_eq!((plain.bucket.as_str(), plain.prefix.as_str()), ("backup", "trials/2026/"));
        assert_eq!((plain.endpoint, plain.shown.as_str()), (None, "s3://backup"));
        let named = of("http://127.0.0.1:9000/backup");
        assert_eq!(named.endpoint.as_deref(), Some("http://127.0.0.1:9000"));
        assert_eq!((named.bucket.as_str(), named.prefix.as_str()), ("backup", ""));
    }

    #[test]
    fn an_address_that_is_none_says_why_and_never_shows_a_password() {
        for (text, why) in [
            ("s3://", "names no bucket"),
            ("https://example.org", "names no bucket"),
            ("https:///backup", "names no bucket"),
            ("s3://backup/../other", "leads elsewhere"),
            ("s3://key:hunter2@backup", "travel in variables"),
            ("https://example.org/backup?X-Amz-Signature=hunter2", "more than a path"),
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn access_shows_the_names_of_variables_and_never_what_they_hold() {
        let access = Access::from_variables(|name| Some(format!("value of {name}")));
        let shown = format!("{access:?}");
        assert!(shown.contains(SECRET_KEY) && !shown.contains("value of"), "{shown}");
    }

    #[test]
    fn a_place_without_a_key_is_for_reading_only() {
        let place = Bucket::open("s3://backup/trials", &Access::default()).unwrap();
        assert_eq!(place.within("one").shown("data/x"), "s3://backup/trials/one/data/x");
        let (above, name) = place.split().unwrap();
        assert_eq!((above.shown(""), name.as_str()), ("s3://backup".to_owned(), "trials"));
        assert!(place.writable().unwrap_err().to_string().contains(ACCESS_KEY));
    }
}
