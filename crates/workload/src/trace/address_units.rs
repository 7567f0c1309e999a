//! Units of addresses and sizes: what a format documents, and what a setting says instead.

use super::limits::{REQUEST_SECTORS_MAX, SECTORS_MAX};
use super::problem::RowFault;
use super::row::{narrow, widen};
use interpulse_engine::{Bytes, Op, SECTOR};

/// Units of the addresses and of the sizes of a trace, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Units {
    pub address: u64,
    pub size: u64,
}

impl Units {
    pub const BYTES: Units = Units { address: 1, size: 1 };
    pub const SECTORS: Units = Units { address: SECTOR.get(), size: SECTOR.get() };
    pub const SECTORS_AND_BYTES: Units = Units { address: SECTOR.get(), size: 1 };

    /// These units with the given ones in place; the unit of addresses is also that of sizes where both were equal.
    pub fn with(self, address: Option<Bytes>, size: Option<Bytes>) -> Units {
        let address = address.map(Bytes::get);
        let same = address.filter(|_| self.address == self.size);
        Units {
            address: address.unwrap_or(self.address),
            size: size.map(Bytes::get).or(same).unwrap_or(self.size),
        }
    }
}

/// Conversion from the documented units of a format to the actual ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scale {
    pub documented: Units,
    pub actual: Units,
}

impl Scale {
    /// Sectors of an extent that is given in documented units, in bytes: widened to whole ones, and narrowed for a
    /// discard; `None` if none is left.
    ///
    /// Errors: the extent lies beyond the limits in the actual units.
    #[inline]
    pub fn sectors(&self, op: Op, offset: u64, size: u64) -> Result<Option<(u64, u64)>, RowFault> {
        let (offset, size) =
            if self.documented == self.actual { (offset, size) } else { self.scaled(op, offset, size)? };
        Ok(if op == Op::Trim { narrow(offset, size) } else { Some(widen(offset, size)) })
    }

    fn scaled(&self, op: Op, offset: u64, size: u64) -> Result<(u64, u64), RowFault> {
        let scaled = |name, bytes: u64, documented: u64, actual: u64, most: u64| {
            let number = bytes / documented;
            let scaled = number.checked_mul(actual).filter(|&bytes| bytes <= most);
            scaled.ok_or_else(|| {
                let legal = format!("at most {} of {}", most / actual, Bytes(actual));
                RowFault::field(name, &number.to_string(), "too large", legal)
            })
        };
        let (from, to) = (self.documented, self.actual);
        let offset = scaled("address", offset, from.address, to.address, SECTORS_MAX * SECTOR.get() - 1)?;
        let most = if op == Op::Trim { u32::MAX } else { REQUEST_SECTORS_MAX - 1 };
        Ok((offset, scaled("size", size, from.size, to.size, u64::from(most) * SECTOR.get())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_replace_the_documented_ones() {
        let kib4 = Some(Bytes(4096));
        assert_eq!(Units::SECTORS.with(kib4, None), Units { address: 4096, size: 4096 });
        assert_eq!(Units::SECTORS_AND_BYTES.with(kib4, None), Units { address: 4096, size: 1 });
        assert_eq!(Units::BYTES.with(None, kib4), Units { address: 1, size: 4096 });
        let scale = |documented, actual| Scale { documented, actual };
        let pages = Units { address: 4096, size: 4096 };
        // LBA 3, 2 units: as sectors, as pages, and as bytes of a format in bytes.
        assert_eq!(scale(Units::SECTORS, Units::SECTORS).sectors(Op::Read, 1536, 1024), Ok(Some((3, 2))));
        assert_eq!(scale(Units::SECTORS, pages).sectors(Op::Read, 1536, 1024), Ok(Some((24, 16))));
        assert_eq!(scale(Units::BYTES, pages).sectors(Op::Read, 3, 2), Ok(Some((24, 16))));
        assert_eq!(
            scale(Units::SECTORS, Units::BYTES).sectors(Op::Read, 512 * 1000, 512 * 600),
            Ok(Some((1, 3)))
        );
        let fault = scale(Units::SECTORS, pages).sectors(Op::Read, 512 << 42, 512).unwrap_err().to_string();
        assert_eq!(
            fault,
            "`address` is `4398046511104`, which is too large; legal: at most 2199023255551 of 4KiB"
        );
        assert!(
            scale(Units::SECTORS, pages)
                .sectors(Op::Read, 0, 512 << 20)
                .unwrap_err()
                .to_string()
                .contains("`size`")
        );
    }
}
