//! How long does a drive live? Until its blocks have had their cycles; it is read-only then, and nothing is lost.

use crate::drive_common::{Bench, Cells, closed, mix, of_part, part, preconditioned};
use interpulse_drive::Health;
use interpulse_drive::spec::{DriveSpec, FaultSpec, FreeBlock, WearOut};
use interpulse_workload::{FlowSpec, SyntheticSpec};

const ENDURANCE: u32 = 20;

/// Four lanes of 36 blocks, of which 4 are reserved; each block endures [`ENDURANCE`] cycles.
fn mortal() -> DriveSpec {
    let mut spec = of_part(part(Cells::Tlc, 1, 36, 8), 2, 2, 1);
    spec.part.endurance = ENDURANCE;
    spec.ftl.bad_block_reserve = 0.1;
    spec.faults = Some(FaultSpec { wear_out: WearOut::Equal, ..FaultSpec::NONE });
    spec
}

/// Writes of the first share `to` of the addresses.
fn writes(to: f64) -> FlowSpec {
    closed("w", 16, SyntheticSpec { to, ..mix(0.0) })
}

fn health(bench: &Bench) -> Health {
    bench.host.device.health().expect("blocks can fail")
}

/// A drive that has been written until it was read-only.
fn worn_out(spec: &DriveSpec, flows: &[FlowSpec]) -> Bench {
    let mut bench = Bench::new(spec, preconditioned(spec, 1.0, 0.0, 1), flows, 3);
    while health(&bench).read_only_since.is_none() {
        bench.run_requests(1000);
    }
    bench
}

/// Units programmed until the end of life, per unit that the blocks in use can take in their endurance.
fn used(bench: &Bench) -> f64 {
    let layout = bench.host.device.layout();
    let cycles = f64::from(layout.super_blocks()) * f64::from(ENDURANCE);
    bench.host.device.ftl_counters().programmed() as f64 / (cycles * f64::from(layout.units_per_block))
}

/// Host data = blocks x endurance x block size / WAF. Bounds of the product of host data and WAF: a lane ends with its
/// fifth worn block. All others have at most one program more than their endurance has cycles; the 4 reserved blocks of 32
/// may be as worn. From below, levelling keeps all blocks within `wear-gap` + 1 cycles of the most worn one, and lanes take
/// host programs in turn.
#[test]
fn a_drive_takes_the_writes_that_cycles_and_write_amplification_allow() {
    for (gap, to) in [(Some(1), 1.0), (Some(1), 0.3), (None, 1.0)] {
        let mut spec = mortal();
        spec.ftl.wear_gap = gap;
        let bench = worn_out(&spec, &[writes(to)]);
        let (used, e) = (used(&bench), f64::from(ENDURANCE));
        let (least, most) = (1.0 - 2.0 / e, (1.0 + 1.0 / e) * (1.0 + 4.0 / 32.0));
        assert!((least..=most).contains(&used), "{gap:?} {to}: {used} of {least} to {most}");
        let health = health(&bench);
        assert_eq!(health.spare_at_start, 16);
        assert!(health.grown_bad_blocks > 4 && health.least_spare_of_lane == 0, "{health:?}");
    }
}

/// Without levelling the blocks under data that nobody overwrites have no wear: at 30 % of the addresses, 70 % of 91 of
/// 128 blocks.
#[test]
fn levelling_uses_the_cycles_of_blocks_under_cold_data() {
    let at = |gap| {
        let mut spec = mortal();
        spec.ftl.wear_gap = gap;
        let bench = worn_out(&spec, &[writes(0.3)]);
        let wear = bench.host.device.wear();
        (used(&bench), wear.fewest, bench.host.device.ftl_counters().host_units)
    };
    let (without, fewest, host) = at(None);
    let circulating = (128.0 - 0.7 * 91.0) / 128.0;
    assert!(without < circulating * 1.2, "{without} of {circulating}");
    assert_eq!(fewest, 0, "a block under cold data has no cycles");
    let (with, _, leveled) = at(Some(4));
    assert!(with > 2.0 * without && leveled > host, "{with} {without}, {leveled} {host}");
}

/// The widest spread of wear of a lane in a run in which no block is replaced.
fn widest_spread(gap: Option<u32>, free_block: FreeBlock, to: f64, seed: u64) -> u32 {
    let mut spec = mortal();
    (spec.ftl.wear_gap, spec.ftl.free_block, spec.faults) = (gap, free_block, None);
    let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 0.0, 1), &[writes(to)], seed);
    let mut widest = 0;
    for _ in 0..400 {
        bench.run_requests(500);
        let blocks = bench.host.device.block_manager();
        for of_lane in blocks.cycles.chunks(blocks.layout.blocks as usize) {
            let (least, most) = (of_lane.iter().min(), of_lane.iter().max());
            widest = widest.max(most.expect("a lane has blocks") - least.expect("a lane has blocks"));
        }
    }
    bench.finish();
    widest
}

#[test]
fn levelling_narrows_the_spread_of_wear() {
    let spread = |gap| widest_spread(gap, FreeBlock::ErasedFirst, 0.3, 3);
    // Moved cold data may go to a block that is little worn itself, so the spread exceeds the gap.
    let [without, one, four] = [None, Some(1), Some(4)].map(spread);
    assert!(
        one <= 4 && one < four && 3 * four < 2 * without,
        "{without} cycles apart, {one} and {four} with levelling"
    );
}

#[test]
fn least_worn_first_bounds_the_spread_of_wear() {
    // Host data opens only blocks below the limit, moved data also the blocks at it; each may be erased once more.
    for to in [0.3, 0.7, 1.0] {
        for gap in [1, 2, 4, 8] {
            for seed in 1..=3 {
                let widest = widest_spread(Some(gap), FreeBlock::LeastWorn, to, seed);
                assert!(
                    widest <= gap + 1,
                    "{widest} cycles apart with a gap of {gap}, writes of {to}, seed {seed}"
                );
            }
        }
    }
}

#[test]
fn a_read_only_drive_refuses_writes_and_trims_and_keeps_everything() {
    let changes = SyntheticSpec { trim_share: 0.05, write_share: 0.95, ..mix(0.0) };
    let flows = [closed("w", 16, changes), closed("r", 4, mix(1.0))];
    let mut bench = worn_out(&mortal(), &flows);
    // What the cache holds is programmed still.
    bench.run_requests(2000);
    let (before, host) = (bench.host.device.cache_used(), bench.host.window.counters);
    let (units, refused) = (bench.host.device.ftl_counters().host_units, bench.host.window.refused.count());
    let trimmed = bench.host.device.counters.trimmed_units;
    assert!(trimmed > 0, "trims are taken before");
    bench.run_requests(3000);
    let window = &bench.host.window;
    assert_eq!(window.counters.written_bytes, host.written_bytes, "no write is taken");
    assert!(window.refused.count() > refused, "writes are refused");
    assert_eq!(bench.host.device.counters.trimmed_units, trimmed, "trims are refused");
    assert!(window.counters.read_bytes > host.read_bytes, "reads are served");
    assert_eq!((window.uncorrectable_reads, window.uncorrectable_writes), (0, 0));
    assert!(bench.host.device.ftl_counters().host_units <= units + u64::from(before));
    let report = bench.finish();
    let units = u64::from(bench.host.device.logical_units());
    bench.host.device.read_everything();
    assert!(bench.host.device.versions_checked() >= report.versions_checked + units);
}

/// Reserved blocks less the most factory bad blocks of a plane, and the mean of a binomial distribution within 5 sigma.
#[test]
fn factory_bad_blocks_come_from_the_reserve() {
    let mut spec = of_part(part(Cells::Slc, 2, 60, 4), 4, 4, 1);
    (spec.ftl.bad_block_reserve, spec.ftl.multi_plane) = (0.3, 2);
    spec.faults = Some(FaultSpec { factory_bad_blocks: 0.1, ..FaultSpec::NONE });
    let bench = Bench::new(&spec, preconditioned(&spec, 0.0, 0.0, 1), &[], 5);
    let health = health(&bench);
    let (planes, blocks) = (32.0, 60.0 * 0.1);
    let sd = f64::sqrt(planes * blocks * 0.9);
    assert!((health.factory_bad_blocks as f64 - planes * blocks).abs() < 5.0 * sd, "{health:?}");
    assert!(health.spare_at_start < 16 * 18 - health.factory_bad_blocks / 2, "{health:?}");
    assert_eq!(health.spare, health.spare_at_start);
    spec.ftl.bad_block_reserve = 0.05;
    let why = spec.check().expect_err("six bad blocks of a reserve of three");
    assert!(why.message.contains("the reserve of 3 must hold them"), "{}", why.message);
}

/// A failure takes the time of a whole program, so a drive without wear-out lives until its reserve is used up.
#[test]
fn the_data_of_failed_programs_is_programmed_again() {
    let mut spec = mortal();
    spec.ftl.bad_block_reserve = 0.5;
    spec.part.blocks_per_plane = 80;
    spec = DriveSpec { geometry: of_part(spec.part.clone(), 2, 2, 1).geometry, ..spec };
    let failures = FaultSpec { program_failure: 0.01, ..FaultSpec::NONE };
    spec.faults = Some(failures);
    let mut bench = Bench::new(&spec, preconditioned(&spec, 1.0, 0.0, 1), &[writes(1.0)], 3);
    bench.run_requests(20_000);
    bench.finish();
    let (health, counters) = (health(&bench), bench.host.device.ftl_counters());
    let programs = (counters.programmed() / 6) as f64;
    let expected = 0.01 * programs;
    assert!(
        (health.program_failures as f64 - expected).abs() < 5.0 * expected.sqrt(),
        "{health:?} {programs}"
    );
    assert!(health.grown_bad_blocks > 0 && health.grown_bad_blocks <= health.program_failures);
    assert!(health.read_only_since.is_none());
    bench.host.device.read_everything();
}

/// A case that is run as a user runs it, with these sections besides those of a small drive, and its result.
fn result(rest: &str) -> Result<serde_json::Value, String> {
    use interpulse_study::config::PlanRequest;
    use interpulse_study::control::Control;
    use interpulse_study::plan::resolve;
    use interpulse_study::runner::{RunOptions, run};
    let text = format!(
        "drive = \"a4-mini\"\n[part]\nblocks-per-plane = 32\nendurance = 2\n[geometry]\nchannels = 1\n\
         chips-per-channel = 1\n[cache]\nsize = \"2MiB\"\n[precondition]\nfill = \"60%\"\n[run]\nrequests = 2500\n\
         [[flow]]\ndepth = 4\nread = 0.1\nblock-size = \"256KiB\"\nalignment = \"256KiB\"\n{rest}"
    );
    let request = PlanRequest { text, path: "x.toml".into(), ..PlanRequest::default() };
    let plan = resolve(&request).map_err(|e| e.to_string())?;
    let options = RunOptions { jobs: 1, cache_dir: None, cache_limit: 0, no_cache: true };
    let text = run(&plan, &options, &Control::new()).map_err(|e| e.message)?;
    let mut result: serde_json::Value = serde_json::from_str(&text).expect("results are JSON");
    Ok(result["cases"][0]["seeds"][0].take())
}

#[test]
fn a_result_has_the_totals_of_a_drive_at_its_end() {
    let text = "[ftl]\nbad-block-reserve = 0.09\n[faults]\nwear-out = \"equal\"\n";
    let r = result(text).unwrap_or_else(|why| panic!("{why}"));
    let smart =
        |name: &str| r["smart"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {}", r["smart"]));
    assert_eq!(r["smart"]["read_only"], true, "{}", r["smart"]);
    let end = r["simulated_s"].as_f64().unwrap() + r["warmup"]["simulated_s"].as_f64().unwrap_or(0.0);
    assert!((1e-9..end).contains(&smart("read_only_since_s")), "{} of {end}", r["smart"]);
    assert!(smart("refused_requests") > 0.0 && smart("refused_requests") < 2500.0);
    assert!(smart("nand_bytes_written") >= smart("host_bytes_written"));
    assert!(smart("percentage_used") > 80.0 && smart("percentage_used") < 100.0 * 1.5 * 32.0 / 29.0);
    assert_eq!(smart("least_spare_blocks_of_lane"), 0.0);
    assert_eq!(smart("media_errors"), 0.0);
    let healthy = result("").unwrap_or_else(|why| panic!("{why}"));
    assert!(healthy.get("smart").is_none(), "{}", healthy["smart"]);
}

#[test]
fn faults_that_do_not_go_with_the_rest_are_refused_with_a_reason() {
    for (text, why) in [
        (
            "[ftl]\ngc = \"imposed\"\nimposed-waf = 2.0\n[faults]\nwear-out = \"equal\"\n",
            "no blocks that could wear out or fail",
        ),
        (
            "[array]\nlevel = \"raid5\"\ndrives = 4\n[faults]\nerase-failure = 0.01\n",
            "an array has no answer",
        ),
        ("[faults]\nendurance-spread = 0.1\n", "wear-out = \"normal\" or \"lognormal\""),
        ("[faults]\nwear-out = \"normal\"\n", "endurance-spread"),
        ("[faults]\nprogram-failure = 0.5\n", "0.01"),
        ("[faults]\nfactory-bad-blocks = 0.05\n", "the reserve of 0 must hold them"),
    ] {
        let message = result(text).expect_err(text);
        assert!(message.contains(why), "{text}: {message}");
    }
}
