//! Reprogrammable two-bit blocks: ReSSD, Section 4 of Gao et al., MICRO 2019.
//!
//! Each hot level of each lane has one active block and candidates. A block is used super layer by super layer: all word
//! lines are programmed, then each is reprogrammed up to twice, whenever one of its two pages holds no valid data. After
//! the last super layer the block is closed for garbage collection. While all pages of reprogrammable word lines are in
//! use, the block is a candidate. An overwrite of one of its pages reactivates it; otherwise its valid data moves to normal
//! blocks, along with host writes. A used-up block waits in the same way until it holds no valid data, so that garbage
//! collection only has to erase it.

mod two_bit;

use crate::ftl::layout::Layout;
use crate::ftl::page::mapping::table::Map;
use crate::numbers::{Lane, SuperBlock};
use interpulse_flash::ids::WordLineId;
use interpulse_flash::reprogram::{Bit, Status};
use interpulse_settings::{ConfigError, Section, choices, default, keys};
use std::ops::Range;

keys! {
    /// Use of reprogrammable blocks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ReprogramSpec, fn keys(s) {
        /// physical layers of a super layer, whose word lines are reprogrammed in any order
        pub super_layer: u32 = u32(default(2).within(1..=2)),
        /// reprogrammable blocks of a level of a lane that may wait before one is reclaimed instead of opening another
        pub candidates: u32 = u32(default(1).within(1..=64)),
        /// handling of a reprogrammable block while all pages of its super layer are in use
        pub when_valid: WhenValid = choice(Some("candidate"), WhenValid::ALL),
        /// data moved out of a waiting reprogrammable block, along with writes of the host
        pub fully_invalidates: FullyInvalidates = choice(Some("block"), FullyInvalidates::ALL),
    }
}

choices! {
    /// Data that "fully invalidated" writes move out of a candidate.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FullyInvalidates {
        /// the whole block, also one that is used up
        // "all data in reprogrammable block" (Section 4), including used-up blocks, which then "can be erased by direct
        // GCs" (Section 6.2.2).
        Block = "block",
        /// the super layer in use; one that is used up stays as it is
        // At most "total eight valid pages" on word lines that can be reprogrammed (Section 4.2.2).
        SuperLayer = "super-layer",
    }
}

choices! {
    /// Handling of a block whose super layer is full of pages in use.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WhenValid {
        /// the block waits as a candidate
        // Section 4.2.
        Candidate = "candidate",
        /// its next super layer begins; after the last one it is a candidate
        // The remaining reprograms are lost (Section 4.1, Figure 8).
        NextSuperLayer = "next-super-layer",
    }
}

impl ReprogramSpec {
    /// Reads whether and how hot data goes to reprogrammable blocks. `separated` is true if there is hot data.
    pub fn read(s: &mut Section, separated: bool) -> Result<Option<ReprogramSpec>, ConfigError> {
        let on = s.bool("reprogram", "hot data goes to reprogrammable blocks (ReSSD)", default(false))?;
        s.check_together(
            !on || separated,
            &["reprogram", "hotness"],
            "only hot data is reprogrammed: reprogram = true needs hotness = \"update-interval\"",
        )?;
        s.when(on, "reprogram = true", ReprogramSpec::keys)
    }
}

/// Word line of the super layer in use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordLine {
    /// RPCnt and Distribution ID; the map holds validity.
    pub(crate) status: Status,
    /// Operations in flight on it.
    pub(crate) busy: u8,
    /// Only the first of its two pages is programmed, by a part that programs page by page.
    pub(crate) half: bool,
}

/// Reprogrammable block that is not full.
#[derive(Clone, Debug)]
pub struct Block {
    /// The super block.
    pub super_block: SuperBlock,
    pub(crate) super_layer: u32,
    pub(crate) lines: Vec<WordLine>,
    /// Start of the search for a word line to reprogram: the "current reprogrammable word line" of Section 4.3.
    pub(crate) next: usize,
    /// Valid data of its super layer is being moved out.
    pub(crate) draining: bool,
    /// Programs that move its pages to a normal block; nothing is reprogrammed before they end.
    pub(crate) moving: u32,
}

/// Action for the next write of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Program the next word line: both pages or, page by page, the next one.
    Program,
    /// Reprogram this page of a word line.
    Reprogram {
        /// Word line of the block.
        word_line: WordLineId,
        /// Page of the word line.
        bit: Bit,
    },
    /// Open a block (and program its first word line).
    Open,
    /// Nothing can be reprogrammed: write to a normal block along with valid pages of a candidate.
    Reclaim,
    /// Nothing can be reprogrammed or reclaimed: write to a normal block.
    Normal,
}

/// Reprogrammable blocks of a drive.
#[derive(Clone, Debug)]
pub struct Reprogramming {
    pub(crate) spec: ReprogramSpec,
    pub(crate) levels: u32,
    /// Word lines per super layer, and super layers per block.
    pub(crate) word_lines: u32,
    pub(crate) super_layers: u32,
    /// Only word lines without valid data are reprogrammed: a power cut would tear both pages.
    pub(crate) only_empty: bool,
    /// By lane and level.
    pub(crate) active: Vec<Option<Block>>,
    pub(crate) candidates: Vec<Vec<Block>>,
}

impl Reprogramming {
    /// No reprogrammable blocks yet, for `levels` hot levels and blocks of `layers` physical layers.
    pub fn new(spec: ReprogramSpec, layout: &Layout, levels: u32, layers: u32) -> Reprogramming {
        let word_lines = super_layer_word_lines(layout.word_lines_per_block(), layers, spec.super_layer);
        let places = (layout.lanes * levels) as usize;
        Reprogramming {
            spec,
            levels,
            word_lines,
            super_layers: layout.word_lines_per_block().div_ceil(word_lines),
            only_empty: false,
            active: vec![None; places],
            candidates: vec![Vec::new(); places],
        }
    }

    /// Restricts reprograms to word lines without valid data, if `only_empty`.
    #[must_use]
    pub fn restricted(self, only_empty: bool) -> Reprogramming {
        Reprogramming { only_empty, ..self }
    }

    /// Blocks that may still be programmed or reprogrammed.
    pub(crate) fn open_blocks(&self) -> impl Iterator<Item = &Block> {
        self.active.iter().flatten().chain(self.candidates.iter().flatten())
    }

    /// Blocks waiting as candidates.
    pub fn waiting(&self) -> u64 {
        self.candidates.iter().map(|of| of.len() as u64).sum()
    }

    /// Free pages (of each plane) in a lane's open blocks of `word_lines` each: both pages of unprogrammed word lines.
    pub fn free_pages(&self, lane: Lane, word_lines: u32) -> u32 {
        let places = self.at(lane, 0)..self.at(lane + 1, 0);
        let active = self.active[places.clone()].iter().flatten();
        let open = active.chain(self.candidates[places].iter().flatten());
        let used = |b: &Block| b.super_layer * self.word_lines + b.lines.len() as u32;
        open.map(|b| 2 * (word_lines - used(b)) + u32::from(b.is_half())).sum()
    }

    pub(crate) fn at(&self, lane: Lane, level: u32) -> usize {
        (lane.0 * self.levels + level) as usize
    }

    pub(crate) fn lines_of(&self, super_layer: u32, of_block: u32) -> u32 {
        self.word_lines.min(of_block - super_layer * self.word_lines)
    }
}

/// Word lines of a super layer of `layers_each` layers, in a block of `word_lines` on `layers` layers.
pub fn super_layer_word_lines(word_lines: u32, layers: u32, layers_each: u32) -> u32 {
    (word_lines * layers_each / layers).max(1)
}

/// Program operation of a page of a word line, for a part that programs page by page.
pub(crate) fn program_of_page(layout: &Layout, word_line: WordLineId, bit: Bit) -> u32 {
    word_line.0 * layout.programs_per_word_line + bit as u32
}

/// Offsets in a super block of the units of page `bit` of `word_line`, plane by plane.
pub fn page_planes(
    layout: &Layout,
    word_line: WordLineId,
    bit: Bit,
) -> impl Iterator<Item = Range<u32>> + use<> {
    let units = layout.units_per_page();
    let plane_part = layout.units_of_plane_program();
    let first = if layout.programs_per_word_line == 1 {
        word_line.0 * layout.units_per_program + bit as u32 * units
    } else {
        program_of_page(layout, word_line, bit) * layout.units_per_program
    };
    (0..layout.planes).map(move |plane| first + plane * plane_part).map(move |first| first..first + units)
}

/// [`page_planes`] for all planes in a row.
pub fn page_units(layout: &Layout, word_line: WordLineId, bit: Bit) -> impl Iterator<Item = u32> + use<> {
    page_planes(layout, word_line, bit).flatten()
}

pub(crate) fn is_used(
    map: &Map,
    layout: &Layout,
    super_block: SuperBlock,
    word_line: WordLineId,
    bit: Bit,
) -> bool {
    page_units(layout, word_line, bit).any(|offset| map.is_valid(super_block, offset))
}

impl Block {
    pub(crate) fn word_line(&self, k: usize, per_layer: u32) -> WordLineId {
        WordLineId(self.super_layer * per_layer + k as u32)
    }

    /// Next word line, from the end of the last search, that can be reprogrammed, and the page.
    pub(crate) fn reprogrammable(
        &self,
        map: &Map,
        layout: &Layout,
        of: &Reprogramming,
    ) -> Option<(usize, Bit)> {
        let n = self.lines.len();
        (0..n).map(|k| (self.next + k) % n).find_map(|k| {
            let line = &self.lines[k];
            if line.busy > 0 || line.status.coding().after(Bit::Lsb).is_none() {
                return None;
            }
            let word_line = self.word_line(k, of.word_lines);
            let used = |bit| is_used(map, layout, self.super_block, word_line, bit);
            if of.only_empty {
                return (!used(Bit::Lsb) && !used(Bit::Msb)).then_some((k, Bit::Lsb));
            }
            [Bit::Lsb, Bit::Msb].into_iter().find(|&bit| !used(bit)).map(|bit| (k, bit))
        })
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.lines.iter().all(|line| line.busy == 0 && line.status.coding().after(Bit::Lsb).is_none())
    }

    /// Whether the last word line has only one of its two pages.
    pub(crate) fn is_half(&self) -> bool {
        self.lines.last().is_some_and(|line| line.half)
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.lines.iter().any(|line| line.busy > 0)
    }

    /// Pages in use on word lines that could be reprogrammed.
    fn in_the_way_of_super_layer(
        &self,
        map: &Map,
        layout: &Layout,
        per_layer: u32,
    ) -> impl Iterator<Item = (WordLineId, Bit)> {
        let open = |(_, line): &(usize, &WordLine)| line.status.coding().after(Bit::Lsb).is_some();
        let lines = self.lines.iter().enumerate().filter(open);
        lines.flat_map(move |(k, _)| {
            let word_line = self.word_line(k, per_layer);
            let used = move |bit: &Bit| is_used(map, layout, self.super_block, word_line, *bit);
            [Bit::Lsb, Bit::Msb].into_iter().filter(used).map(move |bit| (word_line, bit))
        })
    }

    /// Pages in use anywhere in the block.
    fn in_use(&self, map: &Map, layout: &Layout, per_layer: u32) -> impl Iterator<Item = (WordLineId, Bit)> {
        let programmed = self.super_layer * per_layer + self.lines.len() as u32;
        WordLineId::first(programmed).flat_map(move |word_line| {
            let used = move |bit: &Bit| is_used(map, layout, self.super_block, word_line, *bit);
            [Bit::Lsb, Bit::Msb].into_iter().filter(used).map(move |bit| (word_line, bit))
        })
    }

    /// At most `most` pages whose data blocks further use of the block.
    pub(crate) fn in_the_way(
        &self,
        map: &Map,
        layout: &Layout,
        of: &Reprogramming,
        most: usize,
    ) -> Vec<(WordLineId, Bit)> {
        match of.spec.fully_invalidates {
            FullyInvalidates::Block => self.in_use(map, layout, of.word_lines).take(most).collect(),
            FullyInvalidates::SuperLayer => {
                self.in_the_way_of_super_layer(map, layout, of.word_lines).take(most).collect()
            }
        }
    }

    /// Whether no page blocks further use of the block.
    pub(crate) fn is_clear(&self, map: &Map, layout: &Layout, of: &Reprogramming) -> bool {
        match of.spec.fully_invalidates {
            FullyInvalidates::Block => map.valid_units(self.super_block) == 0,
            FullyInvalidates::SuperLayer => self.in_the_way(map, layout, of, 1).is_empty(),
        }
    }
}
