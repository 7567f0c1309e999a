//! Sub-blocks: ranges of layers of a block that are erased apart (partial erase of 3D NAND).
//!
//! The drive manages sub-blocks as blocks: [`PartSpec::divided`] makes them the blocks of the part. What they share is left: an
//! erase wears and disturbs the other sub-blocks of its block, and a read disturbs all of them.

use super::spec::{MAX_BLOCKS, PartSpec};
use interpulse_settings::{ConfigError, Section, default, keys, optional};

/// Sub-blocks of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubBlocks {
    /// Number; 1 for whole blocks.
    pub count: u32,
    /// What is known of them.
    pub spec: SubBlockSpec,
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
    pub const ONE: SubBlocks =
        SubBlocks { count: 1, spec: SubBlockSpec { erase_loops: None, wear: 0.0, disturb: 0 } };

    /// Reads the keys of sub-blocks; their number shapes the `state`.
    pub(super) fn read(part: &mut Section, state: &mut Section) -> Result<SubBlocks, ConfigError> {
        let doc =
            "sub-blocks of a block that are erased apart, each a range of its layers; 1 for whole blocks";
        let count = state.u32("sub-blocks", doc, default(1).within(1..=64))?;
        let spec = part.when(count > 1, "sub-blocks above 1", SubBlockSpec::keys)?;
        Ok(SubBlocks { count, spec: spec.unwrap_or(SubBlocks::ONE.spec) })
    }

    /// Wear of another sub-block by an erase, in millionths of a program/erase cycle.
    pub(crate) fn wear_ppm(&self) -> u32 {
        libm::round(self.spec.wear * 1e6) as u32
    }
}

impl PartSpec {
    /// This part with its sub-blocks as blocks.
    pub(super) fn divided(self, part: &Section) -> Result<PartSpec, ConfigError> {
        let (count, lines) = (self.sub_blocks.count, self.word_lines());
        if count == 1 {
            return Ok(self);
        }
        let message = format!("{count} sub-blocks of whole layers do not divide {} layers", self.layers);
        part.check_together(self.layers.is_multiple_of(count), &["sub-blocks", "layers"], message)?;
        let message = format!("{count} sub-blocks do not divide the {lines} word lines of a block");
        let keys = ["sub-blocks", "pages-per-block", "bits-per-cell"];
        part.check_together(lines.is_multiple_of(count), &keys, message)?;
        let message = format!("a plane has at most {MAX_BLOCKS} blocks or sub-blocks");
        let fits = u64::from(self.blocks_per_plane) * u64::from(count) <= u64::from(MAX_BLOCKS);
        part.check_together(fits, &["sub-blocks", "blocks-per-plane"], message)?;
        let loops = self.sub_blocks.spec.erase_loops.unwrap_or(self.erase.loops);
        Ok(PartSpec {
            blocks_per_plane: self.blocks_per_plane * count,
            pages_per_block: lines / count * self.bits_per_cell,
            layers: self.layers / count,
            erase: super::TrainSpec { loops, ..self.erase },
            ..self
        })
    }
}
