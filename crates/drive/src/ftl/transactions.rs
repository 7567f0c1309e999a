//! Flash transactions of whole super blocks and of their program operations, common to the families without write streams.

use crate::ftl::layout::Layout;
use crate::numbers::SuperBlock;
use crate::owner::Owner;
use interpulse_flash::nand::txn::{Kind, Txn};

/// Program operation `program` of a super block that has `cycles` P/E cycles.
pub(super) fn program_of(
    layout: &Layout,
    kind: Kind,
    block: SuperBlock,
    program: u32,
    cycles: u32,
    owner: Owner,
) -> Txn {
    let mut txn = of_lane(layout, kind, block, cycles, owner);
    txn.page = layout.page_of_program(program);
    txn
}

/// Erase of a super block that has `cycles` P/E cycles.
pub(super) fn erase_of(layout: &Layout, block: SuperBlock, cycles: u32) -> Txn {
    of_lane(layout, Kind::Erase, block, cycles, Owner::Erase(block))
}

fn of_lane(layout: &Layout, kind: Kind, block: SuperBlock, cycles: u32, owner: Owner) -> Txn {
    let (lane, of_plane) = layout.lane_of(block);
    let (die, plane) = layout.die_of(lane);
    let mut txn = Txn::new(kind, die);
    txn.plane = plane as u8;
    txn.planes = layout.planes as u8;
    txn.block = of_plane;
    txn.set_owner(owner.into());
    txn.set_cycles(cycles);
    txn
}
