//! Consistency checks of failing blocks and injected faults.

use super::{DriveSpec, Fault, FaultKind, FaultSpec, Impossible, WearOut};
use crate::ftl::page::placement::stripe::Allocation;
use interpulse_engine::Bytes;
use interpulse_flash::DieId;

impl DriveSpec {
    /// Checks what failing blocks and injected faults do not go together with.
    pub(super) fn check_faults(&self) -> Result<(), Impossible> {
        let fails = !self.schedule.iter().all(Fault::stalls);
        let Some(faults) = self.faults.or(fails.then_some(FaultSpec::NONE)) else { return Ok(()) };
        let faults = &faults;
        let why = "imposed write amplification has no blocks that could wear out or fail";
        Impossible::unless(!self.ftl.gc.imposes(), &[self.fault_key(), "ftl.gc"], why)?;
        let why = "no source says how reprogramming wears a block, nor what a failed reprogram leaves";
        Impossible::unless(self.ftl.reprogram.is_none(), &[self.fault_key(), "ftl.reprogram"], why)?;
        let why = "the data of a failed program returns to the queue of its level, which separation does not follow";
        let hot = self.ftl.hotness.levels() > 0;
        Impossible::unless(!(hot && self.fails_programs()), &["faults.program-failure", "ftl.hotness"], why)?;
        Impossible::unless(!(hot && self.fails_dies()), &["faults.die-failure-every", "ftl.hotness"], why)?;
        self.check_injected(faults)?;
        let why = "failing blocks are followed with one stream of moved data, into which a failed program returns its units: leave out the faults";
        Impossible::unless(self.ftl.mapping.cached().is_none(), &[self.fault_key(), "ftl.mapping"], why)?;
        Impossible::unless(self.ftl.placement.handles() == 0, &[self.fault_key(), "ftl.placement"], why)?;
        let gathers = self.ftl.allocation == Allocation::SuperWordLine;
        Impossible::unless(!gathers, &[self.fault_key(), "ftl.allocation"], why)?;
        self.check_factory_bad_blocks(faults)
    }

    /// Checks that the reserve holds the bad blocks that the drive is made with.
    pub(super) fn check_factory_bad_blocks(&self, faults: &FaultSpec) -> Result<(), Impossible> {
        let blocks = self.geometry.blocks_per_plane;
        let (bad, reserved) = (faults.factory_bad_blocks * f64::from(blocks), self.ftl.reserved(blocks));
        let why = format!(
            "{bad:.1} of the {blocks} blocks of a plane are bad on average; the reserve of {reserved} must hold them"
        );
        let keys = ["faults.factory-bad-blocks", "ftl.bad-block-reserve"];
        Impossible::unless(bad <= f64::from(reserved), &keys, why)
    }

    /// Whether dies may fail.
    pub fn fails_dies(&self) -> bool {
        self.faults.is_some_and(|faults| faults.die_failure_every.is_some())
            || self.schedule.iter().any(Fault::fails_dies)
    }

    /// The first key that makes blocks fail; where none does, that of the first injected fault.
    pub fn fault_key(&self) -> &'static str {
        let of = self.faults.unwrap_or(FaultSpec::NONE);
        let set = [
            (of.wear_out != WearOut::Never, "faults.wear-out"),
            (of.factory_bad_blocks > 0.0, "faults.factory-bad-blocks"),
            (of.program_failure > 0.0, "faults.program-failure"),
            (of.erase_failure > 0.0, "faults.erase-failure"),
        ];
        set.iter().find(|of| of.0).map_or_else(|| self.injection_key(), |of| of.1)
    }

    /// The first key that injects faults at random; where none does, that of the first scheduled fault.
    fn injection_key(&self) -> &'static str {
        let of = self.faults.unwrap_or(FaultSpec::NONE);
        let set = [
            (of.uncorrectable_read > 0.0, "faults.uncorrectable-read"),
            (of.die_failure_every.is_some(), "faults.die-failure-every"),
            (of.die_stall_every.is_some(), "faults.die-stall-every"),
            (!self.schedule.is_empty(), "fault.0.kind"),
        ];
        set.iter().find(|of| of.0).map_or("faults.wear-out", |of| of.1)
    }

    /// Checks what stalls do not go together with.
    pub(super) fn check_stalls(&self) -> Result<(), Impossible> {
        let random = self.faults.is_some_and(|faults| faults.die_stall_every.is_some());
        let stalls = random || self.schedule.iter().any(Fault::stalls);
        let goes = |key, holds, why| Impossible::unless(!stalls || holds, &[key], why);
        let why = "stalls are those of a die, not of a plane that reads on its own";
        goes("part.independent-plane-reads", !self.part.independent_plane_reads, why)?;
        let why = "stalls are not followed in the current through time nor in a budget of power";
        goes("power.trace", self.nand.power.trace.is_none(), why)?;
        goes("power.budget", self.nand.power.budget.is_none(), why)
    }

    fn check_injected(&self, faults: &FaultSpec) -> Result<(), Impossible> {
        let loses = faults.uncorrectable_read > 0.0 || self.schedule.iter().any(Fault::loses_data);
        let why = "recovery reads all dies, and what a lost cache brings back of lost data is not followed: leave out \
                   [power-loss], or faults that lose data";
        let holds = !(loses || self.fails_dies()) || self.power_loss.is_none();
        Impossible::unless(holds, &["power-loss.at", self.injection_key()], why)?;
        let why = "a static order has its die for each address, so a die that fails would leave addresses without a place: use \
                   ftl.allocation = \"dynamic\"";
        let fixed = self.fails_dies() && self.ftl.allocation != Allocation::Dynamic;
        Impossible::unless(!fixed, &["ftl.allocation", self.injection_key()], why)?;
        let g = &self.geometry;
        let failed = |die: u32| {
            self.schedule.iter().any(|fault| match fault.what {
                FaultKind::Die(failed) => failed == die,
                FaultKind::Channel(channel) => g.channel_of(DieId(die)) == channel,
                _ => false,
            })
        };
        let dead = (0..g.dies()).filter(|&die| failed(die)).count() as u32;
        let why = format!("{dead} of {} dies fail; at least half of the dies must be left", g.dies());
        Impossible::unless(dead * 2 <= g.dies(), &["geometry.channels", "geometry.chips-per-channel"], why)?;
        let unit = self.geometry.unit_bytes;
        let most = u64::from(self.logical_units()?) * unit;
        for fault in &self.schedule {
            if let FaultKind::Address(at) = fault.what {
                let why =
                    format!("the address {at} of a [[fault]] is beyond the capacity of {}", Bytes(most));
                Impossible::unless(at.get() < most, &["drive.capacity"], why)?;
            }
        }
        Ok(())
    }

    /// Whether the drive stays writable when the dies of its schedule have failed.
    pub fn survives_scheduled_failures(&self, drive: u32) -> Result<bool, Impossible> {
        let g = &self.geometry;
        let fails = |die: u32| {
            self.schedule.iter().filter(|fault| fault.drive == drive).any(|fault| match fault.what {
                FaultKind::Die(failed) => failed == die,
                FaultKind::Channel(channel) => g.channel_of(DieId(die)) == channel,
                _ => false,
            })
        };
        let live = (0..g.dies()).filter(|&die| !fails(die)).count() as u32;
        let layout = self.layout()?;
        Ok(live == g.dies() || self.ftl_config()?.holds(&layout, live * layout.lanes_per_die, 0))
    }
}
