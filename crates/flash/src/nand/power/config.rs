//! Configuration of power measurement and budget.

use interpulse_engine::{Current, Duration};

/// Power measurement and budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerConfig {
    /// A die on which nothing runs is deselected after this long.
    pub standby_after: Duration,
    /// Window of the meter of the current; `None` keeps only sums.
    pub trace: Option<Duration>,
    /// The most VDDcore current of all dies together; `None` is no limit.
    pub budget: Option<Current>,
}
