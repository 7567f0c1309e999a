//! Schedules of the part `a4-tlc`: loops of 35 us and 90 us, reads of 200 ns + 80 us + 46.08 us.

use super::*;

/// Command, sensing, and the page with its parity: 18,432 B at 400 MT/s.
const READ_NS: u64 = 200 + 80_000 + 46_080;

fn tester(sets: &[(&str, &str)], scheme: &str) -> Tester {
    let scheme = Scheme::all().into_iter().find(|(name, _, _)| *name == scheme).expect("it is registered").1;
    let overrides = [("part.program-suspend-entry", "15us"), ("part.program-resume", "60us")];
    let all = overrides.iter().chain(sets).fold(Document::empty(), |lower, (key, value)| {
        Document::set(key, value).expect("it parses").over(lower).expect("it fits")
    });
    Tester::resolve("a4-tlc", all, scheme, scheme).expect("it is legal")
}

fn probe(first_us: u64, then_us: u64) -> Option<Probe> {
    Some(Probe { first: Duration::from_us(first_us), then: Duration::from_us(then_us), random: false })
}

#[test]
fn an_undisturbed_program_is_pulse_and_verify_in_turn() {
    let schedule = tester(&[("cell.ispp.max-loops", "5")], "loop-boundary").program(None, 0);
    let expected: Vec<Step> = (0..5u32)
        .flat_map(|number| {
            let start = Duration::from_us(125 * u64::from(number));
            let (pulsed, verified) = (start + Duration::from_us(35), start + Duration::from_us(125));
            [
                Step { end: pulsed, own: pulsed, action: Action::Pulse { number, share: 1.0 } },
                Step { end: verified, own: verified, action: Action::Verify { number } },
            ]
        })
        .collect();
    assert_eq!(schedule.steps, expected);
}

/// The read comes 200 us after the first pulse, 50 us before the end of the second loop: entered after 50 + 15 us, read,
/// resumed in 60 us. The next one comes 100 us after the command to resume, 40 us into the third loop.
#[test]
fn a_stop_at_a_loop_end() {
    let schedule = tester(&[("cell.ispp.max-loops", "3")], "loop-boundary").program(probe(200, 100), 0);
    let us = Duration::from_us;
    let read = Duration::from_ns(READ_NS);
    let third = us(250) + us(15) + read + us(60);
    let tail = &schedule.steps[4..];
    assert_eq!(
        tail,
        [
            Step {
                end: us(250),
                own: us(250 + 75),
                action: Action::Suspend { runs_on: us(50), enters: us(15) }
            },
            Step { end: third, own: us(325), action: Action::Rest { length: us(75) + read } },
            Step { end: third + us(35), own: us(360), action: Action::Pulse { number: 2, share: 1.0 } },
            Step { end: third + us(125), own: us(450), action: Action::Verify { number: 2 } },
        ]
    );
}

/// Cancelled 10 us into the second pulse: two sevenths of a pulse, then the whole one again.
#[test]
fn a_cancelled_pulse_is_applied_in_part_and_then_whole() {
    let schedule =
        tester(&[("cell.ispp.max-loops", "2")], "intra-phase-cancel").program(probe(135, 5_000), 0);
    let pulses: Vec<(u32, f64)> = schedule
        .steps
        .iter()
        .filter_map(|step| match step.action {
            Action::Pulse { number, share } => Some((number, share)),
            _ => None,
        })
        .collect();
    assert_eq!(pulses, [(0, 1.0), (1, 10.0 / 35.0), (1, 1.0)]);
}

#[test]
fn every_scheme_gives_whole_verifies_in_order() {
    for (name, _, _) in Scheme::all() {
        let schedule = tester(&[("cell.ispp.max-loops", "8")], name).program(probe(160, 300), 0);
        let verified: Vec<u32> = schedule
            .steps
            .iter()
            .filter_map(|step| if let Action::Verify { number } = step.action { Some(number) } else { None })
            .collect();
        // A verify may be done again, never left out.
        let mut once = verified.clone();
        once.dedup();
        assert_eq!(once, (0..8).collect::<Vec<_>>(), "{name}: {verified:?}");
        assert!(schedule.steps.is_sorted_by_key(|step| step.end), "{name}");
    }
}
