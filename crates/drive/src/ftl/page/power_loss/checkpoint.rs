//! Checkpoints: the last complete copy of the map on flash, and the trims since.
//!
//! A checkpoint stores location and version of every logical unit, and erase count and fill state of every block. Only map
//! pages changed since the previous checkpoint are written. It becomes valid once its last page is on flash and describes
//! the state at its beginning.

use crate::ftl::page::mapping::table::UNMAPPED;
use crate::ftl::page::power_loss::oob::Mark;
use crate::numbers::{Lpn, Ppu, SuperBlock};
use std::collections::HashMap;

/// Bytes of a map entry, and of a block, in a checkpoint.
pub const ENTRY_BYTES: u64 = 8;

/// Checkpoint entry of a logical unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Physical unit, or [`UNMAPPED`].
    pub place: Ppu,
    /// Version of the data there, or of the trim.
    pub version: u32,
}

/// Trims of a unit since the last checkpoint, by version.
#[derive(Clone, Copy, Default)]
struct Trim {
    /// Last trim that survives a power loss.
    durable: u32,
    newest: u32,
}

#[derive(Clone)]
struct Pending {
    pages: Vec<(u32, Vec<Entry>)>,
    blocks: Vec<(u32, bool)>,
    mark: Mark,
}

/// Last checkpoint, the one being written, and changes since.
#[derive(Clone)]
pub struct Checkpoint {
    entries: Vec<Entry>,
    /// Erases of each super block, and whether it was full.
    blocks: Vec<(u32, bool)>,
    order: u32,
    per_page: u32,
    dirty: Vec<bool>,
    pending: Option<Pending>,
    /// Trims that no checkpoint holds. No result depends on their order.
    trims: HashMap<Lpn, Trim>,
    /// Unit and version of trims that a power loss would undo; empty on a drive with protected memory.
    unwritten: Vec<(Lpn, u32)>,
}

impl Checkpoint {
    /// First checkpoint: `entries` over blocks with these erases, with `per_page` entries to a page.
    pub fn new(entries: Vec<Entry>, blocks: Vec<(u32, bool)>, per_page: u32) -> Checkpoint {
        let pages = (entries.len() as u32).div_ceil(per_page);
        Checkpoint {
            entries,
            blocks,
            order: 0,
            per_page,
            dirty: vec![false; pages as usize],
            pending: None,
            trims: HashMap::new(),
            unwritten: Vec::new(),
        }
    }

    /// Programs that had ended when the last checkpoint began.
    pub fn order(&self) -> u32 {
        self.order
    }

    /// Entries of the last checkpoint.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Erases of a super block and whether it was full, in the last checkpoint.
    pub fn block(&self, super_block: SuperBlock) -> (u32, bool) {
        self.blocks[super_block.index()]
    }

    /// Notes that another block has the number of `super_block`: no checkpoint describes its content.
    pub fn forget_block(&mut self, super_block: SuperBlock) {
        let pending = self.pending.iter_mut().map(|pending| &mut pending.blocks);
        std::iter::once(&mut self.blocks)
            .chain(pending)
            .for_each(|of| of[super_block.index()] = (u32::MAX, false));
    }

    /// Pages of the whole map and the state of all blocks.
    pub fn pages(&self) -> u64 {
        self.dirty.len() as u64 + self.block_pages()
    }

    fn block_pages(&self) -> u64 {
        (self.blocks.len() as u64).div_ceil(u64::from(self.per_page))
    }

    /// Marks the entry of `lpn` as changed.
    #[inline]
    pub fn touch(&mut self, lpn: Lpn) {
        self.dirty[(lpn.0 / self.per_page) as usize] = true;
    }

    /// Notes a trim of `lpn`; `durable` if it survives a power loss.
    pub fn trim(&mut self, lpn: Lpn, version: u32, durable: bool) {
        self.touch(lpn);
        let of = self.trims.entry(lpn).or_default();
        of.newest = version;
        if durable {
            of.durable = version;
        } else {
            self.unwritten.push((lpn, version));
        }
    }

    /// Trims since the last checkpoint, in no order.
    pub fn trims(&self) -> impl Iterator<Item = (Lpn, u32)> {
        self.trims.iter().map(|(&lpn, trim)| (lpn, trim.newest))
    }

    /// Newest recorded trim version of `lpn`.
    pub fn trimmed(&self, lpn: Lpn) -> u32 {
        let last = self.entries[lpn.index()];
        let in_checkpoint = if last.place == UNMAPPED { last.version } else { 0 };
        self.trims.get(&lpn).map_or(0, |trim| trim.newest).max(in_checkpoint)
    }

    /// Whether a power loss would undo trims.
    pub fn has_unwritten(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Marks trims up to `version` as on flash.
    pub fn trims_written(&mut self, version: u32) {
        let trims = &mut self.trims;
        self.unwritten.retain(|&(lpn, of)| {
            if of <= version
                && let Some(trim) = trims.get_mut(&lpn)
            {
                trim.durable = trim.durable.max(of);
            }
            of > version
        });
    }

    /// Begins a checkpoint of the changed pages; `entry` gives the current flash location of each unit. Returns its pages,
    /// or `None` while the previous one is being written.
    pub fn begin(
        &mut self,
        mark: Mark,
        blocks: Vec<(u32, bool)>,
        entry: impl Fn(Lpn) -> Option<Entry>,
    ) -> Option<u64> {
        if self.pending.is_some() {
            return None;
        }
        let mut pages = Vec::new();
        for page in 0..self.dirty.len() as u32 {
            if std::mem::take(&mut self.dirty[page as usize]) {
                let first = Lpn(page * self.per_page);
                let end = (first + self.per_page).min(Lpn(self.entries.len() as u32));
                let unmapped = |lpn| Entry { place: UNMAPPED, version: self.trimmed(lpn) };
                pages.push((
                    page,
                    first.until(end).map(|lpn| entry(lpn).unwrap_or_else(|| unmapped(lpn))).collect(),
                ));
            }
        }
        let count = pages.len() as u64 + self.block_pages();
        self.pending = Some(Pending { pages, blocks, mark });
        Some(count)
    }

    /// Completes the checkpoint that was being written.
    pub fn complete(&mut self) {
        let pending = self.pending.take().expect("a checkpoint was being written");
        for (page, entries) in pending.pages {
            let first = (page * self.per_page) as usize;
            self.entries[first..first + entries.len()].copy_from_slice(&entries);
        }
        (self.blocks, self.order) = (pending.blocks, pending.mark.order);
        self.trims.retain(|_, trim| trim.newest > pending.mark.version);
        self.unwritten.retain(|&(_, version)| version > pending.mark.version);
    }

    /// Power loss: drops the checkpoint being written and trims that are not on flash.
    pub fn lose_power(&mut self) {
        for (page, _) in self.pending.take().map(|p| p.pages).unwrap_or_default() {
            self.dirty[page as usize] = true;
        }
        for (lpn, _) in std::mem::take(&mut self.unwritten) {
            self.touch(lpn);
            if let Some(trim) = self.trims.get_mut(&lpn) {
                trim.newest = trim.durable;
                if trim.newest == 0 {
                    self.trims.remove(&lpn);
                }
            }
        }
    }
}
