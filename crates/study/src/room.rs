//! How many cases the memory is for, asked before the machine kills the run.

use crate::config::Case;
use crate::memory::{self, Free};
use interpulse_drive::ftl::BlockManager;
use interpulse_drive::ftl::page::power_loss::oob::Oob;
use interpulse_workload::AddressSpec;

/// What may stand in memory together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Cases that run at a time, fewer than asked for where memory is short.
    pub jobs: usize,
    /// States being made or kept for cases to come.
    pub states: usize,
    /// Not even a state for the next case fits beside the one that runs: each case has its state made for itself.
    pub apart: bool,
    /// What to tell the user, where it is less than asked for.
    pub note: Option<String>,
}

/// Bytes that the maps of so many of these cases take in all, `jobs` of them running at a time.
pub fn need(cases: &[Case], jobs: usize) -> Need {
    Need {
        largest: cases.iter().map(bytes).max().unwrap_or(0),
        most: 2 * jobs.clamp(1, cases.len().max(1)) as u64,
    }
}

/// What cases take.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Bytes of the largest.
    largest: u64,
    /// Copies that are never exceeded.
    most: u64,
}

impl Need {
    /// Bytes for so many of them.
    pub fn of(self, cases: usize) -> u64 {
        self.largest.saturating_mul(self.most.min(cases as u64))
    }
}

/// The room for cases of which `jobs` are to run at a time. Refuses a case whose maps do not fit even alone; Err is the
/// message for the user.
pub fn room(cases: &[Case], jobs: usize) -> Result<Room, String> {
    room_in(cases, jobs, memory::free())
}

fn room_in(cases: &[Case], jobs: usize, free: Option<Free>) -> Result<Room, String> {
    let jobs = jobs.clamp(1, cases.len().max(1));
    let whole = Room { jobs, states: jobs, apart: false, note: None };
    let (Some(free), Some((largest, name))) = (free, cases.iter().map(|c| (bytes(c), &c.name)).max()) else {
        return Ok(whole);
    };
    let takes = format!("the maps of case \"{name}\" take {} of memory", size(largest));
    let there = format!("{} are free{}", size(free.bytes), free.by);
    // Beside the running cases stand the states that those to come will copy; the last one takes the state itself.
    let copies = usize::try_from(free.bytes / largest.max(1)).unwrap_or(usize::MAX);
    if copies >= cases.len().min(2 * jobs) {
        return Ok(whole);
    }
    let note = |jobs: usize| Some(format!("{takes}, {there}: {jobs} at a time"));
    match copies {
        0 => Err(format!(
            "{takes}, {there}: a smaller drive (geometry.channels, part.blocks-per-plane) takes less"
        )),
        1 => Ok(Room { jobs: 1, states: 1, apart: true, note: note(1) }),
        _ => {
            let fit = jobs.min(copies - 1);
            let note = if fit < jobs { note(fit) } else { None };
            Ok(Room { jobs: fit, states: fit.min(copies - fit), apart: false, note })
        }
    }
}

fn size(bytes: u64) -> String {
    if bytes < 1_000_000_000 {
        format!("{} MB", bytes.div_ceil(1_000_000))
    } else {
        format!("{:.1} GB", bytes as f64 / 1e9)
    }
}

/// Bytes that the maps of a case take.
fn bytes(case: &Case) -> u64 {
    let layout = case.drive.layout().expect("the spec has been checked");
    let config = case.drive.ftl_config().expect("the spec has been checked");
    let maps = BlockManager::map_bytes(&layout, config.logical_units);
    // Out-of-band data, the entries of a checkpoint, and the map that is rebuilt beside the live one.
    let kept = Oob::bytes(layout.units()) + 28 * u64::from(config.logical_units);
    let kept = if case.drive.power_loss.is_some() { kept } else { 0 };
    // What overwrites are dealt out by, before the rest of it is there: a number for each logical unit, and a bit for each of
    // all units.
    let uniform = case.precondition.overwrite.as_ref().is_some_and(|o| o.addresses == AddressSpec::Uniform);
    let (logical, physical) = (u64::from(config.logical_units), layout.units());
    let dealt = if uniform { 4 * logical + (logical + physical) / 8 } else { 0 };
    (maps + kept.max(dealt)) * u64::from(case.drives())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{PlanRequest, read_cases};

    /// Cases of 1.9 GB each.
    fn cases(count: usize) -> Vec<Case> {
        let mut text = "drive = \"a4\"\n[run]\nrequests = 1\n[[flow]]\n".to_string();
        for name in 0..count {
            text += &format!("[[case]]\nname = \"{name}\"\n");
        }
        let request = PlanRequest { text, path: "big".into(), ..PlanRequest::default() };
        read_cases(&request).expect("a legal configuration")
    }

    fn with(count: usize, jobs: usize, gb: f64) -> Result<Room, String> {
        room_in(&cases(count), jobs, Some(Free { bytes: (gb * 1e9) as u64, by: " there" }))
    }

    /// Jobs, states and whether each case is on its own.
    fn fits(count: usize, jobs: usize, gb: f64) -> (usize, usize, bool) {
        let room = with(count, jobs, gb).expect("one case fits");
        assert_eq!(room.note.is_some(), room.jobs < jobs.min(count) || room.apart, "said where it is less");
        (room.jobs, room.states, room.apart)
    }

    #[test]
    fn a_drive_larger_than_memory_is_refused_with_the_figures() {
        assert_eq!(
            with(1, 2, 1.0),
            Err("the maps of case \"0\" take 1.9 GB of memory, 1.0 GB are free there: a smaller drive \
                 (geometry.channels, part.blocks-per-plane) takes less"
                .to_string())
        );
        assert!(with(6, 2, 1.0).is_err());
        assert_eq!(fits(1, 2, 2.0), (1, 1, false));
    }

    #[test]
    fn states_wait_for_their_turn_and_then_cases_where_memory_is_short() {
        assert_eq!(fits(6, 2, 8.0), (2, 2, false), "four of 1.9 GB");
        assert_eq!(fits(6, 2, 6.0), (2, 1, false), "three: as many run");
        assert_eq!(fits(6, 2, 5.0), (1, 1, false), "two: one runs");
        assert_eq!(fits(6, 2, 3.0), (1, 1, true), "one, and nothing beside it");
        assert_eq!(fits(2, 2, 4.0), (2, 2, false), "the last case takes the state itself");
        assert_eq!(fits(6, usize::MAX, 1e3), (6, 6, false), "no more than there are");
        assert_eq!(
            with(6, 2, 5.0).expect("one fits").note.expect("it is said"),
            "the maps of case \"5\" take 1.9 GB of memory, 5.0 GB are free there: 1 at a time"
        );
    }

    #[test]
    fn a_system_that_tells_nothing_is_trusted() {
        assert_eq!(room_in(&cases(6), 2, None).map(|room| (room.jobs, room.states)), Ok((2, 2)));
    }
}
