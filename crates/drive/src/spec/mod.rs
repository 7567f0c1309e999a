//! Drive specification as plain data.

mod acknowledge;
mod cache;
mod capacity;
mod check;
mod controller_checks;
mod copyback_checks;
mod fault_checks;
mod faults;
mod format;
mod format_checks;
mod ftl;
mod log_block_checks;
mod mapping_checks;
mod namespace;
mod namespace_blocks;
mod placement_checks;
mod power_loss_checks;
mod predictable_latency;
mod predictable_latency_checks;
mod reprogram_checks;
mod schedule;
mod slc_checks;
mod sub_block_checks;
mod two_step_checks;
mod wear_before;
mod write_zeroes;
mod zone_checks;

use crate::host_interface::delays::DelaySpec;
use crate::host_interface::link::LinkSpec;
use crate::host_interface::queue_classes::ClassSpec;
use crate::host_interface::queues::Arbitration;
use interpulse_engine::{Bytes, Duration, Power, Voltage};
use interpulse_flash::geometry::Geometry;
use interpulse_flash::hold_up::Placement;
use interpulse_flash::nand::NandConfig;
use interpulse_flash::parts::PartSpec;
use interpulse_settings::{ConfigError, Section, default, keys, optional, required};

pub use crate::dram::spec::DramSpec;
pub use crate::firmware::spec::{FirmwareSpec, TaskSpec};
pub use crate::ftl::page::blocks::free_block::FreeBlock;
pub use crate::ftl::page::mapping::cached::spec::{MapCacheSpec, MapPartition, MappingSpec};
pub use crate::ftl::page::placement::{MOST_HANDLES, MOST_IDENTIFIERS};
pub use crate::read_cache::spec::{Eviction, Partitioning, ReadAheadSpec, ReadCacheSpec};
pub use acknowledge::{Acknowledge, WhenCached};
pub use cache::CacheSpec;
pub use capacity::{Capacity, Wanted};
pub use check::Impossible;
pub use faults::{FaultSpec, WearOut};
pub use format::FormatSpec;
pub use ftl::{Family, FtlSpec, UnmappedReads};
pub use namespace::{MOST_NAMESPACES, NamespacePlace, NamespaceSpec};
pub use namespace_blocks::OwnBlocks;
pub use predictable_latency::PredictableLatencySpec;
pub use schedule::{Fault, FaultKind, Stalled, When};
pub use wear_before::WearBefore;
pub use write_zeroes::WriteZeroes;

/// Specification of a drive.
#[derive(Clone, Debug)]
pub struct DriveSpec {
    /// Flash part.
    pub part: PartSpec,
    /// Array of dies.
    pub geometry: Geometry,
    /// Scheduling, suspension, ECC.
    pub nand: NandConfig,
    /// Mapping, allocation, garbage collection.
    pub ftl: FtlSpec,
    /// Write cache, if any.
    pub cache: CacheSpec,
    /// Timing of the DRAM by its commands; `None` if an access takes the latency of the cache alone.
    pub dram: Option<DramSpec>,
    /// Read cache, if any.
    pub read_cache: Option<ReadCacheSpec>,
    /// Host interface.
    pub host: HostSpec,
    /// Firmware cores by task, if look-ups or collection take firmware time.
    pub firmware: Option<FirmwareSpec>,
    /// Constant power of components other than flash.
    pub constants: PowerConstants,
    /// The version audit tracks one in this many logical units; all of them where power may be lost.
    pub audit_sample: u32,
    /// Power-loss protection; `None` if power is not lost.
    pub power_loss: Option<PowerLossSpec>,
    /// Wear-out, bad blocks and failures; `None` if nothing fails.
    pub faults: Option<FaultSpec>,
    /// Namespaces with FTLs of their own; without any, one FTL manages the drive.
    pub namespaces: Vec<NamespaceSpec>,
    /// Of a namespace as a drive: its place on the drive.
    pub place: NamespacePlace,
    /// Wear before the run; `None` if the state has it.
    pub wear_before: Option<WearBefore>,
    /// Scheduled faults.
    pub schedule: Vec<Fault>,
    /// Scheduled formats.
    pub formats: Vec<FormatSpec>,
    /// Windows of predictable latency mode; `None` without.
    pub predictable_latency: Option<PredictableLatencySpec>,
}

impl DriveSpec {
    /// Whether faults are injected, scheduled or at random, besides those of blocks.
    pub(crate) fn injects_faults(&self) -> bool {
        !self.schedule.is_empty() || self.faults.is_some_and(|faults| faults.injects())
    }

    /// Whether page reads of the host are followed to their end: their data may be lost or count reads, or they may meet a stall.
    pub(crate) fn follows_reads(&self) -> bool {
        self.nand.errors.is_some() || self.injects_faults()
    }

    /// Whether injected faults change what is on flash; stalls do not.
    pub(crate) fn injects_into_flash(&self) -> bool {
        !self.schedule.iter().all(Fault::stalls)
            || self.faults.is_some_and(|faults| faults.injects_into_flash())
    }

    /// Whether programs of data may fail.
    pub(crate) fn fails_programs(&self) -> bool {
        self.faults.is_some_and(|faults| faults.program_failure > 0.0)
            || self.schedule.iter().any(|fault| matches!(fault.what, FaultKind::Program(_)))
    }
}

const DAY: Duration = Duration::from_ms(24 * 3_600_000);

keys! {
    /// Power loss, and the drive's protection against it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PowerLossSpec, pub fn read(s) {
        /// Simulated time of the cut; `None` leaves it to an owner.
        pub at: Option<Duration> => {
            let doc = "simulated time at which power is cut";
            Some(s.duration("at", doc, required().at_most(DAY * 100))?)
        },
        /// how long power is off
        pub off_for: Duration = duration(default(Duration::from_ms(100)).at_most(DAY)),
        /// time between two checkpoints of the map, with which recovery begins
        pub checkpoint_every: Duration =
            duration(default(Duration::from_ms(1000)).within(Duration::from_us(100)..=DAY)),
        /// which dies save the cache on the energy of capacitors
        pub save_to: Placement = choice(Some("first-free"), Placement::ALL),
        /// Energy source of the drive after a cut, if its size is required.
        pub capacitor: Option<Capacitor> => Capacitor::read(s)?,
    }
}

/// Capacitors behind a converter, which delivers the share `efficiency_ppm` of 1/2 C (charged^2 - lowest^2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacitor {
    /// Voltage at the cut.
    pub charged: Voltage,
    /// Lowest input voltage of the converter.
    pub lowest: Voltage,
    /// Efficiency of the converter, in millionths.
    pub efficiency_ppm: u32,
}

impl Capacitor {
    /// Capacitors of a cache save; configured by their voltage.
    fn read(s: &mut Section) -> Result<Option<Capacitor>, ConfigError> {
        let range = optional().within(Voltage(500)..=Voltage(1_000_000));
        let doc = "voltage of the capacitors at the cut; their size is in the result where it is given";
        let charged = s.optional_voltage("capacitor-voltage", doc, range)?;
        s.when(charged.is_some(), "a given capacitor-voltage", |s| {
            Capacitor::charged_to(s, charged.unwrap_or(Voltage(u64::MAX)))
        })
    }

    fn charged_to(s: &mut Section, charged: Voltage) -> Result<Capacitor, ConfigError> {
        let doc = "voltage of the capacitors at which the drive's converter shuts down";
        let range = required().within(Voltage(100)..=Voltage(1_000_000)).typical(Voltage(6_000));
        let lowest = s.voltage("capacitor-lowest", doc, range)?;
        let doc = "share of the capacitors' energy that the converter delivers";
        let efficiency = s.fraction("capacitor-efficiency", doc, default(1.0).within(0.01..=1.0))?;
        let expected =
            format!("less than capacitor-voltage = {charged}: a capacitor gives energy as its voltage falls");
        s.check(lowest < charged, "capacitor-lowest", expected)?;
        Ok(Capacitor { charged, lowest, efficiency_ppm: (efficiency * 1e6).round() as u32 })
    }

    /// Capacitance that delivers `energy_aj` to the drive, in nF, rounded up.
    pub fn nanofarads(&self, energy_aj: u128) -> u128 {
        let [charged, lowest] = [self.charged, self.lowest].map(|v| u128::from(v.0));
        // 1 nF at 1 mV^2 is 10^-15 J, a thousand aJ.
        let per_nf = (charged * charged - lowest * lowest) * 1_000 / 2;
        (energy_aj * 1_000_000).div_ceil(per_nf * u128::from(self.efficiency_ppm))
    }
}

keys! {
    /// Constant power draws; `None` where unknown.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PowerConstants, pub fn read(s) {
        /// power of the controller, always drawn
        pub controller: Option<Power> = optional_power(optional().at_most(MOST_POWER)),
        /// power of the DRAM, always drawn
        pub dram: Option<Power> = optional_power(optional().at_most(MOST_POWER)),
    }
}

/// Largest constant power of a drive.
const MOST_POWER: Power = Power(1_000_000_000);

impl PowerConstants {
    /// Constant powers of `drives` drives together.
    pub fn of_drives(&self, drives: u32) -> PowerConstants {
        let all = |one: Option<Power>| one.map(|one| Power(one.0 * u64::from(drives)));
        PowerConstants { controller: all(self.controller), dram: all(self.dram) }
    }
}

keys! {
    /// Host interface.
    #[derive(Clone, Debug, PartialEq)]
    pub struct HostSpec, pub fn read(s, link_section: &mut Section) {
        /// one submission/completion queue pair for each weight
        pub queue_weights: Vec<u32> = list_u32(Some(&[1]), required().within(1..=256)),
        /// depth of each queue pair
        pub queue_depth: u32 = u32(default(1024).within(1..=65535)),
        /// arbitration between queues
        pub arbitration: Arbitration = choice(Some("round-robin"), Arbitration::ALL),
        /// Classes of the queue pairs.
        pub classes: Option<ClassSpec> => {
            let classes = arbitration == Arbitration::Classes;
            s.when(classes, "arbitration = \"classes\"", ClassSpec::read)?
        },
        /// most commands in the controller at a time
        pub frame_buffer: u32 = u32(default(1024).within(1..=1 << 20)),
        /// most data of a command (NVMe: MDTS): the host splits larger reads, writes and comparisons into commands; if left out, no
        /// limit
        pub max_transfer: Option<Bytes> = optional_bytes(optional().within(Bytes::kib(4)..=Bytes::mib(128))),
        /// what the drive does with Write Zeroes; in zones, where nothing is deallocated, zeros are written
        pub write_zeroes: WriteZeroes = choice(Some("deallocate"), WriteZeroes::ALL),
        /// firmware time of a command
        pub firmware: Duration = duration(default(Duration::from_us(10)).at_most(Duration::from_ms(10))),
        /// commands that the firmware processes at a time; if left out, any number: its time is then a latency that limits
        /// no rate
        pub firmware_cores: Option<u32> = optional_u32(optional().within(1..=1024)),
        /// Delays of commands by a distribution; `None` without.
        pub delays: Option<DelaySpec> => { DelaySpec::read(s)? },
        /// host timeout of a command; slower commands are counted and continue
        pub command_timeout: Option<Duration> = optional_duration(optional().positive()),
        /// Abort commands that the host has outstanding at a time; `None` if it aborts nothing.
        pub abort_limit: Option<u32> => {
            let doc = "Abort commands outstanding at a time (NVMe: ACL): the host aborts commands that exceed command-timeout, as \
                       many at a time; if left out, they continue";
            let abort = |s: &mut Section| s.optional_u32("abort-limit", doc, optional().within(1..=256));
            s.when(command_timeout.is_some(), "a given command-timeout", abort)?.flatten()
        },
        /// what connects the drive to its host
        pub link: LinkSpec = ["kind"] (link_section) policy(Some("pcie"), LinkSpec::ROWS),
    } check {
        s.check((1..=1024).contains(&queue_weights.len()), "queue-weights", "1 to 1024 weights")?;
        let legal = format!("one class, or one for each of the {} pairs of queue-weights", queue_weights.len());
        let covers = classes.as_ref().is_none_or(|of| of.covers(queue_weights.len()));
        s.check(covers, "queue-classes", legal)?;
        let power_of_two = max_transfer.is_none_or(|of| of.get().is_power_of_two());
        s.check(power_of_two, "max-transfer", "4KiB to 128MiB, a power of two")?;
    }
}
