//! Whether the maps of a plan fit into memory, asked before the machine kills the run.

use crate::config::Case;
use interpulse_drive::ftl::Tables;
use interpulse_drive::ftl::oob::Oob;

/// How many states may be made or kept for cases to come while `jobs` cases run. Refuses cases whose maps do not fit into
/// the memory that is free even if it is one; Err is the message for the user.
pub fn states_that_fit(cases: &[Case], jobs: usize) -> Result<usize, String> {
    match free_memory() {
        Some(free) => check_against(cases, jobs, free),
        None => Ok(jobs),
    }
}

fn check_against(cases: &[Case], jobs: usize, free: u64) -> Result<usize, String> {
    let bytes = |case: &Case| {
        let layout = case.drive.layout().expect("the spec has been checked");
        let config = case.drive.ftl_config().expect("the spec has been checked");
        let maps = Tables::map_bytes(&layout, config.logical_units);
        // Out-of-band data, the entries of a checkpoint, and the map that is rebuilt beside the live one.
        let kept = Oob::bytes(layout.units()) + 28 * u64::from(config.logical_units);
        let kept = if case.drive.power_loss.is_some() { kept } else { 0 };
        (maps + kept) * u64::from(case.drives())
    };
    let Some((largest, name)) = cases.iter().map(|c| (bytes(c), &c.name)).max() else { return Ok(1) };
    // Beside the running cases stand the states that those to come will copy; the last one takes the state itself.
    let copies = |states: usize| (jobs + states).min(cases.len()) as u64;
    if let Some(fit) = (1..=jobs).rev().find(|&states| largest * copies(states) <= free) {
        return Ok(fit);
    }
    let copies = copies(1);
    let gb = |bytes: u64| bytes as f64 / 1e9;
    Err(format!(
        "the maps of case \"{name}\" take {:.1} GB of memory, {copies} at a time {:.1} GB; {:.1} GB are free: use fewer \
         --jobs or a smaller drive (geometry.channels, part.blocks-per-plane)",
        gb(largest),
        gb(largest * copies),
        gb(free)
    ))
}

/// Memory that can be had without swapping, where the system tells.
fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{PlanRequest, read_cases};

    #[test]
    fn a_drive_larger_than_memory_is_refused_with_the_figures() {
        let text = "drive = \"a4\"\n[run]\nrequests = 1\n[[flow]]\n".to_string();
        let request = PlanRequest { text, path: "big".into(), ..PlanRequest::default() };
        let cases = read_cases(&request).expect("a legal configuration");
        assert_eq!(
            check_against(&cases, 2, 1_000_000_000),
            Err("the maps of case \"run\" take 1.9 GB of memory, 1 at a time 1.9 GB; 1.0 GB are free: use fewer --jobs \
                 or a smaller drive (geometry.channels, part.blocks-per-plane)"
                .to_string())
        );
        assert_eq!(check_against(&cases, 2, 4_000_000_000), Ok(2));
    }

    #[test]
    fn states_wait_for_their_turn_where_memory_is_short() {
        let mut text = "drive = \"a4\"\n[run]\nrequests = 1\n[[flow]]\n".to_string();
        for name in 0..6 {
            text += &format!("[[case]]\nname = \"{name}\"\n");
        }
        let request = PlanRequest { text, path: "big".into(), ..PlanRequest::default() };
        let cases = read_cases(&request).expect("a legal configuration");
        assert_eq!(check_against(&cases, 2, 8_000_000_000), Ok(2), "four of 1.9 GB");
        assert_eq!(check_against(&cases, 2, 6_000_000_000), Ok(1), "three: as many as ran before");
        assert!(check_against(&cases, 2, 5_000_000_000).is_err());
    }
}
