//! Memory admission: the number of cases that fit into memory, checked before a run starts.

use super::free_memory::{self, FreeMemory};
use crate::config::Case;
use interpulse_workload::AddressSpec;

/// Cases and states that fit into memory together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Concurrent cases, possibly fewer than requested.
    pub jobs: usize,
    /// States being built or kept for waiting cases.
    pub states: usize,
    /// No second state fits: each case builds its own.
    pub apart: bool,
    /// Note for the user if less than requested.
    pub note: Option<String>,
}

/// Memory demand of the mapping tables of these cases with `jobs` running at a time.
pub fn demand(cases: &[Case], jobs: usize) -> MemoryDemand {
    MemoryDemand {
        largest: cases.iter().map(bytes).max().unwrap_or(0),
        most: 2 * jobs.clamp(1, cases.len().max(1)) as u64,
    }
}

/// Memory demand of cases.
#[derive(Clone, Copy, Debug)]
pub struct MemoryDemand {
    /// Bytes of the largest case.
    largest: u64,
    /// Most copies at a time.
    most: u64,
}

impl MemoryDemand {
    /// Bytes of `cases` cases.
    pub fn bytes(self, cases: usize) -> u64 {
        self.largest.saturating_mul(self.most.min(cases as u64))
    }
}

/// Admits `jobs` concurrent cases, or fewer. Err is the message for a case that does not fit alone.
pub fn admit(cases: &[Case], jobs: usize) -> Result<Admission, String> {
    admit_within(cases, jobs, free_memory::free())
}

fn admit_within(cases: &[Case], jobs: usize, free: Option<FreeMemory>) -> Result<Admission, String> {
    let jobs = jobs.clamp(1, cases.len().max(1));
    let whole = Admission { jobs, states: jobs, apart: false, note: None };
    let (Some(free), Some((largest, name))) = (free, cases.iter().map(|c| (bytes(c), &c.name)).max()) else {
        return Ok(whole);
    };
    let takes = format!("the maps of case \"{name}\" take {} of memory", size(largest));
    let there = format!("{} are free{}", size(free.bytes), free.by);
    // Memory holds running cases and states for waiting ones; the last case takes the state itself.
    let copies = usize::try_from(free.bytes / largest.max(1)).unwrap_or(usize::MAX);
    if copies >= cases.len().min(2 * jobs) {
        return Ok(whole);
    }
    let note = |jobs: usize| Some(format!("{takes}, {there}: {jobs} at a time"));
    match copies {
        0 => Err(format!(
            "{takes}, {there}: a smaller drive (geometry.channels, part.blocks-per-plane) takes less"
        )),
        1 => Ok(Admission { jobs: 1, states: 1, apart: true, note: note(1) }),
        _ => {
            let fit = jobs.min(copies - 1);
            let note = if fit < jobs { note(fit) } else { None };
            Ok(Admission { jobs: fit, states: fit.min(copies - fit), apart: false, note })
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

/// Bytes of the mapping tables of a case.
fn bytes(case: &Case) -> u64 {
    let uniform = case.precondition.overwrite.as_ref().is_some_and(|o| o.addresses == AddressSpec::Uniform);
    case.drive.mapping_bytes(uniform) * u64::from(case.drives())
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

    fn with(count: usize, jobs: usize, gb: f64) -> Result<Admission, String> {
        admit_within(&cases(count), jobs, Some(FreeMemory { bytes: (gb * 1e9) as u64, by: " there" }))
    }

    /// Jobs, states and whether each case builds its own state.
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
        assert_eq!(admit_within(&cases(6), 2, None).map(|room| (room.jobs, room.states)), Ok((2, 2)));
    }
}
