//! Physical addresses of the FTL.
//!
//! The FTL appends to *lanes*: a lane is a group of planes of one die that program and erase together (with `multi-plane =
//! 1` every plane is a lane). A *super block* is the same block number on all planes of a lane; a *physical unit* (ppu) is
//! 4 KiB in it, numbered in program order:
//! ppu = (lane * blocks + block) * units_per_block + ((program * planes + plane) * pages + page) * units + unit.
//!
//! Numbers of programs and units keep the stride of the native cell mode in every block. The methods `..._in` count what a
//! block in another mode has.

use crate::numbers::{Lane, Ppu, SuperBlock};
use interpulse_engine::Divider;
use interpulse_flash::DieId;
use interpulse_flash::cell_mode::CellMode;
use interpulse_flash::geometry::Geometry;
use interpulse_flash::ids::BlockId;

/// Arithmetic between physical units and dies, planes, blocks and pages.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Independent append streams of the drive.
    pub lanes: u32,
    /// Lanes per die.
    pub lanes_per_die: u32,
    /// Planes per lane.
    pub planes: u32,
    /// Super blocks per lane, without the bad-block reserve.
    pub blocks: u32,
    /// Block of each plane that super block 0 of its lane is: above zero for a namespace behind others.
    pub first_block_of_plane: u32,
    /// Units per super block in the native cell mode.
    pub units_per_block: u32,
    /// Units per program operation in the native mode.
    pub units_per_program: u32,
    /// Program operations per super block in the native mode.
    pub programs_per_block: u32,
    /// Program operations per word line in the native mode: one, or one for each of its pages.
    pub programs_per_word_line: u32,
    /// Pages per plane and program operation in the native mode.
    pub pages_per_program: u32,
    by_block: Divider,
    by_lane: Divider,
    by_plane_part: Divider,
    by_program: Divider,
    units_per_page: Divider,
    by_die: Divider,
}

/// Units of super blocks in one cell mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Of a program operation.
    pub program: u32,
    /// Of a super block.
    pub block: u32,
}

/// Unit as offset in its super block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitAt {
    /// The super block.
    pub super_block: SuperBlock,
    /// Offset of the unit in the super block.
    pub offset: u32,
}

/// Flash address of a physical unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashAddress {
    /// Die of the drive.
    pub die: DieId,
    /// Plane of the die.
    pub plane: u32,
    /// Block of the plane.
    pub block: BlockId,
    /// Page of the block.
    pub page: u32,
    /// Unit of the page.
    pub unit: u32,
}

impl Layout {
    /// Layout of `geometry` with `planes` planes per lane, of whose blocks `reserved` per plane replace bad ones.
    pub fn new(geometry: &Geometry, planes: u32, reserved: u32) -> Layout {
        let lanes_per_die = geometry.planes / planes;
        let blocks = geometry.blocks_per_plane - reserved;
        let units_per_plane_program = geometry.pages_per_program * geometry.units_per_page;
        let units_per_program = units_per_plane_program * planes;
        let units_per_block = geometry.units_per_block() * planes;
        Layout {
            lanes: geometry.dies() * lanes_per_die,
            lanes_per_die,
            planes,
            blocks,
            first_block_of_plane: 0,
            units_per_block,
            units_per_program,
            programs_per_block: units_per_block / units_per_program,
            programs_per_word_line: geometry.pages_per_word_line / geometry.pages_per_program,
            pages_per_program: geometry.pages_per_program,
            by_block: Divider::new(units_per_block),
            by_lane: Divider::new(blocks),
            by_plane_part: Divider::new(units_per_plane_program),
            by_program: Divider::new(units_per_program),
            units_per_page: Divider::new(geometry.units_per_page),
            by_die: Divider::new(lanes_per_die),
        }
    }

    /// This layout on the blocks of each plane from `first` on.
    pub fn from_block(self, first: u32) -> Layout {
        Layout { first_block_of_plane: first, ..self }
    }

    /// This layout with each `count` consecutive blocks of a plane as one block; units keep their numbers.
    pub fn joined(&self, count: u32) -> Layout {
        debug_assert!(self.blocks.is_multiple_of(count) && self.first_block_of_plane.is_multiple_of(count));
        let (blocks, units) = (self.blocks / count, self.units_per_block * count);
        Layout {
            blocks,
            first_block_of_plane: self.first_block_of_plane / count,
            units_per_block: units,
            programs_per_block: self.programs_per_block * count,
            by_block: Divider::new(units),
            by_lane: Divider::new(blocks),
            ..self.clone()
        }
    }

    /// Physical units the FTL can use.
    pub fn units(&self) -> u64 {
        u64::from(self.lanes) * u64::from(self.blocks) * u64::from(self.units_per_block)
    }

    /// [`Layout::units`] without `set_aside` super blocks of each lane.
    pub fn units_outside(&self, set_aside: u32) -> u64 {
        u64::from(self.lanes) * u64::from(self.blocks - set_aside) * u64::from(self.units_per_block)
    }

    /// Super blocks of the drive.
    pub fn super_blocks(&self) -> u32 {
        self.lanes * self.blocks
    }

    /// Super block (numbered over the drive) of a unit.
    #[inline]
    pub fn block_of(&self, ppu: Ppu) -> SuperBlock {
        SuperBlock(self.by_block.quotient(ppu.0))
    }

    /// Super block and offset of a unit.
    #[inline]
    pub fn split(&self, ppu: Ppu) -> UnitAt {
        let (super_block, offset) = self.by_block.split(ppu.0);
        UnitAt { super_block: SuperBlock(super_block), offset }
    }

    /// Lane of a super block, and its block number in each plane.
    #[inline]
    pub fn lane_of(&self, super_block: SuperBlock) -> (Lane, BlockId) {
        let (lane, block) = self.by_lane.split(super_block.0);
        (Lane(lane), BlockId(self.first_block_of_plane + block))
    }

    /// Super block of a lane with this block number.
    #[inline]
    pub fn super_block(&self, lane: Lane, block: BlockId) -> SuperBlock {
        self.first_block(lane) + (block.0 - self.first_block_of_plane)
    }

    /// The `row`-th super block of a lane.
    #[inline]
    pub fn in_row(&self, lane: Lane, row: u32) -> SuperBlock {
        self.first_block(lane) + row
    }

    /// First super block of a lane.
    #[inline]
    pub fn first_block(&self, lane: Lane) -> SuperBlock {
        SuperBlock(lane.0 * self.blocks)
    }

    /// Super blocks of a lane.
    #[inline]
    pub fn blocks_of(&self, lane: Lane) -> impl DoubleEndedIterator<Item = SuperBlock> + Clone + use<> {
        let first = self.first_block(lane);
        first.until(first + self.blocks)
    }

    /// Lanes of a die.
    #[inline]
    pub fn lanes_of(&self, die: DieId) -> impl DoubleEndedIterator<Item = Lane> + Clone + use<> {
        let first = Lane(die.0 * self.lanes_per_die);
        first.until(first + self.lanes_per_die)
    }

    /// Lanes ordered by channel, then chip, die and plane group, so that neighbours are on different channels.
    pub fn lanes_by_channel(&self, geometry: &Geometry) -> Vec<Lane> {
        let mut order = Vec::with_capacity(self.lanes as usize);
        for group in 0..self.lanes_per_die {
            for die in 0..geometry.dies_per_chip {
                for chip in 0..geometry.chips_per_channel {
                    for channel in 0..geometry.channels {
                        let chip = channel * geometry.chips_per_channel + chip;
                        let die = chip * geometry.dies_per_chip + die;
                        order.push(Lane(die * self.lanes_per_die + group));
                    }
                }
            }
        }
        order
    }

    /// Lane of a plane.
    #[inline]
    pub fn lane_at(&self, die: DieId, plane: u32) -> Lane {
        Lane(die.0 * self.lanes_per_die + plane / self.planes)
    }

    /// Super block that holds this block of a plane.
    #[inline]
    pub fn block_at(&self, die: DieId, plane: u8, block: BlockId) -> SuperBlock {
        self.super_block(self.lane_at(die, u32::from(plane)), block)
    }

    /// Die and first plane of a lane.
    #[inline]
    pub fn die_of(&self, lane: Lane) -> (DieId, u32) {
        let (die, group) = self.by_die.split(lane.0);
        (DieId(die), group * self.planes)
    }

    /// Physical unit at an offset of a super block.
    #[inline]
    pub fn unit(&self, at: UnitAt) -> Ppu {
        self.first_unit(at.super_block) + at.offset
    }

    /// First unit of a super block.
    #[inline]
    pub fn first_unit(&self, super_block: SuperBlock) -> Ppu {
        Ppu(super_block.0 * self.units_per_block)
    }

    /// First page (of each plane) of program operation `program` of a block.
    #[inline]
    pub fn page_of_program(&self, program: u32) -> u32 {
        program * self.pages_per_program
    }

    /// Flash address of a unit.
    #[inline]
    pub fn place(&self, ppu: Ppu) -> FlashAddress {
        let UnitAt { super_block, offset } = self.split(ppu);
        self.place_in(super_block, offset)
    }

    /// Flash address of the unit at `offset` of a super block.
    #[inline]
    pub fn place_in(&self, super_block: SuperBlock, offset: u32) -> FlashAddress {
        let (lane, block) = self.lane_of(super_block);
        let (die, first_plane) = self.die_of(lane);
        let (program, in_program) = self.by_program.split(offset);
        let (plane, in_plane) = self.by_plane_part.split(in_program);
        let (page, unit) = self.units_per_page.split(in_plane);
        FlashAddress {
            die,
            plane: first_plane + plane,
            block,
            page: program * self.pages_per_program + page,
            unit,
        }
    }

    /// Word lines of a block.
    #[inline]
    pub fn word_lines_per_block(&self) -> u32 {
        self.programs_per_block / self.programs_per_word_line
    }

    /// Units of a page.
    pub fn units_per_page(&self) -> u32 {
        self.units_per_page.divisor()
    }

    /// Units of a native program operation on one plane.
    #[inline]
    pub fn units_of_plane_program(&self) -> u32 {
        self.by_plane_part.divisor()
    }

    // ---- cell modes ---------------------------------------------------------------------------------------

    /// Pages per plane and program operation in `mode`.
    #[inline]
    pub fn pages_per_program_in(&self, mode: CellMode) -> u32 {
        self.pages_per_program.min(self.pages_per_word_line_in(mode))
    }

    /// Units per program operation in `mode`.
    #[inline]
    pub fn units_per_program_in(&self, mode: CellMode) -> u32 {
        self.pages_per_program_in(mode) * self.planes * self.units_per_page()
    }

    /// Pages per plane and super block in `mode`.
    #[inline]
    pub fn pages_per_block_in(&self, mode: CellMode) -> u32 {
        self.word_lines_per_block() * self.pages_per_word_line_in(mode)
    }

    /// Units per super block in `mode`.
    #[inline]
    pub fn units_per_block_in(&self, mode: CellMode) -> u32 {
        self.pages_per_block_in(mode) * self.planes * self.units_per_page()
    }

    /// Units per program operation and super block in `mode`.
    pub fn capacity_in(&self, mode: CellMode) -> Capacity {
        Capacity { program: self.units_per_program_in(mode), block: self.units_per_block_in(mode) }
    }

    /// The program operation after `program` in `mode`: those of unused pages are passed over.
    #[inline]
    pub fn program_after(&self, mode: CellMode, program: u32) -> u32 {
        match mode {
            CellMode::Native => program + 1,
            _ => {
                let end = (program + 1) * self.pages_per_program;
                mode.next_page(end, self.pages_per_word_line_in(CellMode::Native)) / self.pages_per_program
            }
        }
    }

    /// Pages per plane of a super block in `mode` that are not programmed when `program` is its next program operation.
    #[inline]
    pub fn pages_left_in(&self, mode: CellMode, program: u32) -> u32 {
        let (word_line, of_it) =
            (program / self.programs_per_word_line, program % self.programs_per_word_line);
        (self.word_lines_per_block() - word_line) * self.pages_per_word_line_in(mode)
            - of_it * self.pages_per_program
    }

    fn pages_per_word_line_in(&self, mode: CellMode) -> u32 {
        mode.pages_per_word_line(self.programs_per_word_line * self.pages_per_program)
    }
}
