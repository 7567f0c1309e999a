//! NBD server: listeners, and two threads for each connection.

pub mod address;
mod budget;
mod connection;
mod reader;
mod shared;
mod stream;
mod writer;

use crate::drive::report::Report;
use crate::drive::simulated_drive::{Setup, SimulatedDrive};
use crate::protocol::Export;
use crate::store::Store;
use crate::web::Web;
use address::Address;
use budget::Budget;
use connection::Connection;
use reader::{End, Reader};
pub use shared::Log;
use shared::{Connections, Shared};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use stream::{Listener, Stream};

/// Bytes of long writes that all connections together have in memory.
const LONG_WRITES: u64 = 256 << 20;

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
    /// Most connections at a time; further ones are closed.
    pub connections: usize,
    /// Receives lines about clients.
    pub log: Log,
    /// Live view over HTTP.
    pub web: Option<WebAt>,
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
        let mut listeners = Vec::new();
        for at in &parts.listen {
            let failed = |error| ServeError::System(at.to_string(), error);
            listeners.push(Listener::bind(at).map_err(failed)?);
        }
        let connections = Arc::new(Connections::default());
        let to = Arc::clone(&connections);
        let drive =
            SimulatedDrive::start(parts.drive, move |done| to.deliver(done)).map_err(ServeError::Drive)?;
        let (bytes, drive) = (drive.capacity(), Arc::new(drive));
        let shared = Arc::new(Shared {
            store: (parts.store)(bytes)?,
            export: Export {
                name: parts.name,
                description: format!("simulated drive, configuration {}", drive.session().config_hash),
                bytes,
                is_read_only: parts.is_read_only,
                can_trim: drive.can_trim(),
            },
            drive,
            budget: Budget::new(LONG_WRITES),
            connections,
            most: parts.connections.max(1),
            log: parts.log,
            is_stopping: AtomicBool::new(false),
        });
        let web = |at: WebAt| Web::start(&at.address, at.token, Arc::clone(&shared.drive));
        let web = parts.web.map(web).transpose().map_err(ServeError::Web)?;
        let listeners = listeners.into_iter().map(|listener| {
            let failed = |error| ServeError::System("listener".into(), error);
            let (at, shared) = (listener.address().map_err(failed)?, Arc::clone(&shared));
            let run = move || accept(&shared, &listener);
            Ok((at, thread::Builder::new().name("listener".into()).spawn(run).map_err(failed)?))
        });
        let listeners = listeners.collect::<Result<_, ServeError>>()?;
        Ok(Server { shared, listeners, web, stopped: OnceLock::new() })
    }

    /// Addresses that it listens on.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.listeners.iter().map(|(at, _)| at)
    }

    /// Address of the live view.
    pub fn web(&self) -> Option<SocketAddr> {
        self.web.as_ref().map(Web::address)
    }

    /// The export.
    pub fn export(&self) -> &Export {
        &self.shared.export
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

/// Accepts clients until the server stops.
fn accept(shared: &Arc<Shared>, listener: &Listener) {
    loop {
        let accepted = listener.accept();
        if shared.is_stopping.load(Ordering::SeqCst) {
            return;
        }
        match accepted {
            Ok(stream) => admit(shared, stream),
            Err(error) => {
                (shared.log)(&format!("a connection cannot be accepted: {error}"));
                // Out of file descriptors: others may be closed meanwhile.
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

fn admit(shared: &Arc<Shared>, stream: Stream) {
    let number = shared.connections.next.fetch_add(1, Ordering::Relaxed) + 1;
    let entry = (Arc::new(Connection::default()), Arc::new(stream));
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
    let of = Arc::clone(shared);
    let run = move || {
        serve(&of, &connection, &stream, number);
        stream.shut_down();
        of.connections.lock().remove(&number);
    };
    if let Err(error) = thread::Builder::new().name("reader".into()).spawn(run) {
        shared.connections.lock().remove(&number);
        (shared.log)(&format!("connection {number} refused: no thread: {error}"));
    }
}

/// Serves one client to its end.
fn serve(shared: &Arc<Shared>, connection: &Connection, stream: &Stream, number: u64) {
    let fault = |why: &str| (shared.log)(&format!("connection {number} closed: {why}"));
    match reader::handshake(shared, stream) {
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
