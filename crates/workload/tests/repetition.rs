//! Repetition of a trace: times continue, addresses stay or are shifted.

use crate::common::{ROOMY, drain, file, open};
use interpulse_workload::{Fit, Repeat, RepeatAddresses, TracePacing, TraceSpec};

/// Three rows over 200 ns, at sectors 8 to 24.
const ROWS: &str = "100 0 8 8 1\n150 0 16 8 0\n300 0 8 8 1\n";

fn repeated(
    passes: u32,
    addresses: RepeatAddresses,
    change: impl Fn(&mut TraceSpec),
) -> Result<Vec<(u64, u64)>, String> {
    let path = file("repeated.mqsim", ROWS.as_bytes());
    let mut spec = TraceSpec { repeat: Repeat { passes, addresses }, ..TraceSpec::new(path) };
    change(&mut spec);
    let mut flow = open(spec, 1 << 16).map_err(|error| error.to_string())?;
    let seen = drain(&mut flow).iter().map(|(at, r)| (at.as_ns(), r.sector)).collect();
    let found = flow.trace_summary().unwrap();
    assert_eq!((found.rows, found.replayed), (3, 3 * u64::from(passes)));
    Ok(seen)
}

#[test]
fn the_times_of_the_passes_continue_by_a_mean_gap() {
    use RepeatAddresses::Same;
    let seen = repeated(3, Same, |_| {}).unwrap();
    let pass = |start| [(start, 8), (start + 50, 16), (start + 200, 8)];
    assert_eq!(seen, [pass(0), pass(300), pass(600)].concat());
    let fast = repeated(2, Same, |spec| spec.pacing = TracePacing::Recorded { speed: 2.0 }).unwrap();
    assert_eq!(fast.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 25, 100, 150, 175, 250]);
    let closed = repeated(2, Same, |spec| spec.pacing = TracePacing::Closed { depth: 2 }).unwrap();
    assert!(closed.iter().all(|row| row.0 == 0) && closed.len() == 6);
    assert_eq!(repeated(1, Same, |_| {}).unwrap(), pass(0));
}

/// Each pass is moved by the occupied range, rounded up to 1 MiB.
#[test]
fn shifted_passes_take_new_addresses() {
    let places = |passes, fit| {
        let seen = repeated(passes, RepeatAddresses::Shifted, |spec| spec.fit = fit);
        seen.map(|rows| rows.iter().map(|row| row.1).collect::<Vec<_>>())
    };
    assert_eq!(places(3, Fit::Error).unwrap(), [8, 16, 8, 2056, 2064, 2056, 4104, 4112, 4104]);
    // 2^16 sectors hold 32 passes.
    assert_eq!(places(33, Fit::Fold).unwrap()[96..], [8, 16, 8]);
    assert!(places(32, Fit::Error).is_ok());
    let error = places(33, Fit::Error).unwrap_err();
    assert!(
        error
            .contains("33 passes, each shifted by 2048 sectors, reach sector 65560, but the drive has 65536"),
        "{error}"
    );
    let scaled = places(2, Fit::Scale).unwrap();
    assert!(
        scaled[0] == 0 && scaled[3] > 60_000 && scaled.iter().all(|&sector| sector + 8 <= 1 << 16),
        "{scaled:?}"
    );
}

#[test]
fn too_many_or_too_long_passes_are_refused() {
    use RepeatAddresses::Same;
    for passes in [0, 1_000_001] {
        let error = repeated(passes, Same, |_| {}).unwrap_err();
        assert!(error.contains(&format!("`repeat` is {passes}; legal: 1 to 1000000")), "{error}");
    }
    let slow = |spec: &mut TraceSpec| spec.pacing = TracePacing::Recorded { speed: 1e-6 };
    assert!(repeated(1000, Same, slow).is_ok());
    let day = file("day.spc", b"0,0,512,R,0\n0,0,512,R,86400\n");
    let spec = TraceSpec { repeat: Repeat { passes: 200, addresses: Same }, ..TraceSpec::new(day) };
    let error = open(spec, ROOMY).err().unwrap().to_string();
    assert!(
        error.contains("200 passes over 86400") && error.contains("last longer than 208 days"),
        "{error}"
    );
}

/// Bytes of a second pass are read as those of the first one.
#[test]
fn packed_traces_are_repeated() {
    use interpulse_workload::generate::{TraceRecipe, trace_bytes};
    use interpulse_workload::{Format, Packing};
    let recipe = TraceRecipe { rows: 700, devices: 2, ..Default::default() };
    let path = file("repeated.csv.zst", &trace_bytes(&recipe, Format::Msr, Packing::Zstd).unwrap());
    let once = drain(&mut open(TraceSpec::new(&path), ROOMY).unwrap());
    let repeat = Repeat { passes: 3, addresses: RepeatAddresses::Same };
    let thrice = drain(&mut open(TraceSpec { repeat, ..TraceSpec::new(&path) }, ROOMY).unwrap());
    let requests =
        |all: &[(_, interpulse_engine::Request)]| all.iter().map(|next| next.1).collect::<Vec<_>>();
    assert_eq!(requests(&thrice), requests(&[&once[..], &once[..], &once[..]].concat()));
}
