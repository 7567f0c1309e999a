//! A run in the background.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interpulse_study::control::Control;
use interpulse_study::machine::Place;
use interpulse_study::record::{Chunk, Column, Data, RecordSpec};
use interpulse_study::runner;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{RunError, from_run};
use crate::machine::Machine;
use crate::plan::Plan;

/// What a finished run leaves behind: the JSON text, or why there is none.
type Outcome = Result<String, runner::RunError>;

/// Where the run's thread leaves its outcome and whoever waits is woken.
#[derive(Default)]
struct Mailbox {
    outcome: Mutex<Option<Outcome>>,
    arrived: Condvar,
}

impl Mailbox {
    /// The outcome, locked. A panic elsewhere while it was held cannot have left it half written, so poison is ignored.
    fn lock(&self) -> MutexGuard<'_, Option<Outcome>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run that goes on in the background. Dropping the last reference stops it.
#[pyclass(frozen, module = "interpulse._core")]
pub struct Handle {
    control: Arc<Control>,
    mailbox: Arc<Mailbox>,
}

/// How far one case has come.
#[pyclass(frozen, get_all, module = "interpulse._core")]
pub struct Progress {
    /// The name of the case.
    case: String,
    /// What it is doing: `precondition`, `snapshot`, `run`, ...
    phase: String,
    /// How much of the phase is done, in `unit`.
    done: u64,
    /// How much there is to do, in `unit`; zero when unknown.
    total: u64,
    /// What `done` and `total` count.
    unit: String,
}

#[pymethods]
impl Handle {
    /// Waits until the run has ended or `timeout_s` seconds have passed, with the interpreter lock released.
    ///
    /// Returns whether the run has ended. Raises `ValueError` for a negative or absurd time.
    fn wait(&self, py: Python<'_>, timeout_s: f64) -> PyResult<bool> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|e| PyValueError::new_err(format!("timeout_s = {timeout_s}: {e}")))?;
        Ok(py.detach(|| {
            let guard = self.mailbox.lock();
            let waited = self.mailbox.arrived.wait_timeout_while(guard, timeout, |outcome| outcome.is_none());
            let (guard, _) = waited.unwrap_or_else(PoisonError::into_inner);
            guard.is_some()
        }))
    }

    /// How far every case has come, in the order in which they are reported.
    fn progress(&self) -> Vec<Progress> {
        let cases = self.control.progress().into_iter();
        cases
            .map(|p| Progress { case: p.case, phase: p.phase, done: p.done, total: p.total, unit: p.unit })
            .collect()
    }

    /// Every line so far that the user should be told, such as where a snapshot was written and how large it is.
    fn notes(&self) -> Vec<String> {
        self.control.notes()
    }

    /// The cases that have ended since the last call: each one's index in the plan and its result as JSON text.
    fn ended(&self) -> Vec<(usize, String)> {
        self.control.take_ended()
    }

    /// The oldest rows that have been recorded and not taken; waits for some no longer than `timeout_s`, with the interpreter
    /// lock released. A case that records waits until its rows are taken.
    ///
    /// Returns the index of the case, the name of the table, the number of rows and the columns: of each its name, its type
    /// (`whole`: 64-bit integers, the least of which is none; `real`: 64-bit floats, NaN is none; `names`: 32-bit places in the
    /// list that follows, -1 is none; `text`), its values as they lie in memory, lowest byte first, and its names. The table
    /// `end` comes after the last rows of a case. None where there are no rows. Raises `ValueError` for a negative or absurd
    /// time.
    fn take_rows<'py>(&self, py: Python<'py>, timeout_s: f64) -> PyResult<Option<Rows<'py>>> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|e| PyValueError::new_err(format!("timeout_s = {timeout_s}: {e}")))?;
        let Some(chunk) = py.detach(|| self.control.outbox.take(timeout)) else { return Ok(None) };
        let Chunk { case, table, rows, columns } = chunk;
        let columns = columns.iter().map(|column| bytes_of(py, column)).collect::<PyResult<_>>()?;
        Ok(Some((case, table, rows, columns)))
    }

    /// Asks the run to end early. It does within a fraction of a second; its result then says `interrupted`.
    fn stop(&self) {
        self.control.stop();
    }

    /// The result as JSON text.
    ///
    /// Raises `RunError` or its subclass `InternalError` when the run failed, `RuntimeError` when it has not ended.
    fn result(&self, py: Python<'_>) -> PyResult<String> {
        match &*self.mailbox.lock() {
            None => Err(PyRuntimeError::new_err("the run has not ended yet: wait for it first")),
            Some(Ok(json)) => Ok(json.clone()),
            Some(Err(error)) => Err(from_run(py, error)),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Nobody can ask for the result any more; without this a forgotten run would hold a core to its end.
        self.control.stop();
        self.control.outbox.close();
    }
}

/// A column: name, type, values, names.
type Values<'py> = (String, &'static str, Bound<'py, PyBytes>, Vec<String>);

/// Case, table, number of rows, columns.
type Rows<'py> = (usize, String, usize, Vec<Values<'py>>);

fn bytes_of<'py>(py: Python<'py>, column: &Column) -> PyResult<Values<'py>> {
    let (kind, bytes, names) = match &column.data {
        Data::Whole(values) => ("whole", packed(py, values, |v| v.to_le_bytes())?, Vec::new()),
        Data::Real(values) => ("real", packed(py, values, |v| v.to_le_bytes())?, Vec::new()),
        Data::Names(values, names) => ("names", packed(py, values, |v| v.to_le_bytes())?, names.to_vec()),
        Data::Text(text) => ("text", PyBytes::new(py, text), Vec::new()),
    };
    Ok((column.name.clone(), kind, bytes, names))
}

fn packed<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, N * values.len(), |to| {
        for (to, value) in to.chunks_exact_mut(N).zip(values) {
            to.copy_from_slice(&bytes(*value));
        }
        Ok(())
    })
}

/// Starts a plan on a thread of its own.
///
/// `jobs` cases run at a time, fewer where there are fewer or memory is short; snapshots are kept in `cache_dir` up to
/// `cache_limit` bytes unless `no_cache`. `records` says of each case what is to be recorded, as JSON text that
/// `interpulse_study::record` explains; whoever asks for that takes the rows (`Handle.take_rows`). A run of a `machine` shares it
/// with the other ones of it, by its `rank`; `jobs` are then as many as its cores. Raises `RunError` where the system gives no
/// thread, `ValueError` where `records` cannot be read.
#[pyfunction]
#[pyo3(signature = (plan, jobs, cache_dir, cache_limit, no_cache, records = Vec::new(), machine = None, rank = 0))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn start(
    plan: &Plan,
    jobs: usize,
    cache_dir: Option<PathBuf>,
    cache_limit: u64,
    no_cache: bool,
    records: Vec<String>,
    machine: Option<&Machine>,
    rank: u64,
) -> PyResult<Handle> {
    let place =
        machine.map_or_else(|| Place::alone(jobs), |machine| Place::among(Arc::clone(&machine.inner), rank));
    let records = records.iter().map(|text| RecordSpec::from_json(text)).collect::<Result<_, _>>();
    let control = Control::recording(records.map_err(PyValueError::new_err)?);
    let handle = Handle { control, mailbox: Arc::default() };
    let (plan, control, mailbox) =
        (Arc::clone(&plan.inner), Arc::clone(&handle.control), Arc::clone(&handle.mailbox));
    let options = runner::RunOptions { jobs, cache_dir, cache_limit, no_cache };
    let body = move || {
        // Whatever a panic may have left half done is dropped with the closure: nothing of it is looked at again.
        let outcome = catch_unwind(AssertUnwindSafe(|| runner::run_among(&plan, &options, &control, &place)));
        let outcome = outcome.unwrap_or_else(|panic| Err(runner::RunError::of_panic(panic.as_ref())));
        *mailbox.lock() = Some(outcome);
        mailbox.arrived.notify_all();
    };
    std::thread::Builder::new()
        .name("interpulse-run".into())
        .spawn(body)
        .map_err(|e| RunError::new_err(format!("cannot start a thread for the run: {e}")))?;
    Ok(handle)
}
