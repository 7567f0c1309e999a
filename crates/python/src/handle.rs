//! Run handle: a run in the background.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interpulse_study::control::Control;
use interpulse_study::machine::MachineShare;
use interpulse_study::record::{Column, Data, RecordSpec, RowBatch};
use interpulse_study::runner;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{RunError, from_run};
use crate::machine::Machine;
use crate::plan::Plan;

/// Outcome of a run: JSON text or error.
type Outcome = Result<String, runner::RunError>;

/// Outcome of the run thread, with a wake-up for waiters.
#[derive(Default)]
struct Mailbox {
    outcome: Mutex<Option<Outcome>>,
    arrived: Condvar,
}

impl Mailbox {
    /// The locked outcome. It is never half written, so poison is ignored.
    fn lock(&self) -> MutexGuard<'_, Option<Outcome>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run in the background. Dropping the last reference stops it.
#[pyclass(frozen, module = "interpulse._core")]
pub struct Handle {
    control: Arc<Control>,
    mailbox: Arc<Mailbox>,
}

/// Progress of one case.
#[pyclass(frozen, get_all, module = "interpulse._core")]
pub struct Progress {
    /// Name of the case.
    case: String,
    /// Phase: `precondition`, `snapshot`, `run`, ...
    phase: String,
    /// Completed part of the phase, in `unit`.
    done: u64,
    /// Total of the phase, in `unit`; zero if unknown.
    total: u64,
    /// Unit of `done` and `total`.
    unit: String,
}

#[pymethods]
impl Handle {
    /// Waits until the run ends or `timeout_s` seconds pass, with the interpreter lock released.
    ///
    /// Returns whether the run has ended. Raises `ValueError` for a negative or too large time.
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

    /// Progress of every case, in the order of the report.
    fn progress(&self) -> Vec<Progress> {
        let cases = self.control.progress().into_iter();
        cases
            .map(|p| Progress { case: p.case, phase: p.phase, done: p.done, total: p.total, unit: p.unit })
            .collect()
    }

    /// All notes for the user so far, such as the path and size of a snapshot.
    fn notes(&self) -> Vec<String> {
        self.control.notes()
    }

    /// Cases that ended since the last call: index in the plan and result as JSON text.
    fn ended(&self) -> Vec<(usize, String)> {
        self.control.take_results()
    }

    /// Takes the oldest recorded rows; waits at most `timeout_s` for some, with the interpreter lock released. A
    /// recording case waits until its rows are taken.
    ///
    /// Returns case index, table name, number of rows and columns. Each column has its name, its type (`whole`:
    /// 64-bit integers, the least is a missing value; `real`: 64-bit floats, NaN is missing; `names`: 32-bit indices
    /// into the list that follows, -1 is missing; `text`), its values in little-endian order, and its names. The
    /// table `end` follows the last rows of a case. Returns None without rows. Raises `ValueError` for a negative or
    /// too large time.
    fn take_rows<'py>(&self, py: Python<'py>, timeout_s: f64) -> PyResult<Option<Rows<'py>>> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|e| PyValueError::new_err(format!("timeout_s = {timeout_s}: {e}")))?;
        let Some(chunk) = py.detach(|| self.control.rows.take(timeout)) else { return Ok(None) };
        let RowBatch { case, table, rows, columns } = chunk;
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
        // The result is unreachable; a forgotten run must not hold a core.
        self.control.stop();
        self.control.rows.close();
    }
}

/// Column: name, type, values, names.
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

/// Starts a plan on its own thread.
///
/// `jobs` cases run at a time, fewer if memory is short; snapshots are stored in `cache_dir` up to `cache_limit`
/// bytes unless `no_cache`. `records` has the recording options of each case as JSON text (see
/// `interpulse_study::record`); the caller takes the rows with `Handle.take_rows`. With a `machine` the run shares
/// its cores by `rank`, and `jobs` is the number of cores. Raises `RunError` if no thread is available, `ValueError`
/// for invalid `records`.
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
    let place = machine.map_or_else(
        || MachineShare::exclusive(jobs),
        |machine| MachineShare::of(Arc::clone(&machine.inner), rank),
    );
    let records = records.iter().map(|text| RecordSpec::from_json(text)).collect::<Result<_, _>>();
    let control = Control::recording(records.map_err(PyValueError::new_err)?);
    let handle = Handle { control, mailbox: Arc::default() };
    let (plan, control, mailbox) =
        (Arc::clone(&plan.inner), Arc::clone(&handle.control), Arc::clone(&handle.mailbox));
    let options = runner::RunOptions { jobs, cache_dir, cache_limit, no_cache };
    let body = move || {
        // State that a panic leaves inconsistent is dropped with the closure.
        let outcome =
            catch_unwind(AssertUnwindSafe(|| runner::run_shared(&plan, &options, &control, &place)));
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
