//! Does an imposed write amplification bring the programs, the reads of what they copy and the erases that it says?

use crate::drive_common::{Bench, closed, content, filled, little, mix};
use interpulse_drive::ftl::page::gc::victim::{GcPolicy, Imposed};
use interpulse_drive::spec::DriveSpec;
use interpulse_flash::command::NandCounters;

const WAF: f64 = 2.4;

fn imposing(imposed: Imposed) -> DriveSpec {
    let mut spec = little();
    spec.ftl.gc = GcPolicy::Imposed(imposed);
    spec
}

/// A run of `requests` single units, half of them writes, until nothing is under way any more.
fn run(spec: &DriveSpec, requests: u64) -> Bench {
    let mut bench = Bench::new(spec, filled(spec, 1.0), &[closed("mixed", 8, mix(0.5))], 1);
    bench.run_requests(requests);
    bench.finish();
    while bench.step(bench.events.horizon()) {}
    bench
}

fn counters(bench: &Bench) -> NandCounters {
    assert_eq!(bench.host.device.nand().pending(), 0);
    bench.host.device.nand().counters
}

/// Each extra program of six units reads pages of two until it has them: a page has a valid unit with a probability of
/// 1 - (1/2.4)^2, and then 1.412 of them on average.
#[test]
fn extra_programs_read_what_the_write_amplification_says() {
    let spec = imposing(Imposed { waf: WAF, ..Imposed::NONE });
    let of = counters(&run(&spec, 60_000));
    let extra = (of.host_programs as f64 * (WAF - 1.0)) as u64;
    assert!(of.gc_programs.abs_diff(extra) <= 1, "{} of {extra} extra programs", of.gc_programs);
    assert_eq!(of.erases, 0);
    let valid = 1.0 - 1.0 / WAF;
    let any = 1.0 - (1.0 - valid).powi(2);
    let (mean, both) = (2.0 * valid / any, valid * valid / any);
    let expected = 6.0 * of.gc_programs as f64 / mean;
    // The number of pages until so many units are there spreads as their sum does.
    let sd = (both * (1.0 - both) * expected).sqrt() / mean;
    assert!(of.gc_programs > 3_000, "{}", of.gc_programs);
    let off = (of.gc_reads as f64 - expected) / sd;
    assert!(off.abs() < 6.0, "{} reads, {expected} expected, {off} deviations off", of.gc_reads);
}

/// A given number of reads is kept to, fractions from program to program, lane by lane.
#[test]
fn a_given_number_of_reads_is_kept_to() {
    for reads in [0.0, 1.0, 2.5, 30.0] {
        let spec = imposing(Imposed { waf: WAF, reads: Some(reads), erases: false });
        let of = counters(&run(&spec, 4_000));
        let expected = reads * of.gc_programs as f64;
        let short = expected - of.gc_reads as f64;
        let lanes = f64::from(spec.layout().unwrap().lanes);
        assert!((0.0..=lanes).contains(&short), "{} reads of {expected}", of.gc_reads);
    }
}

/// The first extra program ends after the reads that it copies from.
#[test]
fn an_extra_program_follows_its_reads() {
    let spec = imposing(Imposed { waf: 2.0, reads: Some(4.0), erases: false });
    let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[closed("w", 1, mix(0.0))], 1);
    let mut most = 0;
    for programs in 1..200 {
        while bench.host.device.nand().counters.gc_programs < programs {
            assert!(bench.step(bench.events.horizon()));
        }
        let of = bench.host.device.nand().counters;
        assert!(of.gc_reads >= 4 * of.gc_programs, "{} reads, {} programs", of.gc_reads, of.gc_programs);
        most = most.max(of.gc_reads);
    }
    assert!(most >= 4 * 199);
}

/// A lane is erased once for every block's worth of programs, of the host and extra ones.
#[test]
fn a_block_is_erased_for_every_block_of_programs() {
    let spec = imposing(Imposed { waf: WAF, reads: None, erases: true });
    let layout = spec.layout().unwrap();
    let of = counters(&run(&spec, 60_000));
    let blocks = (of.host_programs + of.gc_programs) / u64::from(layout.programs_per_block);
    assert!(of.erases.abs_diff(blocks) <= u64::from(layout.lanes), "{} erases, {blocks} blocks", of.erases);
    assert!(of.erases > 500, "{}", of.erases);
}

/// Where nothing is amplified nothing is imposed but the erases of what the host writes.
#[test]
fn a_write_amplification_of_one_copies_nothing() {
    let of = counters(&run(&imposing(Imposed::NONE), 4_000));
    assert_eq!((of.gc_programs, of.gc_reads, of.erases), (0, 0, 0));
    let of = counters(&run(&imposing(Imposed { erases: true, ..Imposed::NONE }), 4_000));
    assert!(of.erases > 0 && of.gc_reads == 0, "{of:?}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let spec = imposing(Imposed { waf: WAF, reads: None, erases: true });
    let of = |bench: Bench| (counters(&bench), content(&bench.host.window.flows[0].read));
    assert_eq!(of(run(&spec, 4_000)), of(run(&spec, 4_000)));
}
