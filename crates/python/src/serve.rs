//! Server for Python: a simulated drive as a block device.

use std::fs::File;
use std::io::BufWriter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use interpulse_embed::{Options, message_of_panic};
use interpulse_serve::drive::clock::Pace;
use interpulse_serve::drive::metrics::prometheus;
use interpulse_serve::drive::simulated_drive::Setup;
use interpulse_serve::drive::state_saver::StateFile;
use interpulse_serve::server::address::Address;
use interpulse_serve::server::{PATIENCE, Parts, ServeError, Server as Inner, WebAt};
use interpulse_serve::store::Store;
use pyo3::prelude::*;

use crate::error::{ConfigError, from_files};

/// Most lines about clients that wait for Python; further ones are counted.
const MOST_LINES: usize = 1000;

/// Lines about clients.
#[derive(Default)]
struct Lines {
    waiting: Vec<String>,
    dropped: u64,
}

/// NBD server with its drive; `interpulse serve` runs it.
#[pyclass(frozen, module = "interpulse._core")]
pub struct Server {
    inner: Inner,
    lines: Arc<Mutex<Lines>>,
}

fn raised(py: Python<'_>, error: ServeError) -> PyErr {
    match error {
        ServeError::Drive(error) => from_files(py, error),
        other => ConfigError::new_err(other.to_string()),
    }
}

#[pymethods]
impl Server {
    /// Builds the drive, opens the backing file (`None`: memory) and listens. `state` is the file in which the drive is kept from
    /// session to session, `save_every` the seconds between two saves of an idle drive (`None`: at the end alone), `record` a new
    /// file for a trace of the commands.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "they are arguments in Python")]
    #[pyo3(signature = (config, path, sets, case, cache, pace, listen, name, backing, state, save_every, record, read_only, certificates, remote_writes, connections, web, token))]
    fn new(
        py: Python<'_>,
        config: String,
        path: String,
        sets: Vec<(String, String)>,
        case: Option<String>,
        cache: Option<PathBuf>,
        pace: &str,
        listen: Vec<String>,
        name: String,
        backing: Option<PathBuf>,
        state: Option<PathBuf>,
        save_every: Option<u64>,
        record: Option<PathBuf>,
        read_only: bool,
        certificates: Option<PathBuf>,
        remote_writes: bool,
        connections: usize,
        web: Option<String>,
        token: Option<String>,
    ) -> PyResult<Server> {
        let pace: Pace = pace.parse().map_err(ConfigError::new_err)?;
        let listen = listen.iter().map(|at| at.parse::<Address>()).collect::<Result<Vec<_>, _>>();
        let listen = listen.map_err(|error| ConfigError::new_err(error.to_string()))?;
        let lines = Arc::new(Mutex::new(Lines::default()));
        let to = Arc::clone(&lines);
        let log = Arc::new(move |line: &str| {
            let mut lines = to.lock().unwrap_or_else(PoisonError::into_inner);
            if lines.waiting.len() < MOST_LINES {
                lines.waiting.push(line.into());
            } else {
                lines.dropped += 1;
            }
        });
        let cache_limit = Options::CACHE_LIMIT;
        let options = Options { config, path, case, sets, cache, cache_limit, journal: false, causes: true };
        let start = move || {
            let record = record.map(|path| {
                let file = File::create_new(&path);
                let failed = |error| {
                    ServeError::System(format!("{}: a record needs a new file", path.display()), error)
                };
                file.map(|file| Box::new(BufWriter::new(file)) as Box<_>).map_err(failed)
            });
            let every = save_every.map(Duration::from_secs);
            let state = state.map(|path| StateFile { path, every });
            let drive = Setup { options, pace, limit: 1 << 16, record: record.transpose()?, state };
            let store = Box::new(move |bytes| match backing {
                Some(path) => Ok(Store::open(&path, bytes)?),
                None => Store::in_memory(bytes)
                    .map_err(|error| ServeError::System("memory for the data".into(), error)),
            });
            let web = web.map(|address| WebAt { address, token });
            Inner::start(Parts {
                drive,
                store,
                name,
                is_read_only: read_only,
                listen,
                certificates,
                remote_writes,
                connections,
                log,
                web,
                patience: PATIENCE,
            })
        };
        let started = py.detach(|| {
            let started = catch_unwind(AssertUnwindSafe(start));
            started.unwrap_or_else(|panic| Err(ServeError::Drive(message_of_panic(panic.as_ref()))))
        });
        Ok(Server { inner: started.map_err(|error| raised(py, error))?, lines })
    }

    /// Bytes of the export.
    #[getter]
    fn capacity(&self) -> u64 {
        self.inner.export().bytes
    }

    /// Where it listens, as URIs of NBD.
    #[getter]
    fn uris(&self) -> Vec<String> {
        self.inner.uris()
    }

    /// Address of the live view.
    #[getter]
    fn web(&self) -> Option<String> {
        self.inner.web().map(|at| format!("http://{at}/"))
    }

    /// Whether the drive has ended on its own, by an error that `stop` raises.
    #[getter]
    fn has_failed(&self) -> bool {
        self.inner.drive().has_ended()
    }

    /// Cuts the power of the drive now; false if its configuration has no power loss, or it is an array.
    fn cut_power(&self) -> bool {
        self.inner.drive().cut_power()
    }

    /// Lines about clients since the last call, and how many were dropped because too many came.
    fn lines(&self) -> (Vec<String>, u64) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = std::mem::take(&mut *lines);
        (lines.waiting, lines.dropped)
    }

    /// Metrics of the present in the text format of Prometheus; `None` before the drive has any.
    fn metrics(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.inner.drive().view().map(|view| prometheus(&view)))
    }

    /// Ends the server: completes what is under way, makes the data durable, and returns the report as JSON and as text.
    fn stop(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let report = py.detach(|| self.inner.stop()).map_err(|error| raised(py, error))?;
        Ok((report.to_json().to_string(), report.to_text()))
    }
}
