//! LPN assignment after anonymous overwrites.
//!
//! All that have been overwritten are dealt out among the physical units that overwrites wrote, by chance: within each
//! lane where the logical unit decides on that, else over the whole drive. A deal of so many touches all of the map at
//! random, which is slow; so physical units are thrown into as many heaps as fit the cache of a core one by one, each
//! heap is a range of the logical units and is shuffled by itself. All deals are equally likely by that, too.

use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::mapping::bit_scan;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::placement::stripe::Stripe;
use crate::ftl::page::power_loss::oob::NOTHING;
use crate::memory::Table;
use crate::numbers::{Lane, Lpn, Ppu, SuperBlock};
use interpulse_engine::Rng;

/// A logical unit that has been overwritten, and that is not known yet.
pub(crate) const UNNAMED: Lpn = NOTHING;
/// Heaps of a drive, as a power of two.
const HEAPS: u32 = 11;
/// Map entries are fetched this many units early.
const AHEAD: usize = 32;
/// So are heaps: these units are in the next line of the cache.
const LINE: usize = 16;
/// Blocks between two reports of progress: some ten milliseconds.
const REPORTED: u32 = 1024;

/// Throws physical units into heaps, the same ones each time from the same start.
#[derive(Clone)]
struct Throws<'a> {
    lanes: Option<&'a Stripe>,
    rng: Rng,
    bits: u64,
    left: u32,
}

impl Throws<'_> {
    #[inline(always)]
    fn heap(&mut self, lane: Lane) -> usize {
        if self.lanes.is_some() {
            return lane.index();
        }
        if self.left < HEAPS {
            (self.bits, self.left) = (self.rng.next_u64(), u64::BITS);
        }
        let heap = self.bits & ((1 << HEAPS) - 1);
        self.bits >>= HEAPS;
        self.left -= HEAPS;
        heap as usize
    }

    /// Throws `count` units of `lane`, and counts them by heaps.
    fn count(&mut self, lane: Lane, count: u32, sizes: &mut [usize]) {
        if self.lanes.is_some() {
            sizes[lane.index()] += count as usize;
        } else {
            (0..count).for_each(|_| sizes[self.heap(lane)] += 1);
        }
    }
}

/// The valid units of which it is not known what they hold, one bit a physical unit: the tables are asked once.
struct Unnamed {
    words: Table<u64>,
    of_block: usize,
}

impl Unnamed {
    /// None yet.
    fn new(ftl: &BlockManager) -> Unnamed {
        let of_block = ftl.map().words_of_block().len();
        Unnamed { words: Table::new(of_block * ftl.layout.super_blocks() as usize), of_block }
    }

    fn block(&self, block: SuperBlock) -> &[u64] {
        &self.words[block.index() * self.of_block..][..self.of_block]
    }

    /// Looks at what the valid units of `block` hold, unless `all` of them are without names; returns how many are. Those that
    /// have one are `named`.
    fn look(&mut self, ftl: &BlockManager, block: SuperBlock, all: bool, named: &mut Vec<(Lpn, Ppu)>) -> u32 {
        named.clear();
        let words = &mut self.words[block.index() * self.of_block..][..self.of_block];
        if all {
            words.copy_from_slice(ftl.map().valid_words(block));
            return ftl.map().valid_units(block);
        }
        // Whether a unit has a name is known of none before, so nothing waits for it.
        named.resize(ftl.layout.units_per_block as usize, (UNNAMED, Ppu(0)));
        let (mut known, mut unknown) = (0, 0);
        let mut first = ftl.layout.first_unit(block);
        for (word, &valid) in words.iter_mut().zip(ftl.map().valid_words(block)) {
            let mut bits = valid;
            while bits != 0 {
                let bit = bits & bits.wrapping_neg();
                let ppu = first + bits.trailing_zeros();
                bits ^= bit;
                let lpn = ftl.map().logical(ppu);
                named[known] = (lpn, ppu);
                known += usize::from(lpn != UNNAMED);
                *word |= if lpn == UNNAMED { bit } else { 0 };
            }
            unknown += word.count_ones();
            first += u64::BITS;
        }
        named.truncate(known);
        unknown
    }

    /// Calls `each` for every one, with its heap.
    #[inline(always)]
    fn throw(
        &self,
        ftl: &mut BlockManager,
        throws: &mut Throws,
        progress: &mut dyn FnMut(u32) -> bool,
        mut each: impl FnMut(&mut BlockManager, Ppu, usize),
    ) -> bool {
        for lane in Lane::first(ftl.layout.lanes) {
            for block in ftl.layout.blocks_of(lane) {
                if block.0 % REPORTED == 0 && !progress(block.0) {
                    return false;
                }
                let first = ftl.layout.first_unit(block);
                bit_scan::each_one(self.block(block), first, |ppu| each(ftl, ppu, throws.heap(lane)));
            }
        }
        true
    }
}

/// Logical units that are mapped and that no physical unit holds by name.
struct Nameless {
    /// One bit a logical unit: it has a place.
    named: Table<u64>,
    /// The word after those that have been looked at, and what of the last one is left.
    next: usize,
    left: u64,
}

impl Nameless {
    /// All that are mapped.
    fn new(ftl: &BlockManager) -> Nameless {
        let all = ftl.map().logical_units();
        let mut named = Table::<u64>::new(all.div_ceil(64) as usize);
        if let Some(last) = named.last_mut()
            && !all.is_multiple_of(64)
        {
            *last = u64::MAX << (all % 64);
        }
        Nameless { named, next: 0, left: 0 }
    }

    /// Fetches what [`Nameless::remove`] looks at, ahead of it.
    #[inline]
    fn prefetch(&self, lpn: Lpn) {
        self.named.prefetch(lpn.index() / 64);
    }

    /// `lpn` has a place.
    #[inline]
    fn remove(&mut self, lpn: Lpn) {
        self.named[lpn.index() / 64] |= 1 << (lpn.0 % 64);
    }

    /// Adds the next ones in order to `names`, until it has `count`; whether there were as many.
    fn take(&mut self, ftl: &BlockManager, count: usize, names: &mut Vec<Lpn>) -> bool {
        while names.len() < count {
            while self.left == 0 {
                let Some(named) = self.named.get(self.next) else { return false };
                self.left = !named;
                self.next += 1;
            }
            let lpn = Lpn((self.next as u32 - 1) * 64 + self.left.trailing_zeros());
            self.left &= self.left - 1;
            if ftl.map().get(lpn) != Where::Unmapped {
                names.push(lpn);
            }
        }
        true
    }

    /// All of them, by lanes.
    fn by_lane(&mut self, ftl: &BlockManager, stripe: &Stripe) -> Vec<Vec<Lpn>> {
        let mut lanes = vec![Vec::new(); ftl.layout.lanes as usize];
        let mut next = Vec::new();
        while self.take(ftl, 1, &mut next) {
            let lpn = next.pop().expect("one was taken");
            lanes[stripe.lane(lpn).index()].push(lpn);
        }
        lanes
    }
}

/// Has the map point to the units that have a name, and counts the others by heaps.
fn map_named(
    ftl: &mut BlockManager,
    throws: &mut Throws,
    nameless: &mut Nameless,
    unnamed: &mut Unnamed,
    sizes: &mut [usize],
    all: &[bool],
    progress: &mut dyn FnMut(u32) -> bool,
) -> bool {
    let mut named: Vec<(Lpn, Ppu)> = Vec::new();
    for lane in Lane::first(ftl.layout.lanes) {
        for block in ftl.layout.blocks_of(lane) {
            if block.0 % REPORTED == 0 && !progress(block.0) {
                return false;
            }
            let unknown = unnamed.look(ftl, block, all[block.index()], &mut named);
            throws.count(lane, unknown, sizes);
            for (k, &(lpn, ppu)) in named.iter().enumerate() {
                if let Some(&(ahead, _)) = named.get(k + AHEAD) {
                    ftl.map().prefetch(ahead);
                    nameless.prefetch(ahead);
                }
                ftl.units.map_mut().set_physical(lpn, ppu);
                nameless.remove(lpn);
            }
        }
    }
    true
}

/// What a deal goes by.
pub(crate) struct Assignment<'a> {
    /// Which lane each logical unit is in, where it decides on that.
    pub stripe: Option<&'a Stripe>,
    /// Blocks without any name, whatever the tables say.
    pub unnamed: &'a [bool],
    /// What units are thrown by.
    pub thrown: &'a mut Rng,
    /// What heaps are shuffled by.
    pub shuffled: &'a mut Rng,
}

/// Deals out the logical units that are mapped and that no physical unit holds by name. `progress` gets parts done and in
/// all, and returns false to stop; whether it came to its end.
pub(crate) fn assign_lpns(
    ftl: &mut BlockManager,
    deal: Assignment,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> bool {
    let Assignment { stripe, unnamed: all, thrown, shuffled } = deal;
    let blocks = u64::from(ftl.layout.super_blocks());
    let mut report = |part: u64, block: u32| progress(part * blocks + u64::from(block), 4 * blocks);
    let mut throws = Throws { lanes: stripe, rng: thrown.clone(), bits: 0, left: 0 };

    // How large the heaps are.
    let mut sizes = vec![0usize; if stripe.is_some() { ftl.layout.lanes as usize } else { 1 << HEAPS }];
    let (mut nameless, mut unnamed) = (Nameless::new(ftl), Unnamed::new(ftl));
    let (mut counted, mut first) = (throws.clone(), |block| report(0, block));
    if !map_named(ftl, &mut counted, &mut nameless, &mut unnamed, &mut sizes, all, &mut first) {
        return false;
    }
    // What is in each.
    let mut end = 0;
    let starts = sizes.iter().map(|size| {
        end += size;
        end - size
    });
    let starts: Vec<usize> = starts.collect();
    let mut heaped = Table::<u32>::new(end);
    let mut at = starts.clone();
    let place = |_: &mut BlockManager, ppu: Ppu, heap: usize| {
        heaped.prefetch(at[heap] + LINE);
        heaped[at[heap]] = ppu.0;
        at[heap] += 1;
    };
    if !unnamed.throw(ftl, &mut throws.clone(), &mut |block| report(1, block), place) {
        return false;
    }
    // Each physical unit of a heap is replaced by the logical one that it gets.
    let mut lanes = stripe.map(|stripe| nameless.by_lane(ftl, stripe));
    let mut names: Vec<Lpn> = Vec::new();
    for (heap, (&start, &size)) in starts.iter().zip(&sizes).enumerate() {
        if !report(2, (blocks * heap as u64 / sizes.len() as u64) as u32) {
            return false;
        }
        names = match &mut lanes {
            Some(lanes) => std::mem::take(&mut lanes[heap]),
            None => {
                names.clear();
                nameless.take(ftl, size, &mut names);
                names
            }
        };
        assert_eq!(names.len(), size, "as many units are without a name as logical ones are without a place");
        for k in 0..size {
            names.swap(k, k + shuffled.below((size - k) as u64) as usize);
        }
        // Not in one loop: either looks things up at random, and together they would not fit.
        for (unit, &name) in heaped[start..start + size].iter_mut().zip(&names) {
            ftl.units.map_mut().set_physical(name, Ppu(*unit));
            *unit = name.0;
        }
    }
    // They find them in the order in which they went there.
    let mut at = starts;
    let whole = unnamed.throw(ftl, &mut throws, &mut |block| report(3, block), |ftl, ppu, heap| {
        heaped.prefetch(at[heap] + LINE);
        ftl.units.map_mut().set_logical(ppu, Lpn(heaped[at[heap]]));
        at[heap] += 1;
    });
    *thrown = throws.rng;
    whole
}
