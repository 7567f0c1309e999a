//! Sub-blocks: ranges of layers of a block that are erased apart (partial erase of 3D NAND).
//!
//! The drive manages sub-blocks as blocks: `PartSpec::divided` makes them the blocks of the part. What they share is left: an
//! erase wears and disturbs the other sub-blocks of its block, and a read disturbs all of them.

use interpulse_settings::{ConfigError, Section, default, keys, optional};

/// Sub-blocks of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubBlocks {
    /// Number; 1 for whole blocks.
    pub count: u32,
    /// What is known of them.
    pub spec: SubBlockSpec,
    /// Loops of the erase of a whole block at zero wear; `None` for those of a sub-block.
    pub block_erase_loops: Option<u32>,
}

keys! {
    /// Erase of a sub-block.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct SubBlockSpec, fn keys(s) {
        /// loops of the erase of a sub-block at zero wear; by default those of a block
        pub erase_loops: Option<u32> = ["sub-block-erase-loops"] optional_u32(optional().within(1..=1000)),
        /// program/erase cycles that the erase of a sub-block wears each other one of its block as much as
        pub wear: f64 = ["sub-block-wear"] fraction(default(0.0).at_most(1.0)),
        /// reads that the erase of a sub-block disturbs each other one of its block as much as
        pub disturb: u32 = ["sub-block-disturb"] u32(default(0).within(0..=1_000_000_000)),
    }
}

impl SubBlocks {
    /// Whole blocks.
    pub const ONE: SubBlocks = SubBlocks {
        count: 1,
        spec: SubBlockSpec { erase_loops: None, wear: 0.0, disturb: 0 },
        block_erase_loops: None,
    };

    /// Reads the keys of sub-blocks; their number shapes the `state`.
    pub(super) fn read(part: &mut Section, state: &mut Section) -> Result<SubBlocks, ConfigError> {
        let doc =
            "sub-blocks of a block that are erased apart, each a range of its layers; 1 for whole blocks";
        let count = state.u32("sub-blocks", doc, default(1).within(1..=64))?;
        let spec = part.when(count > 1, "sub-blocks above 1", SubBlockSpec::keys)?;
        Ok(SubBlocks { count, spec: spec.unwrap_or(SubBlocks::ONE.spec), ..SubBlocks::ONE })
    }

    /// Wear of another sub-block by an erase, in millionths of a program/erase cycle.
    pub(crate) fn wear_ppm(&self) -> u32 {
        libm::round(self.spec.wear * 1e6) as u32
    }
}
