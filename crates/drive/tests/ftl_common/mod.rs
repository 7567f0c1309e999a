//! Small untimed FTLs for the suites about the translation layer.

#![allow(dead_code, reason = "each suite uses its own part")]

pub mod drive;
pub mod witness;

use interpulse_drive::ftl::layout::Layout;
use interpulse_drive::ftl::page::gc::victim::{DChoices, GcPolicy};
use interpulse_drive::ftl::page::precondition::Preconditioner;
use interpulse_drive::ftl::{BlockManager, FtlConfig};
use interpulse_drive::numbers::Lpn;
use interpulse_engine::{Rng, Streams};
use interpulse_flash::geometry::Geometry;

/// Units of a block of [`geometry`].
pub const BLOCK: u32 = 64;

/// `lanes` dies of one plane with `blocks` blocks of 64 units, programmed 4 units at a time.
pub fn geometry(lanes: u32, blocks: u32) -> Geometry {
    Geometry {
        channels: lanes,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes: 1,
        blocks_per_plane: blocks,
        word_lines: 16,
        pages_per_word_line: 1,
        unit_bytes: 4096,
        units_per_page: 4,
        layers: 16,
        pages_per_program: 1,
        cache_pages: 0,
        cache_reads: false,
        independent_plane_reads: false,
        separate_commands: false,
        sub_blocks: 1,
    }
}

/// An empty FTL of `lanes` lanes that keeps `soft` blocks of each free and has (about) the effective spare
/// factor `spare`.
pub fn ftl(lanes: u32, blocks: u32, policy: GcPolicy, soft: u32, spare: f64, rng: Rng) -> BlockManager {
    let layout = Layout::new(&geometry(lanes, blocks), 1, 0);
    let with = |logical_units| FtlConfig::new(logical_units, policy, soft, 1);
    let usable = 1.0 / BlockManager::new(layout.clone(), with(1), rng.clone()).effective_spare().utilisation;
    BlockManager::new(layout, with((usable / (1.0 + spare)).round() as u32), rng)
}

/// Every policy that picks victims, as it comes, and d-choices with each of these numbers of choices.
pub fn victims(choices: &[u32]) -> Vec<GcPolicy> {
    let registered = GcPolicy::all().into_iter().map(|(_, policy, _)| policy);
    let of = choices.iter().map(|&d| GcPolicy::DChoices(DChoices { d }));
    registered.filter(|&policy| !policy.imposes()).chain(of).collect()
}

/// Which share of the units gets which share of the writes.
#[derive(Clone, Copy)]
pub struct Heat {
    pub space: f64,
    pub writes: f64,
}

/// Every unit is as hot as any other.
pub const UNIFORM: Heat = Heat { space: 0.5, writes: 0.5 };

/// A fifth of the units gets four fifths of the writes.
pub const HOT_AND_COLD: Heat = Heat { space: 0.2, writes: 0.8 };

/// Random units of `logical`. The hot ones are scattered over the address space, so that filling in order
/// does not separate them.
pub fn addresses(logical: u32, heat: Heat, mut rng: Rng) -> impl FnMut() -> Lpn {
    let hot = (heat.space * f64::from(logical)).round() as u64;
    let uniform = heat.space == heat.writes;
    let threshold = Rng::threshold(heat.writes);
    let mut order: Vec<Lpn> = Lpn::first(logical).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, rng.below(i as u64 + 1) as usize);
    }
    move || {
        if uniform {
            return Lpn(rng.below(u64::from(logical)) as u32);
        }
        let cold = u64::from(logical) - hot;
        let at = if rng.chance(threshold) { rng.below(hot) } else { hot + rng.below(cold) };
        order[at as usize]
    }
}

/// Write amplification of a drive in steady state: it is filled in order, then every physical unit is
/// programmed about `cycles.0` times to settle and `cycles.1` times to measure, if `expected` is about right.
pub fn write_amplification(
    ftl: &mut BlockManager,
    heat: Heat,
    cycles: (f64, f64),
    expected: f64,
    rng: Rng,
) -> f64 {
    let logical = ftl.map().logical_units();
    let writes = |cycles: f64| (cycles * ftl.layout.units() as f64 / expected) as u64;
    let (settle, measure) = (writes(cycles.0), writes(cycles.1));
    let mut next = addresses(logical, heat, rng);
    let mut p = Preconditioner::new(ftl, None);
    p.write_in_order(Lpn(0), Lpn(logical));
    p.overwrite(settle, &mut next);
    let before = p.written();
    p.overwrite(measure, &mut next);
    let after = p.written();
    p.finish();
    1.0 + (after.1 - before.1) as f64 / (after.0 - before.0) as f64
}

/// The random streams of the suite called `name`.
pub fn stream(name: &str, instance: u64) -> Rng {
    Streams::new(7).stream(name, instance)
}
