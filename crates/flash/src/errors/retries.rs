//! What a retry step does while the one before is decoded. A way is one file in `retries/`, with keys of its own if it has any,
//! and one line of the registry.

use interpulse_engine::Duration;
use interpulse_settings::registry;

pub use pipelined::Pipelined;

registry! {
    $ /// What a retry step does while the one before is decoded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Retry, each_way {
        "regular" => regular::Regular: "a retry step waits for the decode of the one before";
        "pipelined" => pipelined::Pipelined(it): "the next step is sensed meanwhile (PR2)";
    }
}

/// How the steps of a retry follow one another.
trait Steps {
    /// The time to cut off a sensing that was begun before the decode of the step before, and in vain; `None` where none is.
    fn cut_off(&self) -> Option<Duration>;
}

impl Retry {
    /// The time to cut off a sensing that was begun before the decode of the step before, and in vain; `None` where none is.
    pub fn cut_off(&self) -> Option<Duration> {
        each_way!(self, it => it.cut_off())
    }
}
