//! Recovery scan: the map from the last checkpoint and out-of-band data.

use crate::ftl::layout::Layout;
use crate::ftl::page::mapping::table::UNMAPPED;
use crate::ftl::page::power_loss::checkpoint::Checkpoint;
use crate::ftl::page::power_loss::oob::{NOTHING, Oob};
use crate::numbers::{Lpn, Ppu, SuperBlock};
use interpulse_flash::cell_mode::CellMode;

/// State of the blocks after a power loss, by super block.
pub struct Found<'a> {
    /// Program operations begun since the last erase, torn ones included.
    pub programs: &'a [u32],
    /// Blocks whose erase was interrupted.
    pub broken: &'a [bool],
    /// Erases.
    pub cycles: &'a [u32],
    /// Cell modes; empty if all are native. Pages of word lines with two bits per cell may have been reprogrammed.
    pub modes: &'a [CellMode],
}

/// Rebuilt map, and the blocks read for it.
pub struct Rebuilt {
    /// Physical unit of each logical one, or [`UNMAPPED`].
    pub places: Vec<Ppu>,
    /// Whether the scan or the journal of trims decided about a unit.
    pub found: Vec<bool>,
    /// Super blocks of which every programmed page was scanned.
    pub scanned: Vec<SuperBlock>,
}

/// Rebuilds the map.
///
/// Every block is probed; a data block that was not full at the checkpoint, or was erased since, is scanned. The highest
/// version written or trimmed after the checkpoint began wins; of copies of one version, the last. An entry of the checkpoint
/// whose page a reprogram has given to another unit, or a cut has torn, is dropped.
pub fn rebuild(layout: &Layout, oob: &Oob, checkpoint: &Checkpoint, found: &Found) -> Rebuilt {
    let same = |block: SuperBlock| {
        let b = block.index();
        !found.broken[b] && found.programs[b] > 0 && checkpoint.block(block).0 == found.cycles[b]
    };
    let is_scanned = |block: SuperBlock| {
        let b = block.index();
        !found.broken[b] && found.programs[b] > 0 && !(same(block) && checkpoint.block(block).1)
    };
    let has_two_bits = |block: SuperBlock| found.modes.get(block.index()) == Some(&CellMode::Mlc);
    let mut best: Vec<(u32, u32, Ppu)> = Vec::with_capacity(checkpoint.entries().len());
    for (lpn, entry) in (0..).map(Lpn).zip(checkpoint.base()) {
        if entry.place == UNMAPPED {
            best.push((entry.version, 0, UNMAPPED));
            continue;
        }
        let block = layout.block_of(entry.place);
        let erased = !same(block);
        let replaced = has_two_bits(block) && is_scanned(block) && oob.read(entry.place).lpn != lpn;
        best.push(match (erased, replaced) {
            (true, _) => (0, 0, UNMAPPED),
            (false, true) => (entry.version, 0, UNMAPPED),
            (false, false) => (entry.version, 0, entry.place),
        });
    }
    let mut seen = vec![false; best.len()];
    for (lpn, version) in checkpoint.trims() {
        let of = &mut best[lpn.index()];
        seen[lpn.index()] = true;
        if version > of.0 {
            *of = (version, 0, UNMAPPED);
        }
    }
    let mut scanned = Vec::new();
    for block in SuperBlock::first(layout.super_blocks()) {
        if !is_scanned(block) {
            continue;
        }
        scanned.push(block);
        let first = layout.first_unit(block);
        for ppu in first.until(first + found.programs[block.index()] * layout.units_per_program) {
            let spare = oob.read(ppu);
            if spare.lpn == NOTHING || spare.written <= checkpoint.order() {
                continue;
            }
            let of = &mut best[spare.lpn.index()];
            seen[spare.lpn.index()] = true;
            if (spare.version, spare.written) >= (of.0, of.1) {
                *of = (spare.version, spare.written, ppu);
            }
        }
    }
    Rebuilt { places: best.into_iter().map(|(_, _, place)| place).collect(), found: seen, scanned }
}
