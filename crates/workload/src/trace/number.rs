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
        let (whole, decimals) = match point.map(|at| (&self.text[..at], &self.text[at + 1..])) {
            None => (self.text, ""),
            Some(_) if whole => return Err(self.fault("not a whole number")),
            Some((_, "")) | Some(("", _)) => return Err(self.fault("not a number")),
            Some((whole, decimals)) => (whole, decimals),
        };
        let mut ns = self.digits(whole)?.checked_mul(unit_ns).ok_or_else(|| self.fault("too large"))?;
        let mut digit_ns = unit_ns;
        for digit in decimals.bytes() {
            if !digit.is_ascii_digit() {
                return Err(self.fault("not a number"));
            }
            digit_ns /= 10;
            ns = ns.checked_add(u64::from(digit - b'0') * digit_ns).ok_or_else(|| self.fault("too large"))?;
        }
        Ok(ns)
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
        self.digits_one_by_one(text)
    }

    #[cold]
    fn digits_one_by_one(&self, text: &str) -> Result<u64, RowFault> {
        if text.is_empty() {
            return Err(self.fault("not a number"));
        }
        let mut value = 0u64;
        let mut overflow = false;
        for byte in text.bytes() {
            if !byte.is_ascii_digit() {
                return Err(self.fault(if is_negative(self.text) { "negative" } else { "not a number" }));
            }
            match value.checked_mul(10).and_then(|v| v.checked_add(u64::from(byte - b'0'))) {
                Some(v) => value = v,
                None => overflow = true,
            }
        }
        if overflow {
            return Err(self.fault("too large"));
        }
        Ok(value)
    }
}

pub(super) fn device(name: &'static str, text: &str) -> Result<u32, RowFault> {
    let column = Column { name, text, legal: "a whole number, 0 to 4294967295" };
    Ok(column.whole(0, u64::from(u32::MAX))? as u32)
}

pub(super) fn sector(name: &'static str, text: &str) -> Result<u64, RowFault> {
    let column = Column { name, text, legal: "512-byte sectors, a whole number below 2^44 (8 PiB)" };
    column.whole(0, SECTORS_MAX - 1)
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

pub(super) fn length_sectors(name: &'static str, text: &str) -> Result<u32, RowFault> {
    let column = Column { name, text, legal: "512-byte sectors, a whole number, 1 to 2097152 (1 GiB)" };
    Ok(column.whole(1, u64::from(REQUEST_SECTORS_MAX))? as u32)
}

/// Length in bytes, limited so that widening to whole sectors stays legal.
pub(super) fn length_bytes(name: &'static str, text: &str) -> Result<u64, RowFault> {
    let column = Column { name, text, legal: "bytes, a whole number, 1 to 1073741312 (1 GiB less a sector)" };
    column.whole(1, (u64::from(REQUEST_SECTORS_MAX) - 1) * SECTOR.get())
}

/// Length of a discard, which can cover a whole drive.
pub(super) fn discard_sectors(name: &'static str, text: &str) -> Result<u32, RowFault> {
    let column = Column {
        name,
        text,
        legal: "512-byte sectors of a discard, a whole number, 1 to 4294967295 (2 TiB)",
    };
    Ok(column.whole(1, u64::from(u32::MAX))? as u32)
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
