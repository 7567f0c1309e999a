//! Blocks whose word lines are programmed as two bits per cell and reprogrammed: ReSSD, Section 4 of Gao et al., MICRO 2019.
//!
//! Each hot level of each lane has one active block and candidates. A block is used super layer by super layer: all word
//! lines of one are programmed, then each is reprogrammed up to twice, whenever one of its two pages holds nothing that is
//! in use. When every word line has been reprogrammed twice, the next super layer begins; after the last one the block is closed
//! and left to garbage collection. While word lines could be reprogrammed but all their pages are in use, the block is a
//! candidate. It comes back by itself when one of its pages is overwritten, or is made to: what is in use in it is moved to
//! normal blocks, along with writes of the host.

use super::layout::Layout;
use super::map::Map;
use super::tables::Tables;
use interpulse_flash::reprogram::{Bit, Status};

/// How reprogrammable blocks are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReprogramSpec {
    /// Physical layers of a super layer, one or two.
    pub super_layer: u32,
    /// Candidates of a level of a lane before they are reclaimed instead of another block being opened.
    pub candidates: u32,
    /// What becomes of a block in which nothing can be reprogrammed for the moment.
    pub when_valid: WhenValid,
}

/// What becomes of a block all of whose pages, in its super layer, are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenValid {
    /// It waits as a candidate (Section 4.2).
    Candidate,
    /// Its next super layer begins, and what was left to reprogram is lost (Section 4.1, Figure 8).
    NextSuperLayer,
}

impl WhenValid {
    /// Name, value and one line of documentation of each.
    pub const ALL: &'static [(&'static str, WhenValid, &'static str)] = &[
        ("candidate", WhenValid::Candidate, "the block waits as a candidate"),
        (
            "next-super-layer",
            WhenValid::NextSuperLayer,
            "its next super layer begins; after the last one it is a candidate",
        ),
    ];
}

/// A word line of the super layer in use.
#[derive(Clone, Copy, Debug)]
struct WordLine {
    /// RPCnt and Distribution ID; validity is the map's.
    status: Status,
    /// An operation on it is under way.
    busy: bool,
}

/// A reprogrammable block that is not full.
#[derive(Clone, Debug)]
pub struct Block {
    /// The super block.
    pub super_block: u32,
    super_layer: u32,
    lines: Vec<WordLine>,
    /// Where the search for a word line to reprogram goes on: the "current reprogrammable word line" of Section 4.3.
    next: usize,
    /// What is in use in its super layer is being moved out of the way.
    draining: bool,
    /// Pages of it are on their way to a normal block: nothing is overwritten before they are there.
    moving: bool,
}

/// What the next write of a level can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Program the two pages of the next word line.
    Program,
    /// Give this page of a word line new data.
    Reprogram {
        /// Word line of the block.
        word_line: u32,
        /// The page.
        bit: Bit,
    },
    /// Open a block (and program its first word line).
    Open,
    /// Nothing can be reprogrammed: go to a normal block along with what is in use in a candidate.
    Reclaim,
    /// Nothing can be reprogrammed and nothing reclaimed: go to a normal block alone.
    Normal,
}

/// The reprogrammable blocks of a drive.
#[derive(Clone, Debug)]
pub struct Reprogramming {
    spec: ReprogramSpec,
    levels: u32,
    /// Word lines of a super layer, and super layers of a block.
    word_lines: u32,
    super_layers: u32,
    /// By lane and level.
    active: Vec<Option<Block>>,
    candidates: Vec<Vec<Block>>,
    /// Of each super block: whether its word lines hold two bits per cell.
    two_bit: Vec<bool>,
}

impl Reprogramming {
    /// No reprogrammable block yet, for `levels` hot levels. `layers` are the physical layers of a block.
    pub fn new(spec: ReprogramSpec, layout: &Layout, levels: u32, layers: u32) -> Reprogramming {
        let word_lines = super_layer_word_lines(layout.programs_per_block, layers, spec.super_layer);
        let places = (layout.lanes * levels) as usize;
        Reprogramming {
            spec,
            levels,
            word_lines,
            super_layers: layout.programs_per_block.div_ceil(word_lines),
            active: vec![None; places],
            candidates: vec![Vec::new(); places],
            two_bit: vec![false; layout.super_blocks() as usize],
        }
    }

    /// Whether the word lines of a super block hold two bits per cell.
    #[inline]
    pub fn is_two_bit(&self, super_block: u32) -> bool {
        self.two_bit[super_block as usize]
    }

    /// Blocks that wait as candidates.
    pub fn waiting(&self) -> u64 {
        self.candidates.iter().map(|of| of.len() as u64).sum()
    }

    /// Pages (of each plane) that are free in the open blocks of a lane: both of every word line that has not been
    /// programmed.
    pub fn free_pages(&self, lane: u32, programs_per_block: u32) -> u32 {
        let places = (lane * self.levels) as usize..((lane + 1) * self.levels) as usize;
        let active = self.active[places.clone()].iter().flatten();
        let open = active.chain(self.candidates[places].iter().flatten());
        let used = |b: &Block| b.super_layer * self.word_lines + b.lines.len() as u32;
        open.map(|b| 2 * (programs_per_block - used(b))).sum()
    }

    fn at(&self, lane: u32, level: u32) -> usize {
        (lane * self.levels + level) as usize
    }

    fn lines_of(&self, super_layer: u32, programs: u32) -> u32 {
        self.word_lines.min(programs - super_layer * self.word_lines)
    }
}

/// Word lines of a super layer of `layers_each` layers, in a block of `word_lines` on `layers` layers.
pub fn super_layer_word_lines(word_lines: u32, layers: u32, layers_each: u32) -> u32 {
    (word_lines * layers_each / layers).max(1)
}

/// The offsets in a super block of the units of the page of `bit` on word line `word_line`, all planes.
pub fn page_units(layout: &Layout, word_line: u32, bit: Bit) -> impl Iterator<Item = u32> + use<> {
    let units = layout.units_per_page();
    let plane_part = layout.units_per_program / layout.planes;
    let first = word_line * layout.units_per_program + bit as u32 * units;
    (0..layout.planes).flat_map(move |plane| (0..units).map(move |unit| first + plane * plane_part + unit))
}

fn is_used(map: &Map, layout: &Layout, super_block: u32, word_line: u32, bit: Bit) -> bool {
    page_units(layout, word_line, bit).any(|offset| map.is_valid(super_block, offset))
}

impl Block {
    fn word_line(&self, k: usize, per_layer: u32) -> u32 {
        self.super_layer * per_layer + k as u32
    }

    /// The next word line, from where the last search ended, that can be reprogrammed, and the page.
    fn reprogrammable(&self, map: &Map, layout: &Layout, per_layer: u32) -> Option<(usize, Bit)> {
        let n = self.lines.len();
        (0..n).map(|k| (self.next + k) % n).find_map(|k| {
            let line = &self.lines[k];
            if line.busy || line.status.coding().after(Bit::Lsb).is_none() {
                return None;
            }
            let word_line = self.word_line(k, per_layer);
            [Bit::Lsb, Bit::Msb]
                .into_iter()
                .find(|&bit| !is_used(map, layout, self.super_block, word_line, bit))
                .map(|bit| (k, bit))
        })
    }

    fn is_exhausted(&self) -> bool {
        self.lines.iter().all(|line| !line.busy && line.status.coding().after(Bit::Lsb).is_none())
    }

    fn is_busy(&self) -> bool {
        self.lines.iter().any(|line| line.busy)
    }

    /// Pages in use on word lines that could be reprogrammed.
    fn in_the_way(&self, map: &Map, layout: &Layout, per_layer: u32) -> impl Iterator<Item = (u32, Bit)> {
        let open = |(_, line): &(usize, &WordLine)| line.status.coding().after(Bit::Lsb).is_some();
        let lines = self.lines.iter().enumerate().filter(open);
        lines.flat_map(move |(k, _)| {
            let word_line = self.word_line(k, per_layer);
            let used = move |bit: &Bit| is_used(map, layout, self.super_block, word_line, *bit);
            [Bit::Lsb, Bit::Msb].into_iter().filter(used).map(move |bit| (word_line, bit))
        })
    }
}

impl Tables {
    /// The reprogrammable blocks, if there are any.
    #[inline]
    pub fn reprogramming(&self) -> Option<&Reprogramming> {
        self.reprogramming.as_deref()
    }

    fn of(&self) -> &Reprogramming {
        self.reprogramming.as_deref().expect("the drive reprograms")
    }

    fn of_mut(&mut self) -> &mut Reprogramming {
        self.reprogramming.as_deref_mut().expect("the drive reprograms")
    }

    /// What the next write of `level` on `lane` can do. Blocks change their roles on the way: an exhausted super layer
    /// gives way to the next one, a stuck block becomes a candidate, one of which a page was overwritten comes back.
    ///
    /// `busy` says of which super blocks reads may have to be repeated: nothing of theirs is overwritten.
    pub fn next_step(&mut self, lane: u32, level: u32, busy: impl Fn(u32) -> bool) -> Step {
        let programs = self.layout.programs_per_block;
        loop {
            let of = self.of();
            let at = of.at(lane, level);
            let Some(block) = &of.active[at] else {
                return self.without_active(lane, level, busy);
            };
            if (block.lines.len() as u32) < of.lines_of(block.super_layer, programs) {
                return Step::Program;
            }
            if !busy(block.super_block)
                && let Some((k, bit)) = block.reprogrammable(self.units.map(), &self.layout, of.word_lines)
            {
                return Step::Reprogram { word_line: block.word_line(k, of.word_lines), bit };
            }
            if block.is_busy() {
                // What is under way decides; until then writes go elsewhere.
                return self.without_active_place(lane, level);
            }
            let last = block.super_layer + 1 == of.super_layers;
            let next_layer = block.is_exhausted() || of.spec.when_valid == WhenValid::NextSuperLayer;
            let exhausted = block.is_exhausted();
            if next_layer && !last {
                let lost: u32 = block.lines.iter().map(|l| 2 - u32::from(l.status.reprograms)).sum();
                self.counters.lost_reprograms += u64::from(lost);
                let block = self.of_mut().active[at].as_mut().expect("the block just looked at");
                block.super_layer += 1;
                block.lines.clear();
                block.next = 0;
            } else {
                let block = self.of_mut().active[at].take().expect("the block just looked at");
                if exhausted {
                    self.close_two_bit(block.super_block);
                } else {
                    self.counters.candidates += 1;
                    self.of_mut().candidates[at].push(block);
                }
            }
        }
    }

    /// There is no active block: a candidate that can be reprogrammed becomes it, or one is opened or reclaimed.
    fn without_active(&mut self, lane: u32, level: u32, busy: impl Fn(u32) -> bool) -> Step {
        let of = self.of();
        let at = of.at(lane, level);
        let back = of.candidates[at].iter().position(|block| {
            let cleared = !block.draining
                || block.in_the_way(self.units.map(), &self.layout, of.word_lines).next().is_none();
            cleared
                && !block.moving
                && !busy(block.super_block)
                && block.reprogrammable(self.units.map(), &self.layout, of.word_lines).is_some()
        });
        if let Some(k) = back {
            let of = self.of_mut();
            let mut block = of.candidates[at].remove(k);
            self.counters.candidates_back += u64::from(!block.draining);
            block.draining = false;
            let (k, bit) = {
                let of = self.of();
                block.reprogrammable(self.units.map(), &self.layout, of.word_lines).expect("just found")
            };
            let of = self.of_mut();
            let word_line = block.word_line(k, of.word_lines);
            of.active[at] = Some(block);
            return Step::Reprogram { word_line, bit };
        }
        if (of.candidates[at].len() as u32) < of.spec.candidates && self.may_open(lane) {
            return Step::Open;
        }
        self.without_active_place(lane, level)
    }

    fn without_active_place(&self, lane: u32, level: u32) -> Step {
        let of = self.of();
        let candidates = &of.candidates[of.at(lane, level)];
        if candidates.is_empty() || candidates.iter().any(|block| block.moving) {
            Step::Normal
        } else {
            Step::Reclaim
        }
    }

    /// Whether host data may take another free block of `lane`.
    fn may_open(&self, lane: u32) -> bool {
        self.free_blocks(lane) > self.config().hard_free
    }

    /// Opens a reprogrammable block for `level` of `lane`, or does nothing if there is an active one.
    pub fn open_two_bit(&mut self, lane: u32, level: u32) {
        let at = self.of().at(lane, level);
        if self.of().active[at].is_some() {
            return;
        }
        let super_block = self.take_free(lane).expect("the caller has asked");
        self.counters.reprogrammable_blocks += 1;
        let of = self.of_mut();
        of.two_bit[super_block as usize] = true;
        of.active[at] = Some(Block {
            super_block,
            super_layer: 0,
            lines: Vec::new(),
            next: 0,
            draining: false,
            moving: false,
        });
    }

    /// Assigns the next word line of the active block of `level` on `lane`. Returns super block, word line, and whether it is
    /// the first of its super layer.
    pub fn take_word_line(&mut self, lane: u32, level: u32) -> (u32, u32, bool) {
        let of = self.of_mut();
        let at = of.at(lane, level);
        let per_layer = of.word_lines;
        let block = of.active[at].as_mut().expect("there is an active block");
        let k = block.lines.len();
        block.lines.push(WordLine { status: Status::INITIAL, busy: true });
        let (super_block, word_line) = (block.super_block, block.word_line(k, per_layer));
        self.in_flight[super_block as usize] += 1;
        self.counters.consumed_host_pages += u64::from(2 * self.layout.planes);
        (super_block, word_line, k == 0)
    }

    /// Assigns the reprogram that [`Tables::next_step`] has found. Returns the super block and the Validity of the word line.
    pub fn take_reprogram(&mut self, lane: u32, level: u32, word_line: u32, bit: Bit) -> (u32, u8) {
        let of = self.of();
        let at = of.at(lane, level);
        let super_block = of.active[at].as_ref().expect("there is an active block").super_block;
        let used = |bit| u8::from(is_used(self.units.map(), &self.layout, super_block, word_line, bit));
        let validity = used(Bit::Msb) << 1 | used(Bit::Lsb);
        let of = self.of_mut();
        let per_layer = of.word_lines;
        let block = of.active[at].as_mut().expect("there is an active block");
        let k = (word_line - block.super_layer * per_layer) as usize;
        let line = &mut block.lines[k];
        debug_assert!(!line.busy);
        line.status = line.status.invalidate(bit).next(bit).expect("the word line can be reprogrammed");
        line.busy = true;
        block.next = (k + 1) % block.lines.len();
        self.in_flight[super_block as usize] += 1;
        (super_block, validity)
    }

    /// The operation on `word_line` of a reprogrammable block of `lane` is done.
    pub fn two_bit_done(&mut self, lane: u32, super_block: u32, word_line: u32) {
        let of = self.of_mut();
        let places = (lane * of.levels) as usize..((lane + 1) * of.levels) as usize;
        let per_layer = of.word_lines;
        let active = of.active[places.clone()].iter_mut().flatten();
        let open = active.chain(of.candidates[places].iter_mut().flatten());
        if let Some(block) = open.into_iter().find(|block| block.super_block == super_block) {
            let k = word_line - block.super_layer * per_layer;
            block.lines[k as usize].busy = false;
        }
        self.in_flight[super_block as usize] -= 1;
    }

    /// The candidate of `level` on `lane` that has the fewest pages in use, and at most `most` of these (word line, page). They are in the way of reprogramming it; from the first call on it is drained until none is left.
    pub fn pages_in_the_way(&mut self, lane: u32, level: u32, most: usize) -> (u32, Vec<(u32, Bit)>) {
        let of = self.of();
        let at = of.at(lane, level);
        let count = |block: &Block| {
            (!block.draining, block.in_the_way(self.units.map(), &self.layout, of.word_lines).count())
        };
        let k = (0..of.candidates[at].len()).min_by_key(|&k| count(&of.candidates[at][k]));
        let k = k.expect("the caller has asked for a step");
        let block = &mut self.of_mut().candidates[at][k];
        block.moving = true;
        if !std::mem::replace(&mut block.draining, true) {
            self.counters.candidates_reclaimed += 1;
        }
        let of = self.of();
        let block = &of.candidates[at][k];
        let pages = block.in_the_way(self.units.map(), &self.layout, of.word_lines);
        (block.super_block, pages.take(most).collect())
    }

    /// What was on its way from `super_block`, of `lane`, to a normal block is there.
    pub fn moved_out(&mut self, lane: u32, super_block: u32) {
        let of = self.of_mut();
        let places = (lane * of.levels) as usize..((lane + 1) * of.levels) as usize;
        let mut candidates = of.candidates[places].iter_mut().flatten();
        if let Some(block) = candidates.find(|block| block.super_block == super_block) {
            block.moving = false;
        }
    }

    /// Leaves a reprogrammable block to garbage collection.
    fn close_two_bit(&mut self, super_block: u32) {
        debug_assert_eq!(self.in_flight[super_block as usize], 0);
        self.close(super_block);
    }

    /// Gives the candidates of `lane` up to garbage collection, which has found nothing else; whether there were any.
    pub(super) fn give_up_candidates(&mut self, lane: u32) -> bool {
        if self.reprogramming.is_none() {
            return false;
        }
        let of = self.of_mut();
        let places = (lane * of.levels) as usize..((lane + 1) * of.levels) as usize;
        let mut given = Vec::new();
        for candidates in &mut of.candidates[places] {
            candidates.retain(|block| {
                if !block.moving {
                    given.push(block.super_block);
                }
                block.moving
            });
        }
        self.counters.candidates_given_up += given.len() as u64;
        given.iter().for_each(|&block| self.close_two_bit(block));
        !given.is_empty()
    }

    /// An erased block is a normal one.
    pub(super) fn reset_two_bit(&mut self, super_block: u32) {
        if let Some(of) = &mut self.reprogramming {
            of.two_bit[super_block as usize] = false;
        }
    }
}
