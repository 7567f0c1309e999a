//! scratch
use interpulse_drive::account::CAUSE_INFO;
use interpulse_drive::drive::spec::*;
use interpulse_drive::drive::*;
use interpulse_drive::ftl::{gc::*, precondition::Preconditioner, stripe::*};
use interpulse_drive::host::{link::*, queues::*};
use interpulse_engine::*;
use interpulse_flash::geometry::Geometry;
use interpulse_flash::nand::{queue::Policy, *};
use interpulse_flash::parts::*;
use interpulse_flash::suspend::*;
use interpulse_workload::*;
fn main() {
    let a = |i: usize, d: &str| std::env::args().nth(i).unwrap_or(d.into());
    let us = Duration::from_us;
    let part = PartSpec {
        name: "test".into(),
        planes: 1,
        blocks_per_plane: a(6, "2048").parse().unwrap(),
        pages_per_block: 256,
        page_size: Bytes::kib(16),
        page_parity: Bytes(2048),
        bits_per_cell: 3,
        layers: 85,
        program_mode: ProgramMode::OneShot,
        read: vec![us(80); 3],
        buffer_setup: us(0),
        program: TrainSpec { loops: 16, pulse: us(35), verify: us(90) },
        program_loops_sd: 0.0,
        erase: TrainSpec { loops: 5, pulse: us(900), verify: us(100) },
        erase_wear: EraseWear::Fixed,
        voltage_reset: us(0),
        program_suspend_entry: us(0),
        program_resume: us(0),
        erase_suspend_entry: us(0),
        erase_resume: us(0),
        bus_rate: a(9, "400000000").parse().unwrap(),
        command_cycles: Duration(200),
        endurance: 1000,
    };
    let geometry = Geometry::new(16, 8, 1, &part);
    let susp: u32 = a(2, "0").parse().unwrap();
    let pol = if susp > 0 {
        SuspendPolicy {
            scheme: Scheme::LoopBoundary,
            max_suspends: Some(susp),
            min_remaining: Duration(0),
            costs: SuspendCosts::default(),
        }
    } else {
        SuspendPolicy::NEVER
    };
    let imposed = a(3, "real") == "imposed";
    let spec = DriveSpec {
        part,
        geometry,
        nand: NandConfig {
            policy: Policy::ReadPriority,
            program_suspend: pol,
            erase_suspend: SuspendPolicy::NEVER,
            multi_plane_reads: false,
            ecc_latency: us(a(10, "4").parse().unwrap()),
            ecc_interval: Duration(0),
        },
        ftl: FtlSpec {
            over_provisioning: 0.3,
            bad_block_reserve: 0.0,
            multi_plane: 1,
            allocation: Allocation::Dynamic,
            gc: if imposed { GcPolicy::Imposed } else { GcPolicy::Greedy },
            threshold_base: ThresholdBase::Spare,
            gc_soft: a(5, "0.1").parse().unwrap(),
            gc_hard: 0.005,
            imposed_waf: 2.4,
        },
        cache: CacheSpec { size: Bytes::mib(256), latency: Duration(500) },
        host: HostSpec {
            queue_weights: vec![1],
            queue_depth: 1024,
            arbitration: Arbitration::RoundRobin,
            frame_buffer: 1024,
            link: LinkSpec { generation: 3, lanes: 4, max_payload: 256 },
            firmware: us(a(7, "20").parse().unwrap()),
        },
        audit_sample: 1024,
    };
    spec.check().unwrap();
    let t = std::time::Instant::now();
    let s = Streams::new(1);
    let mut ftl = spec.fresh_ftl(s.stream("gc", 0)).unwrap();
    let logical = ftl.map.logical_units();
    let mut p = Preconditioner::new(&mut ftl, None);
    p.write_in_order(0, logical);
    if !imposed {
        let mut r = s.stream("pre", 0);
        p.overwrite(u64::from(logical) * a(8, "5").parse::<u64>().unwrap() / 4, || {
            r.below(u64::from(logical)) as u32
        });
    }
    p.finish();
    println!("pre {:?} eff {:?}", t.elapsed(), ftl.effective_spare());
    let read: f64 = a(1, "0.75").parse().unwrap();
    let n: u64 = a(4, "1000000").parse().unwrap();
    let flow = FlowSpec::synthetic(
        "f",
        SyntheticSpec {
            pacing: SyntheticPacing::Closed { depth: 64 },
            read_share: read,
            write_share: 1.0 - read,
            ..Default::default()
        },
    );
    let mut drive = Drive::new(spec.clone(), PreconditionedState { ftl }, &[flow], 1, ResourceId(0)).unwrap();
    let mut agenda = Agenda::new(Drive::resources(&spec, 1));
    drive.start(&mut agenda);
    for _ in 0..3 {
        let t = std::time::Instant::now();
        let (c0, t0) = (drive.completed(), agenda.now());
        let f0 = drive.ftl().counters;
        let n0 = drive.nand().counters;
        drive.reset_window();
        let mut events = 0u64;
        while drive.completed() < c0 + n {
            let (_, r) = agenda.next(SimTime(u64::MAX >> 12)).unwrap_or_else(|| panic!("stuck"));
            drive.handle(&mut agenda, r);
            agenda.settle(r);
            events += 1;
        }
        let cpu = t.elapsed().as_secs_f64();
        let sim = agenda.now().since(t0).as_ns() as f64 / 1e9;
        let f = drive.ftl().counters.since(&f0);
        let nc = drive.nand().counters.since(&n0);
        println!(
            "{:.2} M req/s ({:.1} ev/req) iops {:.0} waf {:.3} susp/prog {:.2} erases {}",
            n as f64 / cpu / 1e6,
            events as f64 / n as f64,
            n as f64 / sim,
            (f.host_units + f.gc_units + f.imposed_units) as f64 / f.host_units.max(1) as f64,
            nc.program_suspends as f64 / (nc.host_programs + nc.gc_programs).max(1) as f64,
            nc.erases
        );
        let l = &drive.window.flows[0];
        for (name, h) in [("read", &l.read), ("write", &l.write), ("all", &l.all())] {
            if h.count() > 0 {
                println!(
                    "  {name} mean {:.1} p50 {:.1} p99 {:.1} p99.99 {:.1} max {:.1}",
                    h.mean_ns().unwrap() / 1e3,
                    h.percentile(0.5).unwrap().as_us_f64(),
                    h.percentile(0.99).unwrap().as_us_f64(),
                    h.percentile(0.9999).unwrap().as_us_f64(),
                    h.max().unwrap().as_us_f64()
                );
            }
        }
        let (c, sums) = drive.window.read_blame.total();
        for (i, s) in sums.iter().enumerate() {
            if *s > 0 {
                print!("{} {:.1} ", CAUSE_INFO[i].0, *s as f64 / c as f64 / 1e3);
            }
        }
        println!();
    }
    drive.close();
    let t = std::time::Instant::now();
    while drive.outstanding() > 0 {
        let (_, r) = agenda.next(SimTime(u64::MAX >> 12)).unwrap();
        drive.handle(&mut agenda, r);
        agenda.settle(r);
    }
    println!("{:?} {:?}", drive.audit(agenda.now(), 1), t.elapsed());
}
