//! Eligibility: ineligible operations run as on a part without suspension.

use crate::common::*;
use crate::suspension_conformance::watch::{each, of};
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::txn::Txn;
use interpulse_flash::parts::{PartSpec, ProgramMode};
use interpulse_flash::suspend::{Eligibility, MultiPlane, Scheme};

/// Whether a read in the first loop of `long` stops it.
fn is_stopped(part: &PartSpec, config: &NandConfig, long: Txn) -> bool {
    let mut bench = Bench::new(part, config.clone(), 3);
    bench.at(0, long).at(100_000, read(long.die.0)).run();
    let c = bench.nand.counters;
    let stopped = c.program_suspends + c.erase_suspends > 0;
    // By the order of both outcomes.
    assert_eq!(bench.of(1).at < bench.of(0).at, stopped);
    stopped
}

fn with(scheme: Scheme, eligible: &Eligibility) -> NandConfig {
    let mut config = of(scheme);
    each(&mut config, |policy| policy.eligible = eligible.clone());
    config
}

fn every_scheme() -> impl Iterator<Item = Scheme> {
    Scheme::all().into_iter().map(|(_, scheme, _)| scheme).filter(|&scheme| scheme != Scheme::None)
}

#[test]
fn by_die() {
    for scheme in every_scheme() {
        let config = with(scheme, &Eligibility { dies: Some(vec![0, 2]), ..Eligibility::ALL });
        for die in 0..3 {
            for long in [program(die), erase(die)] {
                assert_eq!(is_stopped(&part(), &config, long), die != 1, "{scheme:?}: {long:?}");
            }
        }
    }
}

#[test]
fn by_wear() {
    for scheme in every_scheme() {
        let config = with(scheme, &Eligibility { max_cycles: Some(500), ..Eligibility::ALL });
        for (cycles, expected) in [(0, true), (500, true), (501, false), (u32::MAX, false)] {
            for long in [program(0), erase(0)] {
                let worn = but(long, |t| t.set_cycles(cycles));
                assert_eq!(is_stopped(&part(), &config, worn), expected, "{scheme:?}: {worn:?}");
            }
        }
    }
}

#[test]
fn by_planes() {
    for scheme in every_scheme() {
        for &(_, multi_plane, _) in MultiPlane::ALL {
            let config = with(scheme, &Eligibility { multi_plane, ..Eligibility::ALL });
            for (planes, long) in [(1, program(0)), (1, erase(0)), (2, erase(0)), (4, erase(0))] {
                let wide = but(long, |t| t.planes = planes);
                let expected = planes == 1 || multi_plane != MultiPlane::Refuse;
                assert_eq!(is_stopped(&part(), &config, wide), expected, "{scheme:?}: {wide:?}");
            }
        }
    }
}

/// Page types (Starblaze): with page programming only programs of the selected types; a one-shot program needs all of its
/// types. An erase has none.
#[test]
fn by_page_type() {
    let pages = PartSpec { program_mode: ProgramMode::Page, ..part() };
    for scheme in every_scheme() {
        for types in 0..8u32 {
            let config = with(scheme, &Eligibility { page_types: types, ..Eligibility::ALL });
            for page in 0..3 {
                // Block 4 is empty: its earlier pages must be programmed first.
                let mut bench = Bench::new(&pages, config.clone(), 1);
                let addressed = |page| but(program(0), |t| (t.block, t.page) = (BlockId(4), page));
                (0..page).for_each(|before| {
                    bench.at(u64::from(before) * 1_000_000, addressed(before));
                });
                let start = u64::from(page) * 1_000_000;
                bench.at(start, addressed(page)).at(start + 100_000, read(0)).run();
                let stopped = bench.of(page + 1).at < bench.of(page).at;
                assert_eq!(stopped, types >> page & 1 == 1, "{scheme:?}: page {page} of types {types:#b}");
            }
            assert_eq!(is_stopped(&part(), &config, program(0)), types == 7, "{scheme:?}: {types:#b}");
            assert!(is_stopped(&part(), &config, erase(0)), "{scheme:?}: {types:#b}");
        }
    }
}
