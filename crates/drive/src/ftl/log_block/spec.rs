//! Log blocks of a drive: their keys in the section `[ftl]`.

use interpulse_settings::{Section, choices, default, keys};

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

keys! {
    /// Log blocks of a drive; they affect a run but not its initial state.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LogBlockSpec, pub(crate) fn read(s, run: &mut Section) {
        /// log blocks of each lane; with the association "full" those for random writes
        // A lane is `multi-plane` planes of a die.
        pub log_blocks: u32 = (run) u32(default(8).within(1..=65536)),
        /// what shares a log block
        pub association: Association = ["log-block-association"] (run) choice(Some("full"), Association::ALL),
    }
}

impl LogBlockSpec {
    /// Super blocks of each lane that are not data blocks: log blocks, and the one that a full merge fills.
    pub fn blocks_of_lane(&self) -> u32 {
        self.log_blocks + 1 + u32::from(self.association == Association::Full)
    }
}
