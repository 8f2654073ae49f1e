//! A part of an object store as the place of a backup: S3, Google Cloud Storage or Azure's blobs.
//!
//! Memory is bounded: an object is read in ranges and written in parts. An object is there when its
//! last part has been acknowledged, and not before. The manifest is replaced on the condition that
//! it is the one that was read.

use std::cmp::Ordering;
use std::future::Future;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path as Key;
use object_store::{
    ClientConfigKey, ClientOptions, Error, GetOptions, MultipartUpload, ObjectStore, ObjectStoreExt, PutMode,
    PutOptions, RetryConfig, UpdateVersion,
};
use os::disk::LockGuard;
use tokio::runtime::Runtime;

use crate::error::{BackupError, Result};
use crate::store::{Listed, Sink, Store, Version};

/// The number of bytes of a range that is read, and the least number of a part that is written.
/// Stores take no parts below 5 MiB, but for the last one.
const PIECE_BYTES: usize = 8 << 20;
/// The number of parts that an object may have, and a reserve for a length that was guessed.
const MAX_PARTS: u64 = 10_000 - 1_000;
/// How long one request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(300);
/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A part of an object store.
pub(crate) struct ObjectPlace {
    url: String,
    prefix: Key,
    objects: Arc<dyn ObjectStore>,
    /// The thread that asks runs the requests. Nothing goes on between them.
    runtime: Runtime,
}

impl ObjectPlace {
    /// Opens the place that a URL names. Credentials come from the environment. A request that
    /// fails by the connection or by the store's own fault is sent again within `patience`.
    pub fn open(url: &str, patience: Duration) -> Result<ObjectPlace> {
        let refused = |error: Error| BackupError::Refused(format!("{url}: {error}"));
        // Another part of the process may have chosen already, and all choose alike.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let retries = RetryConfig { retry_timeout: patience, ..RetryConfig::default() };
        let objects: Arc<dyn ObjectStore> = match url.split_once("://") {
            Some(("s3", _)) => {
                let builder = AmazonS3Builder::from_env()
                    .with_client_options(client_options())
                    .with_retry(retries)
                    .with_url(url);
                Arc::new(builder.build().map_err(refused)?)
            }
            Some(("gs", _)) => {
                let builder = GoogleCloudStorageBuilder::from_env()
                    .with_client_options(client_options())
                    .with_retry(retries)
                    .with_url(url);
                Arc::new(builder.build().map_err(refused)?)
            }
            _ => {
                let builder = MicrosoftAzureBuilder::from_env()
                    .with_client_options(client_options())
                    .with_retry(retries)
                    .with_url(url);
                Arc::new(builder.build().map_err(refused)?)
            }
        };
        let path = url.splitn(4, '/').nth(3).unwrap_or_default().trim_matches('/');
        let prefix = Key::parse(path).map_err(|error| refused(error.into()))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| BackupError::Io(url.to_owned(), error))?;
        Ok(ObjectPlace { url: url.trim_end_matches('/').to_owned(), prefix, objects, runtime })
    }

    fn wait<T>(&self, request: impl Future<Output = T>) -> T {
        self.runtime.block_on(request)
    }

    fn key(&self, path: &str) -> Key {
        path.split('/').fold(self.prefix.clone(), |key, part| key.join(part))
    }

    fn below_prefix(&self, key: &Key) -> Option<String> {
        let parts = key.prefix_match(&self.prefix)?;
        Some(parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/"))
    }

    /// Reads a whole small object. `None` means that it does not exist, or is not one that the
    /// options ask for.
    fn read_with(&self, path: &str, options: GetOptions) -> Result<Option<(Vec<u8>, Version)>> {
        let key = self.key(path);
        let read = self.wait(async {
            let found = self.objects.get_opts(&key, options).await?;
            let (e_tag, version) = (found.meta.e_tag.clone(), found.meta.version.clone());
            Ok((found.bytes().await?.to_vec(), Version::Object { e_tag, version }))
        });
        match read {
            Err(Error::NotFound { .. } | Error::NotModified { .. }) => Ok(None),
            read => read.map(Some).map_err(|error| self.wrong(path, error)),
        }
    }

    fn wrong(&self, path: &str, error: Error) -> BackupError {
        let what = format!("{}: {error}", self.name(path));
        match error {
            Error::NotFound { .. } => BackupError::Missing(format!("{}: it is not there", self.name(path))),
            _ => BackupError::Store(what),
        }
    }
}

/// Returns the options of connections. Without TLS are only those to an address that the
/// environment gives, as for a store on the same machine.
fn client_options() -> ClientOptions {
    let is_plain = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT"]
        .iter()
        .any(|name| std::env::var(name).is_ok_and(|url| url.starts_with("http://")));
    ClientOptions::new()
        .with_config(ClientConfigKey::AllowHttp, is_plain.to_string())
        .with_timeout(REQUEST_TIMEOUT)
        .with_connect_timeout(CONNECT_TIMEOUT)
}

impl Store for ObjectPlace {
    fn name(&self, path: &str) -> String {
        if path.is_empty() { self.url.clone() } else { format!("{}/{path}", self.url) }
    }

    fn open(&self, path: &str) -> Result<Box<dyn Read + '_>> {
        let key = self.key(path);
        let found = self.wait(self.objects.head(&key)).map_err(|error| self.wrong(path, error))?;
        Ok(Box::new(Ranges { place: self, key, len: found.size, at: 0, range: Vec::new(), taken: 0 }))
    }

    fn create(&self, path: &str, expected_bytes: u64) -> Result<Box<dyn Sink + '_>> {
        let part_bytes = PIECE_BYTES.max(expected_bytes.div_ceil(MAX_PARTS) as usize);
        let (path, part) = (path.to_owned(), Vec::new());
        Ok(Box::new(Parts { place: self, key: self.key(&path), path, part, part_bytes, upload: None }))
    }

    fn remove(&self, path: &str) -> Result<()> {
        match self.wait(self.objects.delete(&self.key(path))) {
            Err(Error::NotFound { .. }) | Ok(()) => Ok(()),
            Err(error) => Err(self.wrong(path, error)),
        }
    }

    fn remove_dir(&self, _path: &str) -> Result<()> {
        Ok(())
    }

    fn claim(&self, _path: &str) -> Result<Option<LockGuard>> {
        Ok(None)
    }

    fn listed_as(&self, path: &str) -> String {
        self.below_prefix(&self.key(path)).unwrap_or_default()
    }

    fn list(&self) -> Result<Vec<Listed>> {
        let (mut found, mut prefixes) = (Vec::new(), vec![self.prefix.clone()]);
        while let Some(prefix) = prefixes.pop() {
            let wanted = Some(&prefix).filter(|prefix| !prefix.as_ref().is_empty());
            let listed =
                self.wait(self.objects.list_with_delimiter(wanted)).map_err(|error| self.wrong("", error))?;
            prefixes.extend(listed.common_prefixes);
            for object in listed.objects {
                let Some(path) = self.below_prefix(&object.location) else { continue };
                let changed_us = u64::try_from(object.last_modified.timestamp_micros()).ok();
                found.push(Listed { path, changed_us });
            }
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }

    fn read_version(&self, path: &str) -> Result<Option<(Vec<u8>, Version)>> {
        self.read_with(path, GetOptions::default())
    }

    fn read_newer(&self, path: &str, seen: &Version) -> Result<Option<(Vec<u8>, Version)>> {
        let Version::Object { e_tag, .. } = seen else { unreachable!("versions of a place are its own") };
        self.read_with(path, GetOptions { if_none_match: e_tag.clone(), ..GetOptions::default() })
    }

    fn replace(&self, path: &str, bytes: &[u8], seen: Option<&Version>) -> Result<Option<Version>> {
        let mode = match seen {
            None => PutMode::Create,
            Some(Version::Object { e_tag, version }) => {
                PutMode::Update(UpdateVersion { e_tag: e_tag.clone(), version: version.clone() })
            }
            Some(Version::Content(_)) => unreachable!("versions of a place are its own"),
        };
        let options = PutOptions { mode, ..PutOptions::default() };
        match self.wait(self.objects.put_opts(&self.key(path), bytes.to_vec().into(), options)) {
            Ok(done) => Ok(Some(Version::Object { e_tag: done.e_tag, version: done.version })),
            Err(Error::Precondition { .. } | Error::AlreadyExists { .. } | Error::NotFound { .. }) => {
                // The request may have been sent twice, because the first answer was lost. Then the
                // second one meets what the first one wrote.
                Ok(self
                    .read_version(path)?
                    .filter(|(content, _)| content == bytes)
                    .map(|(_, version)| version))
            }
            Err(error) => Err(self.wrong(path, error)),
        }
    }
}

/// An object that is read in ranges.
struct Ranges<'a> {
    place: &'a ObjectPlace,
    key: Key,
    len: u64,
    /// Where the next range begins.
    at: u64,
    range: Vec<u8>,
    /// The number of bytes of the range that were given away.
    taken: usize,
}

impl Read for Ranges<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.range.len() && self.at < self.len {
            let end = self.len.min(self.at + PIECE_BYTES as u64);
            let got = self.place.wait(self.place.objects.get_range(&self.key, self.at..end));
            let got = got.map_err(|error| match error {
                Error::NotFound { .. } => io::Error::new(io::ErrorKind::NotFound, "it is not there"),
                error => io::Error::new(io::ErrorKind::ConnectionAborted, error.to_string()),
            })?;
            if got.len() as u64 != end - self.at {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the store sent too few bytes"));
            }
            (self.range, self.taken, self.at) = (got.to_vec(), 0, end);
        }
        let count = bytes.len().min(self.range.len() - self.taken);
        bytes[..count].copy_from_slice(&self.range[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

/// An object that is written in parts, or in one request when it has one part only.
struct Parts<'a> {
    place: &'a ObjectPlace,
    key: Key,
    path: String,
    part: Vec<u8>,
    part_bytes: usize,
    upload: Option<Box<dyn MultipartUpload>>,
}

impl Parts<'_> {
    fn send(&mut self) -> object_store::Result<()> {
        let part = std::mem::take(&mut self.part);
        self.place.wait(async {
            let upload = match &mut self.upload {
                Some(upload) => upload,
                none => none.insert(self.place.objects.put_multipart(&self.key).await?),
            };
            upload.put_part(part.into()).await
        })
    }
}

impl Write for Parts<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.part_bytes - self.part.len());
        self.part.extend_from_slice(&bytes[..count]);
        if self.part.len().cmp(&self.part_bytes) != Ordering::Less {
            self.send()
                .map_err(|error| io::Error::new(io::ErrorKind::ConnectionAborted, error.to_string()))?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Parts<'_> {
    fn finish(mut self: Box<Self>) -> Result<()> {
        let place = self.place;
        let done = match self.upload.is_some() {
            false => {
                let content = std::mem::take(&mut self.part);
                place.wait(place.objects.put(&self.key, content.into())).map(drop)
            }
            true => {
                let last = if self.part.is_empty() { Ok(()) } else { self.send() };
                let upload = self.upload.as_mut().expect("it has begun");
                last.and_then(|()| place.wait(upload.complete()).map(drop))
            }
        };
        done.map_err(|error| place.wrong(&self.path, error))?;
        // What is complete is not to be given up.
        self.upload = None;
        Ok(())
    }
}

impl Drop for Parts<'_> {
    fn drop(&mut self) {
        if let Some(mut upload) = self.upload.take() {
            // Parts that stay are invisible, and the store's own rules remove them.
            let _given_up = self.place.wait(upload.abort());
        }
    }
}
