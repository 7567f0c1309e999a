//! Do commands whose map entries are not in memory wait for flash and continue, with every nanosecond accounted for?

use crate::drive_common::{Bench, closed, filled, little, mix};
use interpulse_engine::account::Cause;
use interpulse_workload::{FlowSpec, SyntheticSpec};

fn run(spec: SyntheticSpec, every: Option<u32>) -> Bench {
    let drive = little();
    let flow = FlowSpec { limit: Some(2000), ..closed("f", 8, spec) };
    let mut bench = Bench::new(&drive, filled(&drive, 1.0), &[flow], 1);
    if let Some(n) = every {
        bench.host.device.miss_every(n);
    }
    bench.run_out();
    bench.finish();
    bench
}

#[test]
fn reads_that_miss_wait_for_their_translation_page() {
    let (hits, misses) = (run(mix(1.0), None), run(mix(1.0), Some(2)));
    let of =
        |bench: &Bench, cause: Cause| bench.host.window.read_attribution.total().by_cause[cause as usize];
    assert_eq!(of(&hits, Cause::Mapping), 0);
    // Half of the look-ups miss: at least one sensing of 40 us for each read, since a miss is followed by a hit.
    assert!(of(&misses, Cause::Mapping) >= 2000 * 40_000);
    assert!(of(&misses, Cause::Sensing) == of(&hits, Cause::Sensing), "data is read once all the same");
}

#[test]
fn writes_and_trims_that_miss_complete() {
    let spec =
        SyntheticSpec { read_share: 0.4, write_share: 0.4, trim_share: 0.2, ..SyntheticSpec::default() };
    let bench = run(spec, Some(3));
    assert_eq!(bench.host.device.requests().live(), 0);
    assert!(bench.host.window.write_attribution.total().by_cause[Cause::Mapping as usize] > 0);
}
