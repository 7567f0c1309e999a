//! What a part draws from its supplies: a current for each thing that a die does, and an energy per bit on the bus.
//!
//! The array is fed from VDDcore, the drivers of the bus from VDDQ. Data sheets print one current per operation;
//! testers (Zambelli et al. 2021, Figure 3b) show that it differs from phase to phase, so every phase has a key of its
//! own. A current is that of the whole die, however many of its planes work.

use super::pages::{of_page, page_types};
use interpulse_engine::{Current, EnergyPerBit, Voltage};
use interpulse_settings::{ConfigError, Section, default, keys};

/// The most that any key of a part may give: far above any die, and low enough for sums to stay exact.
const MOST: Current = Current(10_000_000);

/// Declares what a die may draw current for, with key, default in uA, and documentation.
macro_rules! draws {
    ($($variant:ident = $key:literal, $default:literal : $doc:literal;)+) => {
        /// What a die draws current for. The page types of sensing are named for cells of four bits: `Sense1` is the
        /// second page of a word line, which is the most significant one of two bits.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Draw { $(#[doc = $doc] $variant),+ }

        /// Number of [`Draw`] values.
        pub const DRAWS: usize = [$($key),+].len();

        impl Draw {
            /// Every draw with its name, which is its key unless it depends on the page type, its default and one line of
            /// documentation.
            pub const ALL: [(Draw, &'static str, Current, &'static str); DRAWS] =
                [$((Draw::$variant, $key, Current($default), $doc)),+];
        }
    };
}

draws! {
    Standby = "standby", 10: "current of a die that is not selected";
    Idle = "idle", 5_000: "current of a selected die on which nothing runs: it waits for the bus or for a command";
    Load = "page-load", 5_000: "current while a page moves into the page buffer";
    Out = "page-out", 5_000: "current while data moves out of the page buffer";
    Sense0 = "sense-lsb", 25_000: "current while a least significant page is sensed";
    Sense1 = "sense-csb", 25_000: "current while a central page is sensed";
    Sense2 = "sense-msb", 25_000: "current while a most significant page is sensed";
    Sense3 = "sense-top", 25_000: "current while a fourth (top) page is sensed";
    ProgramPulse = "program-pulse", 25_000: "current of a program pulse, a ramp without progress included";
    ProgramReset = "program-reset", 25_000: "current of the voltage reset between program pulse and verify";
    ProgramVerify = "program-verify", 25_000: "current of the verifies of a program loop";
    ErasePulse = "erase-pulse", 25_000: "current of an erase pulse, a ramp without progress included";
    EraseReset = "erase-reset", 25_000: "current of the voltage reset between erase pulse and verify";
    EraseVerify = "erase-verify", 25_000: "current of the verify of an erase loop";
    Discharge = "discharge", 25_000: "current while the word lines are discharged because a phase was cancelled";
    Entry = "suspend-entry", 25_000: "current while the part enters a suspension";
    Hold = "suspended", 5_000: "current of a die that holds a suspended operation and does nothing else";
    Reload = "page-buffer-reload", 5_000: "current while the page buffer is loaded from a shadow buffer";
    Resume = "suspend-resume", 25_000: "current while the part leaves a suspension";
}

impl Draw {
    /// Sensing the page type at place `k` of a word line, the least significant first.
    #[inline]
    pub fn sense(k: usize) -> Draw {
        [Draw::Sense0, Draw::Sense1, Draw::Sense2, Draw::Sense3][k]
    }
}

keys! {
    /// The supplies of a part and what it draws from them, of cells of `bits` bits.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PowerSpec, pub(super) fn read(s, bits: u32) {
        /// VDDcore: supply of the arrays
        // Everything but the bus is fed from it.
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
        let range = default(current).at_most(MOST);
        let Some(page) = key.strip_prefix("sense-") else {
            currents[draw as usize] = s.current(key, doc, range)?;
            continue;
        };
        let current = of_page(s, bits, page, |s| s.current(key, doc, range))?;
        let place = page_types(bits).iter().position(|&of| of == page);
        if let (Some(place), Some(current)) = (place, current) {
            currents[Draw::sense(place) as usize] = current;
        }
    }
    Ok(currents)
}

impl Default for PowerSpec {
    /// The data sheet figures that stand in `presets/power.toml`.
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
