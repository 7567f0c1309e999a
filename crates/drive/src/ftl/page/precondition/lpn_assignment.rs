//! LPN assignment after anonymous overwrites.
//!
//! Assigns all overwritten logical units at random to the physical units that overwrites wrote: within each lane under
//! static striping, otherwise over the whole drive. Random access to the whole map would be slow, so physical units are
//! distributed at random over partitions that each cover a range of logical units and fit a core's cache; each partition is
//! then shuffled. All assignments stay equally likely.

use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::mapping::bit_scan;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::placement::stripe::Stripe;
use crate::ftl::page::power_loss::oob::NOTHING;
use crate::memory::Table;
use crate::numbers::{Lane, Lpn, Ppu, SuperBlock};
use interpulse_engine::Rng;

/// Placeholder of an overwritten logical unit not yet assigned.
pub(crate) const UNNAMED: Lpn = NOTHING;
/// log2 of the partitions of a drive.
const PARTITIONS: u32 = 11;
/// Prefetch distance in units for map entries.
const AHEAD: usize = 32;
/// Prefetch distance for partitions: units of one cache line.
const LINE: usize = 16;
/// Blocks between two progress reports: some ten milliseconds.
const PROGRESS_INTERVAL: u32 = 1024;

/// Random distribution of physical units over partitions, repeatable from the same start.
#[derive(Clone)]
struct Distribution<'a> {
    lanes: Option<&'a Stripe>,
    rng: Rng,
    bits: u64,
    left: u32,
}

impl Distribution<'_> {
    #[inline(always)]
    fn partition(&mut self, lane: Lane) -> usize {
        if self.lanes.is_some() {
            return lane.index();
        }
        if self.left < PARTITIONS {
            (self.bits, self.left) = (self.rng.next_u64(), u64::BITS);
        }
        let partition = self.bits & ((1 << PARTITIONS) - 1);
        self.bits >>= PARTITIONS;
        self.left -= PARTITIONS;
        partition as usize
    }

    fn count(&mut self, lane: Lane, count: u32, sizes: &mut [usize]) {
        if self.lanes.is_some() {
            sizes[lane.index()] += count as usize;
        } else {
            (0..count).for_each(|_| sizes[self.partition(lane)] += 1);
        }
    }
}

/// Valid units of unknown content, one bit per physical unit, so that the tables are read once.
struct AnonymousUnits {
    words: Table<u64>,
    of_block: usize,
}

impl AnonymousUnits {
    fn new(ftl: &BlockManager) -> AnonymousUnits {
        let of_block = ftl.map().words_of_block().len();
        AnonymousUnits { words: Table::new(of_block * ftl.layout.super_blocks() as usize), of_block }
    }

    fn block(&self, block: SuperBlock) -> &[u64] {
        &self.words[block.index() * self.of_block..][..self.of_block]
    }

    /// Scans the valid units of `block` (`all`: all anonymous). Returns the number of anonymous units, adds others to
    /// `named`.
    fn scan(&mut self, ftl: &BlockManager, block: SuperBlock, all: bool, named: &mut Vec<(Lpn, Ppu)>) -> u32 {
        named.clear();
        let words = &mut self.words[block.index() * self.of_block..][..self.of_block];
        if all {
            words.copy_from_slice(ftl.map().valid_words(block));
            return ftl.map().valid_units(block);
        }
        // Branch-free: whether a unit is anonymous cannot be predicted.
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

    /// Calls `each` for every anonymous unit, with its partition.
    #[inline(always)]
    fn distribute(
        &self,
        ftl: &mut BlockManager,
        distribution: &mut Distribution,
        progress: &mut dyn FnMut(u32) -> bool,
        mut each: impl FnMut(&mut BlockManager, Ppu, usize),
    ) -> bool {
        for lane in Lane::first(ftl.layout.lanes) {
            for block in ftl.layout.blocks_of(lane) {
                if block.0 % PROGRESS_INTERVAL == 0 && !progress(block.0) {
                    return false;
                }
                let first = ftl.layout.first_unit(block);
                bit_scan::each_one(self.block(block), first, |ppu| {
                    each(ftl, ppu, distribution.partition(lane))
                });
            }
        }
        true
    }
}

/// Mapped logical units that no physical unit names.
struct UnassignedLpns {
    /// One bit per logical unit: it is assigned.
    named: Table<u64>,
    /// Index of the next word, and the remaining bits of the current one.
    next: usize,
    left: u64,
}

impl UnassignedLpns {
    fn new(ftl: &BlockManager) -> UnassignedLpns {
        let all = ftl.map().logical_units();
        let mut named = Table::<u64>::new(all.div_ceil(64) as usize);
        if let Some(last) = named.last_mut()
            && !all.is_multiple_of(64)
        {
            *last = u64::MAX << (all % 64);
        }
        UnassignedLpns { named, next: 0, left: 0 }
    }

    #[inline]
    fn prefetch(&self, lpn: Lpn) {
        self.named.prefetch(lpn.index() / 64);
    }

    #[inline]
    fn remove(&mut self, lpn: Lpn) {
        self.named[lpn.index() / 64] |= 1 << (lpn.0 % 64);
    }

    /// Appends the next units in order to `names` until it has `count`; returns whether there were enough.
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

    /// All unassigned units, by lane.
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

/// Maps the named units, and counts the others by partition.
fn map_named(
    ftl: &mut BlockManager,
    distribution: &mut Distribution,
    unassigned: &mut UnassignedLpns,
    unnamed: &mut AnonymousUnits,
    sizes: &mut [usize],
    all: &[bool],
    progress: &mut dyn FnMut(u32) -> bool,
) -> bool {
    let mut named: Vec<(Lpn, Ppu)> = Vec::new();
    for lane in Lane::first(ftl.layout.lanes) {
        for block in ftl.layout.blocks_of(lane) {
            if block.0 % PROGRESS_INTERVAL == 0 && !progress(block.0) {
                return false;
            }
            let unknown = unnamed.scan(ftl, block, all[block.index()], &mut named);
            distribution.count(lane, unknown, sizes);
            for (k, &(lpn, ppu)) in named.iter().enumerate() {
                if let Some(&(ahead, _)) = named.get(k + AHEAD) {
                    ftl.map().prefetch(ahead);
                    unassigned.prefetch(ahead);
                }
                ftl.units.map_mut().set_physical(lpn, ppu);
                unassigned.remove(lpn);
            }
        }
    }
    true
}

/// Inputs of an assignment.
pub(crate) struct Assignment<'a> {
    /// Static stripe, if it determines the lane of each logical unit.
    pub stripe: Option<&'a Stripe>,
    /// Blocks of anonymous units only, whatever the tables contain.
    pub unnamed: &'a [bool],
    /// Random numbers of the distribution.
    pub thrown: &'a mut Rng,
    /// Random numbers of the shuffles.
    pub shuffled: &'a mut Rng,
}

/// Assigns the mapped logical units that no physical unit names. `progress` receives parts done and in total, and returns
/// false to stop; returns whether the assignment completed.
pub(crate) fn assign_lpns(
    ftl: &mut BlockManager,
    assignment: Assignment,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> bool {
    let Assignment { stripe, unnamed: all, thrown, shuffled } = assignment;
    let blocks = u64::from(ftl.layout.super_blocks());
    let mut report = |part: u64, block: u32| progress(part * blocks + u64::from(block), 4 * blocks);
    let mut distribution = Distribution { lanes: stripe, rng: thrown.clone(), bits: 0, left: 0 };

    // Partition sizes.
    let mut sizes = vec![0usize; if stripe.is_some() { ftl.layout.lanes as usize } else { 1 << PARTITIONS }];
    let (mut unassigned, mut unnamed) = (UnassignedLpns::new(ftl), AnonymousUnits::new(ftl));
    let (mut counted, mut first) = (distribution.clone(), |block| report(0, block));
    if !map_named(ftl, &mut counted, &mut unassigned, &mut unnamed, &mut sizes, all, &mut first) {
        return false;
    }
    // Partition contents.
    let mut end = 0;
    let starts = sizes.iter().map(|size| {
        end += size;
        end - size
    });
    let starts: Vec<usize> = starts.collect();
    let mut partitioned = Table::<u32>::new(end);
    let mut at = starts.clone();
    let place = |_: &mut BlockManager, ppu: Ppu, partition: usize| {
        partitioned.prefetch(at[partition] + LINE);
        partitioned[at[partition]] = ppu.0;
        at[partition] += 1;
    };
    if !unnamed.distribute(ftl, &mut distribution.clone(), &mut |block| report(1, block), place) {
        return false;
    }
    // Each physical unit of a partition is replaced by the logical unit assigned to it.
    let mut lanes = stripe.map(|stripe| unassigned.by_lane(ftl, stripe));
    let mut names: Vec<Lpn> = Vec::new();
    for (partition, (&start, &size)) in starts.iter().zip(&sizes).enumerate() {
        if !report(2, (blocks * partition as u64 / sizes.len() as u64) as u32) {
            return false;
        }
        names = match &mut lanes {
            Some(lanes) => std::mem::take(&mut lanes[partition]),
            None => {
                names.clear();
                unassigned.take(ftl, size, &mut names);
                names
            }
        };
        assert_eq!(names.len(), size, "as many anonymous physical units as unassigned logical ones");
        for k in 0..size {
            names.swap(k, k + shuffled.below((size - k) as u64) as usize);
        }
        // Two loops: the random accesses of both together would not fit the cache.
        for (unit, &name) in partitioned[start..start + size].iter_mut().zip(&names) {
            ftl.units.map_mut().set_physical(name, Ppu(*unit));
            *unit = name.0;
        }
    }
    // Units are read back in the order in which they were distributed.
    let mut at = starts;
    let whole =
        unnamed.distribute(ftl, &mut distribution, &mut |block| report(3, block), |ftl, ppu, partition| {
            partitioned.prefetch(at[partition] + LINE);
            ftl.units.map_mut().set_logical(ppu, Lpn(partitioned[at[partition]]));
            at[partition] += 1;
        });
    *thrown = distribution.rng;
    whole
}
