//! Certificates of the server and of its clients, in PEM files of one folder.
//!
//! The names of the files are those of qemu, nbdkit and libnbd: `ca-cert.pem`, `server-cert.pem`, `server-key.pem`, and
//! `ca-crl.pem` where certificates are revoked.

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Longest file, in bytes.
const MOST: u64 = 4 << 20;
const AUTHORITY: &str = "ca-cert.pem";
const CERTIFICATE: &str = "server-cert.pem";
const KEY: &str = "server-key.pem";
const REVOKED: &str = "ca-crl.pem";

/// A file of the folder.
struct Folder<'a>(&'a Path);

impl Folder<'_> {
    /// Says what is wrong with a file, and what is legal.
    fn wrong(&self, name: &str, why: impl Display) -> String {
        format!(
            "tls-certificates: {}: {why}; legal: a folder with {AUTHORITY} (signs the certificates of clients), {CERTIFICATE} \
             and {KEY}, in PEM",
            self.0.join(name).display()
        )
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let file = File::open(self.0.join(name)).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes));
        file.map_err(|error| self.wrong(name, error))?;
        if bytes.len() as u64 > MOST { Err(self.wrong(name, "more than 4 MiB")) } else { Ok(bytes) }
    }

    /// All objects of one kind in a file, at least one.
    fn objects<T: PemObject>(&self, name: &str, kind: &str) -> Result<Vec<T>, String> {
        let bytes = self.read(name)?;
        let objects: Result<Vec<T>, pem::Error> = T::pem_slice_iter(&bytes).collect();
        let objects = objects.map_err(|error| self.wrong(name, error))?;
        if objects.is_empty() { Err(self.wrong(name, format!("no {kind} in it"))) } else { Ok(objects) }
    }
}

/// Reads the files of `folder`. Clients need a certificate that the authority has signed.
///
/// # Errors
/// Names the file, what is wrong with it, and what is legal.
pub fn load(folder: &Path) -> Result<Arc<ServerConfig>, String> {
    let files = Folder(folder);
    let mut roots = RootCertStore::empty();
    for root in files.objects::<CertificateDer>(AUTHORITY, "certificate")? {
        roots.add(root).map_err(|error| files.wrong(AUTHORITY, error))?;
    }
    let chain = files.objects::<CertificateDer>(CERTIFICATE, "certificate")?;
    let key = PrivateKeyDer::from_pem_slice(&files.read(KEY)?).map_err(|error| match error {
        pem::Error::NoItemsFound => files.wrong(KEY, "no private key without a password in it"),
        other => files.wrong(KEY, other),
    })?;
    let revoked = match files.objects::<CertificateRevocationListDer>(REVOKED, "revocation list") {
        Err(_) if is_missing(&folder.join(REVOKED)) => Vec::new(),
        other => other?,
    };
    let provider = Arc::new(ring::default_provider());
    let mut clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    if !revoked.is_empty() {
        clients = clients.with_crls(revoked).allow_unknown_revocation_status();
    }
    let clients = clients.build().map_err(|error| files.wrong(REVOKED, error))?;
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| files.wrong(CERTIFICATE, error))?;
    let config = config.with_client_cert_verifier(clients).with_single_cert(chain, key);
    let config = config.map_err(|error| files.wrong(CERTIFICATE, format!("with {KEY}: {error}")))?;
    Ok(Arc::new(config))
}

fn is_missing(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
