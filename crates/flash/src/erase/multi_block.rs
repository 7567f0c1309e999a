//! Multi-block erase: several blocks of the same planes erased in one operation of a die (T. Fujimori and S. Nomura, BOOSTER,
//! SYSTOR'23). The blocks share the pulses; each has a verify of its own (US 7,110,301, claim 1), or all have one.

use crate::pulse::PulseTrain;
use interpulse_settings::{ConfigError, Section, choices, default};

choices! {
    /// Verifies of a multi-block erase.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MultiBlockVerify {
        /// one block after another (US 7,110,301)
        Each = "each",
        /// all blocks in the time of one
        Together = "together",
    }
}

/// Blocks that one erase takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiBlock {
    /// Blocks of a plane erased in one operation, at most.
    pub blocks: u32,
    /// Their verifies.
    pub verify: MultiBlockVerify,
}

impl MultiBlock {
    /// Each block on its own.
    pub const ONE: MultiBlock = MultiBlock { blocks: 1, verify: MultiBlockVerify::Each };

    /// Reads the keys in `[erase]`.
    pub fn read(s: &mut Section) -> Result<MultiBlock, ConfigError> {
        let blocks = s.u32(
            "blocks-per-operation",
            "blocks of a plane that a die erases in one operation, at most; above 1, garbage collection keeps emptied blocks \
             until there are so many",
            default(1).within(1..=32),
        )?;
        let verify = s.when(blocks > 1, "blocks-per-operation above 1", |s| {
            s.choice(
                "multi-block-verify",
                "how the blocks of an operation are verified",
                Some("each"),
                MultiBlockVerify::ALL,
            )
        })?;
        Ok(MultiBlock { blocks, verify: verify.unwrap_or(MultiBlock::ONE.verify) })
    }

    /// Whether an erase takes others along.
    #[inline]
    pub fn is_used(self) -> bool {
        self.blocks > 1
    }

    /// The train of an erase of so many blocks, the slowest of which needs `slowest`.
    pub(crate) fn train(self, slowest: PulseTrain, blocks: u32) -> PulseTrain {
        match self.verify {
            MultiBlockVerify::Each => PulseTrain { verify: slowest.verify * u64::from(blocks), ..slowest },
            MultiBlockVerify::Together => slowest,
        }
    }
}
