//! What becomes of requests when the device loses power?

use crate::common::{device, drive};
use interpulse_embed::{Op, Request, SimTime, StatusCode};

const LOSS: &str = "[power-loss]\nat = \"100us\"\noff-for = \"5ms\"\n[cache]\nprotected = true\n";

#[test]
fn outstanding_requests_are_aborted_and_later_ones_wait_for_power() {
    for config in [drive(LOSS), drive(&format!("{LOSS}[array]\nlevel = \"raid5\"\ndrives = 3\n"))] {
        let mut of = device(&config);
        let fill: Vec<_> =
            (0..64).map(|k| of.submit(SimTime(1_000), &Request::write(k << 20, 1 << 20)).unwrap()).collect();
        let waits = of.submit(SimTime(200_000), &Request::read(0, 4096)).unwrap();
        of.advance_to(SimTime(150_000)).unwrap();
        let mut aborted = 0;
        while let Some(done) = of.pop() {
            if !done.is_success() {
                assert_eq!(
                    (done.status, done.completed),
                    (StatusCode::ABORTED_BY_POWER_LOSS, SimTime(100_000))
                );
                assert_eq!((done.op, done.bytes), (Op::Write, 0));
                aborted += 1;
            }
        }
        assert!(aborted > 0 && of.pending() == 1, "{aborted} of {} requests", fill.len());
        assert!(of.advance_to_completion(None).unwrap());
        let read = of.pop().unwrap();
        assert!(read.is_success() && read.tag == waits && read.submitted > SimTime(5_100_000), "{read:?}");
        let audit = of.finish().unwrap();
        assert_eq!(of.counters().get("host.requests"), Some(fill.len() as u64 - aborted + 1));
        assert!(audit.requests > 0);
    }
}
