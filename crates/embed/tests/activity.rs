//! Is the activity of a device that of its dies?

use crate::common::{device, drive};
use interpulse_embed::{Activity, Request, SimTime};

/// Largest values while writes of all dies, and reads of the same data, are outstanding.
fn busiest(scheme: &str) -> (Activity, Activity) {
    let filled = "[precondition]\nfill = \"100%\"\n";
    let mut of = device(&drive(&format!(
        "{filled}[suspend]\nprogram.scheme = \"{scheme}\"\nerase.scheme = \"{scheme}\"\n"
    )));
    let idle = of.activity();
    for k in 0..400 {
        of.submit(SimTime(1_000 * k), &Request::write(65_536 * k, 65_536)).expect("a legal request");
        of.submit(SimTime(1_000 * k + 500_000), &Request::read(65_536 * (400 + k), 4_096))
            .expect("a legal request");
    }
    let mut most = Activity::default();
    while let Some(next) = of.next_event_time().filter(|_| of.pending() > 0) {
        of.advance_to(next).expect("time is legal");
        let now = of.activity();
        assert!(now.suspended_dies <= now.busy_dies && now.busy_dies <= now.dies);
        most.busy_dies = most.busy_dies.max(now.busy_dies);
        most.suspended_dies = most.suspended_dies.max(now.suspended_dies);
        most.cached_units = most.cached_units.max(now.cached_units);
    }
    (idle, most)
}

#[test]
fn dies_are_busy_with_requests_and_suspended_with_a_scheme_only() {
    let (idle, with) = busiest("loop-boundary");
    assert_eq!((idle.dies, idle.busy_dies, idle.suspended_dies, idle.cached_units), (8, 0, 0, 0));
    assert!(with.busy_dies == 8 && with.suspended_dies > 0 && with.cached_units > 0, "{with:?}");
    let (_, without) = busiest("none");
    assert_eq!((without.busy_dies, without.suspended_dies), (8, 0));
}
