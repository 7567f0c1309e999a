//! The numbers of dies and of what they are asked for: types, so that none is taken for a plane or a block.

interpulse_engine::numbers! {
    /// A die, numbered over the flash array.
    DieId
    /// A block of a plane.
    BlockId
    /// A word line of a block.
    WordLineId
    /// A transaction under way.
    TxnId
}

impl BlockId {
    /// None: of an operation that is timed but touches no block (imposed write amplification).
    pub const NONE: BlockId = BlockId(u32::MAX);
}

impl TxnId {
    /// None.
    pub const NONE: TxnId = TxnId(u32::MAX);
}

impl WordLineId {
    /// The one that a page lies on, of so many pages each.
    #[inline]
    pub fn of_page(page: u32, pages_per_word_line: u32) -> WordLineId {
        WordLineId(page / pages_per_word_line)
    }

    /// Its first page.
    #[inline]
    pub fn first_page(self, pages_per_word_line: u32) -> u32 {
        self.0 * pages_per_word_line
    }
}
