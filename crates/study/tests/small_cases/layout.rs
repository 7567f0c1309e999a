//! Layout: the programs of a block fill it page by page.

use interpulse_drive::Layout;
use interpulse_drive::numbers::Ppu;
use interpulse_flash::geometry::Geometry;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A geometry, the planes of a lane and the reserved blocks per plane.
fn array() -> impl Strategy<Value = (Geometry, u32, u32)> {
    let dies = (1u32..4, 1u32..4, 1u32..3);
    let lane = prop::sample::select(vec![(1u32, 1u32), (2, 1), (2, 2), (4, 1), (4, 2), (4, 4), (6, 3)]);
    let block = (1u32..20, 1u32..5, any::<bool>(), prop::sample::select(vec![1u32, 2, 4, 8]));
    (dies, lane, 4u32..30, 0u32..3, block).prop_map(
        |((channels, chips, dies), (planes, together), blocks, reserved, (lines, bits, one_shot, units))| {
            let geometry = Geometry {
                channels,
                chips_per_channel: chips,
                dies_per_chip: dies,
                planes,
                blocks_per_plane: blocks,
                word_lines: lines,
                pages_per_word_line: bits,
                unit_bytes: 4096,
                units_per_page: units,
                layers: 1,
                pages_per_program: if one_shot { bits } else { 1 },
                cache_pages: 0,
                cache_reads: false,
                independent_plane_reads: false,
                separate_commands: false,
                sub_blocks: 1,
            };
            (geometry, together, reserved)
        },
    )
}

proptest! {
    /// A die accepts the pages of a block in ascending order only.
    #[test]
    fn a_block_is_programmed_page_after_page((geometry, together, reserved) in array()) {
        let layout = Layout::new(&geometry, together, reserved);
        let mut next = vec![0; geometry.planes as usize];
        for program in 0..layout.programs_per_block {
            let first = program * layout.units_per_program;
            let pages: BTreeSet<(u32, u32)> = (first..first + layout.units_per_program)
                .map(|offset| layout.place(Ppu(offset)))
                .map(|p| (p.plane, p.page))
                .collect();
            for (plane, page) in pages {
                prop_assert_eq!(page, next[plane as usize]);
                next[plane as usize] += 1;
            }
        }
        let written: Vec<u32> = next.into_iter().filter(|&n| n > 0).collect();
        prop_assert_eq!(written, vec![geometry.pages_per_block(); together as usize]);
    }
}
