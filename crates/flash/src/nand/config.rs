//! Configuration of a flash array besides geometry and part.

use super::channel::ChannelOrder;
use super::flow_order::HostOrder;
use super::power::PowerConfig;
use super::queue::{GcReadRank, Policy};
use crate::erase::{EraseMethod, MultiBlock};
use crate::errors::ErrorSpec;
use crate::parts::{CommandBus, PartSpec};
use crate::suspend::SuspendPolicy;
use crate::variation::LongOperations;
use interpulse_engine::Duration;
use std::sync::Arc;

/// Suspension of programs and of erases.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspension {
    /// When and how programs are suspended.
    pub program: SuspendPolicy,
    /// When and how erases are suspended.
    pub erase: SuspendPolicy,
}

/// Behaviour of the array besides geometry and part.
#[derive(Clone, Debug)]
pub struct NandConfig {
    /// Which waiting transaction a die takes next.
    pub policy: Policy,
    /// How reads of garbage collection rank under read priority.
    pub gc_reads: GcReadRank,
    /// Order of the host reads that wait for a die.
    pub host_order: HostOrder,
    /// Which waiting transfer a channel serves next.
    pub channel_order: ChannelOrder,
    /// How long programs and erases last.
    pub long_operations: LongOperations,
    /// How blocks are erased.
    pub erase_method: EraseMethod,
    /// How many blocks one erase takes.
    pub multi_block: MultiBlock,
    /// When and how programs are suspended.
    pub program_suspend: SuspendPolicy,
    /// When and how erases are suspended.
    pub erase_suspend: SuspendPolicy,
    /// Whether a program that runs inside a suspended erase may itself be suspended.
    pub nesting: bool,
    /// Whether reads of different planes of a die are sensed together.
    pub multi_plane_reads: bool,
    /// Whether programs of different planes of a die that wait together pulse together.
    pub multi_plane_programs: bool,
    /// Power measurement and budget.
    pub power: PowerConfig,
    /// Word lines of a super layer, within which reprograms come in any order; zero where nothing is reprogrammed.
    pub super_layer: u32,
    /// ECC decode latency of a codeword.
    pub ecc_latency: Duration,
    /// Time between codewords entering a channel's decoder.
    pub ecc_interval: Duration,
    /// Bit errors and what corrects them; `None` for none.
    pub errors: Option<Arc<ErrorSpec>>,
}

impl NandConfig {
    /// The first setting that does not go together with `part` or another setting: the key, and why. `None` if there is none.
    pub fn excluded(&self, part: &PartSpec) -> Option<(&'static str, &'static str)> {
        self.excludes_independent_plane_reads(part)
            .or_else(|| self.excludes_separate_commands(part))
            .or_else(|| self.excludes_multi_plane_programs(part))
            .or_else(|| self.excludes_two_steps(part))
            .or_else(|| self.excludes_multi_block_erases(part))
    }

    /// Whether dies predict whether what they sensed can be corrected.
    pub(super) fn judges_on_die(&self) -> bool {
        self.errors.as_ref().is_some_and(|errors| errors.ecc.retry.on_die().is_some())
    }

    /// What does not go together with independent plane reads of `part`: the key, and why. `None` if nothing does.
    pub fn excludes_independent_plane_reads(&self, part: &PartSpec) -> Option<(&'static str, &'static str)> {
        let cases = [
            (
                self.multi_plane_reads,
                "schedule.multi-plane-reads",
                "sensing together is what independent planes make needless: each starts at once",
            ),
            (
                part.cache.reads,
                "part.cache.read",
                "with cache read a die senses for the next read only, not for one on each plane",
            ),
            (
                part.cache.pages > 0,
                "part.cache.program",
                "no source says which reads keep the data in the cache register of a plane",
            ),
            (self.power.trace.is_some(), "power.trace", "the trace follows one current of a die at a time"),
            (
                self.power.budget.is_some(),
                "power.budget",
                "the budget grants one operation of a die at a time",
            ),
        ];
        let of = |&(excluded, ..): &(bool, _, _)| part.independent_plane_reads && excluded;
        cases.iter().find(|case| of(case)).map(|&(_, key, why)| (key, why))
    }

    /// What does not go together with command pins of their own of `part`: the key, and why. `None` if nothing does.
    pub fn excludes_separate_commands(&self, part: &PartSpec) -> Option<(&'static str, &'static str)> {
        let cases = [
            (
                self.channel_order != ChannelOrder::CommandsFirst,
                "schedule.channel-order",
                "commands and data do not wait for the same pins",
            ),
            (
                part.cache.pages > 0,
                "part.cache.program",
                "a page that is loaded ahead moves with its command over the pins of the data",
            ),
        ];
        let of = |&(excluded, ..): &(bool, _, _)| part.command_bus == CommandBus::Separate && excluded;
        cases.iter().find(|case| of(case)).map(|&(_, key, why)| (key, why))
    }

    /// What does not go together with multi-plane programs of several transactions: the key, and why. `None` if nothing does.
    pub fn excludes_multi_plane_programs(&self, part: &PartSpec) -> Option<(&'static str, &'static str)> {
        let why = "data loaded ahead is that of one program, which may have to wait for others";
        (self.multi_plane_programs && part.cache.pages > 0).then_some(("part.cache.program", why))
    }

    /// What does not go together with programs in two steps of `part`: the key, and why. `None` if nothing does.
    pub fn excludes_two_steps(&self, part: &PartSpec) -> Option<(&'static str, &'static str)> {
        let cases = [
            (
                part.cache.pages > 0,
                "part.cache.program",
                "no source says which step the data in the cache register is for",
            ),
            (
                self.multi_plane_programs,
                "schedule.multi-plane-programs",
                "the word lines of several programs would have to be between the same steps",
            ),
        ];
        let of = |&(excluded, ..): &(bool, _, _)| part.two_step.is_some() && excluded;
        cases.iter().find(|case| of(case)).map(|&(_, key, why)| (key, why))
    }

    /// What does not go together with multi-block erases on `part`: the key, and why. `None` if nothing does.
    pub fn excludes_multi_block_erases(&self, part: &PartSpec) -> Option<(&'static str, &'static str)> {
        let cases = [
            (
                self.erase_method != EraseMethod::Ispe,
                "erase.method",
                "\"aero\" predicts the time of one block, and no source says that of several",
            ),
            (
                part.sub_blocks.count > 1,
                "part.sub-blocks",
                "no source says how the sub-blocks of a block are disturbed that are not erased with it",
            ),
        ];
        let of = |&(excluded, ..): &(bool, _, _)| self.multi_block.is_used() && excluded;
        cases.iter().find(|case| of(case)).map(|&(_, key, why)| (key, why))
    }

    /// Suspension of programs and of erases.
    pub fn suspension(&self) -> Suspension {
        Suspension { program: self.program_suspend.clone(), erase: self.erase_suspend.clone() }
    }

    /// Replaces it.
    pub fn set_suspension(&mut self, suspension: Suspension) {
        (self.program_suspend, self.erase_suspend) = (suspension.program, suspension.erase);
    }
}
