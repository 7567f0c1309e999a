//! Value types of keys: how each is parsed, checked, displayed and hashed.

use crate::decimal::{BadDecimal, Decimal, divided};
use crate::value::{Value, is_plain, plain};
use interpulse_engine::electric::{CURRENT_UNITS, ENERGY_PER_BIT_UNITS, POWER_UNITS, VOLTAGE_UNITS};
use interpulse_engine::{Bytes, Current, Duration, EnergyPerBit, Limit, Power, Voltage};

/// How values of one type are parsed and displayed.
pub(crate) struct ValueType<T: 'static> {
    /// Name in messages.
    pub noun: &'static str,
    /// Base unit of the canonical form; empty for plain numbers and words.
    pub unit: &'static str,
    /// Largest value unless a spec says otherwise.
    pub ceiling: Option<T>,
    /// Value of a required key while keys are declared and nothing is written.
    pub example: T,
    pub parse: fn(&Value) -> Result<T, Refusal>,
    /// The value in base units.
    pub canonical: fn(&T) -> String,
    /// The value as a user would write it; reading it gives the value again.
    pub display: fn(&T) -> String,
}

/// Why a value is not of a type.
#[derive(Clone, Default, Debug)]
pub(crate) struct Refusal {
    /// More precise than the noun, if set.
    pub expected: Option<String>,
    pub hint: Option<String>,
}

impl Refusal {
    fn expecting(expected: impl Into<String>) -> Refusal {
        Refusal { expected: Some(expected.into()), hint: None }
    }

    fn hinting(hint: impl Into<String>) -> Refusal {
        Refusal { expected: None, hint: Some(hint.into()) }
    }
}

/// 100 days: below 2^53 ns, so that floats stay exact.
const LONGEST: Duration = Duration(100 * 86_400 * 1_000_000_000);

/// Declares the kinds of quantities that are whole numbers of a base unit, written with a unit: noun, base unit, largest
/// value, example, units, example as it is written, and what gives the number.
macro_rules! quantities {
    ($($kind:ident: $type:ident, $noun:literal, $unit:literal, $most:expr, $example:expr, $units:expr, $such:literal, $get:ident;)+) => {
        $(pub(crate) const $kind: ValueType<$type> = ValueType {
            noun: $noun,
            unit: $unit,
            ceiling: Some($most),
            example: $example,
            parse: |value| with_unit(value, &$units, $noun, $such).map($type),
            canonical: |value| value.$get().to_string(),
            display: $type::to_string,
        };)+
    };
}

quantities! {
    DURATION: Duration, "a duration", "ns", LONGEST, Duration::from_us(80), DURATION_UNITS, "80us", as_ns;
    BYTES: Bytes, "a size", "B", Bytes(1 << 60), Bytes::kib(16), BYTE_UNITS, "16KiB", get;
    CURRENT: Current, "a current", "uA", Current(1_000_000_000), Current(25_000), Units { names: CURRENT_UNITS, base: "microamperes" }, "25mA", as_ua;
    VOLTAGE: Voltage, "a voltage", "mV", Voltage(100_000), Voltage(3_300), Units { names: VOLTAGE_UNITS, base: "millivolts" }, "3.3V", as_mv;
    POWER: Power, "a power", "uW", Power(1_000_000_000_000), Power(1_500_000), Units { names: POWER_UNITS, base: "microwatts" }, "1.5W", as_uw;
    ENERGY_PER_BIT: EnergyPerBit, "an energy per bit", "fJ/bit", EnergyPerBit(1_000_000_000), EnergyPerBit(5_000), Units { names: ENERGY_PER_BIT_UNITS, base: "femtojoules per bit" }, "5pJ/bit", as_fj;
}

const DURATION_UNITS: Units = Units {
    names: &[
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
        ("w", 7 * 86_400_000_000_000),
        ("y", 365 * 86_400_000_000_000),
    ],
    base: "nanoseconds",
};

/// A mean or a volume: a size that need not be whole bytes.
pub(crate) const AMOUNT: ValueType<f64> = ValueType {
    noun: "a size",
    unit: "B",
    ceiling: Some(1e18),
    example: 4096.0,
    parse: amount,
    canonical: f64::to_string,
    display: |&bytes| {
        let fits = |&&(_, scale): &&(&str, u64)| bytes >= scale as f64;
        let binary = &BYTE_UNITS.names[..5];
        let &(name, scale) = binary.iter().rev().find(fits).unwrap_or(&binary[0]);
        format!("{}{name}", bytes / scale as f64)
    },
};

const BYTE_UNITS: Units = Units {
    names: &[
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
    ],
    base: "bytes",
};

pub(crate) const RATE: ValueType<u64> = ValueType {
    noun: "a transfer rate",
    unit: "/s",
    ceiling: Some(1_000_000_000_000),
    example: 400_000_000,
    parse: |value| with_unit(value, &RATE_UNITS, "a transfer rate", "400MT/s"),
    canonical: u64::to_string,
    display: |&rate| {
        let fits = |&&(_, scale): &&(&str, u64)| rate >= scale;
        let &(name, scale) = RATE_UNITS.names.iter().rev().find(fits).unwrap_or(&RATE_UNITS.names[0]);
        format!("{}{name}", divided(rate, scale))
    },
};

const RATE_UNITS: Units = Units {
    names: &[("T/s", 1), ("kT/s", 1_000), ("MT/s", 1_000_000), ("GT/s", 1_000_000_000)],
    base: "transfers per second",
};

/// A power, or a current of the supply concerned.
pub(crate) const LIMIT: ValueType<Limit> = ValueType {
    noun: "a power or a current",
    unit: "",
    ceiling: None,
    example: Limit::Power(Power(10_000_000)),
    parse: |value| {
        let is_current = matches!(value, Value::String(text) if text.trim_end().ends_with('A'));
        let parsed = if is_current {
            (CURRENT.parse)(value).map(Limit::Current)
        } else {
            (POWER.parse)(value).map(Limit::Power)
        };
        parsed.map_err(|refusal| match refusal {
            Refusal { expected: None, .. } => Refusal::hinting("give a unit, such as \"10W\" or \"3A\""),
            refused => refused,
        })
    },
    canonical: |limit| match limit {
        Limit::Power(power) => format!("{}uW", power.as_uw()),
        Limit::Current(current) => format!("{}uA", current.as_ua()),
    },
    display: Limit::to_string,
};

pub(crate) const PER_SECOND: ValueType<f64> = ValueType {
    noun: "a number per second",
    unit: "/s",
    ceiling: Some(1e12),
    example: 1_500.0,
    parse: per_second,
    canonical: f64::to_string,
    display: |rate| format!("{rate}/s"),
};

pub(crate) const U64: ValueType<u64> = ValueType {
    noun: "a whole number",
    unit: "",
    ceiling: None,
    example: 1,
    parse: |value| match value {
        Value::Integer(number) => u64::try_from(*number).map_err(|_| out_of_range(*number, u64::MAX)),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Err(Refusal::hinting(format!("write {number}")))
        }
        _ => Err(Refusal::default()),
    },
    canonical: u64::to_string,
    display: u64::to_string,
};

pub(crate) const U32: ValueType<u32> = ValueType {
    noun: "a whole number",
    unit: "",
    ceiling: None,
    example: 1,
    parse: |value| {
        let wide = (U64.parse)(value)?;
        u32::try_from(wide).map_err(|_| out_of_range(i128::from(wide), u64::from(u32::MAX)))
    },
    canonical: u32::to_string,
    display: u32::to_string,
};

pub(crate) const F64: ValueType<f64> = ValueType {
    noun: "a number",
    unit: "",
    ceiling: None,
    example: 1.0,
    parse: |value| match value {
        Value::Integer(number) => Ok(*number as f64),
        Value::Float(number) if number.is_finite() => Ok(*number),
        _ => Err(Refusal::default()),
    },
    canonical: f64::to_string,
    display: f64::to_string,
};

pub(crate) const FRACTION: ValueType<f64> = ValueType {
    noun: "a fraction",
    unit: "",
    ceiling: Some(1.0),
    example: 0.3,
    parse: |value| match value {
        Value::String(text) => match Decimal::split(text) {
            Ok((number, "%")) => Ok(number.nearest(-2)),
            Err(BadDecimal::Negative) => Err(negative("a fraction")),
            _ => Err(Refusal::hinting("such as 0.3 or \"30%\"")),
        },
        number => match (F64.parse)(number)? {
            number if number < 0.0 => Err(negative("a fraction")),
            number => Ok(number),
        },
    },
    canonical: f64::to_string,
    display: f64::to_string,
};

pub(crate) const BOOL: ValueType<bool> = ValueType {
    noun: "true or false",
    unit: "",
    ceiling: None,
    example: false,
    parse: |value| match value {
        Value::Bool(flag) => Ok(*flag),
        _ => Err(Refusal::default()),
    },
    canonical: bool::to_string,
    display: bool::to_string,
};

pub(crate) const STRING: ValueType<String> = ValueType {
    noun: "a text",
    unit: "",
    ceiling: None,
    example: String::new(),
    parse: |value| match value {
        Value::String(text) => Ok(text.clone()),
        _ => Err(Refusal::hinting("put it in quotes")),
    },
    canonical: String::clone,
    display: |text| plain(text),
};

/// Longest name that a table of results has room for.
const LONGEST_NAME: usize = 60;

/// A text that results, tables and messages show as it is.
pub(crate) const NAME: ValueType<String> = ValueType {
    noun: "a name",
    parse: |value| match value {
        Value::String(text)
            if text.trim().is_empty()
                || !text.chars().all(is_plain)
                || text.chars().count() > LONGEST_NAME =>
        {
            Err(Refusal::expecting(format!(
                "a name of 1 to {LONGEST_NAME} characters without line breaks and control characters"
            )))
        }
        Value::String(text) => Ok(text.clone()),
        _ => Err(Refusal::hinting("put it in quotes")),
    },
    unit: "",
    ceiling: None,
    example: String::new(),
    canonical: String::clone,
    display: String::clone,
};

/// Units of one kind, each so many base units.
struct Units {
    names: &'static [(&'static str, u64)],
    base: &'static str,
}

impl Units {
    fn list(&self) -> String {
        let names: Vec<&str> = self.names.iter().map(|(name, _)| *name).collect();
        match names.split_last() {
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => String::new(),
        }
    }
}

fn with_unit(value: &Value, units: &Units, noun: &str, example: &str) -> Result<u64, Refusal> {
    let give_a_unit = || Refusal::hinting(format!("give a unit, such as \"{example}\""));
    let text = match value {
        Value::String(text) => text,
        Value::Integer(_) | Value::Float(_) => return Err(give_a_unit()),
        _ => return Err(Refusal::default()),
    };
    let (number, unit) = match Decimal::split(text) {
        Ok((_, "")) => return Err(give_a_unit()),
        Ok(split) => split,
        Err(BadDecimal::Negative) => return Err(negative(noun)),
        Err(BadDecimal::TooLong) => return Err(Refusal::expecting(format!("{noun} with fewer digits"))),
        Err(BadDecimal::NoNumber) => return Err(Refusal::hinting(format!("such as \"{example}\""))),
    };
    let Some(&(_, scale)) = units.names.iter().find(|(name, _)| *name == unit) else {
        let expected = format!("{noun} in {}", units.list());
        let near = units.names.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
        let hint = near.map(|(name, _)| format!("did you mean \"{name}\"?"));
        return Err(Refusal { expected: Some(expected), hint });
    };
    let whole = number
        .whole(scale)
        .ok_or_else(|| Refusal::expecting(format!("{noun} that is a whole number of {}", units.base)))?;
    u64::try_from(whole).map_err(|_| Refusal::expecting(format!("{noun} that fits into 64 bits")))
}

fn amount(value: &Value) -> Result<f64, Refusal> {
    let example = "such as \"11.6KiB\"";
    let Value::String(text) = value else {
        return Err(Refusal::hinting(format!("give a unit, {example}")));
    };
    match Decimal::split(text) {
        Ok((_, "")) => Err(Refusal::hinting(format!("give a unit, {example}"))),
        Ok((number, unit)) => match BYTE_UNITS.names.iter().find(|(name, _)| *name == unit) {
            Some(&(_, scale)) => Ok(number.nearest(0) * scale as f64),
            None => Err(Refusal::expecting(format!("a size in {}", BYTE_UNITS.list()))),
        },
        Err(BadDecimal::Negative) => Err(negative("a size")),
        Err(_) => Err(Refusal::hinting(example)),
    }
}

fn per_second(value: &Value) -> Result<f64, Refusal> {
    let example = "such as \"1500/s\" or \"200kIOPS\"";
    let Value::String(text) = value else { return Err(Refusal::hinting(format!("give a unit, {example}"))) };
    let (number, unit) = match Decimal::split(text) {
        Ok(split) => split,
        Err(BadDecimal::Negative) => return Err(negative("a number per second")),
        Err(_) => return Err(Refusal::hinting(example)),
    };
    let prefix = unit.strip_suffix("IOPS").or_else(|| unit.strip_suffix("/s"));
    let power = match prefix {
        Some("") => 0,
        Some("k") => 3,
        Some("M") => 6,
        Some(_) => {
            return Err(Refusal::expecting("a number per second in /s, k/s, M/s, IOPS, kIOPS or MIOPS"));
        }
        None => return Err(Refusal::hinting(format!("give a unit, {example}"))),
    };
    Ok(number.nearest(power))
}

fn negative(noun: &str) -> Refusal {
    Refusal::expecting(format!("{noun} that is not negative"))
}

fn out_of_range(number: i128, most: u64) -> Refusal {
    match number {
        ..0 => negative("a whole number"),
        _ => Refusal::expecting(format!("a whole number of at most {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn again<T>(kind: &ValueType<T>, value: T) -> Result<T, Refusal> {
        (kind.parse)(&Value::String((kind.display)(&value)))
    }

    #[test]
    fn a_year_is_365_days_and_m_is_no_unit() {
        let ns = |text: &str| (DURATION.parse)(&Value::String(text.to_string())).map(Duration::as_ns);
        let day = 86_400_000_000_000;
        let twice = ["1d", "2w", "1y", "0.5y"].map(|text| ns(text).unwrap() * 2);
        assert_eq!(twice, [2, 28, 730, 365].map(|n| n * day));
        let refused = ns("5m").unwrap_err();
        assert_eq!(refused.expected.as_deref(), Some("a duration in ns, us, ms, s, min, h, d, w or y"));
    }

    proptest! {
        /// What is shown can be written back and means the same.
        #[test]
        fn shown_values_read_back(ns in any::<u64>(), n in any::<u64>(), exponent in 0u32..60, tenths in 0u64..10_000_000) {
            prop_assert_eq!(again(&DURATION, Duration(ns)).unwrap(), Duration(ns));
            prop_assert_eq!(again(&BYTES, Bytes(n >> exponent)).unwrap(), Bytes(n >> exponent));
            prop_assert_eq!(again(&RATE, n >> exponent).unwrap(), n >> exponent);
            prop_assert_eq!(again(&CURRENT, Current(n >> exponent)).unwrap(), Current(n >> exponent));
            prop_assert_eq!(again(&VOLTAGE, Voltage(n >> exponent)).unwrap(), Voltage(n >> exponent));
            prop_assert_eq!(again(&POWER, Power(n >> exponent)).unwrap(), Power(n >> exponent));
            prop_assert_eq!(again(&ENERGY_PER_BIT, EnergyPerBit(n >> exponent)).unwrap(), EnergyPerBit(n >> exponent));
            let rate = tenths as f64 / 10.0;
            prop_assert_eq!(again(&PER_SECOND, rate).unwrap(), rate);
        }

        /// Any text is read or refused, by every kind.
        #[test]
        fn no_text_panics(text in ".{0,40}", number in any::<i128>(), float in any::<f64>()) {
            for value in [Value::String(text), Value::Integer(number), Value::Float(float)] {
                let _ = (DURATION.parse)(&value);
                let _ = (BYTES.parse)(&value);
                let _ = (RATE.parse)(&value);
                let _ = (CURRENT.parse)(&value);
                let _ = (VOLTAGE.parse)(&value);
                let _ = (POWER.parse)(&value);
                let _ = (LIMIT.parse)(&value);
                let _ = (ENERGY_PER_BIT.parse)(&value);
                let _ = (PER_SECOND.parse)(&value);
                let _ = (AMOUNT.parse)(&value);
                let _ = (U32.parse)(&value);
                let _ = (F64.parse)(&value);
                let _ = (FRACTION.parse)(&value);
            }
        }
    }
}
