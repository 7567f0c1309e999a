//! Time units of traces.

use super::number::{Column, Decimal};
use super::problem::RowFault;
use interpulse_settings::choices;

choices! {
    /// Unit of the times of a trace.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub enum TimeUnit {
        /// whole nanoseconds
        Ns = "ns",
        /// whole ticks of 100 ns, the unit of Windows times
        Ticks = "100ns",
        /// microseconds, decimals allowed
        Us = "us",
        /// milliseconds, decimals allowed
        Ms = "ms",
        /// seconds, decimals allowed
        S = "s",
    }
}

impl TimeUnit {
    /// Length in ns.
    pub fn ns(self) -> u64 {
        match self {
            TimeUnit::Ns => 1,
            TimeUnit::Ticks => 100,
            TimeUnit::Us => 1_000,
            TimeUnit::Ms => 1_000_000,
            TimeUnit::S => 1_000_000_000,
        }
    }

    /// Whether the unit excludes decimals.
    pub fn is_whole(self) -> bool {
        matches!(self, TimeUnit::Ns | TimeUnit::Ticks)
    }

    fn legal(self) -> &'static str {
        match self {
            TimeUnit::Ns => "ns, a whole number (for decimals, name a format in us or ms)",
            TimeUnit::Ticks => "100 ns ticks since 1601, a whole number below 2^64 / 100",
            TimeUnit::Us => "us, 0 or more, decimals allowed",
            TimeUnit::Ms => "ms, 0 or more, decimals allowed",
            TimeUnit::S => "seconds, 0 or more, decimals allowed",
        }
    }
}

/// Recorded time of a row, in the unit of its trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stamp<'l> {
    Text(&'l str),
    Number(u64),
}

impl<'l> Stamp<'l> {
    /// Time in a column; `unit` is the documented one.
    ///
    /// Errors: the text is not a time in any unit.
    pub fn text(text: &'l str, unit: TimeUnit) -> Result<Stamp<'l>, RowFault> {
        let stamp = Stamp::Text(text);
        if text.starts_with(|c: char| c.is_ascii_digit()) { Ok(stamp) } else { stamp.ns(unit).map(|_| stamp) }
    }

    /// In ns, rounded down.
    pub fn ns(self, unit: TimeUnit) -> Result<u64, RowFault> {
        match self {
            Stamp::Text(text) => {
                Column { name: "time", text, legal: unit.legal() }.time_ns(unit.ns(), unit.is_whole())
            }
            Stamp::Number(number) => number
                .checked_mul(unit.ns())
                .ok_or_else(|| RowFault::field("time", &number.to_string(), "too large", unit.legal())),
        }
    }

    /// Whole units, fraction of a unit, and number of decimals; `None` if the text is not a number.
    pub fn parts(self) -> Option<(u64, f64, usize)> {
        let text = match self {
            Stamp::Number(number) => return Some((number, 0.0, 0)),
            Stamp::Text(text) => text,
        };
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        if !whole.bytes().chain(decimals.bytes()).all(|byte| byte.is_ascii_digit()) {
            let number = Decimal::parse(text)?;
            return Some((number.floor_times_power(0)?, number.fraction(), number.decimals()));
        }
        let part = if decimals.is_empty() { 0.0 } else { format!("0.{decimals}").parse().ok()? };
        Some((whole.parse().ok()?, part, decimals.len()))
    }
}
