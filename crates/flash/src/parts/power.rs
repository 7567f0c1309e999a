//! Power of a part: a current for each activity of a die and an energy per bit on the bus.
//!
//! The array is fed from VDDcore, the bus drivers from VDDQ. Data sheets print one current per operation; testers (Zambelli et
//! al. 2021, Figure 3b) measure different currents per phase, so every phase has a key. A current is that of the whole die,
//! whatever the number of active planes; planes that read independently draw one each.

use super::pages::{page_types, read_for_page};
use interpulse_engine::{Current, EnergyPerBit, Voltage};
use interpulse_settings::{ConfigError, Section, default, keys};

/// Largest legal current: far above any die, and low enough for exact sums.
const MAX_CURRENT: Current = Current(10_000_000);

/// Declares the consumers of current: key, default in uA, documentation.
macro_rules! draws {
    ($($variant:ident = $key:literal, $default:literal : $doc:literal;)+) => {
        /// A consumer of current on a die. Sensing counts page types from the least significant: `Sense1` is the second page
        /// of a word line, whatever the bits per cell.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Draw { $(#[doc = $doc] $variant),+ }

        /// Number of [`Draw`] values.
        pub const DRAWS: usize = [$($key),+].len();

        impl Draw {
            /// Every draw with name (its key unless it depends on the page type), default and documentation.
            pub const ALL: [(Draw, &'static str, Current, &'static str); DRAWS] =
                [$((Draw::$variant, $key, Current($default), $doc)),+];
        }
    };
}

draws! {
    Standby = "standby", 10: "current of a die that is not selected";
    Idle = "idle", 5_000: "current of a selected die that waits for the bus or for a command";
    Load = "page-load", 5_000: "current while a page moves into the page buffer";
    Out = "page-out", 5_000: "current while data moves out of the page buffer";
    Sense0 = "sense-lsb", 25_000: "current while a least significant page is sensed";
    Sense1 = "sense-csb", 25_000: "current while a central page is sensed";
    Sense2 = "sense-msb", 25_000: "current while a most significant page is sensed";
    Sense3 = "sense-top", 25_000: "current while a fourth (top) page is sensed";
    Sense4 = "sense-fifth", 25_000: "current while a fifth page is sensed";
    ProgramPulse = "program-pulse", 25_000: "current of a program pulse, a ramp without progress included";
    ProgramReset = "program-reset", 25_000: "current of the voltage reset between program pulse and verify";
    ProgramVerify = "program-verify", 25_000: "current of the verifies of a program loop";
    ErasePulse = "erase-pulse", 25_000: "current of an erase pulse, a ramp without progress included";
    EraseReset = "erase-reset", 25_000: "current of the voltage reset between erase pulse and verify";
    EraseVerify = "erase-verify", 25_000: "current of the verify of an erase loop";
    Discharge = "discharge", 25_000: "current while the word lines are discharged because a phase was cancelled";
    Entry = "suspend-entry", 25_000: "current during the entry into a suspension";
    Hold = "suspended", 5_000: "current of a die that holds a suspended operation and is otherwise idle";
    Reload = "page-buffer-reload", 5_000: "current while the page buffer is loaded from a shadow buffer";
    Resume = "suspend-resume", 25_000: "current during a resume";
}

impl Draw {
    /// Sensing of the `k`-th page type of a word line, least significant first.
    #[inline]
    pub fn sense(k: usize) -> Draw {
        [Draw::Sense0, Draw::Sense1, Draw::Sense2, Draw::Sense3, Draw::Sense4][k]
    }
}

keys! {
    /// Supplies and currents of a part with `bits` bits per cell.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PowerSpec, pub(super) fn read(s, bits: u32) {
        /// VDDcore: supply of the arrays
        pub vcc: Voltage = voltage(default(Voltage(3_300)).within(Voltage(100)..=Voltage(20_000))),
        /// VDDQ: supply of the bus drivers
        pub vccq: Voltage = voltage(default(Voltage(1_800)).within(Voltage(100)..=Voltage(20_000))),
        /// VDDQ energy of a bit that the die sends
        pub bus_out: EnergyPerBit = energy_per_bit(default(EnergyPerBit(5_000)).at_most(EnergyPerBit(1_000_000))),
        /// VDDQ energy of a bit that the die receives
        pub bus_in: EnergyPerBit = energy_per_bit(default(EnergyPerBit(5_000)).at_most(EnergyPerBit(1_000_000))),
        /// VDDcore current by [`Draw`].
        pub currents: [Current; DRAWS] => read_currents(s, bits)?,
    }
}

fn read_currents(s: &mut Section, bits: u32) -> Result<[Current; DRAWS], ConfigError> {
    let mut currents = Draw::ALL.map(|(_, _, current, _)| current);
    for (draw, key, current, doc) in Draw::ALL {
        let range = default(current).at_most(MAX_CURRENT);
        let Some(page) = key.strip_prefix("sense-") else {
            currents[draw as usize] = s.current(key, doc, range)?;
            continue;
        };
        let current = read_for_page(s, bits, page, |s| s.current(key, doc, range))?;
        let place = page_types(bits).iter().position(|&of| of == page);
        if let (Some(place), Some(current)) = (place, current) {
            currents[Draw::sense(place) as usize] = current;
        }
    }
    Ok(currents)
}

impl Default for PowerSpec {
    /// The data sheet figures of `presets/power.toml`.
    fn default() -> PowerSpec {
        PowerSpec {
            vcc: Voltage(3_300),
            vccq: Voltage(1_800),
            bus_out: EnergyPerBit(5_000),
            bus_in: EnergyPerBit(5_000),
            currents: Draw::ALL.map(|(_, _, current, _)| current),
        }
    }
}

impl PowerSpec {
    /// The VDDcore current of `draw`.
    #[inline]
    pub fn current(&self, draw: Draw) -> Current {
        self.currents[draw as usize]
    }
}
