//! Log blocks of a drive: their keys in the section `[ftl]`.

use interpulse_settings::{Section, choices, default, keys, optional};

choices! {
    /// What shares a log block.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Association {
        /// the units of one logical block (BAST)
        Block = "block",
        /// the units of all logical blocks of the lane, with one more log block for a sequential stream (FAST)
        Full = "full",
    }
}

choices! {
    /// What a merge erases and writes again.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MergeExtent {
        /// whole blocks
        Blocks = "blocks",
        /// of a data block the sub-blocks with newer units in log blocks, where that costs less (PEN); a logical block fills a block
        /// of the part
        SubBlocks = "sub-blocks",
    }
}

keys! {
    /// Log blocks of a drive. All but the extent of merges affect a run and not its initial state.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LogBlockSpec, pub(crate) fn read(s, run: &mut Section) {
        /// what a merge erases and writes again
        pub merge: MergeExtent = ["log-block-merge"] choice(Some("blocks"), MergeExtent::ALL),
        /// log blocks of each lane; with the association "full" those for random writes
        // A lane is `multi-plane` planes of a die.
        pub log_blocks: u32 = (run) u32(default(8).within(1..=65536)),
        /// what shares a log block
        pub association: Association = ["log-block-association"] (run) choice(Some("full"), Association::ALL),
        /// erases of single sub-blocks of a data block after which a merge copies the block and erases it whole
        pub max_apart: Option<u32> => run.when(
            merge == MergeExtent::SubBlocks,
            "log-block-merge = \"sub-blocks\"",
            ApartKeys::read,
        )?.and_then(|keys| keys.max_apart),
    }
}

keys! {
    /// Keys of merges in place.
    struct ApartKeys, fn read(s) {
        /// erases of single sub-blocks of a data block after which a merge copies the block and erases it whole; no limit by
        /// default
        max_apart: Option<u32> = ["max-sub-block-erases"] optional_u32(optional().at_least(1)),
    }
}

impl LogBlockSpec {
    /// Sub-blocks that a data block consists of, on a part whose blocks have `of_part`.
    pub fn sub_blocks(&self, of_part: u32) -> u32 {
        match self.merge {
            MergeExtent::Blocks => 1,
            MergeExtent::SubBlocks => of_part,
        }
    }

    /// Super blocks of each lane that are not data blocks: log blocks, and the one that a full merge fills.
    pub fn blocks_of_lane(&self) -> u32 {
        self.log_blocks + 1 + u32::from(self.association == Association::Full)
    }
}
