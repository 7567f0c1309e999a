//! What becomes of requests when the device loses power?

use crate::common::{Draw, device, drive};
use interpulse_embed::{Device, Duration, Op, Options, Request, SimTime, StatusCode};

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

/// Cuts of an array at random instants, beside the resync of the cut before, under full audit.
fn cuts_of_array(seed: u64, consistency: &str) -> usize {
    let mut draw = Draw(seed);
    let loss = "[power-loss]\nat = \"100d\"\noff-for = \"2ms\"\n[cache]\nprotected = true\n";
    let array = format!(
        "[audit]\nsample = 1\n[array]\nlevel = \"raid5\"\ndrives = 4\nchunk = \"8KiB\"\n{consistency}"
    );
    let mut of = Device::create(&Options::new(drive(&format!("seed = {seed}\n{loss}{array}"))))
        .unwrap_or_else(|why| panic!("{why}"));
    assert!(of.can_cut_power() && !of.forgets_acknowledged_writes());
    let pages = of.capacity(1).expect("a namespace") / 4096 / 16;
    let mut aborted = 0;
    for _ in 0..6 {
        let begin = of.now().as_ns() + 1;
        for k in 0..150 {
            let (offset, bytes) = (4096 * draw.below(pages), 4096 * (1 + draw.below(6)));
            let request =
                if draw.below(5) == 0 { Request::read(offset, bytes) } else { Request::write(offset, bytes) };
            of.submit(SimTime(begin + 5_000 * k), &request).expect("a legal request");
        }
        of.advance_to(SimTime(begin + 100_000 + draw.below(600_000))).expect("time is legal");
        assert_eq!(of.cut_power(), Ok(true));
        assert_eq!(of.cut_power(), Ok(false), "it is off");
        while of.pending() > 0 {
            of.advance_to_completion(None).expect("the device works");
            of.poll(usize::MAX, |_, done| aborted += usize::from(!done.is_success()));
        }
    }
    let cuts = of.power_cuts();
    assert!(cuts.len() == 6 && cuts.iter().all(|cut| cut.acknowledged_units_lost == 0), "{cuts:?}");
    assert!(
        cuts.iter()
            .all(|cut| cut.served > Some(cut.at + Duration::from_ms(2)) && cut.mounting > Duration::ZERO)
    );
    of.rest().expect("the device works");
    of.finish().unwrap_or_else(|why| panic!("seed {seed}, {consistency}: {why}"));
    aborted
}

#[test]
fn the_host_cuts_the_power_of_arrays_again_and_again() {
    let mut aborted = 0;
    for seed in 0..12 {
        aborted += cuts_of_array(seed, "resync-rate = \"1GiB\"\n");
        aborted += cuts_of_array(seed, "resync-rate = \"4MiB\"\n");
        aborted += cuts_of_array(seed, "consistency = \"ppl\"\nppl-size = \"64KiB\"\n");
    }
    assert!(aborted > 500, "{aborted} requests were in flight");
}
