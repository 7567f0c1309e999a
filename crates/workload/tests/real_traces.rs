//! Are real traces read as their publishers describe them? Needs the folder of sample traces named by the
//! environment variable `INTERPULSE_TRACES`; without it the suite says so and checks nothing.

mod common;

use common::drain;
use interpulse_workload::{Fit, Pacing, Reorder, TracePacing, TraceSpec};
use std::path::PathBuf;

/// File, format told, rows, share of writes in per mille (rounded), devices, span in whole ms.
const SAMPLES: [(&str, &str, u64, u64, usize, u64); 5] = [
    ("msr_hm_0_first1k.csv.zst", "msr", 1_000, 492, 1, 127_233),
    ("msn_fileserver_disk5.ssdsim-ms.zst", "ssdsim-ms", 149_999, 130, 1, 143_068),
    ("financial1_first10k.disksim.zst", "disksim", 10_000, 592, 22, 259_601),
    ("tpcc-small.mqsim.zst", "mqsim", 6_999, 374, 16, 136),
    ("websearch-small.mqsim.zst", "mqsim", 24_783, 0, 6, 60_055),
];

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("INTERPULSE_TRACES").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: INTERPULSE_TRACES does not name a folder of sample traces");
    }
    folder
}

#[test]
fn samples_are_told_and_counted() {
    let Some(folder) = folder() else { return };
    for (name, format, rows, write_per_mille, devices, span_ms) in SAMPLES {
        let path = folder.join(name);
        if !path.exists() {
            println!("skipped: {} is not there", path.display());
            continue;
        }
        let spec = TraceSpec { fit: Fit::Fold, ..TraceSpec::new(&path) };
        let mut flow = common::open(spec.clone(), common::ROOMY).unwrap();
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
        assert!(all.iter().all(|(_, r)| r.sectors > 0 && r.end() <= common::ROOMY));

        let closed = TraceSpec {
            pacing: TracePacing::Closed { depth: 32 },
            fit: Fit::Scale,
            reorder: Reorder::Clamp,
            ..spec
        };
        let mut flow = common::open(closed, common::ROOMY).unwrap();
        assert_eq!(flow.pacing(), Pacing::Closed { depth: 32 });
        assert_eq!(drain(&mut flow).len() as u64, rows);
    }
}
