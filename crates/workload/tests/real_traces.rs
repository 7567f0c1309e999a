//! Real trace tests against the descriptions of the publishers. Require the folder of sample traces in the
//! environment variable `INTERPULSE_TRACES`; without it the suite prints a note and checks nothing.

use crate::common::drain;
use interpulse_workload::{Fit, Pacing, Reorder, TracePacing, TraceSpec, measure};
use std::path::PathBuf;

/// File, format detected, rows, share of writes in per mille (rounded), devices, span in whole ms.
const SAMPLES: [(&str, &str, u64, u64, usize, u64); 6] = [
    ("msr_hm_0_first1k.csv.zst", "msr", 1_000, 492, 1, 127_233),
    ("msn_fileserver_disk5.ssdsim-ms.zst", "disksim-ascii", 149_999, 130, 1, 143_068),
    ("financial1_first10k.disksim.zst", "mqsim", 10_000, 592, 22, 259_601),
    ("tpcc-small.mqsim.zst", "mqsim", 6_999, 374, 16, 136),
    ("websearch-small.mqsim.zst", "mqsim", 24_783, 0, 6, 60_055),
    ("cloudphysics.vscsi.zst", "vscsi", 113_872, 587, 1, 7_200_089),
];

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("INTERPULSE_TRACES").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: INTERPULSE_TRACES does not name a folder of sample traces");
    }
    folder
}

#[test]
fn samples_are_detected_and_counted() {
    let Some(folder) = folder() else { return };
    for (name, format, rows, write_per_mille, devices, span_ms) in SAMPLES {
        let path = folder.join(name);
        if !path.exists() {
            println!("skipped: {} is not there", path.display());
            continue;
        }
        let spec = TraceSpec { fit: Fit::Fold, ..TraceSpec::new(&path) };
        let mut flow = crate::common::open(spec.clone(), crate::common::ROOMY).unwrap();
        let summary = flow.trace_summary().unwrap().clone();
        let seen = (
            summary.format,
            summary.rows,
            (summary.writes * 1000 + rows / 2) / rows,
            summary.devices.len(),
            summary.span.as_ns() / 1_000_000,
        );
        assert_eq!(seen, (format, rows, write_per_mille, devices, span_ms), "{name}");
        assert_eq!((summary.bad_rows, summary.late_rows), (0, 0), "{name}");

        let all = drain(&mut flow);
        assert_eq!(all.len() as u64, rows);
        assert!(all.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert!(all.iter().all(|(_, r)| r.sectors > 0 && r.end() <= crate::common::ROOMY));

        let closed = TraceSpec {
            pacing: TracePacing::Closed { depth: 32 },
            fit: Fit::Scale,
            reorder: Reorder::Clamp,
            ..spec
        };
        let mut flow = crate::common::open(closed, crate::common::ROOMY).unwrap();
        assert_eq!(flow.pacing(), Pacing::Closed { depth: 32 });
        assert_eq!(drain(&mut flow).len() as u64, rows);
    }
}

/// Published figures of the samples: share of writes in %, mean read and write in KiB; distinct 4 KiB pages written
/// in MiB and the share of the page writes that are updates in %; the same two at 512 B, in MiB and % of the volume,
/// counted by an independent program with sets of sectors.
const FIGURES: [(&str, [f64; 7]); 5] = [
    ("msr_hm_0_first1k.csv.zst", [49.2, 11.7, 7.1, 1.86, 49.3, 1.816, 46.8]),
    ("msn_fileserver_disk5.ssdsim-ms.zst", [13.0, 18.3, 9.2, 169.97, 3.3, 169.973, 3.3]),
    ("financial1_first10k.disksim.zst", [59.2, 6.1, 4.9, 14.59, 69.9, 13.854, 51.3]),
    ("tpcc-small.mqsim.zst", [37.4, 8.1, 8.7, 30.78, 1.5, 22.319, 0.0]),
    ("cloudphysics.vscsi.zst", [58.7, 37.4, 35.2, 815.22, 68.2, 805.783, 64.9]),
];

#[test]
fn samples_have_the_statistics_their_publisher_gives() {
    let Some(folder) = folder() else { return };
    for (name, [writes, read, write, pages, updates, unique, rewritten]) in FIGURES {
        let path = folder.join(name);
        if !path.exists() {
            println!("skipped: {} is not there", path.display());
            continue;
        }
        let seen = measure(&TraceSpec::new(&path), &mut |_| true).unwrap().unwrap().statistics;
        let near = |what: &str, got: f64, known: f64, digit: f64| {
            // Slightly more than half a digit: some were rounded twice.
            assert!((got - known).abs() <= 0.6 * digit, "{name}: {what} {got}, known {known}");
        };
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        near("writes", 100.0 * seen.write_share().unwrap(), writes, 0.1);
        near("mean read", seen.mean_read_bytes().unwrap() / 1024.0, read, 0.1);
        near("mean write", seen.mean_write_bytes().unwrap() / 1024.0, write, 0.1);
        near("pages", mib(seen.written_pages * 4096), pages, 0.01);
        near("updates", 100.0 * seen.update_share().unwrap(), updates, 0.1);
        near("unique", mib(seen.unique_written.get()), unique, 0.001);
        near("rewritten", 100.0 * seen.rewritten_share().unwrap(), rewritten, 0.1);
        println!("{name}: gaps {:?} ns, {:?}", seen.mean_gap_ns, seen.gap_scv);
    }
}
