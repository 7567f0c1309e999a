//! How a flash array behaves.

use super::queue::Policy;
use crate::suspend::SuspendPolicy;
use interpulse_engine::Duration;

/// How the array behaves, besides its geometry and part.
#[derive(Clone, Copy, Debug)]
pub struct NandConfig {
    /// Which waiting transaction a die takes next.
    pub policy: Policy,
    /// When and how programs are suspended.
    pub program_suspend: SuspendPolicy,
    /// When and how erases are suspended.
    pub erase_suspend: SuspendPolicy,
    /// Whether reads of different planes of a die are sensed together.
    pub multi_plane_reads: bool,
    /// ECC decode latency of a codeword.
    pub ecc_latency: Duration,
    /// Time between codewords entering a channel's decoder.
    pub ecc_interval: Duration,
}
