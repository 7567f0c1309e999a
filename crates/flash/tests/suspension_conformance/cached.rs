//! Cache program under every scheme.

use crate::common::*;
use crate::suspension_conformance::watch::{arrivals, of};
use interpulse_engine::Duration;
use interpulse_flash::nand::txn::Kind;
use interpulse_flash::parts::{CacheOnRead, CacheProgram, CacheRegister, PartSpec};
use interpulse_flash::suspend::Scheme;

const SEEDS: u64 = 15;

/// All operations end, work is conserved, and every loaded page is programmed or counted as lost.
#[test]
fn nothing_is_lost_behind_the_pulses() {
    for (name, scheme, _) in Scheme::all() {
        for on_read in [CacheOnRead::Lost, CacheOnRead::Kept, CacheOnRead::Refused] {
            let (mut ahead, mut stops, mut lost, mut refused) = (0, 0, 0, 0);
            for seed in 0..SEEDS {
                let pages = 1 + seed as u32 % 3;
                let transfer = Duration::from_ns(3_000 * (seed % 2));
                let cache =
                    CacheRegister { program: CacheProgram::Die, pages, transfer, on_read, reads: false };
                let part = PartSpec { cache, ..crate::suspension_conformance::watch::resetting() };
                let mut config = of(scheme);
                config.nesting = seed.is_multiple_of(2);
                let mut bench = Bench::new(&part, config, 1);
                for (at, txn) in arrivals(seed, 80) {
                    // Mostly programs, so that programs follow each other.
                    let program = txn.kind == Kind::HostProgram;
                    (0..if program { 3 } else { 1 }).for_each(|_| _ = bench.at(at, txn));
                }
                bench.run();
                let what = format!("{name}, {on_read:?}, seed {seed}");
                assert_eq!((bench.done.len(), bench.nand.pending()), (bench.submitted(), 0), "{what}");
                let c = bench.nand.counters;
                assert_eq!(c.program_owed_time, (c.host_programs + c.gc_programs) * 500_000, "{what}");
                let applied = c.program_pulse_time + c.erase_pulse_time;
                let owed = c.program_owed_time + c.erase_owed_time;
                let again = c.program_redone_time + c.erase_redone_time;
                assert_eq!(applied, owed + again + c.ramp_time, "{what}");
                let used = c.cached_pages - c.cached_pages_lost;
                assert!(used >= c.cached_programs && used <= c.cached_programs * u64::from(pages), "{what}");
                for done in bench.done.iter().filter(|done| done.txn.kind == Kind::HostProgram) {
                    assert_eq!(done.waited() + done.txn.own, done.time(), "{what}");
                }
                ahead += c.cached_programs;
                stops += c.program_suspends;
                lost += c.cached_pages_lost;
                refused += c.stops_refused_by_cache;
            }
            let what = format!("{name}, {on_read:?}");
            assert!(ahead > 20, "{what}: {ahead} programs were loaded ahead");
            assert_eq!(stops > 0, scheme != Scheme::None, "{what}");
            assert_eq!(lost > 0, on_read != CacheOnRead::Kept, "{what}");
            let refuses = on_read == CacheOnRead::Refused && scheme != Scheme::None;
            assert_eq!(refused > 0, refuses, "{what}");
        }
    }
}
