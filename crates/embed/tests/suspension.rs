//! Does the suspension of a running device change at an instant, for the operations that begin after it, and does nothing get lost?

use interpulse_embed::{Device, Duration, Error, Options, Request, SimTime, Suspension};
use proptest::prelude::*;

/// A drive whose host mixes reads with writes that erase.
const DRIVE: &str = "drive = \"a4-mini\"\npart.blocks-per-plane = 24\nprecondition.fill = 1.0\n";
const ARRAY: &str = "array.level = \"raid0\"\narray.drives = 2\n";

fn options(more: &str) -> Options {
    Options::new(format!("{DRIVE}{more}"))
}

fn sets(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|&(key, value)| (key.into(), value.into())).collect()
}

fn read(options: &Options, of: &[(&str, &str)]) -> Result<Suspension, Error> {
    Suspension::read(options, &sets(of))
}

/// Submits a mixed load from `from` on.
fn load(device: &mut Device, from: SimTime, requests: u64) {
    let bytes = device.capacity(1).unwrap();
    for k in 0..requests {
        let offset = k.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (bytes / 16_384) * 16_384;
        let request = if k % 3 == 0 { Request::read(offset, 4096) } else { Request::write(offset, 16_384) };
        device.submit(from + Duration::from_us(20 * k), &request).unwrap();
    }
}

/// Suspensions of programs and of erases so far.
fn suspends(device: &mut Device) -> (u64, u64) {
    let counters: serde_json::Value = serde_json::from_str(&device.counters().to_json()).unwrap();
    let of = |name: &str| counters["nand"][name].as_u64().unwrap();
    (of("program_suspends"), of("erase_suspends"))
}

fn drain(device: &mut Device) {
    while device.advance_to_completion(None).unwrap() {
        while device.pop().is_some() {}
    }
}

#[test]
fn suspensions_begin_and_end_with_a_change() {
    let options = options("");
    let mut device = Device::create(&options).unwrap();
    assert_eq!((device.suspension().program(), device.suspension().erase()), ("none", "none"));
    let both = [("suspend.program.scheme", "immediate"), ("suspend.erase.scheme", "deferred")];
    let (on, off) = (read(&options, &both).unwrap(), read(&options, &[]).unwrap());
    assert_eq!((on.program(), on.erase()), ("immediate", "deferred"));
    let mut seen = Vec::new();
    for suspension in [&off, &on, &off] {
        // Programs of the write cache that are under way would keep the policy with which they began.
        device.rest().unwrap();
        device.set_suspension(suspension).unwrap();
        assert_eq!(device.suspension(), *suspension);
        let before = suspends(&mut device);
        let from = device.now() + Duration::from_ms(1);
        load(&mut device, from, 12_000);
        drain(&mut device);
        let after = suspends(&mut device);
        seen.push((after.0 - before.0, after.1 - before.1));
    }
    assert_eq!((seen[0], seen[2]), ((0, 0), (0, 0)), "without a scheme nothing is suspended");
    assert!(seen[1].0 > 0 && seen[1].1 > 0, "{seen:?}");
    device.finish().unwrap();
}

#[test]
fn an_operation_keeps_the_limits_with_which_it_began() {
    let options = options("suspend.program.scheme = \"immediate\"\nsuspend.erase.scheme = \"immediate\"\n");
    let once = [("suspend.program.max-suspends", "1"), ("suspend.program.max-suspended-time", "1us")];
    let mut device = Device::create(&options).unwrap();
    load(&mut device, SimTime(1_000), 3_000);
    // Operations are suspended at most of these instants: none of them may see a limit that it has exceeded already.
    for k in 0..200 {
        device.advance_to(SimTime(1_000_000 + k * 137_000)).unwrap();
        device.set_suspension(&read(&options, if k % 2 == 0 { &once } else { &[] }).unwrap()).unwrap();
    }
    drain(&mut device);
    device.finish().unwrap();
}

#[test]
fn drives_of_an_array_change_together() {
    let options = Options::new(format!("{ARRAY}{DRIVE}"));
    let mut device = Device::create(&options).unwrap();
    device.set_suspension(&read(&options, &[("suspend.program.scheme", "ideal")]).unwrap()).unwrap();
    load(&mut device, SimTime(1_000), 2_000);
    drain(&mut device);
    assert!(suspends(&mut device).0 > 0);
    device.finish().unwrap();
}

#[test]
fn refusals_name_what_is_legal() {
    let options = options("");
    for (key, value, expected) in [
        ("suspend.erase.scheme", "never", "deferred"),
        ("suspend.erase.max-suspends", "0", "max-suspends"),
        ("suspend.erase.pages", "lower", "an erase has no pages"),
        ("suspend.nesting", "true", "legal while the drive runs"),
        ("seed", "3", "legal while the drive runs"),
        ("suspend.erase.defer-after", "1ms", "defer-after"),
    ] {
        match read(&options, &[(key, value)]) {
            Err(Error::Config(why)) => assert!(why.contains(expected) && why.contains(key), "{why}"),
            other => panic!("{key}: {other:?}"),
        }
    }
    let mut kept = Device::create(&Options { journal: true, ..options.clone() }).unwrap();
    let refused = kept.set_suspension(&read(&options, &[]).unwrap());
    assert!(matches!(refused, Err(Error::State(why)) if why.contains("journal")));
    let mut device = Device::create(&options).unwrap();
    device.finish().unwrap();
    assert_eq!(device.set_suspension(&read(&options, &[]).unwrap()), Err(Error::Finished));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Whatever changes, whenever: audits hold, and the division of time into calls does not matter.
    #[test]
    fn changes_at_any_instant_lose_nothing(
        changes in prop::collection::vec((0_u64..40_000_000, 0_usize..10, 0_usize..10, 0_u32..4), 1..12),
        resume in 0_usize..3,
    ) {
        let resume = ["drained", "batch", "timer\"\nsuspend.erase.resume-after = \"30us"][resume];
        let options = options(&format!("suspend.erase.resume = \"{resume}\"\n"));
        let names: Vec<_> = Suspension::schemes().collect();
        let mut changes = changes;
        changes.sort_unstable();
        let run = |step: Duration| {
            let mut device = Device::create(&options).unwrap();
            load(&mut device, SimTime(1_000), 1_500);
            let mut completed = Vec::new();
            for &(at, program, erase, limit) in &changes {
                while device.now() < SimTime(at) {
                    let to = (device.now() + step).min(SimTime(at));
                    device.advance_to(to).unwrap();
                }
                let limit = limit.to_string();
                let mut of = vec![
                    ("suspend.program.scheme", names[program % names.len()]),
                    ("suspend.erase.scheme", names[erase % names.len()]),
                ];
                if limit != "0" {
                    of.push(("suspend.program.max-suspends", &limit));
                }
                device.set_suspension(&read(&options, &of).unwrap()).unwrap();
            }
            while device.advance_to_completion(None).unwrap() {
                while let Some(done) = device.pop() {
                    completed.push((done.tag, done.completed));
                }
            }
            let suspended = suspends(&mut device);
            device.finish().unwrap();
            (completed, suspended)
        };
        prop_assert_eq!(run(Duration::from_us(7)), run(Duration::from_ms(100)));
    }
}
