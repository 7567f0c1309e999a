//! Firmware cores by task: map look-ups, collection and ranges of deallocations, each a pool of cores of its own beside those of
//! host commands.
//!
//! ```text
//! command -- host.firmware --> look-ups: mapping-time for each unit --> map, cache, flash
//!            of a deallocation -> deallocation-time for each range --> map
//! page read of collection ---> collection-time for each unit moved --> program
//! ```

mod pool;
pub mod spec;

use crate::numbers::GcReadId;
use interpulse_engine::{Duration, RequestId, ResourceId};
use interpulse_flash::nand::txn::Txn;
use pool::Pool;
use spec::{FirmwareSpec, TaskSpec};

/// Page read whose units a core of collection handles.
#[derive(Clone, Copy)]
pub(crate) struct Moving {
    pub(crate) read: GcReadId,
    pub(crate) txn: Txn,
}

/// Pools of firmware cores; `None` for a task that takes no time.
pub(crate) struct Firmware {
    pub(crate) look_ups: Option<Pool<RequestId>>,
    pub(crate) collection: Option<Pool<Moving>>,
    pub(crate) deallocation: Option<Pool<RequestId>>,
}

impl Firmware {
    /// Timers of the pools.
    pub(crate) const TIMERS: u32 = 3;

    /// Idle cores whose timers begin at `first`.
    pub(crate) fn new(spec: &FirmwareSpec, first: ResourceId) -> Firmware {
        fn pool<T>(of: TaskSpec, timer: ResourceId) -> Option<Pool<T>> {
            (of.time > Duration::ZERO).then(|| Pool::new(of, timer))
        }
        Firmware {
            look_ups: pool(spec.mapping, first),
            collection: pool(spec.collection, ResourceId(first.0 + 1)),
            deallocation: pool(spec.deallocation, ResourceId(first.0 + 2)),
        }
    }
}
