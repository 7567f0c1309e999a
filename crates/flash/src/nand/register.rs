//! Cache register of a die; see [`cache_register`](super::cache_register) for programs and
//! [`cache_read`](super::cache_read) for reads.

use crate::command::EnergyCategory;
use crate::ids::TxnId;
use interpulse_engine::SimTime;

/// Most planes a multi-plane read senses together.
pub(super) const MAX_BATCH: usize = 8;

/// Whether a page is on its way into the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    None,
    Waits,
    Moves,
}

/// The cache register of a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Register {
    /// Reads whose data moves out: all, their number, and how many have moved.
    pub(super) reads: [TxnId; MAX_BATCH],
    pub(super) count: u8,
    pub(super) moved: u8,
    /// Whether read data is on the bus.
    pub(super) out_active: bool,
    /// Program whose data is loaded.
    pub(super) program: TxnId,
    /// Pages loaded.
    pub(super) loaded: u32,
    pub(super) page: Page,
    /// End of the transfer and set-up under way.
    pub(super) ends: SimTime,
    /// Energy category of the transfer.
    pub(super) category: EnergyCategory,
}

impl Default for Register {
    fn default() -> Register {
        Register {
            reads: [TxnId::NONE; MAX_BATCH],
            count: 0,
            moved: 0,
            out_active: false,
            program: TxnId::NONE,
            loaded: 0,
            page: Page::None,
            ends: SimTime::ZERO,
            category: EnergyCategory::Program,
        }
    }
}

impl Register {
    /// Whether data is on the bus, or being set up.
    pub(super) fn moves(&self) -> bool {
        self.page == Page::Moves || self.out_active
    }

    /// Whether the register has no data of a program.
    pub(super) fn is_free(&self) -> bool {
        self.program == TxnId::NONE && self.page == Page::None
    }

    /// Whether data of a program is in it or on its way.
    pub(super) fn holds_data(&self) -> bool {
        self.program != TxnId::NONE && (self.loaded > 0 || self.page == Page::Moves)
    }
}
