//! What a read moves over the channel.

use interpulse_engine::Bytes;
use interpulse_settings::{ConfigError, Section, choices};

choices! {
    /// What of a page that has been sensed moves over the channel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ReadTransfer, default Codewords {
        /// the units asked for, without parity: the die corrects errors itself
        Data = "data",
        /// the units asked for with their share of the parity
        Codewords = "codewords",
        /// all data of the page, without parity: the die corrects errors itself
        Page = "page",
        /// the page with its parity
        PageAndParity = "page-and-parity",
    }
}

impl ReadTransfer {
    /// Reads the key of a part.
    pub(super) fn read(part: &mut Section) -> Result<ReadTransfer, ConfigError> {
        let doc =
            "what a read moves over the channel; the drive decodes what was asked for and drops the rest";
        part.choice("read-transfer", doc, Some("codewords"), ReadTransfer::ALL)
    }

    /// Bytes that a read of `units` units, of which there may be none, of `unit` bytes moves, of a page of `page` bytes with `parity` bytes beside it.
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
