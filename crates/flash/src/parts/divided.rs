//! Part whose blocks are its sub-blocks.

use super::TrainSpec;
use super::spec::{MAX_BLOCKS, PartSpec};
use super::sub_blocks::SubBlocks;
use interpulse_settings::{ConfigError, Section};

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
            erase: TrainSpec { loops, ..self.erase },
            sub_blocks: SubBlocks { block_erase_loops: Some(self.erase.loops), ..self.sub_blocks },
            ..self
        })
    }
}
