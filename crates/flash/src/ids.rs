//! Identifier types for dies, blocks, word lines and transactions.

interpulse_engine::numbers! {
    /// A die, numbered over the flash array.
    DieId
    /// A block of a plane.
    BlockId
    /// A word line of a block.
    WordLineId
    /// A transaction in flight.
    TxnId
}

impl BlockId {
    /// No block: a timed operation without an address (synthetic write amplification).
    pub const NONE: BlockId = BlockId(u32::MAX);
}

impl TxnId {
    /// No transaction.
    pub const NONE: TxnId = TxnId(u32::MAX);
}

impl WordLineId {
    /// The word line of a page.
    #[inline]
    pub fn of_page(page: u32, pages_per_word_line: u32) -> WordLineId {
        WordLineId(page / pages_per_word_line)
    }

    /// The first page of the word line.
    #[inline]
    pub fn first_page(self, pages_per_word_line: u32) -> u32 {
        self.0 * pages_per_word_line
    }
}
