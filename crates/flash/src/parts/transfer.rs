//! Data that a read transfers over the channel.

use interpulse_engine::Bytes;
use interpulse_settings::{ConfigError, Section, choices};

choices! {
    /// Share of a sensed page that a read transfers over the channel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ReadTransfer, default Codewords {
        /// the requested units without parity: the die corrects errors
        Data = "data",
        /// the requested units with their share of the parity
        Codewords = "codewords",
        /// all data of the page without parity: the die corrects errors
        Page = "page",
        /// the page with its parity
        PageAndParity = "page-and-parity",
    }
}

impl ReadTransfer {
    /// Reads the key of a part.
    pub(super) fn read(part: &mut Section) -> Result<ReadTransfer, ConfigError> {
        let doc = "data that a read transfers over the channel; the drive decodes the requested units and drops the rest";
        part.choice("read-transfer", doc, Some("codewords"), ReadTransfer::ALL)
    }

    /// Bytes transferred by a read of `units` units of `unit` bytes from a page of `page` bytes with `parity` bytes.
    pub fn bytes(self, units: u64, unit: u64, page: Bytes, parity: Bytes) -> u64 {
        let (page, parity) = (page.get(), parity.get());
        if units == 0 {
            return 0;
        }
        match self {
            ReadTransfer::Data => units * unit,
            ReadTransfer::Codewords => units * unit + (parity * units).div_ceil(page / unit),
            ReadTransfer::Page => page,
            ReadTransfer::PageAndParity => page + parity,
        }
    }
}
