//! A drive as plain data, ready to assemble.

mod acknowledge;
mod capacity;
mod check;

use crate::front::link::LinkSpec;
use crate::front::queues::Arbitration;
use crate::ftl::gc::{FreeCount, GcPolicy, ThresholdBase};
use crate::ftl::hotness::HotnessPolicy;
use crate::ftl::reprogram::ReprogramSpec;
use crate::ftl::stripe::Allocation;
use interpulse_engine::{Bytes, Duration, Power, Voltage};
use interpulse_flash::geometry::Geometry;
use interpulse_flash::hold_up::Placement;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::parts::PartSpec;

pub use acknowledge::{Acknowledge, WhenCached};
pub use capacity::{Capacity, Wanted};
pub use check::Impossible;

/// Everything that makes a drive.
#[derive(Clone, Debug)]
pub struct DriveSpec {
    /// The flash part.
    pub part: PartSpec,
    /// The array of dies.
    pub geometry: Geometry,
    /// Scheduling, suspension, ECC.
    pub nand: NandConfig,
    /// Mapping, allocation, garbage collection.
    pub ftl: FtlSpec,
    /// The write cache.
    pub cache: CacheSpec,
    /// The host interface.
    pub host: HostSpec,
    /// What is not flash and always draws power.
    pub constants: PowerConstants,
    /// One in this many logical units is followed by the version audit; all of them where power may be lost.
    pub audit_sample: u32,
    /// What is kept for a loss of power; `None` if power is not lost.
    pub power_loss: Option<PowerLossSpec>,
}

/// A loss of power, and what the drive does to survive one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerLossSpec {
    /// Simulated time of the cut; `None` leaves it to an owner.
    pub at: Option<Duration>,
    /// How long power is off.
    pub off_for: Duration,
    /// Time between the beginnings of two checkpoints of the map.
    pub checkpoint_every: Duration,
    /// Which dies save the cache.
    pub save_to: Placement,
    /// What feeds the drive meanwhile, where its size is asked for.
    pub capacitor: Option<Capacitor>,
}

/// Capacitors behind a converter: of 1/2 C (charged^2 - lowest^2) the drive gets the share `efficiency_ppm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacitor {
    /// Voltage at the cut.
    pub charged: Voltage,
    /// Voltage at which the converter gives up.
    pub lowest: Voltage,
    /// Efficiency of the converter, in millionths.
    pub efficiency_ppm: u32,
}

impl Capacitor {
    /// The capacitance that gives the drive `energy_aj`, in nF, rounded up.
    pub fn nanofarads(&self, energy_aj: u128) -> u128 {
        let [charged, lowest] = [self.charged, self.lowest].map(|v| u128::from(v.0));
        // 1 nF at 1 mV^2 is 10^-15 J, a thousand aJ.
        let per_nf = (charged * charged - lowest * lowest) * 1_000 / 2;
        (energy_aj * 1_000_000).div_ceil(per_nf * u128::from(self.efficiency_ppm))
    }
}

/// Power that is drawn all the time; `None` where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerConstants {
    /// Of the controller.
    pub controller: Option<Power>,
    /// Of the DRAM.
    pub dram: Option<Power>,
}

impl PowerConstants {
    /// Of so many drives together.
    pub fn of_drives(&self, drives: u32) -> PowerConstants {
        let all = |one: Option<Power>| one.map(|one| Power(one.0 * u64::from(drives)));
        PowerConstants { controller: all(self.controller), dram: all(self.dram) }
    }
}

/// Mapping, allocation, garbage collection.
#[derive(Clone, Debug, PartialEq)]
pub struct FtlSpec {
    /// (physical - logical) / logical, of the pages that can hold data outside the bad-block reserve.
    pub over_provisioning: f64,
    /// What the host sees, where it was asked for; over-provisioning is then what is left, and at least as much as stated.
    pub capacity: Option<Bytes>,
    /// Share of the blocks of each plane kept for replacing bad ones.
    pub bad_block_reserve: f64,
    /// Planes of a die programmed and erased together.
    pub multi_plane: u32,
    /// How writes are spread.
    pub allocation: Allocation,
    /// Victim policy.
    pub gc: GcPolicy,
    /// What the thresholds are shares of.
    pub threshold_base: ThresholdBase,
    /// Garbage collection runs below this share of free blocks.
    pub gc_soft: f64,
    /// What is counted for this.
    pub gc_counts: FreeCount,
    /// Host data may not take the last this share of free blocks.
    pub gc_hard: f64,
    /// Programs of moved data that a lane may have under way; it reads twice as many pages ahead.
    pub gc_depth: u32,
    /// How host data is separated.
    pub hotness: HotnessPolicy,
    /// Hot data goes to reprogrammable blocks.
    pub reprogram: Option<ReprogramSpec>,
    /// A block worn by so many cycles more than another one of its lane has that one rewritten; `None` for never.
    pub wear_gap: Option<u32>,
}

impl FtlSpec {
    /// Blocks kept for replacing bad ones, of a plane that has `blocks`.
    pub(super) fn reserved(&self, blocks: u32) -> u32 {
        libm::ceil(self.bad_block_reserve * f64::from(blocks)) as u32
    }

    /// Mapping units that the host sees of so many physical ones if over-provisioning alone decides: whole MiB, of units
    /// of 4 KiB.
    pub(super) fn logical(&self, units: u64) -> u64 {
        (units as f64 / (1.0 + self.over_provisioning)) as u64 / 256 * 256
    }
}

/// The write cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSpec {
    /// DRAM for written data.
    pub size: Bytes,
    /// Time to write a unit into it or read one from it.
    pub latency: Duration,
    /// When a write is complete.
    pub acknowledge: Acknowledge,
    /// Whether its content survives a loss of power.
    pub protected: bool,
}

/// The host interface.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSpec {
    /// Weight of each submission/completion queue pair.
    pub queue_weights: Vec<u32>,
    /// Depth of each pair.
    pub queue_depth: u32,
    /// How the controller chooses between them.
    pub arbitration: Arbitration,
    /// Most commands in the controller at a time.
    pub frame_buffer: u32,
    /// What connects it.
    pub link: LinkSpec,
    /// Firmware time of a command.
    pub firmware: Duration,
    /// How many commands it works on at a time; any number, as a pipelined latency, where there is no number.
    pub firmware_cores: Option<u32>,
    /// How long the host waits for a command: one that takes longer is counted, and goes on.
    pub command_timeout: Option<Duration>,
}
