//! NBD server: listeners, and two threads for each connection.

pub mod address;
mod budget;
mod certificates;
mod connection;
mod input;
mod negotiation;
mod reader;
mod shared;
mod socket;
mod stream;
mod tls;
mod writer;

use crate::command::Done;
use crate::drive::report::Report;
use crate::drive::simulated_drive::{Setup, SimulatedDrive};
use crate::protocol::Export;
use crate::revertible::{Payloads, RevertibleData};
use crate::store::Store;
use crate::web::Web;
use address::Address;
use budget::Budget;
use connection::Connection;
use input::End;
use negotiation::negotiate;
use reader::Reader;
pub use shared::Log;
use shared::{Connections, Shared, Terms};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use stream::{Listener, Stream};

/// Bytes of long writes that all connections together have in memory.
const LONG_WRITES: u64 = 256 << 20;

/// How long a client may take for a handshake or a request.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What a server is made of.
pub struct Parts {
    /// Drive behind the export.
    pub drive: Setup,
    /// Store of a drive of so many bytes.
    pub store: Box<dyn FnOnce(u64) -> Result<Store, ServeError>>,
    /// Name of the export.
    pub name: String,
    /// Nothing can be written.
    pub is_read_only: bool,
    /// Addresses to listen on.
    pub listen: Vec<Address>,
    /// Folder with certificates, for TLS on all addresses of TCP.
    pub certificates: Option<PathBuf>,
    /// Clients of other machines may write.
    pub remote_writes: bool,
    /// Most connections at a time; further ones are closed.
    pub connections: usize,
    /// Receives lines about clients.
    pub log: Log,
    /// Live view over HTTP.
    pub web: Option<WebAt>,
    /// Longest time of a handshake, and of a request from its first byte to its last: [`PATIENCE`].
    pub patience: Duration,
}

/// Where the live view listens.
pub struct WebAt {
    /// `HOST:PORT`; port 0 takes a free one.
    pub address: String,
    /// Token that clients need; without one only loopback addresses are legal.
    pub token: Option<String>,
}

/// Why a server cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The drive cannot be built.
    #[error("{0}")]
    Drive(interpulse_embed::Error),
    /// The data cannot be stored.
    #[error("{0}")]
    Store(#[from] crate::store::StoreError),
    /// Addresses, certificates and rights that do not go together.
    #[error("{0}")]
    Access(String),
    /// The live view cannot listen.
    #[error("{0}")]
    Web(String),
    /// The system refuses something.
    #[error("{0}: {1}")]
    System(String, io::Error),
}

/// A server.
pub struct Server {
    shared: Arc<Shared>,
    export: Export,
    has_tls: bool,
    listeners: Vec<(Address, JoinHandle<()>)>,
    web: Option<Web>,
    stopped: OnceLock<()>,
}

impl Server {
    /// Builds the drive, opens the store and listens.
    ///
    /// # Errors
    /// [`ServeError`]; nothing listens then.
    pub fn start(parts: Parts) -> Result<Server, ServeError> {
        // Before the drive is built, which may take long.
        check_access(&parts)?;
        let tls = parts.certificates.as_deref().map(certificates::load);
        let tls = tls.transpose().map_err(ServeError::Access)?;
        let mut listeners = Vec::new();
        for at in &parts.listen {
            let failed = |error| ServeError::System(at.to_string(), error);
            listeners.push(Listener::bind(at).map_err(failed)?);
        }
        let connections = Arc::new(Connections::default());
        let to = Arc::clone(&connections);
        let (opened, payloads) = (Arc::new(OnceLock::new()), Arc::new(Payloads::default()));
        let data = RevertibleData::new(Arc::clone(&opened), Arc::clone(&payloads));
        let deliver = move |done: &[Done]| to.deliver(done);
        let drive = SimulatedDrive::start_with(parts.drive, deliver, Some(Box::new(data)));
        let drive = drive.map_err(ServeError::Drive)?;
        let (bytes, drive) = (drive.capacity(), Arc::new(drive));
        let export = Export {
            name: parts.name,
            description: format!("simulated drive, configuration {}", drive.session().config_hash),
            bytes,
            is_read_only: parts.is_read_only,
            can_trim: drive.can_trim(),
        };
        let store = Arc::new((parts.store)(bytes)?);
        opened.get_or_init(|| Arc::clone(&store));
        let shared = Arc::new(Shared {
            store,
            payloads: drive.is_volatile().then_some(payloads),
            drive,
            budget: Budget::new(LONG_WRITES),
            connections,
            most: parts.connections.max(1),
            log: parts.log,
            patience: parts.patience,
            is_stopping: AtomicBool::new(false),
        });
        let web = |at: WebAt| Web::start(&at.address, at.token, Arc::clone(&shared.drive));
        let web = parts.web.map(web).transpose().map_err(ServeError::Web)?;
        let listeners = listeners.into_iter().map(|listener| {
            let failed = |error| ServeError::System("listener".into(), error);
            let (at, shared) = (listener.address().map_err(failed)?, Arc::clone(&shared));
            let is_read_only = export.is_read_only || !at.is_local() && !parts.remote_writes;
            // The path of the file system is private to this user.
            let tls = tls.clone().filter(|_| matches!(at, Address::Tcp(_)));
            let terms = Arc::new(Terms { export: Export { is_read_only, ..export.clone() }, tls });
            let run = move || accept(&shared, &terms, &listener);
            Ok((at, thread::Builder::new().name("listener".into()).spawn(run).map_err(failed)?))
        });
        let listeners = listeners.collect::<Result<_, ServeError>>()?;
        Ok(Server { shared, export, has_tls: tls.is_some(), listeners, web, stopped: OnceLock::new() })
    }

    /// Addresses that it listens on.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.listeners.iter().map(|(at, _)| at)
    }

    /// Its addresses as clients of the NBD project write them.
    pub fn uris(&self) -> Vec<String> {
        self.addresses().map(|at| at.uri(&self.export.name, self.has_tls)).collect()
    }

    /// Address of the live view.
    pub fn web(&self) -> Option<SocketAddr> {
        self.web.as_ref().map(Web::address)
    }

    /// The export as clients of this machine have it.
    pub fn export(&self) -> &Export {
        &self.export
    }

    /// The drive.
    pub fn drive(&self) -> &SimulatedDrive {
        &self.shared.drive
    }

    /// Closes listeners and connections, completes all commands, flushes the store and returns the report of the drive.
    ///
    /// # Errors
    /// Those of the drive, and [`ServeError::System`] if the store cannot be flushed.
    pub fn stop(&self) -> Result<Report, ServeError> {
        self.close();
        let report = self.shared.drive.finish().map_err(ServeError::Drive);
        let flushed = self.shared.store.flush();
        let report = report?;
        flushed.map_err(|error| ServeError::System("the backing file cannot be flushed".into(), error))?;
        Ok(report)
    }

    fn close(&self) {
        self.stopped.get_or_init(|| {
            self.shared.is_stopping.store(true, Ordering::SeqCst);
            for (at, _) in &self.listeners {
                Listener::wake(at);
            }
            self.shared.connections.lock().values().for_each(|(_, stream)| stream.shut_down());
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
        for (_, thread) in self.listeners.drain(..) {
            // A panic has been printed.
            let _ = thread.join();
        }
    }
}

/// Checks that no other machine reaches the drive without a certificate, and that no option is without effect.
fn check_access(parts: &Parts) -> Result<(), ServeError> {
    let wrong = |why: String| Err(ServeError::Access(why));
    let remote = parts.listen.iter().find(|at| !at.is_local());
    let has_tcp = parts.listen.iter().any(|at| matches!(at, Address::Tcp(_)));
    match (&parts.certificates, remote) {
        (None, Some(at)) => wrong(format!(
            "listen = {at}: other machines reach this address; legal: a loopback address, or tls-certificates, with which \
             clients need a certificate"
        )),
        (Some(folder), _) if !has_tcp => wrong(format!(
            "tls-certificates = {}: no address uses them, since a socket of the file system is private to its owner; legal \
             with listen tcp:HOST:PORT",
            folder.display()
        )),
        (_, None) if parts.remote_writes => {
            wrong("remote-writes: no other machine reaches this server; legal with listen tcp:HOST:PORT beyond loopback".into())
        }
        _ if parts.remote_writes && parts.is_read_only => {
            wrong("remote-writes and read-only contradict each other; legal: one of them".into())
        }
        _ => Ok(()),
    }
}

/// Accepts clients until the server stops.
fn accept(shared: &Arc<Shared>, terms: &Arc<Terms>, listener: &Listener) {
    loop {
        let accepted = listener.accept();
        if shared.is_stopping.load(Ordering::SeqCst) {
            return;
        }
        match accepted {
            Ok(stream) => admit(shared, terms, stream),
            Err(error) => {
                (shared.log)(&format!("a connection cannot be accepted: {error}"));
                // Out of file descriptors: others may be closed meanwhile.
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

fn admit(shared: &Arc<Shared>, terms: &Arc<Terms>, stream: Stream) {
    let number = shared.connections.next.fetch_add(1, Ordering::Relaxed) + 1;
    let entry = (Arc::new(Connection::new(shared.payloads.is_some())), Arc::new(stream));
    {
        let mut open = shared.connections.lock();
        if open.len() >= shared.most {
            let most = shared.most;
            return (shared.log)(&format!(
                "connection {number} refused: {most} are open, the most (--connections)"
            ));
        }
        open.insert(number, entry.clone());
    }
    let (connection, stream) = entry;
    let (of, terms) = (Arc::clone(shared), Arc::clone(terms));
    let run = move || {
        serve(&of, &terms, &connection, &stream, number);
        stream.close();
        of.connections.lock().remove(&number);
    };
    if let Err(error) = thread::Builder::new().name("reader".into()).spawn(run) {
        shared.connections.lock().remove(&number);
        (shared.log)(&format!("connection {number} refused: no thread: {error}"));
    }
}

/// Serves one client to its end.
fn serve(shared: &Shared, terms: &Terms, connection: &Connection, stream: &Stream, number: u64) {
    let fault = |why: &str| {
        // The end of the server closes connections, which is no fault of a client.
        if !shared.is_stopping.load(Ordering::SeqCst) {
            (shared.log)(&format!("connection {number} closed: {why}"));
        }
    };
    match negotiate(shared, terms, stream) {
        Ok(None) | Err(End::Ended) => {}
        Err(End::Fault(why)) => fault(&why),
        Ok(Some(begun)) => thread::scope(|scope| {
            let replies = begun.replies;
            scope.spawn(move || writer::run(shared, connection, stream, replies));
            let end = Reader::run(shared, connection, stream, number, begun);
            connection.ends();
            if let End::Fault(why) = end {
                fault(&why);
            }
        }),
    }
}
