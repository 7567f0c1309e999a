//! Load generation and measurement for a device.
//!
//! A [`Host`] owns the flows and the measurement window; a [`Stepper`] takes a host and its device through a run. Both
//! accept any [`Device`](interpulse_engine::Device) and any [`Observer`]. A run that keeps pace with other programs has a clock:
//!
//! ```
//! use interpulse_host::RealTimeClock;
//!
//! let clock = RealTimeClock::start();
//! let first = clock.now();
//! assert!(clock.now() >= first);
//! ```

pub mod attribution;
pub mod backlog;
pub mod clock;
pub mod flows;
pub mod host;
pub mod observe;
pub mod stepper;
pub mod window;

pub use attribution::{AccountSums, Attribution, CauseSums, Tail};
pub use backlog::{Backlog, BacklogSample};
pub use clock::{Clock, FreeRunning, RealTimeClock, Synchronized, Waker};
pub use host::Host;
pub use observe::{Ended, Observer, Submitted};
pub use stepper::{Failure, MOST_TIMERS_WITHOUT_COMPLETION, Pause, Stepper};
pub use window::{HostCounters, Refused, Window};
