//! Sub-blocks: what the reads and erases of one do to the others of its block.
//!
//! Blocks 2k and 2k + 1 of a plane are the sub-blocks of one block. Blocks 0 to 3 of each plane hold data.

use crate::common::*;
use interpulse_flash::DieId;
use interpulse_flash::errors::block_state::BlockState;
use interpulse_flash::errors::model::Page;
use interpulse_flash::errors::{ErrorModel, ErrorSpec, ErrorTable};
use interpulse_flash::geometry::{BlockAddress, Geometry, PageAddress};
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::txn::Txn;
use interpulse_flash::parts::{PartSpec, SubBlockSpec, SubBlocks};

/// The part of the bench in pairs of sub-blocks. An erase wears the other one by a quarter of a cycle and disturbs it as 1000
/// reads do.
fn halves() -> PartSpec {
    let spec = SubBlockSpec { erase_loops: None, wear: 0.25, disturb: 1_000 };
    PartSpec { sub_blocks: SubBlocks { count: 2, spec, block_erase_loops: None }, ..part() }
}

fn reads_of(bench: &Bench, block: u32) -> u32 {
    let at = BlockAddress { die: DieId(0), plane: 0, block: BlockId(block) };
    bench.nand.reliability().expect("there are errors").block(at).reads
}

fn erase_of(block: u32) -> Txn {
    but(erase(0), |t| t.block = BlockId(block))
}

#[test]
fn reads_and_erases_disturb_the_other_sub_block() {
    let config = NandConfig { errors: errors(&[0.0], &[0.0], |_| ()), ..config() };
    let mut bench = Bench::new(&halves(), config, 1);
    bench.at(0, read_of(0, 0, 0, 0, 1)).at(1, read_of(0, 0, 1, 2, 1)).at(2, read_of(0, 0, 3, 0, 1)).run();
    assert_eq!([0, 1, 2, 3].map(|block| reads_of(&bench, block)), [2, 2, 1, 1]);
    bench.at(1_000_000, erase_of(0)).run();
    // An erase takes the time of the part: 300 + 3 * 1100000.
    assert_eq!(bench.of(3).time(), CMD + ERASE_PULSES);
    assert_eq!([0, 1, 2, 3].map(|block| reads_of(&bench, block)), [0, 1_002, 1, 1]);
    // Block 1 holds data, block 0 does not any longer, nor do 4 and 5.
    assert_eq!(bench.nand.counters.sub_block_disturbs, 1);
    bench.at(10_000_000, erase_of(1)).at(20_000_000, erase_of(4)).run();
    assert_eq!(bench.nand.counters.sub_block_disturbs, 1);
    assert_eq!([0, 1].map(|block| reads_of(&bench, block)), [1_000, 0]);
}

/// Four erases wear the other sub-block by one cycle, and no other block.
#[test]
fn erases_wear_the_other_sub_block() {
    let mut bench = Bench::new(&halves(), config(), 1);
    for k in 0..4 {
        bench.at(10_000_000 * k, but(erase_of(2), |t| t.planes = 2));
    }
    bench.run();
    let blocks = bench.nand.dies()[0].blocks();
    let worn = |plane| [0, 1, 2, 3, 4].map(|block| blocks.stress_cycles(plane, BlockId(block)));
    assert_eq!((worn(0), worn(1), worn(2)), ([0, 0, 0, 1, 0], [0, 0, 0, 1, 0], [0; 5]));
    // Without sub-blocks nothing is shared.
    let mut bench = Bench::new(&part(), config(), 1);
    bench.at(0, erase_of(2)).run();
    assert_eq!(bench.nand.counters.sub_block_disturbs, 0);
}

/// An erase of a whole block erases both sub-blocks, takes the loops of a block, and disturbs and wears no other.
#[test]
fn an_erase_of_a_whole_block_is_of_all_its_sub_blocks() {
    let whole = |block| but(erase_of(block), Txn::set_whole_block);
    for (block_erase_loops, loops) in [(None, 3), (Some(5), 5)] {
        let sub_blocks = SubBlocks { block_erase_loops, ..halves().sub_blocks };
        let config = NandConfig { errors: errors(&[0.0], &[0.0], |_| ()), ..config() };
        let mut bench = Bench::new(&PartSpec { sub_blocks, ..halves() }, config, 1);
        bench.at(0, read_of(0, 0, 3, 0, 1)).at(1_000_000, whole(2)).at(20_000_000, erase_of(1)).run();
        assert_eq!(bench.of(1).time(), CMD + loops * ERASE_LOOP);
        assert_eq!(bench.of(2).time(), CMD + ERASE_PULSES);
        let blocks = bench.nand.dies()[0].blocks();
        assert_eq!(
            [0, 1, 2, 3].map(|block| blocks.programmed(0, BlockId(block)) > 0),
            [true, false, false, false]
        );
        assert_eq!([0, 1, 2, 3].map(|block| reads_of(&bench, block)), [1_000, 0, 0, 0]);
        let cycles = [0, 1, 2, 3].map(|block| {
            let at = BlockAddress { die: DieId(0), plane: 0, block: BlockId(block) };
            bench.nand.reliability().expect("there are errors").block(at).cycles
        });
        assert_eq!(cycles, [0, 1, 1, 1]);
    }
}

/// A page has the error rate of its layer in the whole block, whichever sub-block that layer is in.
#[test]
fn layers_are_those_of_the_whole_block() {
    let rates = [1e-4, 2e-4, 4e-4, 8e-4];
    let table = ErrorTable {
        layer_fraction: vec![0.125, 0.375, 0.625, 0.875],
        rber: rates.iter().flat_map(|&rate| [rate; 3]).collect(),
        ..ErrorTable::ideal(3)
    };
    let spec = ErrorSpec { table, ..(*errors(&[0.0], &[0.0], |_| ()).unwrap()).clone() };
    let whole = Geometry::new(1, 1, 1, &PartSpec { layers: 4, ..part() });
    let divided = PartSpec { layers: 2, pages_per_block: 12, blocks_per_plane: 16, ..halves() };
    let divided = Geometry::new(1, 1, 1, &divided);
    let of = |geometry: &Geometry, block, page| {
        let of = BlockAddress { die: DieId(0), plane: 0, block: BlockId(block) };
        let page = Page { address: PageAddress { of, page }, attempt: 0, units: 1, sensing: 0 };
        ErrorModel::new(&spec, geometry, 1).ln_rber(&BlockState::default(), 0, 1, &page)
    };
    let found: Vec<i32> = (0..24).map(|page| of(&whole, 3, page)).collect();
    let parts: Vec<i32> = (0..24).map(|page| of(&divided, 6 + page / 12, page % 12)).collect();
    assert_eq!(found, parts);
    assert!(found.is_sorted() && found[0] < found[6] && found[6] < found[12] && found[12] < found[18]);
}
