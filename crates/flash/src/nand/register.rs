//! The state of a die's cache register; what happens to it is in [`cache_register`](super::cache_register) for programs and
//! [`cache_read`](super::cache_read) for reads.

use crate::command::Spender;
use crate::numbers::TxnId;
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
    /// Reads whose data it gives out, and how many of them there are and have moved.
    pub(super) reads: [TxnId; MAX_BATCH],
    pub(super) count: u8,
    pub(super) moved: u8,
    /// Whether the data of one is on the bus.
    pub(super) gives: bool,
    /// The program whose data it takes.
    pub(super) program: TxnId,
    /// Pages that it holds of it.
    pub(super) loaded: u32,
    pub(super) page: Page,
    /// When the page that moves is in it and set up.
    pub(super) ends: SimTime,
    /// Whom the energy of the page that moves is spent on.
    pub(super) spender: Spender,
}

impl Default for Register {
    fn default() -> Register {
        Register {
            reads: [TxnId::NONE; MAX_BATCH],
            count: 0,
            moved: 0,
            gives: false,
            program: TxnId::NONE,
            loaded: 0,
            page: Page::None,
            ends: SimTime::ZERO,
            spender: Spender::Program,
        }
    }
}

impl Register {
    /// Whether data is on the bus, or being set up.
    pub(super) fn moves(&self) -> bool {
        self.page == Page::Moves || self.gives
    }

    /// Whether it has nothing to do with a program.
    pub(super) fn is_free(&self) -> bool {
        self.program == TxnId::NONE && self.page == Page::None
    }

    /// Whether data of a program is in it or on its way.
    pub(super) fn holds_data(&self) -> bool {
        self.program != TxnId::NONE && (self.loaded > 0 || self.page == Page::Moves)
    }
}
