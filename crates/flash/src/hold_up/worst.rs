//! The longest that a die can be in the way of a save, by part and policies.

use super::Erases;
use super::path::Path;
use crate::parts::{PartSpec, power::Draw};
use crate::pulse::PulseTrain;
use crate::suspend::{Standing, SuspendPolicy};
use interpulse_engine::{Duration, SimTime};

const ERASE: [Draw; 3] = [Draw::ErasePulse, Draw::EraseReset, Draw::EraseVerify];
const PROGRAM: [Draw; 3] = [Draw::ProgramPulse, Draw::ProgramReset, Draw::ProgramVerify];

/// The longest path of a die: an erase or a program of nominal length that has just begun or just been suspended, or, if erases
/// are stopped, one that stops as late as its scheme may.
pub fn worst(part: &PartSpec, program: &SuspendPolicy, erase: &SuspendPolicy, erases: Erases) -> Path {
    let mut write = from_the_start(part.program, PROGRAM, program, part.page_buffer_reload);
    let erasing = match erases {
        Erases::Finish => from_the_start(part.erase, ERASE, erase, Duration::ZERO),
        Erases::Stop => latest_stop(part.erase, erase, part.planes),
    };
    write.holds = erases == Erases::Stop;
    if erasing.length() > write.length() { erasing } else { write }
}

/// All of a train, after entering and leaving a suspension if it may be suspended.
fn from_the_start(of: PulseTrain, draws: [Draw; 3], policy: &SuspendPolicy, reload: Duration) -> Path {
    let mut path = Path::default();
    if policy.is_on() && !policy.costs_nothing() {
        path.then(Draw::Entry, policy.costs.reset + policy.costs.entry);
        path.then(Draw::Reload, reload);
        path.then(Draw::Resume, policy.costs.resume);
        path.then(draws[0], policy.resume_ramp);
    }
    path.run(of, draws, Duration::ZERO, of.total());
    path
}

/// The latest end of an entry, over all phases, of an erase that has not been stopped before and of one that is overdue.
fn latest_stop(of: PulseTrain, policy: &SuspendPolicy, planes: u32) -> Path {
    let mut longest = Path::default();
    let ahead = Duration::from_ns(1);
    let one = of.loop_time();
    for k in 0..u64::from(of.loops) {
        let starts = [Duration::ZERO, of.pulse, of.pulse + of.reset];
        for elapsed in starts.into_iter().flat_map(|start| [one * k + start, one * k + start + ahead]) {
            for overdue in [false, true] {
                let at = standing(&of, elapsed, planes, overdue);
                let mut path = Path { holds: true, ..Path::default() };
                match policy.stop_for_good(&at) {
                    Some(stop) => {
                        path.run(of, ERASE, elapsed, elapsed + stop.after);
                        path.then(Draw::Entry, stop.entry);
                    }
                    None => path.run(of, ERASE, elapsed, of.total()),
                }
                if path.length() > longest.length() {
                    longest = path;
                }
            }
        }
    }
    longest
}

fn standing(train: &PulseTrain, elapsed: Duration, planes: u32, overdue: bool) -> Standing<'_> {
    let long = Duration::from_ms(1_000_000);
    let now = SimTime::ZERO + long;
    Standing {
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
