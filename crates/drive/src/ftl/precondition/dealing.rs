//! Which logical units are where after overwrites without names.
//!
//! All that have been overwritten are dealt out among the physical units that overwrites wrote, by chance: within each
//! lane where the logical unit decides on that, else over the whole drive. A deal of so many touches all of the map at
//! random, which is slow; so physical units are thrown into as many heaps as fit the cache of a core one by one, each
//! heap is a range of the logical units and is shuffled by itself. All deals are equally likely by that, too.

use crate::ftl::map::Where;
use crate::ftl::oob::NOTHING;
use crate::ftl::stripe::Stripe;
use crate::ftl::tables::Tables;
use crate::memory::{Table, filled};
use crate::numbers::{Lane, Lpn, Ppu};
use interpulse_engine::Rng;

/// A logical unit that has been overwritten, and that is not known yet.
pub(super) const UNNAMED: Lpn = NOTHING;
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
}

/// Calls `each` for every physical unit without a name, with its heap. In `all` blocks none has one.
#[inline(always)]
fn unnamed(
    ftl: &mut Tables,
    throws: &mut Throws,
    progress: &mut dyn FnMut(u32) -> bool,
    all: &[bool],
    mut each: impl FnMut(&mut Tables, Ppu, usize),
) -> bool {
    for lane in Lane::first(ftl.layout.lanes) {
        for block in ftl.layout.blocks_of(lane) {
            if block.0 % REPORTED == 0 && !progress(block.0) {
                return false;
            }
            let first = ftl.layout.first_unit(block);
            let all = all[block.index()];
            for word in 0..ftl.map().valid_words(block).len() {
                let mut bits = ftl.map().valid_words(block)[word];
                while bits != 0 {
                    let ppu = first + (word as u32 * 64 + bits.trailing_zeros());
                    bits &= bits - 1;
                    if all || ftl.map().logical(ppu) == UNNAMED {
                        each(ftl, ppu, throws.heap(lane));
                    }
                }
            }
        }
    }
    true
}

/// Logical units that are mapped and that no physical unit holds by name.
struct Nameless {
    /// One bit a logical unit.
    named: Vec<u64>,
    next: u32,
}

impl Nameless {
    /// All that are mapped.
    fn new(ftl: &Tables) -> Nameless {
        Nameless { named: filled(0u64, ftl.map().logical_units().div_ceil(64) as usize), next: 0 }
    }

    /// `lpn` has a place.
    #[inline]
    fn remove(&mut self, lpn: Lpn) {
        self.named[lpn.index() / 64] |= 1 << (lpn.0 % 64);
    }

    /// The next one in order.
    #[inline]
    fn next(&mut self, ftl: &Tables) -> Option<Lpn> {
        let all = ftl.map().logical_units();
        while self.next < all {
            let lpn = Lpn(self.next);
            self.next += 1;
            let named = self.named[lpn.index() / 64] >> (lpn.0 % 64) & 1 != 0;
            if !named && ftl.map().get(lpn) != Where::Unmapped {
                return Some(lpn);
            }
        }
        None
    }

    /// All of them, by lanes.
    fn by_lane(&mut self, ftl: &Tables, stripe: &Stripe) -> Vec<Vec<Lpn>> {
        let mut lanes = vec![Vec::new(); ftl.layout.lanes as usize];
        while let Some(lpn) = self.next(ftl) {
            lanes[stripe.lane(lpn).index()].push(lpn);
        }
        lanes
    }
}

/// Has the map point to the units that have a name, and counts the others by heaps.
fn map_named(
    ftl: &mut Tables,
    throws: &mut Throws,
    nameless: &mut Nameless,
    sizes: &mut [usize],
    all: &[bool],
    progress: &mut dyn FnMut(u32) -> bool,
) -> bool {
    let mut of_block: Vec<(Lpn, Ppu)> = Vec::new();
    for lane in Lane::first(ftl.layout.lanes) {
        for block in ftl.layout.blocks_of(lane) {
            if block.0 % REPORTED == 0 && !progress(block.0) {
                return false;
            }
            of_block.clear();
            if !all[block.index()] {
                let valid = ftl.units.valid_of(&ftl.layout, block).map(|ppu| (ftl.map().logical(ppu), ppu));
                of_block.extend(valid.filter(|&(lpn, _)| lpn != UNNAMED));
            }
            for _ in of_block.len()..ftl.map().valid_units(block) as usize {
                sizes[throws.heap(lane)] += 1;
            }
            for (k, &(lpn, ppu)) in of_block.iter().enumerate() {
                if let Some(&(ahead, _)) = of_block.get(k + AHEAD) {
                    ftl.map().prefetch(ahead);
                }
                ftl.units.map_mut().set_physical(lpn, ppu);
                nameless.remove(lpn);
            }
        }
    }
    true
}

/// What a deal goes by.
pub(super) struct Deal<'a> {
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
pub(super) fn deal_out(ftl: &mut Tables, deal: Deal, progress: &mut dyn FnMut(u64, u64) -> bool) -> bool {
    let Deal { stripe, unnamed: all, thrown, shuffled } = deal;
    let blocks = u64::from(ftl.layout.super_blocks());
    let mut report = |part: u64, block: u32| progress(part * blocks + u64::from(block), 4 * blocks);
    let mut throws = Throws { lanes: stripe, rng: thrown.clone(), bits: 0, left: 0 };

    // How large the heaps are.
    let mut sizes = vec![0usize; if stripe.is_some() { ftl.layout.lanes as usize } else { 1 << HEAPS }];
    let mut nameless = Nameless::new(ftl);
    if !map_named(ftl, &mut throws.clone(), &mut nameless, &mut sizes, all, &mut |block| report(0, block)) {
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
    let place = |_: &mut Tables, ppu: Ppu, heap: usize| {
        heaped.prefetch(at[heap] + LINE);
        heaped[at[heap]] = ppu.0;
        at[heap] += 1;
    };
    if !unnamed(ftl, &mut throws.clone(), &mut |block| report(1, block), all, place) {
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
                names.extend((0..size).map_while(|_| nameless.next(ftl)));
                names
            }
        };
        assert_eq!(names.len(), size, "as many units are without a name as logical ones are without a place");
        for (k, unit) in heaped[start..start + size].iter_mut().enumerate() {
            names.swap(k, k + shuffled.below((size - k) as u64) as usize);
            ftl.units.map_mut().set_physical(names[k], Ppu(*unit));
            *unit = names[k].0;
        }
    }
    // They find them in the order in which they went there.
    let mut at = starts;
    let whole = unnamed(ftl, &mut throws, &mut |block| report(3, block), all, |ftl, ppu, heap| {
        heaped.prefetch(at[heap] + LINE);
        ftl.units.map_mut().set_logical(ppu, Lpn(heaped[at[heap]]));
        at[heap] += 1;
    });
    *thrown = throws.rng;
    whole
}
