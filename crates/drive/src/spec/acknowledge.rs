//! Write acknowledgement policies. A policy is one file in `acknowledge/` and one registry line.

use interpulse_settings::registry;

pub use when_cached::WhenCached;

registry! {
    $ /// When a write is complete.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Acknowledge, each_way {
        "when-cached" => when_cached::WhenCached(it): "as soon as the data is in the cache";
        "when-programmed" => when_programmed::WhenProgrammed:
            "when the data is on flash (no write cache); every write is programmed";
    }
}

/// What follows for the write cache.
trait Acknowledgement {
    /// Writes wait for their programs: the cache is a buffer of writes under way, each of which is programmed at once, also
    /// where it does not fill a program.
    fn waits_for_programs(&self) -> bool;

    /// Data that waits to be programmed is overwritten in the cache; otherwise every write is programmed.
    fn absorbs(&self) -> bool;
}

impl Acknowledge {
    /// Whether writes wait for their programs.
    pub fn waits_for_programs(&self) -> bool {
        each_way!(self, it => it.waits_for_programs())
    }

    /// Whether data that waits to be programmed is overwritten in the cache.
    pub fn absorbs(&self) -> bool {
        each_way!(self, it => it.absorbs())
    }
}
