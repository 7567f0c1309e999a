//! Python module `interpulse._core`: bindings of `interpulse-study`, `interpulse-embed`, `interpulse-serve`,
//! `interpulse-cell` and `interpulse-bench`.
//!
//! The bindings have no logic: they convert Python values to a request, run it on its own thread, so that the
//! interpreter stays responsive, and return text. `python/interpulse` formats and stores results.
//!
//! `python/interpulse/_core.pyi` declares the same interface for type checkers; a test compares both.

mod bench;
mod cell;
mod device;
mod error;
mod handle;
mod machine;
mod plan;
mod serve;
mod state;
mod trace;

use pyo3::prelude::*;

/// The simulation core. Use the package `interpulse`; names in this module may change without notice.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::bench::bench_step;
    #[pymodule_export]
    use crate::cell::cell_job;
    #[pymodule_export]
    use crate::device::{Device, device_names};
    #[pymodule_export]
    use crate::error::{ConfigError, InternalError, RequestError, RunError};
    #[pymodule_export]
    use crate::handle::{Handle, Progress, start};
    #[pymodule_export]
    use crate::lists;
    #[pymodule_export]
    use crate::machine::Machine;
    #[pymodule_export]
    use crate::plan::{Entry, Plan, die_timeline, resolve, together};
    #[pymodule_export]
    use crate::serve::Server;
    #[pymodule_export]
    use crate::state::{state_age, state_clone, state_show};
    #[pymodule_export]
    use crate::trace::{trace_rewrite, trace_statistics, twin_row, write_twin};

    /// Version of the compiled core, equal to that of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const version: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Errors raised outside a run have the attribute too.
        module.getattr("RunError")?.setattr("partial", module.py().None())?;
        module.add("__all__", ALL)
    }

    /// Names of the module, for `from ... import *` and the test of the stub.
    const ALL: [&str; 27] = [
        "ConfigError",
        "Device",
        "Entry",
        "Handle",
        "InternalError",
        "Machine",
        "Plan",
        "Progress",
        "RequestError",
        "RunError",
        "Server",
        "bench_step",
        "cell_job",
        "device_names",
        "die_timeline",
        "lists",
        "resolve",
        "start",
        "state_age",
        "state_clone",
        "state_show",
        "together",
        "trace_rewrite",
        "trace_statistics",
        "twin_row",
        "version",
        "write_twin",
    ];
}

/// All presets, policies, keys and counters as JSON text.
#[pyfunction]
fn lists() -> String {
    interpulse_study::catalog::catalog()
}
