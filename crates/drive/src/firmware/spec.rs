//! Keys of firmware cores by task: the section `[firmware]`.

use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Section, default, keys};

/// Cores of a task, and what an operation takes on one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSpec {
    /// Time of an operation; zero for a task without cores.
    pub time: Duration,
    /// Cores.
    pub cores: u32,
}

keys! {
    /// Firmware cores by task, beside those of host commands (`host.firmware`, `host.firmware-cores`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FirmwareSpec, pub fn read(s) {
        /// Look-ups of the map.
        pub mapping: TaskSpec => task(
            s,
            ["mapping-time", "mapping-cores"],
            "firmware time of a look-up of the map, one for each mapping unit that a command touches; 0s for none",
            "firmware cores that look the map up, and do nothing else",
        )?,
        /// Moves of collection.
        pub collection: TaskSpec => task(
            s,
            ["collection-time", "collection-cores"],
            "firmware time of each mapping unit that garbage collection, folding or a refresh moves, after its page read; 0s \
             for none",
            "firmware cores that move data, and do nothing else",
        )?,
        /// Ranges of deallocations.
        pub deallocation: TaskSpec => task(
            s,
            ["deallocation-time", "deallocation-cores"],
            "firmware time of each range of a deallocation (trim), after its look-ups; a command of a flow has one range; 0s for none",
            "firmware cores that deallocate ranges, and do nothing else",
        )?,
    }
}

fn task(
    s: &mut Section,
    [time, cores]: [&'static str; 2],
    time_doc: &'static str,
    cores_doc: &'static str,
) -> Result<TaskSpec, ConfigError> {
    let range = default(Duration::ZERO).at_most(Duration::from_ms(10));
    Ok(TaskSpec {
        time: s.duration(time, time_doc, range)?,
        cores: s.u32(cores, cores_doc, default(1).within(1..=1024))?,
    })
}
