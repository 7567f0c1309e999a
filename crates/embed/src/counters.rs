//! Counters of a device since its creation.

use crate::machine::{Machine, Simulated};
use interpulse_array::array::ArrayCounters;
use interpulse_drive::ftl::log_block::LogBlockFtl;
use interpulse_drive::ftl::log_block::counters::LogBlockCounters;
use interpulse_drive::ftl::zoned::counters::ZoneCounters;
use interpulse_drive::{DriveCounters, FtlCounters, SlcCounters};
use interpulse_engine::CounterInfo;
use interpulse_flash::nand::{ErrorCounters, NandCounters};
use interpulse_host::HostCounters;
use interpulse_study::run::zone_counters;
use interpulse_study::run_target::DeviceCounters;
use serde_json::{Map, Value, json};

/// Counters since creation, of all drives together (docs/COUNTERS.md).
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// Requests and bytes completed.
    pub host: HostCounters,
    /// Host interface and caches.
    pub drive: DriveCounters,
    /// FTL.
    pub ftl: FtlCounters,
    /// SLC caches.
    pub slc: SlcCounters,
    /// Zones, of a zoned drive.
    pub zones: Option<ZoneCounters>,
    /// Log blocks, of a drive with log blocks.
    pub log_blocks: Option<LogBlockCounters>,
    /// Flash array.
    pub nand: NandCounters,
    /// Bit errors, if an error table is configured.
    pub errors: Option<ErrorCounters>,
    /// The array, of an array.
    pub array: Option<ArrayCounters>,
}

impl Counters {
    pub(crate) fn read<D: Simulated>(machine: &mut Machine<D>) -> Counters {
        let now = machine.now();
        let device = &mut machine.device;
        let all = DeviceCounters::read(device, now);
        let mut drive = DriveCounters::default();
        let mut errors: Option<ErrorCounters> = None;
        for of in device.drives() {
            drive.add(&of.counters);
            if let Some(reliability) = of.nand().reliability() {
                errors.get_or_insert_default().add(&reliability.counters);
            }
        }
        Counters {
            host: machine.counters,
            drive,
            ftl: all.ftl,
            slc: all.slc,
            zones: zone_counters(&device.drives()[0]),
            log_blocks: device.drives()[0].log_block().map(LogBlockFtl::log_counters),
            nand: all.nand,
            errors,
            array: device.array_counters(),
        }
    }

    /// Every counter with its group: `host`, `ftl`, `slc`, `zones`, `log_blocks`, `nand`, `errors` or `array`.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, CounterInfo, u64)> {
        fn group(
            name: &'static str,
            counters: impl Iterator<Item = (CounterInfo, u64)>,
        ) -> impl Iterator<Item = (&'static str, CounterInfo, u64)> {
            counters.map(move |(info, value)| (name, info, value))
        }
        group("host", self.host.iter())
            .chain(group("host", self.drive.iter()))
            .chain(group("ftl", self.ftl.iter()))
            .chain(group("slc", self.slc.iter()))
            .chain(group("zones", self.zones.iter().flat_map(ZoneCounters::iter)))
            .chain(group("log_blocks", self.log_blocks.iter().flat_map(LogBlockCounters::iter)))
            .chain(group("nand", self.nand.iter()))
            .chain(group("errors", self.errors.iter().flat_map(ErrorCounters::iter)))
            .chain(group("array", self.array.iter().flat_map(ArrayCounters::iter)))
    }

    /// The counter `group.name`, such as `ftl.gc_units`; `None` if the device has none of this name.
    pub fn get(&self, name: &str) -> Option<u64> {
        let (group, name) = name.split_once('.')?;
        self.iter().find(|(of, info, _)| *of == group && info.name == name).map(|(_, _, value)| value)
    }

    /// JSON object of the groups.
    pub fn to_json(&self) -> String {
        let mut groups = Map::new();
        for (group, info, value) in self.iter() {
            groups.entry(group).or_insert_with(|| json!({}))[info.name] = json!(value);
        }
        Value::Object(groups).to_string()
    }
}
