//! Save plan: time and energy of saving the cache on dies that become free at different times.
//!
//! A program occupies its channel for command, page loads and set-up, as in normal operation, then runs the nominal train of
//! the part. A die without work draws idle current until its last program and standby current after it; a die that holds a
//! suspended erase draws that current.

use super::Placement;
use super::die_path::Path;
use crate::geometry::{Geometry, Timing};
use crate::ids::DieId;
use crate::parts::{PartSpec, power::Draw};
use interpulse_engine::Duration;

/// Time and energy of a save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Save {
    /// Dies with an operation in progress at the cut.
    pub busy: u32,
    /// Time until the last die is free, whether or not the save uses it.
    pub ready: Duration,
    /// Time from the cut to the end of the last program.
    pub time: Duration,
    /// Save programs.
    pub programs: u64,
    /// VDDcore energy of operations in progress at the cut, until the end of the save, in aJ.
    pub finishing: u128,
    /// VDDcore energy of the programs and their page loads, in aJ.
    pub saving: u128,
    /// VDDcore energy of dies that wait, hold an erase or are deselected, in aJ.
    pub resting: u128,
    /// VDDQ energy of the bus, in aJ.
    pub bus: u128,
}

impl Save {
    /// Total flash energy, in aJ.
    pub fn energy(&self) -> u128 {
        self.finishing + self.saving + self.resting + self.bus
    }
}

#[derive(Clone, Copy, Default)]
struct Die {
    free: Duration,
    /// End of its last program; zero before the first.
    end: Duration,
    busy: Duration,
}

/// Plans the save of `pages` on dies that first complete `paths`.
pub fn save(geometry: &Geometry, part: &PartSpec, paths: &[Path], pages: u64, placement: Placement) -> Save {
    let mut save = Save {
        busy: paths.iter().filter(|path| !path.segments.is_empty()).count() as u32,
        ready: paths.iter().map(Path::length).max().unwrap_or(Duration::ZERO),
        ..Save::default()
    };
    let (power, timing) = (&part.power, Timing::new(part, geometry.unit_bytes));
    let program = part.program;
    let page_bytes = *timing.bytes_of_units.last().expect("a page has units");
    let mut dies: Vec<Die> = paths.iter().map(|path| Die { free: path.length(), ..Die::default() }).collect();
    let mut channels = vec![Duration::ZERO; geometry.channels as usize];
    let channel_of = |d: usize| geometry.channel_of(DieId(d as u32)) as usize;
    let per_channel = geometry.dies() / geometry.channels;
    let in_turn = |k: u64| {
        ((k % u64::from(geometry.channels)) * u64::from(per_channel)
            + k / u64::from(geometry.channels) % u64::from(per_channel)) as usize
    };
    let most = u64::from(geometry.pages_per_program * geometry.planes);
    let draws = [Draw::ProgramPulse, Draw::ProgramReset, Draw::ProgramVerify];
    let (mut left, mut charge, mut moved) = (pages, 0, 0);
    while left > 0 {
        let these = left.min(most);
        let d = match placement {
            Placement::InTurn => in_turn(save.programs),
            Placement::FirstFree => (0..dies.len())
                .min_by_key(|&d| dies[d].free.max(channels[channel_of(d)]))
                .expect("a drive has dies"),
        };
        let begin = dies[d].free.max(channels[channel_of(d)]);
        let load = timing.command + (timing.page_load + timing.buffer_setup) * these;
        channels[channel_of(d)] = begin + load;
        let end = begin + load + program.total();
        dies[d].busy += load + program.total();
        (dies[d].free, dies[d].end) = (end, end);
        charge += power.current(Draw::Load).charge(load);
        charge +=
            (0..3).map(|k| power.current(draws[k]).charge(program.split(program.total())[k])).sum::<u128>();
        moved += these * page_bytes;
        save.programs += 1;
        save.time = save.time.max(end);
        left -= these;
    }
    save.saving = power.vcc.energy(charge);
    save.bus = u128::from(moved) * u128::from(power.bus_in.of_byte());
    let (mut finishing, mut resting) = (0, 0);
    for (die, path) in dies.iter().zip(paths) {
        finishing += path.charge(power, save.time);
        let free = path.length().min(save.time);
        let [waits, rests] = if path.holds { [Draw::Hold; 2] } else { [Draw::Idle, Draw::Standby] };
        let used = die.end.max(free);
        resting += power.current(waits).charge(used - free - die.busy);
        resting += power.current(rests).charge(save.time - used);
    }
    (save.finishing, save.resting) = (power.vcc.energy(finishing), power.vcc.energy(resting));
    save
}
