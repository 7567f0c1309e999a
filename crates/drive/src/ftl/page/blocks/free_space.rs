//! Free space of lanes: free blocks and pages, thresholds of collection, the cell mode in which streams open blocks.

use crate::ftl::layout::Capacity;
use crate::ftl::page::blocks::free_block::FreeBlock;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::thresholds::SoftPages;
use crate::ftl::page::blocks::write_streams::{Stream, WritePointer};
use crate::numbers::{Lane, Ppu, SuperBlock};
use interpulse_flash::cell_mode::CellMode;

impl BlockManager {
    /// Sets the cell mode of the super blocks that `stream` opens from now on. A preconditioned state is native.
    pub fn set_stream_mode(&mut self, stream: Stream, mode: CellMode) {
        self.streams.set_mode(stream, mode);
        self.gc_capacity = self.capacity(Stream::GC);
    }

    /// Units of the super blocks that `stream` opens.
    pub fn capacity(&self, stream: Stream) -> Capacity {
        self.layout.capacity_in(self.streams.spec(stream).mode)
    }

    /// Cell mode of a super block.
    #[inline]
    pub fn cell_mode(&self, super_block: SuperBlock) -> CellMode {
        self.modes.of(super_block)
    }

    /// Cell mode of the super block that holds a unit.
    #[inline]
    pub fn cell_mode_at(&self, ppu: Ppu) -> CellMode {
        if self.modes.are_native() { CellMode::Native } else { self.modes.of(self.layout.block_of(ppu)) }
    }

    /// Free pages of the drive, as [`BlockManager::free_pages_of`] counts them.
    pub fn free_pages(&self) -> u64 {
        let pages =
            Lane::first(self.layout.lanes).map(|lane| u64::from(self.free_pages_of(lane))).sum::<u64>();
        pages * u64::from(self.layout.planes)
    }

    /// Free super blocks of a lane.
    #[inline]
    pub fn free_blocks(&self, lane: Lane) -> u32 {
        self.lanes[lane.index()].free.len() as u32
    }

    /// Whether garbage collection should work on a lane.
    #[inline]
    pub fn wants_gc(&self, lane: Lane) -> bool {
        !self.config().policy.imposes() && !self.has_enough(lane, 0)
    }

    /// Whether a lane reaches its soft threshold, counting `coming` super blocks about to be erased.
    #[inline]
    pub fn has_enough(&self, lane: Lane, coming: u32) -> bool {
        match self.config().soft_pages {
            None => self.free_blocks(lane) + coming >= self.config().soft_free,
            Some(soft) => self.has_enough_pages(lane, coming, soft),
        }
    }

    /// [`BlockManager::has_enough`] in pages.
    #[cold]
    #[inline(never)]
    fn has_enough_pages(&self, lane: Lane, coming: u32, soft: SoftPages) -> bool {
        let per_block = self.layout.programs_per_block * self.layout.pages_per_program;
        // A stream that needs a new block cannot use the pages of open blocks.
        let kept = if soft.keeps_passed_over { self.lanes[lane.index()].passed_over } else { 0 };
        self.free_pages_of(lane) + kept + coming * per_block >= soft.least
            && self.free_blocks(lane) + coming > self.config().hard_free
    }

    /// Pages (of each plane) of a lane not programmed since their erase; open super blocks have those of their cell mode.
    pub fn free_pages_of(&self, lane: Lane) -> u32 {
        let (of, layout) = (&self.lanes[lane.index()], &self.layout);
        let open =
            of.write_pointers.iter().map(|f| layout.pages_left_in(self.modes.of(f.block), f.next_program));
        let normal = of.free.len() as u32 * layout.pages_per_block_in(CellMode::Native) + open.sum::<u32>();
        let word_lines = self.layout.word_lines_per_block();
        normal + self.reprogramming.as_ref().map_or(0, |r| r.free_pages(lane, word_lines))
    }

    /// Whether a lane is so short of free blocks that garbage collection has priority.
    #[inline]
    pub fn gc_is_urgent(&self, lane: Lane) -> bool {
        self.free_blocks(lane) <= (self.config().soft_free + self.config().hard_free) / 2
    }

    /// Whether `stream` can program on `lane` now.
    #[inline]
    pub fn has_room(&self, lane: Lane, stream: Stream) -> bool {
        let l = &self.lanes[lane.index()];
        let reserve = if stream.relocates() { 0 } else { self.config().hard_free as usize };
        l.write_pointers[stream.index()].next_program < self.layout.programs_per_block
            || l.free.len() > reserve
                && (l.wear_limit.is_none() || stream.relocates() || self.has_unworn_block(lane))
    }

    /// Units that garbage collection can program on `lane` whatever host data does: its open block and the reserved free
    /// blocks.
    pub fn gc_room(&self, lane: Lane) -> u32 {
        let free = self.free_blocks(lane).min(self.config().hard_free);
        self.open_room(lane, Stream::GC) + free * self.gc_capacity.block
    }

    /// Units left in the super block that `stream` has open on `lane`.
    #[inline]
    pub(crate) fn open_room(&self, lane: Lane, stream: Stream) -> u32 {
        let (l, layout) = (&self.lanes[lane.index()], &self.layout);
        let WritePointer { block, next_program } = l.write_pointers[stream.index()];
        match self.modes.of(block) {
            CellMode::Native => (layout.programs_per_block - next_program) * layout.units_per_program,
            mode => layout.pages_left_in(mode, next_program) * layout.planes * layout.units_per_page(),
        }
    }

    /// Number of free blocks above which a lane never collects and has a block for host data.
    pub(crate) fn never_collects_above(&self) -> u32 {
        let soft = match self.config().soft_pages {
            _ if self.config().policy.imposes() => 0,
            None => self.config().soft_free,
            Some(soft) => soft.least.div_ceil(self.layout.programs_per_block * self.layout.pages_per_program),
        };
        soft.max(self.config().hard_free + 1)
    }

    /// Takes the free super block of `lane` that was erased longest ago.
    pub(crate) fn take_free(&mut self, lane: Lane) -> Option<SuperBlock> {
        self.lanes[lane.index()].free.pop_front()
    }

    /// Opens a free super block of `lane` for `stream`, in the cell mode of the stream.
    pub(crate) fn open(&mut self, lane: Lane, stream: Stream) -> Option<SuperBlock> {
        let super_block = match self.free_block {
            FreeBlock::ErasedFirst => self.take_free(lane)?,
            FreeBlock::LeastWorn => {
                let cold = stream.relocates() && self.lanes[lane.index()].levels_wear;
                self.take_by_wear(lane, cold)?
            }
        };
        if stream.is_host() {
            self.lanes[lane.index()].leveled = 0;
        }
        let mode = self.streams.spec(stream).mode;
        if mode != CellMode::Native {
            let (native, own) =
                (self.layout.pages_per_block_in(CellMode::Native), self.layout.pages_per_block_in(mode));
            self.lanes[lane.index()].passed_over += native - own;
            self.modes.set(super_block, mode);
        }
        Some(super_block)
    }

    /// Keeps at least `blocks` free super blocks of a lane from host data, and collects before only they are left.
    pub(crate) fn reserve_for_relocation(&mut self, blocks: u32) {
        self.config.hard_free = self.config.hard_free.max(blocks);
        self.config.soft_free = self.config.soft_free.max(self.config.hard_free + 1);
    }
}
