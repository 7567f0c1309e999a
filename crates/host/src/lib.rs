//! Who offers load to a device.
//!
//! A [`Host`] has the flows and the measurement window; a [`Stepper`] takes a host and its device through a run. Both take
//! any [`Device`](interpulse_engine::Device), and any [`Observer`] of what happens.

pub mod blame;
pub mod clock;
pub mod flows;
pub mod host;
pub mod observe;
pub mod stepper;
pub mod window;

pub use blame::{Blame, Sums, Tail};
pub use clock::{Clock, FreeRunning};
pub use host::Host;
pub use observe::{Ended, Observer, Submitted};
pub use stepper::{Failure, Pause, Stepper};
pub use window::{HostCounters, Window};
