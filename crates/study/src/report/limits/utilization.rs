//! Utilization of the resources of a drive, or of each drive of an array.

use crate::config::Case;
use crate::run::Measured;
use interpulse_drive::DriveCounters;
use interpulse_drive::host_interface::delays::DelaySpec;
use interpulse_drive::spec::TaskSpec;
use interpulse_engine::{Bytes, Duration};
use interpulse_flash::command::DieActivity;
use serde_json::{Value, json};

/// Busy share of the window, of the resources of one kind on one drive.
#[derive(Clone, Copy)]
struct Share {
    mean: f64,
    busiest: f64,
}

/// Utilization of one kind of resource.
pub(super) struct Use {
    pub(super) name: &'static str,
    /// Of each drive.
    drives: Vec<Share>,
}

impl Use {
    /// Of `per_drive` resources on each drive.
    fn each(name: &'static str, busy_ns: &[u64], per_drive: usize, window_ns: f64) -> Use {
        let of = |drive: &[u64]| {
            let shares = || drive.iter().map(|&ns| ns as f64 / window_ns);
            Share { mean: shares().sum::<f64>() / drive.len() as f64, busiest: shares().fold(0.0, f64::max) }
        };
        Use { name, drives: busy_ns.chunks(per_drive.max(1)).map(of).collect() }
    }

    /// A resource of which a drive has one, or whose parts share their load evenly.
    fn one_of_each(name: &'static str, shares: impl Iterator<Item = f64>) -> Use {
        Use { name, drives: shares.map(|share| Share { mean: share, busiest: share }).collect() }
    }

    /// As [`Use::one_of_each`] of a drive on its own.
    pub(super) fn even(name: &'static str, share: f64) -> Use {
        Use::one_of_each(name, std::iter::once(share))
    }

    /// Mean of all resources of the kind.
    pub(super) fn mean(&self) -> f64 {
        self.drives.iter().map(|of| of.mean).sum::<f64>() / self.drives.len().max(1) as f64
    }

    /// The drive whose resources are the busiest on average, and that average.
    pub(super) fn busiest_drive(&self) -> (usize, f64) {
        self.most(|of| of.mean)
    }

    /// The busiest resource: its drive and its share.
    pub(super) fn busiest(&self) -> (usize, f64) {
        self.most(|of| of.busiest)
    }

    fn most(&self, share: impl Fn(&Share) -> f64) -> (usize, f64) {
        let shares = self.drives.iter().map(share).enumerate();
        shares.fold((0, 0.0), |most, each| if each.1 > most.1 { each } else { most })
    }

    /// Name of one resource of the kind.
    pub(super) fn alone(&self) -> &'static str {
        match self.name {
            "dies" => "one_die",
            "channels" => "one_channel",
            "command_buses" => "one_command_bus",
            "decoders" => "one_decoder",
            // One on each drive.
            name => name,
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({ "mean": self.mean(), "busiest": self.busiest().1 })
    }
}

/// Utilization of all resources.
pub(super) fn uses(m: &Measured, case: &Case, window: f64) -> Vec<Use> {
    let geometry = &case.drive.geometry;
    let (dies, channels) = (geometry.dies() as usize, geometry.channels as usize);
    let idle = DieActivity::Idle as usize;
    let busy: Vec<u64> = m.dies.iter().map(|uses| uses.iter().sum::<u64>() - uses[idle]).collect();
    let mut all =
        vec![Use::each("dies", &busy, dies, window), Use::each("channels", &m.channels, channels, window)];
    if !m.command_buses.is_empty() {
        all.push(Use::each("command_buses", &m.command_buses, channels, window));
    }
    if case.drive.nand.ecc_interval > Duration::ZERO {
        all.push(Use::each("decoders", &m.decoders, channels, window));
    }
    let loads = loads(m, case);
    if !loads.is_empty() {
        of_hosts(&mut all, &loads, case, window);
        of_tasks(&mut all, m, case, window);
    }
    all
}

/// Commands of a drive, and bytes that they read and write.
type Load = (u64, Bytes, Bytes);

/// Load of each drive. Drives that joined an array during the run have no times of their dies, and are left out.
fn loads(m: &Measured, case: &Case) -> Vec<Load> {
    if case.array.is_some() {
        return m
            .loads
            .iter()
            .map(|of| (of.commands, of.read, of.written))
            .take(m.each_drive.len())
            .collect();
    }
    let of = &m.window.counters;
    let commands = of.requests + m.drive.split_commands - m.drive.split_requests;
    let read = Bytes(of.read_bytes - of.compared_bytes);
    vec![(commands, read, Bytes(of.written_bytes + of.compared_bytes))]
}

/// Link and firmware cores for host commands.
fn of_hosts(all: &mut Vec<Use>, loads: &[Load], case: &Case, window: f64) {
    let host = &case.drive.host;
    let links: Vec<[f64; 2]> =
        loads.iter().map(|&(commands, read, written)| host.link.occupancy(commands, read, written)).collect();
    for (direction, name) in ["link_to_drive", "link_to_host"].into_iter().enumerate() {
        all.push(Use::one_of_each(name, links.iter().map(|of| of[direction] * 1e9 / window)));
    }
    if let Some(cores) = host.firmware_cores {
        let delay = host.delays.as_ref().map_or(0.0, DelaySpec::mean_ns);
        let each = (host.firmware.as_ns() as f64 + delay) / f64::from(cores) / window;
        all.push(Use::one_of_each("firmware", loads.iter().map(|of| of.0 as f64 * each)));
    }
}

/// DRAM and firmware cores by task.
fn of_tasks(all: &mut Vec<Use>, m: &Measured, case: &Case, window: f64) {
    if case.drive.dram.is_some() {
        let busy = m.each_drive.iter().map(|of| of.dram_busy_time as f64 / window);
        all.push(Use::one_of_each("dram", busy));
    }
    let Some(firmware) = &case.drive.firmware else { return };
    let mut task = |name, of: TaskSpec, busy: fn(&DriveCounters) -> u64| {
        if of.time > Duration::ZERO {
            let share = |drive| busy(drive) as f64 / f64::from(of.cores) / window;
            all.push(Use::one_of_each(name, m.each_drive.iter().map(share)));
        }
    };
    task("firmware_mapping", firmware.mapping, |of| of.firmware_mapping_time);
    task("firmware_collection", firmware.collection, |of| of.firmware_collection_time);
}
