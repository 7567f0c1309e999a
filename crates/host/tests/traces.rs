//! Requests of traces that depend on others: pauses of a closed loop, flushes of writes, writes of flushes.

use crate::stepping::Delay;
use interpulse_engine::{Device, Op, SimTime};
use interpulse_host::{FreeRunning, Host, Observer, Pause, Stepper, Submitted};
use interpulse_workload::{FlowSpec, TracePacing, TraceSpec};

/// Submissions: time in us, operation.
#[derive(Default)]
struct Log(Vec<(u64, Op)>);

impl Observer for Log {
    fn request_submitted(&mut self, submitted: &Submitted) {
        self.0.push((submitted.at.as_ns() / 1000, submitted.request.op));
    }
}

fn flow(name: &str, text: &str, pacing: TracePacing) -> FlowSpec {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the test folder is writable");
    FlowSpec::trace(name, TraceSpec { pacing, ..TraceSpec::new(path) })
}

/// Submissions of the flow to a device whose requests take 100 us. With `BATCHES` its power is cut at 250 us.
fn submissions<const BATCHES: bool>(flow: &FlowSpec) -> Vec<(u64, Op)> {
    let mut log = Log::default();
    let host = Host::new(Delay::<BATCHES>::new(1), std::slice::from_ref(flow), 1, &mut log).unwrap();
    let mut s = Stepper::new(host, FreeRunning);
    s.open().unwrap();
    let ended = s.run(SimTime(1 << 40), u64::MAX, &mut |_| true);
    assert!(matches!(ended, Ok(Pause::Done)), "{ended:?}");
    assert_eq!(s.host.device.outstanding(), 0);
    drop(s);
    log.0
}

use Op::{Flush, Read, Write};

const V2: &str = "fio version 2 iolog\n/f read 0 512\n/f read 512 512\n/f wait 250\n/f write 0 512\n/f sync 0 0\n\
                  /f write 0 512\n/f read 0 512\n";

#[test]
fn a_pause_delays_the_next_request_of_a_closed_loop() {
    let at = |depth| submissions::<false>(&flow("pause.log", V2, TracePacing::Closed { depth }));
    assert_eq!(at(1), [(0, Read), (100, Read), (450, Write), (550, Flush), (650, Write), (750, Read)]);
    // Both slots are free when the pause ends.
    assert_eq!(at(2), [(0, Read), (0, Read), (350, Write), (350, Flush), (450, Write), (450, Read)]);
    assert_eq!(at(9)[..4], [(0, Read), (0, Read), (250, Write), (250, Flush)]);
}

#[test]
fn a_pause_before_the_first_request_delays_the_start_and_one_after_the_stop_ends_the_flow() {
    let text = "fio version 2 iolog\n/f wait 70\n/f read 0 512\n/f wait 400\n/f read 0 512\n";
    let first = flow("first.log", text, TracePacing::Closed { depth: 2 });
    assert_eq!(submissions::<false>(&first), [(70, Read), (470, Read)]);
    let stopped = FlowSpec { stop: Some(SimTime(300_000)), ..first };
    assert_eq!(submissions::<false>(&stopped), [(70, Read)]);
}

const FLUSHES: &str = "8,0 1 1 0.000000 9 Q FWFS 0 + 8 [x]\n8,0 1 2 0.000030 9 Q R 0 + 8 [x]\n\
                       8,0 1 3 0.000050 9 Q FWS 8 + 8 [x]\n8,0 1 4 0.000060 9 Q FN [x]\n";

#[test]
fn a_flush_of_a_write_is_submitted_when_the_write_has_completed() {
    let open = flow("flushes.blkparse", FLUSHES, TracePacing::Recorded { speed: 1.0 });
    let expected = [(0, Write), (30, Read), (50, Flush), (60, Flush), (100, Flush), (150, Write)];
    assert_eq!(submissions::<false>(&open), expected);
    // In a closed loop it takes the place of the next request.
    let closed = flow("flushes_closed.blkparse", FLUSHES, TracePacing::Closed { depth: 1 });
    let expected = [(0, Write), (100, Flush), (200, Read), (300, Flush), (400, Write), (500, Flush)];
    assert_eq!(submissions::<false>(&closed), expected);
}

/// A power loss at 250 us drops the outstanding requests with what follows them; the flow goes on at 900 us.
#[test]
fn a_power_loss_drops_followers_and_keeps_the_depth_after_a_pause() {
    let closed = flow("cut.blkparse", FLUSHES, TracePacing::Closed { depth: 1 });
    // The read is lost; the flush of the second write follows.
    let expected = [(0, Write), (100, Flush), (200, Read), (900, Flush), (1000, Write), (1100, Flush)];
    assert_eq!(submissions::<true>(&closed), expected);
    let paused = flow("cut_pause.log", V2, TracePacing::Closed { depth: 2 });
    let expected = [(0, Read), (0, Read), (900, Write), (900, Flush), (1000, Write), (1000, Read)];
    assert_eq!(submissions::<true>(&paused), expected);
}
