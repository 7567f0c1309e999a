//! How power is followed and limited.

use interpulse_engine::{Current, Duration};

/// How power is followed and limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerConfig {
    /// A die on which nothing runs is deselected after this long.
    pub standby_after: Duration,
    /// Follows the current through time, in windows of this length; `None` keeps to sums.
    pub trace: Option<Duration>,
    /// The most VDDcore current of all dies together; `None` is no limit.
    pub budget: Option<Current>,
}
