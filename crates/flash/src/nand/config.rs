//! Configuration of a flash array besides geometry and part.

use super::power::PowerConfig;
use super::queue::{GcReadRank, Policy};
use crate::command::Effect;
use crate::errors::ErrorSpec;
use crate::suspend::SuspendPolicy;
use crate::variation::LongOperations;
use interpulse_engine::Duration;
use std::sync::Arc;

/// Behaviour of the array besides geometry and part.
#[derive(Clone, Debug)]
pub struct NandConfig {
    /// Which waiting transaction a die takes next.
    pub policy: Policy,
    /// How reads of garbage collection rank under read priority.
    pub gc_reads: GcReadRank,
    /// How long programs and erases last.
    pub long_operations: LongOperations,
    /// When and how programs are suspended.
    pub program_suspend: SuspendPolicy,
    /// When and how erases are suspended.
    pub erase_suspend: SuspendPolicy,
    /// Whether a program that runs inside a suspended erase may itself be suspended.
    pub nesting: bool,
    /// Whether reads of different planes of a die are sensed together.
    pub multi_plane_reads: bool,
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
    /// Suspension policy for operations with this effect.
    #[inline]
    pub(crate) fn suspend_policy(&self, effect: Effect) -> &SuspendPolicy {
        match effect {
            Effect::Erases => &self.erase_suspend,
            _ => &self.program_suspend,
        }
    }
}
