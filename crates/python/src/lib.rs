//! `interpulse._core`: the runner of `interpulse-study`, the bench of `interpulse-cell` and the rows of
//! `interpulse-bench` for Python.
//!
//! A shell without logic. It turns Python values into a request, runs it on a thread of its own so that the
//! interpreter stays free, and hands back text. What the results mean, how they are shown and where they are stored
//! is decided in `python/interpulse`; what is simulated is decided in `interpulse-study` and `interpulse-cell`.
//!
//! `python/interpulse/_core.pyi` describes the same surface for type checkers; a test keeps the two equal.

mod bench;
mod cell;
mod error;
mod handle;
mod machine;
mod plan;
mod trace;

use pyo3::prelude::*;

/// The simulation core. Use the package `interpulse`; names in here may change without notice.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::bench::bench_step;
    #[pymodule_export]
    use crate::cell::cell_job;
    #[pymodule_export]
    use crate::error::{ConfigError, InternalError, RunError};
    #[pymodule_export]
    use crate::handle::{Handle, Progress, start};
    #[pymodule_export]
    use crate::lists;
    #[pymodule_export]
    use crate::machine::Machine;
    #[pymodule_export]
    use crate::plan::{Entry, Plan, die_timeline, resolve, together};
    #[pymodule_export]
    use crate::trace::{trace_statistics, twin_row, write_twin};

    /// The version of the compiled core, equal to that of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const version: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Errors raised elsewhere than by a run have the attribute too.
        module.getattr("RunError")?.setattr("partial", module.py().None())?;
        module.add("__all__", ALL)
    }

    /// The names of the module, for `from ... import *` and for the test of the stub.
    const ALL: [&str; 19] = [
        "ConfigError",
        "Entry",
        "Handle",
        "InternalError",
        "Machine",
        "Plan",
        "Progress",
        "RunError",
        "bench_step",
        "cell_job",
        "die_timeline",
        "lists",
        "resolve",
        "start",
        "together",
        "trace_statistics",
        "twin_row",
        "version",
        "write_twin",
    ];
}

/// Everything that a configuration may name and a result may count, as JSON text: parts, drives, schemes, policies, twins,
/// trace formats, keys, counters.
#[pyfunction]
fn lists() -> String {
    interpulse_study::lists::lists()
}
