//! Electrical quantities as whole numbers, so that sums of energies are exact.
//!
//! Current times time is a charge: 1 uA for 1 ns is 1 fC. A charge times a voltage is an energy: 1 fC at 1 mV is 1 aJ
//! (10^-18 J). Charges and energies are `u128`: no run overflows them.

use crate::time::Duration;
use std::fmt;

/// Declares quantities: type, what it counts, its units by name and size (ascending), the accessor of the count.
macro_rules! quantities {
    ($($name:ident, $count:ident: $doc:literal, $units:ident = [$(($unit:literal, $scale:literal)),+];)+) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
        pub struct $name(pub u64);

        #[doc = concat!("Units of [`", stringify!($name), "`], each so many of its smallest one.")]
        pub const $units: &[(&str, u64)] = &[$(($unit, $scale)),+];

        impl $name {
            /// None.
            pub const ZERO: $name = $name(0);

            /// The number of the smallest unit.
            #[inline]
            pub const fn $count(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                show(self.0, $units, f)
            }
        }
    )+};
}

quantities! {
    Current, as_ua: "A current in microamperes.", CURRENT_UNITS = [("uA", 1), ("mA", 1_000), ("A", 1_000_000)];
    Voltage, as_mv: "A voltage in millivolts.", VOLTAGE_UNITS = [("mV", 1), ("V", 1_000)];
    Power, as_uw: "A power in microwatts.", POWER_UNITS = [("uW", 1), ("mW", 1_000), ("W", 1_000_000)];
    EnergyPerBit, as_fj: "Energy per bit moved, in femtojoules.", ENERGY_PER_BIT_UNITS =
        [("fJ/bit", 1), ("pJ/bit", 1_000), ("nJ/bit", 1_000_000)];
}

/// A limit on what a supply gives, as it was written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub enum Limit {
    /// A power.
    Power(Power),
    /// A current.
    Current(Current),
}

impl Limit {
    /// The current that the limit allows at `voltage`, rounded down.
    pub fn current(self, voltage: Voltage) -> Current {
        match self {
            Limit::Current(current) => current,
            Limit::Power(power) => Current(power.0.saturating_mul(1_000) / voltage.0.max(1)),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Power(power) => power.fmt(f),
            Limit::Current(current) => current.fmt(f),
        }
    }
}

impl Current {
    /// In milliamperes, for reports only.
    pub fn as_ma_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The charge that flows in `time`, in fC.
    #[inline]
    pub fn charge(self, time: Duration) -> u128 {
        u128::from(self.0) * u128::from(time.as_ns())
    }
}

impl Voltage {
    /// The energy of a charge in fC, in aJ.
    #[inline]
    pub fn energy(self, charge: u128) -> u128 {
        charge * u128::from(self.0)
    }
}

impl EnergyPerBit {
    /// The energy of a byte in aJ.
    #[inline]
    pub fn of_byte(self) -> u64 {
        self.0 * 8 * 1000
    }
}

/// In the largest unit of which there is at least one, as the shortest exact decimal.
fn show(count: u64, units: &[(&str, u64)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let &(name, scale) = units.iter().rev().find(|&&(_, scale)| count >= scale).unwrap_or(&units[0]);
    let (whole, rest) = (count / scale, count % scale);
    if rest == 0 {
        return write!(f, "{whole}{name}");
    }
    let digits = format!("{rest:0width$}", width = scale.ilog10() as usize);
    write!(f, "{whole}.{}{name}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 25 mA at 3.3 V for 80 us are 6.6 uJ; 5 pJ/bit are 40 pJ a byte.
    #[test]
    fn energies_are_exact() {
        let charge = Current(25_000).charge(Duration::from_us(80));
        assert_eq!(charge, 2_000_000_000);
        assert_eq!(Voltage(3_300).energy(charge), 6_600_000_000_000);
        assert_eq!(EnergyPerBit(5_000).of_byte(), 40_000_000);
    }

    #[test]
    fn quantities_are_shown_in_their_largest_unit() {
        let shown = [
            (Current(10).to_string(), "10uA"),
            (Current(25_000).to_string(), "25mA"),
            (Current(6_250).to_string(), "6.25mA"),
            (Current(0).to_string(), "0uA"),
            (Voltage(3_300).to_string(), "3.3V"),
            (Power(1_500_000).to_string(), "1.5W"),
            (EnergyPerBit(12_500).to_string(), "12.5pJ/bit"),
        ];
        for (seen, expected) in shown {
            assert_eq!(seen, expected);
        }
    }
}
