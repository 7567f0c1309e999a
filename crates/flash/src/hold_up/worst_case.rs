//! Worst case: the longest path of a die before it accepts save data, from part and policies.

use super::Erases;
use super::die_path::Path;
use crate::parts::{PartSpec, power::Draw};
use crate::pulse::PulseTrain;
use crate::suspend::{LongOpStatus, SuspendPolicy, SuspendScheme};
use interpulse_engine::{Duration, SimTime};

const ERASE: [Draw; 3] = [Draw::ErasePulse, Draw::EraseReset, Draw::EraseVerify];
const PROGRAM: [Draw; 3] = [Draw::ProgramPulse, Draw::ProgramReset, Draw::ProgramVerify];

/// The longest path: a nominal erase or program (on a drive that `reprograms` also a reprogram) that has just started or just
/// been suspended or, if erases are stopped, the latest stop of the scheme.
pub fn worst(
    part: &PartSpec,
    program: &SuspendPolicy,
    erase: &SuspendPolicy,
    erases: Erases,
    reprograms: bool,
) -> Path {
    let of_two_bits = part.reprogram.filter(|_| reprograms);
    let others = of_two_bits.into_iter().flat_map(|of| [of.mlc_program, of.reprogram]);
    let longest =
        others.fold(part.program, |longest, of| if of.total() > longest.total() { of } else { longest });
    let mut write = whole_train(longest, PROGRAM, program, part.page_buffer_reload);
    let erasing = match erases {
        Erases::Finish => whole_train(part.erase, ERASE, erase, Duration::ZERO),
        Erases::Stop => latest_stop(part.erase, erase, part.planes),
    };
    write.holds = erases == Erases::Stop;
    if erasing.length() > write.length() { erasing } else { write }
}

/// A whole train, preceded by entry and exit of a suspension if the policy permits one.
fn whole_train(of: PulseTrain, draws: [Draw; 3], policy: &SuspendPolicy, reload: Duration) -> Path {
    let mut path = Path::default();
    if policy.can_suspend() && !policy.costs_nothing() {
        path.then(Draw::Entry, policy.costs.reset + policy.costs.entry);
        path.then(Draw::Reload, reload);
        path.then(Draw::Resume, policy.costs.resume);
        path.then(draws[0], policy.resume_ramp);
    }
    let slices = policy.scheme.slices().filter(|_| policy.can_suspend());
    if let Some(slices) = slices {
        path.then(Draw::Resume, slices.overhead);
    }
    path.run_slices(of, draws, Duration::ZERO, slices);
    path
}

/// The latest suspend entry over all phases, for an erase without earlier suspensions and for an overdue one.
fn latest_stop(of: PulseTrain, policy: &SuspendPolicy, planes: u32) -> Path {
    let mut longest = Path::default();
    let ahead = Duration::from_ns(1);
    let one = of.loop_time();
    for k in 0..u64::from(of.loops) {
        let starts = [Duration::ZERO, of.pulse, of.pulse + of.reset];
        for elapsed in starts.into_iter().flat_map(|start| [one * k + start, one * k + start + ahead]) {
            for overdue in [false, true] {
                let at = status(&of, elapsed, planes, overdue);
                let mut path = Path { holds: true, ..Path::default() };
                match policy.final_stop(&at) {
                    Some(stop) => {
                        path.run(of, ERASE, elapsed, elapsed + stop.after);
                        path.then(Draw::Entry, stop.entry);
                    }
                    None => path.run_slices(of, ERASE, elapsed, policy.scheme.slices()),
                }
                if path.length() > longest.length() {
                    longest = path;
                }
            }
        }
    }
    longest
}

fn status(train: &PulseTrain, elapsed: Duration, planes: u32, overdue: bool) -> LongOpStatus<'_> {
    let long = Duration::from_ms(1_000_000);
    let now = SimTime::ZERO + long;
    LongOpStatus {
        train,
        elapsed,
        committed: overdue && elapsed == train.loop_start(elapsed),
        planes,
        suspends: u32::from(overdue),
        first_suspend: if overdue { SimTime::ZERO } else { now },
        resumed: SimTime::ZERO,
        suspended: if overdue { long } else { Duration::ZERO },
        now,
        oldest_write: overdue.then_some(SimTime::ZERO),
    }
}
