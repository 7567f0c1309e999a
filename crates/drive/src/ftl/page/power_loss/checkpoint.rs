//! Checkpoints: the last complete copy of the map on flash, and the trims since.
//!
//! A checkpoint stores location and version of every logical unit, and erase count and fill state of every block. Only map
//! pages changed since the previous checkpoint are written. It becomes valid once its last page is on flash and describes
//! the state at its beginning.
//!
//! With a mapping cache the entries of host units are in translation pages (`translation.rs`): a checkpoint writes the directory
//! of these pages instead, once all changes at its beginning are on flash.

use crate::ftl::page::mapping::table::UNMAPPED;
use crate::ftl::page::power_loss::oob::Mark;
use crate::numbers::{Lpn, Ppu, SuperBlock};
use std::collections::{BTreeMap, HashMap};

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

/// Entries of translation pages that are being programmed, by the unit of the page.
pub(crate) type Programming = BTreeMap<Lpn, (Lpn, Vec<Entry>)>;

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
    superseded: Vec<(Lpn, u32)>,
}

/// Last checkpoint, the one being written, and changes since.
#[derive(Clone)]
pub struct Checkpoint {
    entries: Vec<Entry>,
    /// First unit whose entry a checkpoint writes.
    first: Lpn,
    /// Units of which an older copy was still to be programmed when the checkpoint began, with the version of their entry.
    /// Kept where entries have no version.
    superseded: Vec<(Lpn, u32)>,
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
    /// First checkpoint: `entries` over blocks with these erases, with `per_page` entries to a page. Entries before `first`
    /// are in translation pages.
    pub fn new(entries: Vec<Entry>, first: Lpn, blocks: Vec<(u32, bool)>, per_page: u32) -> Checkpoint {
        let pages = (entries.len() as u32 - first.0).div_ceil(per_page);
        Checkpoint {
            entries,
            first,
            superseded: Vec::new(),
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

    /// Entries on flash: of the last checkpoint, and of translation pages.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Replaces the entries from `first` on by those of a translation page that has been programmed.
    pub(crate) fn replace_entries(&mut self, first: Lpn, entries: &[Entry]) {
        self.entries[first.index()..first.index() + entries.len()].copy_from_slice(entries);
    }

    /// Entry of each unit as recovery reads it. Those of translation pages have no version: whatever was programmed since the
    /// checkpoint began is newer, except copies of superseded versions.
    pub fn base(&self) -> Vec<Entry> {
        let mut base = self.entries.clone();
        base[..self.first.index()].iter_mut().for_each(|entry| entry.version = 0);
        for &(lpn, version) in &self.superseded {
            base[lpn.index()].version = version;
        }
        base
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
        self.dirty.len() as u64 + self.block_pages() + self.listed_pages(self.superseded.len())
    }

    fn listed_pages(&self, units: usize) -> u64 {
        (units as u64).div_ceil(u64::from(self.per_page))
    }

    fn block_pages(&self) -> u64 {
        (self.blocks.len() as u64).div_ceil(u64::from(self.per_page))
    }

    /// Marks the entry of `lpn` as changed.
    #[inline]
    pub fn touch(&mut self, lpn: Lpn) {
        if let Some(entry) = lpn.0.checked_sub(self.first.0) {
            self.dirty[(entry / self.per_page) as usize] = true;
        }
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

    /// Begins a checkpoint of blocks in these states, unless the previous one is being written. Returns whether it began.
    pub fn begin(&mut self, mark: Mark, blocks: Vec<(u32, bool)>, superseded: Vec<(Lpn, u32)>) -> bool {
        if self.pending.is_some() {
            return false;
        }
        self.pending = Some(Pending { pages: Vec::new(), blocks, mark, superseded });
        true
    }

    /// Takes the changed pages for the checkpoint that has begun; `entry` gives the current flash location of each unit.
    /// Returns the pages to be written.
    pub fn take_pages(&mut self, entry: impl Fn(Lpn) -> Option<Entry>) -> u64 {
        let end = Lpn(self.entries.len() as u32);
        let mut pages = Vec::new();
        for page in 0..self.dirty.len() as u32 {
            if std::mem::take(&mut self.dirty[page as usize]) {
                let first = self.first + page * self.per_page;
                let entries = self.snapshot(first, (first + self.per_page).min(end), &entry);
                pages.push((page, entries));
            }
        }
        let pending = self.pending.as_mut().expect("a checkpoint has begun");
        let listed = pending.superseded.len();
        let changed = pages.len() as u64;
        pending.pages = pages;
        changed + self.block_pages() + self.listed_pages(listed)
    }

    /// Entries of `from..to` as they are now: the flash location that `entry` gives, or no data.
    pub(crate) fn snapshot(&self, from: Lpn, to: Lpn, entry: impl Fn(Lpn) -> Option<Entry>) -> Vec<Entry> {
        let unmapped = |lpn| Entry { place: UNMAPPED, version: self.trimmed(lpn) };
        from.until(to).map(|lpn| entry(lpn).unwrap_or_else(|| unmapped(lpn))).collect()
    }

    /// Completes the checkpoint that was being written.
    pub fn complete(&mut self) {
        let pending = self.pending.take().expect("a checkpoint was being written");
        for (page, entries) in pending.pages {
            self.replace_entries(self.first + page * self.per_page, &entries);
        }
        self.superseded = pending.superseded;
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
