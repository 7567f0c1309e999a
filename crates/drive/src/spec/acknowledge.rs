//! Write acknowledgement policies: one file in `acknowledge/` and one registry line for each.

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

/// Effects on the write cache.
trait Acknowledgement {
    /// Whether writes wait for their programs: the cache then buffers writes in flight, programmed at once even in part.
    fn waits_for_programs(&self) -> bool;

    /// Whether writes overwrite dirty data in the cache; otherwise every write is programmed.
    fn absorbs(&self) -> bool;
}

impl Acknowledge {
    /// Whether writes wait for their programs.
    pub fn waits_for_programs(&self) -> bool {
        each_way!(self, it => it.waits_for_programs())
    }

    /// Whether writes overwrite dirty data in the cache.
    pub fn absorbs(&self) -> bool {
        each_way!(self, it => it.absorbs())
    }
}
