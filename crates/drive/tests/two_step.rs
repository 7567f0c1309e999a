//! *Does a drive of two-step programs write at the rate of both steps and lose nothing?* Die and channel time against arithmetic;
//! reads, overwrites, flushes and collection under full audit.

use crate::drive_common::{Bench, Cells, closed, mix, of_part, part, preconditioned};
use crate::slc_cache;
use interpulse_drive::ftl::page::gc::victim::{GcPolicy, Imposed};
use interpulse_drive::spec::{Acknowledge, DriveSpec};
use interpulse_engine::{Bytes, Duration};
use interpulse_flash::parts::{ProgramMode, TrainSpec, TwoStepSpec};
use interpulse_workload::FlowSpec;

/// Two dies of three bits per cell on channels of their own; the first step takes two loops.
fn spec(first_pages: u32, second_pages: u32) -> DriveSpec {
    let us = Duration::from_us;
    let mut part = part(Cells::Tlc, 1, 32, 8);
    let program = TrainSpec::even(2, us(20), us(0), us(30));
    part.program_mode = ProgramMode::TwoStep;
    part.two_step = Some(TwoStepSpec { program, first_pages, second_pages });
    let mut spec = of_part(part, 2, 1, 1);
    spec.ftl.over_provisioning = 0.6;
    spec.cache.size = Bytes::kib(512);
    spec
}

/// Sequential writes keep the dies busy. Each word line has a command and its loads for each step (8 KiB and parity at 800 MB/s,
/// 11520 ns and 1 us of set-up), 100 us and 600 us of pulses.
#[test]
fn writes_have_the_rate_of_both_steps() {
    for (first, second) in [(3, 3), (1, 2)] {
        let spec = spec(first, second);
        let flow = closed("f", 32, slc_cache::sequential());
        let mut bench = Bench::new(&spec, preconditioned(&spec, 0.0, 0.0, 1), &[flow], 1);
        let step = |pages: u64, pulses: u64| 200 + pages * 12_520 + pulses;
        let word_line = step(first.into(), 100_000) + step(second.into(), 600_000);
        let units = |bench: &Bench| bench.host.device.ftl_counters().host_units;
        let run_to = |bench: &mut Bench, target: u64| {
            while units(bench) < target {
                assert!(bench.step(bench.events.horizon()));
            }
            (units(bench), bench.events.now())
        };
        let (from, to) = (run_to(&mut bench, 60), run_to(&mut bench, 600));
        // Six units of a word line on each of two dies.
        let (programs, time) = ((to.0 - from.0) / 12, to.1.since(from.1).as_ns());
        let bounds = (programs - 1) * word_line..=(programs + 2) * word_line;
        assert!(bounds.contains(&time), "{programs} programs in {time} ns, {bounds:?}");
        bench.finish();
        bench.run_for(Duration::from_ms(50));
        let c = bench.host.device.nand_mut().counters;
        let firsts = c.host_programs - c.second_steps;
        // One word line of each die waits for its next one, unless it is the last of its block.
        assert!(firsts - c.second_steps <= 2, "{firsts} {}", c.second_steps);
        let loads = firsts * u64::from(first) + c.second_steps * u64::from(second);
        assert_eq!(c.bus_time, c.host_programs * 200 + loads * 11_520);
    }
}

#[test]
fn nothing_is_lost() {
    for (through, planes) in [(false, 1), (true, 1), (false, 2)] {
        let mut spec = spec(3, 3);
        if planes == 2 {
            spec.part.planes = 2;
            spec.geometry.planes = 2;
            spec.ftl.multi_plane = 2;
        }
        if through {
            spec.cache.acknowledge = Acknowledge::WhenProgrammed;
        }
        let flow = closed("f", 8, slc_cache::mixed());
        let mut bench = Bench::new(&spec, preconditioned(&spec, 0.9, 0.5, 3), &[flow], 3);
        bench.run_requests(6_000);
        bench.finish();
        bench.host.device.read_everything();
        let (c, ftl) = (bench.host.device.nand_mut().counters, bench.host.device.ftl_counters());
        assert!(ftl.gc_units > 500 && c.second_steps > 500, "{} {}", ftl.gc_units, c.second_steps);
        assert!(c.two_step_buffer_reads > 5, "{}", c.two_step_buffer_reads);
    }
    // A single write that waits for its program ends with the first step.
    let mut spec = spec(3, 3);
    spec.cache.acknowledge = Acknowledge::WhenProgrammed;
    let flow = FlowSpec { limit: Some(1), ..closed("f", 1, mix(0.0)) };
    let mut bench = Bench::new(&spec, preconditioned(&spec, 0.0, 0.0, 1), &[flow], 1);
    bench.run_out();
    bench.finish();
}

#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |change: fn(&mut DriveSpec)| {
        let mut spec = spec(3, 3);
        change(&mut spec);
        spec.check().expect_err("it is refused").message
    };
    let imposed =
        |spec: &mut DriveSpec| spec.ftl.gc = GcPolicy::Imposed(Imposed { waf: 2.0, ..Imposed::NONE });
    assert!(refused(imposed).contains("steps could follow one another"));
    assert!(refused(|spec| spec.power_loss = Some(slc_cache::power_loss())).contains("does not follow it"));
}
