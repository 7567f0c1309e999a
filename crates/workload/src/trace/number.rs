//! Number parser for columns, with precise errors.

use super::limits::{REQUEST_SECTORS_MAX, SECTORS_MAX};
use super::problem::RowFault;
use interpulse_engine::{Op, SECTOR};

/// Column: name, legal values, and the text found.
#[derive(Clone, Copy)]
pub(super) struct Column<'l> {
    pub name: &'static str,
    pub legal: &'static str,
    pub text: &'l str,
}

impl Column<'_> {
    pub fn fault(&self, why: &'static str) -> RowFault {
        RowFault::field(self.name, self.text, why, self.legal)
    }

    pub fn whole(&self, least: u64, most: u64) -> Result<u64, RowFault> {
        let value = self.digits(self.text)?;
        if value < least {
            return Err(self.fault("too small"));
        }
        if value > most {
            return Err(self.fault("too large"));
        }
        Ok(value)
    }

    /// Time in units of `unit_ns`, a power of ten of ns; in ns, rounded down. `whole` rejects decimals.
    pub fn time_ns(&self, unit_ns: u64, whole: bool) -> Result<u64, RowFault> {
        // A plain loop is faster than `memchr` for texts this short.
        let point = self.text.bytes().position(|byte| byte == b'.');
        let (integer, decimals) = match point.map(|at| (&self.text[..at], &self.text[at + 1..])) {
            None if self.text.bytes().any(|byte| matches!(byte, b'e' | b'E')) => {
                return self.scaled_ns(unit_ns, whole);
            }
            None => (self.text, ""),
            Some((_, decimals)) if whole || !decimals.bytes().all(|byte| byte.is_ascii_digit()) => {
                return self.scaled_ns(unit_ns, whole);
            }
            Some((_, "")) | Some(("", _)) => return Err(self.fault("not a number")),
            Some((integer, decimals)) => (integer, decimals),
        };
        let mut ns = self.digits(integer)?.checked_mul(unit_ns).ok_or_else(|| self.fault("too large"))?;
        let mut digit_ns = unit_ns;
        for digit in decimals.bytes() {
            digit_ns /= 10;
            ns = ns.checked_add(u64::from(digit - b'0') * digit_ns).ok_or_else(|| self.fault("too large"))?;
        }
        Ok(ns)
    }

    /// As [`Column::time_ns`], for a time with an exponent.
    #[cold]
    fn scaled_ns(&self, unit_ns: u64, whole: bool) -> Result<u64, RowFault> {
        let decimal = Decimal::parse(self.text).ok_or_else(|| self.fault(self.why_no_number()))?;
        // Decimals, even zeros, suggest another unit; an exponent does not.
        if whole && !(decimal.is_whole() && self.text.contains(['e', 'E'])) {
            return Err(self.fault("not a whole number"));
        }
        decimal.floor_times_power(unit_ns.ilog10() as i32).ok_or_else(|| self.fault("too large"))
    }

    #[inline]
    fn digits(&self, text: &str) -> Result<u64, RowFault> {
        // This many digits cannot overflow.
        if (1..=18).contains(&text.len()) {
            let (mut value, mut highest) = (0u64, 0);
            for byte in text.bytes() {
                let digit = byte.wrapping_sub(b'0');
                highest = highest.max(digit);
                // Other characters count as up to 255; the value, which may wrap around, is not used.
                value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            }
            if highest <= 9 {
                return Ok(value);
            }
        }
        self.other_notation(text)
    }

    /// Long numbers, hexadecimal ones with `0x`, and whole numbers with an exponent or zero decimals.
    #[cold]
    fn other_notation(&self, text: &str) -> Result<u64, RowFault> {
        if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            let hexadecimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let why = if hexadecimal { "too large" } else { "not a number" };
            return u64::from_str_radix(digits, 16)
                .ok()
                .filter(|_| hexadecimal)
                .ok_or_else(|| self.fault(why));
        }
        let decimal = Decimal::parse(text).ok_or_else(|| self.fault(self.why_no_number()))?;
        if !decimal.is_whole() {
            return Err(self.fault("not a whole number"));
        }
        decimal.floor_times_power(0).ok_or_else(|| self.fault("too large"))
    }

    fn why_no_number(&self) -> &'static str {
        if is_negative(self.text) { "negative" } else { "not a number" }
    }
}

/// Unsigned decimal number: `digits` times 10 to the power of `exponent`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decimal {
    /// Without trailing zeros unless zero; at most [`Decimal::KEPT`] digits, further ones are cut off.
    digits: u128,
    exponent: i32,
}

impl Decimal {
    const KEPT: u32 = 36;

    /// Parses digits, optional decimals and an optional exponent; `None` for any other text.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            None => (text, 0),
            Some((mantissa, power)) => {
                let digits = power.strip_prefix(['+', '-']).unwrap_or(power);
                // Beyond five digits every number is zero or too large.
                let known = (1..=5).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
                let size: i32 = known.then(|| digits.parse().ok()).flatten()?;
                (mantissa, if power.starts_with('-') { -size } else { size })
            }
        };
        let (whole, decimals) = match mantissa.split_once('.') {
            None => (mantissa, ""),
            Some((_, "")) => return None,
            Some(parts) => parts,
        };
        if whole.is_empty() {
            return None;
        }
        let (mut digits, mut exponent, mut kept) = (0u128, power, 0);
        for (byte, decimal) in whole.bytes().map(|b| (b, false)).chain(decimals.bytes().map(|b| (b, true))) {
            if !byte.is_ascii_digit() {
                return None;
            }
            if kept < Decimal::KEPT {
                digits = digits * 10 + u128::from(byte - b'0');
                kept += u32::from(digits > 0);
                exponent -= i32::from(decimal);
            } else {
                exponent += i32::from(!decimal);
            }
        }
        if digits == 0 {
            return Some(Decimal { digits, exponent: 0 });
        }
        while digits % 10 == 0 {
            (digits, exponent) = (digits / 10, exponent + 1);
        }
        Some(Decimal { digits, exponent })
    }

    pub fn is_whole(self) -> bool {
        self.exponent >= 0
    }

    /// Number of decimals.
    pub fn decimals(self) -> usize {
        self.exponent.min(0).unsigned_abs() as usize
    }

    /// The number times 10 to the power of `power`, rounded down; `None` beyond 64 bits.
    pub fn floor_times_power(self, power: i32) -> Option<u64> {
        if self.digits == 0 {
            return Some(0);
        }
        let shift = self.exponent + power;
        let size = shift.unsigned_abs();
        if shift < 0 {
            let divisor = 10u128.checked_pow(size);
            return u64::try_from(divisor.map_or(0, |divisor| self.digits / divisor)).ok();
        }
        let value = 10u128.checked_pow(size).and_then(|factor| self.digits.checked_mul(factor))?;
        u64::try_from(value).ok()
    }

    /// Part behind the decimal point, 0 to 1.
    pub fn fraction(self) -> f64 {
        match 10u128.checked_pow(self.exponent.min(0).unsigned_abs()) {
            Some(divisor) => (self.digits % divisor) as f64 / divisor as f64,
            None => 0.0,
        }
    }
}

pub(super) fn device(name: &'static str, text: &str) -> Result<u32, RowFault> {
    let column = Column { name, text, legal: "a whole number, 0 to 4294967295" };
    Ok(column.whole(0, u64::from(u32::MAX))? as u32)
}

/// Address of a column in sectors, in bytes.
pub(super) fn sector_offset(name: &'static str, text: &str) -> Result<u64, RowFault> {
    let column = Column { name, text, legal: "512-byte sectors, a whole number below 2^44 (8 PiB)" };
    Ok(column.whole(0, SECTORS_MAX - 1)? * SECTOR.get())
}

/// Operation named by a column, in either case.
pub(super) fn op(
    name: &'static str,
    text: &str,
    reads: &[&str],
    writes: &[&str],
    legal: &'static str,
) -> Result<Op, RowFault> {
    let among = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    match (among(reads), among(writes)) {
        (true, _) => Ok(Op::Read),
        (_, true) => Ok(Op::Write),
        _ => Err(RowFault::field(name, text, "not an operation", legal)),
    }
}

pub(super) fn offset_bytes(name: &'static str, text: &str) -> Result<u64, RowFault> {
    let column = Column { name, text, legal: "bytes, a whole number below 2^53 (8 PiB)" };
    column.whole(0, SECTORS_MAX * SECTOR.get() - 1)
}

/// Length of a column in sectors, in bytes.
pub(super) fn sector_length(name: &'static str, text: &str) -> Result<u64, RowFault> {
    let column = Column { name, text, legal: "512-byte sectors, a whole number, 1 to 2097152 (1 GiB)" };
    Ok(column.whole(1, u64::from(REQUEST_SECTORS_MAX))? * SECTOR.get())
}

/// Length in bytes, limited so that widening to whole sectors stays legal.
pub(super) fn length_bytes(name: &'static str, text: &str) -> Result<u64, RowFault> {
    let column = Column { name, text, legal: "bytes, a whole number, 1 to 1073741312 (1 GiB less a sector)" };
    column.whole(1, (u64::from(REQUEST_SECTORS_MAX) - 1) * SECTOR.get())
}

/// Length of a discard in sectors, which can cover a whole drive; in bytes.
pub(super) fn discard_sectors(name: &'static str, text: &str) -> Result<u64, RowFault> {
    let column = Column {
        name,
        text,
        legal: "512-byte sectors of a discard, a whole number, 1 to 4294967295 (2 TiB)",
    };
    Ok(column.whole(1, u64::from(u32::MAX))? * SECTOR.get())
}

/// Length of a discard in bytes.
pub(super) fn discard_bytes(name: &'static str, text: &str) -> Result<u64, RowFault> {
    let column =
        Column { name, text, legal: "bytes of a discard, a whole number, 1 to 2199023255040 (2 TiB)" };
    column.whole(1, u64::from(u32::MAX) * SECTOR.get())
}

/// Pause in us.
pub(super) fn wait_us(name: &'static str, text: &str) -> Result<u64, RowFault> {
    let column = Column { name, text, legal: "us, a whole number, 0 to 86400000000 (a day)" };
    column.whole(0, 86_400_000_000)
}

fn is_negative(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_every_notation() {
        let whole = |text| Column { name: "n", text, legal: "l" }.whole(0, u64::MAX);
        for (text, value) in [
            ("0", 0),
            ("007", 7),
            ("0x10", 16),
            ("0XfF", 255),
            ("1e3", 1000),
            ("1.28e17", 128_000_000_000_000_000),
            ("4096.0", 4096),
            ("4.096E+3", 4096),
            ("10e-1", 1),
            ("0e99999", 0),
            ("18446744073709551615", u64::MAX),
            ("0000000000000000000000000000000000000000000005", 5),
        ] {
            assert_eq!(whole(text).unwrap(), value, "{text}");
        }
        for (text, why) in [
            ("", "not a number"),
            ("0x", "not a number"),
            ("0xg", "not a number"),
            ("0x+1", "not a number"),
            ("0x10000000000000000", "too large"),
            ("1e", "not a number"),
            ("1e+", "not a number"),
            ("e5", "not a number"),
            (".5", "not a number"),
            ("5.", "not a number"),
            ("1e5.5", "not a number"),
            ("1e999999", "not a number"),
            ("1e400", "too large"),
            ("1.5", "not a whole number"),
            ("15e-1", "not a whole number"),
            ("-5", "negative"),
            ("-1e3", "negative"),
            ("18446744073709551616", "too large"),
            ("nan", "not a number"),
            ("inf", "not a number"),
            ("١", "not a number"),
        ] {
            assert_eq!(whole(text).unwrap_err(), RowFault::field("n", text, why, "l"), "{text}");
        }
    }

    #[test]
    fn times_with_an_exponent_are_exact() {
        let time = |text, unit| Column { name: "t", text, legal: "l" }.time_ns(unit, unit <= 100);
        for (text, unit, ns) in [
            ("1.5e-05", 1_000_000_000, 15_000),
            ("1.5e-05", 1_000_000, 15),
            ("1e-12", 1_000_000_000, 0),
            ("9.99e-10", 1_000_000_000, 0),
            ("1.28e17", 1, 128_000_000_000_000_000),
            ("1.28166372003061629e17", 100, 12_816_637_200_306_162_900),
            ("3.000000e+06", 1, 3_000_000),
            ("0.000000e+00", 1, 0),
            ("2E0", 1_000, 2_000),
            ("1.1234567891234", 1_000_000_000, 1_123_456_789),
        ] {
            assert_eq!(time(text, unit).unwrap(), ns, "{text}");
        }
        for (text, unit, why) in [
            ("1.5e-05", 1, "not a whole number"),
            ("0.5", 1, "not a whole number"),
            ("12.0", 1, "not a whole number"),
            ("1e30", 1, "too large"),
            ("-1e3", 1_000, "negative"),
            ("1.5x3", 1_000, "not a number"),
            ("1.2.3", 1_000, "not a number"),
        ] {
            assert_eq!(time(text, unit).unwrap_err(), RowFault::field("t", text, why, "l"), "{text}");
        }
    }
}
