//! Device for Python: a drive or array that the caller advances.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, TryLockError};

use interpulse_embed::{
    CAUSE_INFO, CAUSES, Completion, Device as Embedded, Error, OPS, Options, Request, SimTime, StatusCode,
    message_of_panic, op_of_code,
};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::from_embedding;

/// A drive or array in simulated time; `interpulse.Device` is its public face.
#[pyclass(frozen, module = "interpulse._core")]
pub struct Device {
    /// `None` after a bug.
    inner: Mutex<Option<Embedded>>,
}

/// A value for each request of a batch, or one for all.
#[derive(FromPyObject)]
pub enum Column {
    /// One for all.
    One(u64),
    /// One for each: a contiguous buffer of unsigned 64-bit integers.
    Each(PyBuffer<u64>),
}

/// The values of a column.
enum Values {
    One(u64),
    Each(Vec<u64>),
}

impl Column {
    fn values(&self, py: Python<'_>, count: usize, name: &str) -> PyResult<Values> {
        match self {
            Column::One(value) => Ok(Values::One(*value)),
            Column::Each(buffer) if buffer.item_count() == count => Ok(Values::Each(buffer.to_vec(py)?)),
            Column::Each(buffer) => {
                let why = format!("{name} has {} values, at_ns {count}", buffer.item_count());
                Err(from_embedding(py, Error::Request(why)))
            }
        }
    }
}

impl Values {
    #[inline]
    fn get(&self, k: usize) -> u64 {
        match self {
            Values::One(value) => *value,
            Values::Each(values) => values[k],
        }
    }
}

/// A completion: tag, cookie, operation, status, submission and completion in ns, bytes, place of an append or None, ns by cause.
type Row = (u64, u64, u32, u16, u64, u64, u64, Option<u64>, Vec<u64>);

/// Columns of completions in little-endian order, with their number.
type Columns<'py> = (usize, Vec<(&'static str, &'static str, Bound<'py, PyBytes>)>);

impl Device {
    /// Runs `body` with the device and the interpreter lock released.
    fn detached<T: Send>(
        &self,
        py: Python<'_>,
        body: impl FnOnce(&mut Embedded) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            run(&mut inner, body)
        })
        .map_err(|error| from_embedding(py, error))
    }

    /// Runs `body`, which is short, with the device; the interpreter lock is released only to wait for another thread.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        body: impl FnOnce(&mut Embedded) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let mut inner = match self.inner.try_lock() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(inner)) => inner.into_inner(),
            Err(TryLockError::WouldBlock) => return self.detached(py, body),
        };
        run(&mut inner, body).map_err(|error| from_embedding(py, error))
    }
}

/// Runs `body` with the device. A panic or a bug ends it.
fn run<T>(
    inner: &mut Option<Embedded>,
    body: impl FnOnce(&mut Embedded) -> Result<T, Error>,
) -> Result<T, Error> {
    let Some(device) = inner.as_mut() else {
        return Err(Error::Bug("the device has stopped on a bug: create another one".into()));
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| body(device)));
    let outcome = outcome.unwrap_or_else(|panic| Err(bug_of(message_of_panic(panic.as_ref()))));
    if matches!(outcome, Err(Error::Bug(_))) {
        *inner = None;
    }
    outcome
}

/// A panic ends the device, whatever its reason.
fn bug_of(error: Error) -> Error {
    Error::Bug(error.to_string())
}

fn request_of(op: u64, rest: [u64; 3], place: [u64; 2], cookie: u64) -> Result<Request, Error> {
    let narrow = |value: u64, name: &str, most: u64| {
        let legal = || Error::Request(format!("{name} = {value}: legal: 0 to {most}"));
        u32::try_from(value).ok().filter(|&value| u64::from(value) <= most).ok_or_else(legal)
    };
    let ([namespace, queue, handle], [offset, bytes]) = (rest, place);
    let op = op_of_code(narrow(op, "op", OPS.len() as u64 - 1)?).expect("it is in the range");
    Ok(Request {
        op,
        namespace: narrow(namespace, "namespace", u32::MAX.into())?,
        queue: narrow(queue, "queue", u32::MAX.into())?,
        handle: narrow(handle, "handle", 255)? as u8,
        offset,
        bytes,
        cookie,
    })
}

fn caught(py: Python<'_>, make: impl FnOnce() -> Result<Embedded, Error> + Send) -> PyResult<Device> {
    let made = py.detach(|| {
        let made = catch_unwind(AssertUnwindSafe(make));
        made.unwrap_or_else(|panic| Err(message_of_panic(panic.as_ref())))
    });
    let device = made.map_err(|error| from_embedding(py, error))?;
    Ok(Device { inner: Mutex::new(Some(device)) })
}

#[pymethods]
impl Device {
    /// Builds a device: configuration text, its name in messages, overrides, name of the case, folder of preconditioned states,
    /// whether all submissions are kept for `save`, whether latency is recorded by cause; `saved` restores a state.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "they are arguments in Python")]
    #[pyo3(signature = (config, path, sets, case, cache, journal, causes, saved))]
    fn new(
        py: Python<'_>,
        config: String,
        path: String,
        sets: Vec<(String, String)>,
        case: Option<String>,
        cache: Option<PathBuf>,
        journal: bool,
        causes: bool,
        saved: Option<Vec<u8>>,
    ) -> PyResult<Device> {
        let cache_limit = Options::CACHE_LIMIT;
        let options = Options { config, path, case, sets, cache, cache_limit, journal, causes };
        caught(py, move || match saved {
            None => Embedded::create(&options),
            Some(saved) => Embedded::restore(&options, &saved),
        })
    }

    /// Submits a request and returns its number.
    #[expect(clippy::too_many_arguments, reason = "they are arguments in Python")]
    #[pyo3(signature = (at_ns, op, offset, bytes, cookie, namespace, queue, handle))]
    fn submit(
        &self,
        py: Python<'_>,
        at_ns: u64,
        op: u64,
        offset: u64,
        bytes: u64,
        cookie: u64,
        namespace: u64,
        queue: u64,
        handle: u64,
    ) -> PyResult<u64> {
        self.with(py, |device| {
            let request = request_of(op, [namespace, queue, handle], [offset, bytes], cookie)?;
            device.submit(SimTime(at_ns), &request)
        })
    }

    /// Submits a request for each value of `at_ns` and returns the number of the first: all of them, or none.
    #[expect(clippy::too_many_arguments, reason = "they are arguments in Python")]
    #[pyo3(signature = (at_ns, op, offset, bytes, cookie, namespace, queue, handle))]
    fn submit_batch(
        &self,
        py: Python<'_>,
        at_ns: PyBuffer<u64>,
        op: Column,
        offset: Column,
        bytes: Column,
        cookie: Column,
        namespace: Column,
        queue: Column,
        handle: Column,
    ) -> PyResult<u64> {
        let at = at_ns.to_vec(py)?;
        let count = at.len();
        let of = |column: &Column, name| column.values(py, count, name);
        let (op, offset, bytes) = (of(&op, "op")?, of(&offset, "offset")?, of(&bytes, "bytes")?);
        let (cookie, namespace) = (of(&cookie, "cookie")?, of(&namespace, "namespace")?);
        let (queue, handle) = (of(&queue, "queue")?, of(&handle, "handle")?);
        self.detached(py, |device| {
            device.submit_batch(count, |k| {
                let rest = [namespace.get(k), queue.get(k), handle.get(k)];
                let request = request_of(op.get(k), rest, [offset.get(k), bytes.get(k)], cookie.get(k))?;
                Ok((SimTime(at[k]), request))
            })
        })
    }

    /// Simulated time in ns.
    #[getter]
    fn now_ns(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |device| Ok(device.now().as_ns()))
    }

    /// The next instant at which something happens, in ns, or None.
    #[getter]
    fn next_event_ns(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.with(py, |device| Ok(device.next_event_time().map(SimTime::as_ns)))
    }

    /// Requests that have not completed.
    #[getter]
    fn pending(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |device| Ok(device.pending()))
    }

    /// Completions that can be polled.
    #[getter]
    fn completions(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |device| Ok(device.completions()))
    }

    /// Handles everything up to and including `to_ns`.
    fn advance_to(&self, py: Python<'_>, to_ns: u64) -> PyResult<()> {
        self.detached(py, |device| device.advance_to(SimTime(to_ns)))
    }

    /// Handles everything up to the first instant with a completion, at the latest `limit_ns`; whether one can be polled.
    #[pyo3(signature = (limit_ns))]
    fn advance_to_completion(&self, py: Python<'_>, limit_ns: Option<u64>) -> PyResult<bool> {
        self.detached(py, |device| device.advance_to_completion(limit_ns.map(SimTime)))
    }

    /// Takes the oldest completion.
    fn pop(&self, py: Python<'_>) -> PyResult<Option<Row>> {
        let row = |of: Completion| {
            let (submitted, completed) = (of.submitted.as_ns(), of.completed.as_ns());
            let causes = of.causes.to_vec();
            (of.tag, of.cookie, of.op_code(), of.status.0, submitted, completed, of.bytes, of.placed, causes)
        };
        self.with(py, |device| Ok(device.pop().map(row)))
    }

    /// Takes at most `most` completions: their number, and name, NumPy type and values of each column.
    fn poll_batch<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Columns<'py>> {
        let taken = self.detached(py, |device| {
            let count = most.min(device.completions());
            let wide = || Vec::<u8>::with_capacity(8 * count);
            let mut wides: [Vec<u8>; 6] = std::array::from_fn(|_| wide());
            let (mut ops, mut statuses) = (Vec::with_capacity(count), Vec::with_capacity(2 * count));
            let mut causes = Vec::with_capacity(8 * CAUSES * count);
            device.poll(count, |_, of| {
                let placed = of.placed.map_or(-1, |at| at as i64) as u64;
                let (submitted, completed) = (of.submitted.as_ns(), of.completed.as_ns());
                for (to, value) in
                    wides.iter_mut().zip([of.tag, of.cookie, submitted, completed, of.bytes, placed])
                {
                    to.extend(value.to_le_bytes());
                }
                ops.push(of.op_code() as u8);
                statuses.extend(of.status.0.to_le_bytes());
                of.causes.iter().for_each(|ns| causes.extend(ns.to_le_bytes()));
            });
            Ok((count, wides, ops, statuses, causes))
        });
        let (count, wides, ops, statuses, causes) = taken?;
        let names = ["tag", "cookie", "submitted_ns", "completed_ns", "bytes", "placed"];
        let types = ["<u8", "<u8", "<u8", "<u8", "<u8", "<i8"];
        let mut columns: Vec<_> = names
            .into_iter()
            .zip(types)
            .zip(&wides)
            .map(|((name, kind), bytes)| (name, kind, PyBytes::new(py, bytes)))
            .collect();
        columns.push(("op", "<u1", PyBytes::new(py, &ops)));
        columns.push(("status", "<u2", PyBytes::new(py, &statuses)));
        columns.push(("causes_ns", "<u8", PyBytes::new(py, &causes)));
        Ok((count, columns))
    }

    /// Counters since creation as JSON text.
    fn counters(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |device| Ok(device.counters().to_json()))
    }

    /// Description as JSON text.
    fn describe(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |device| Ok(device.describe()))
    }

    /// State of the device.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.detached(py, |device| device.save())?;
        Ok(PyBytes::new(py, &saved))
    }

    /// Completes everything and audits: requests, mapped units, versions checked.
    fn finish(&self, py: Python<'_>) -> PyResult<(u64, u64, u64)> {
        let audit = self.detached(py, Embedded::finish)?;
        Ok((audit.requests, audit.mapped_units, audit.versions_checked))
    }
}

/// Names of operations and of causes in the order of their codes, and names of statuses by code.
#[pyfunction]
pub fn device_names() -> (Vec<&'static str>, Vec<&'static str>, Vec<(u16, &'static str)>) {
    let statuses = (0..=0x7ff).map(StatusCode).filter_map(|code| Some((code.0, code.name()?)));
    (OPS.map(|(name, _)| name).to_vec(), CAUSE_INFO.map(|(name, _)| name).to_vec(), statuses.collect())
}
