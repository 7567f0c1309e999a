//! Address arithmetic of logical blocks: programs are striped over the lanes, and the programs of a lane form its logical
//! blocks.
//!
//! The lanes are in the order of [`Layout::lanes_by_channel`], so that consecutive programs are on different channels.
//! Program P of the address space is on lane P mod lanes; logical block row * lanes + k has the programs of the k-th lane
//! between row * programs per block and the next row.

use crate::ftl::layout::Layout;
use crate::numbers::{Lane, Lpn};
use interpulse_engine::Divider;
use interpulse_flash::geometry::Geometry;

interpulse_engine::numbers! {
    /// A logical block: the units of one data block.
    LogicalBlock
}

/// Address arithmetic of logical blocks.
#[derive(Clone, Debug)]
pub struct LogBlockGeometry {
    /// Logical blocks of the drive.
    pub blocks: u32,
    /// Units of a logical block.
    pub units: u32,
    /// Units of a program.
    pub program: u32,
    /// Programs of a logical block.
    pub programs: u32,
    /// Blocks of the drive's layout in a data block: its sub-blocks that merges erase apart, otherwise one.
    pub sub_blocks: u32,
    /// Lanes in the order of the stripe.
    order: Vec<Lane>,
    by_program: Divider,
    by_lane: Divider,
    by_block: Divider,
}

/// Unit as an offset in its logical block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockOffset {
    /// The logical block.
    pub block: LogicalBlock,
    /// Place of the unit in the block.
    pub offset: u32,
}

impl LogBlockGeometry {
    /// Logical blocks of a drive of `geometry` and `layout` with at most `logical_units`, of which each lane keeps `other` super
    /// blocks that hold no data. A super block is `sub_blocks` of those of the layout. Err is the reason why there are none.
    pub fn new(
        geometry: &Geometry,
        layout: &Layout,
        sub_blocks: u32,
        logical_units: u64,
        other: u32,
    ) -> Result<LogBlockGeometry, String> {
        let layout = &layout.joined(sub_blocks);
        let of_lane = logical_units / u64::from(layout.lanes) / u64::from(layout.units_per_block);
        if of_lane == 0 {
            return Err(format!(
                "the {logical_units} units of the drive are less than one super block on each of {} lanes",
                layout.lanes
            ));
        }
        if of_lane + u64::from(other) > u64::from(layout.blocks) {
            return Err(format!(
                "a lane has {} super blocks: {of_lane} data blocks and {other} for log blocks and merges do not fit",
                layout.blocks
            ));
        }
        Ok(LogBlockGeometry {
            blocks: of_lane as u32 * layout.lanes,
            units: layout.units_per_block,
            program: layout.units_per_program,
            programs: layout.programs_per_block,
            sub_blocks,
            order: layout.lanes_by_channel(geometry),
            by_program: Divider::new(layout.units_per_program),
            by_lane: Divider::new(layout.lanes),
            by_block: Divider::new(layout.programs_per_block),
        })
    }

    /// Units of all logical blocks.
    pub fn logical_units(&self) -> u32 {
        self.blocks * self.units
    }

    /// Logical block and offset of a unit.
    #[inline]
    pub fn split(&self, lpn: Lpn) -> BlockOffset {
        let (program, unit) = self.by_program.split(lpn.0);
        let (on_lane, place) = self.by_lane.split(program);
        let (row, in_block) = self.by_block.split(on_lane);
        let block = LogicalBlock(row * self.order.len() as u32 + place);
        BlockOffset { block, offset: in_block * self.program + unit }
    }

    /// Unit at an offset of a logical block.
    #[inline]
    pub fn unit(&self, block: LogicalBlock, offset: u32) -> Lpn {
        let (row, place) = self.by_lane.split(block.0);
        let (in_block, unit) = self.by_program.split(offset);
        let program = (row * self.programs + in_block) * self.order.len() as u32 + place;
        Lpn(program * self.program + unit)
    }

    /// Lane of a logical block.
    #[inline]
    pub fn lane(&self, block: LogicalBlock) -> Lane {
        self.order[self.by_lane.split(block.0).1 as usize]
    }

    /// Programs of a logical block that hold units before `end`.
    pub fn programs_before(&self, block: LogicalBlock, end: Lpn) -> u32 {
        let first = |program: &u32| self.unit(block, program * self.program) < end;
        (0..self.programs).take_while(first).count() as u32
    }
}
