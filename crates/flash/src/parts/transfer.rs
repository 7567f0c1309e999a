//! What a read moves over the channel.

use interpulse_engine::Bytes;
use interpulse_settings::{ConfigError, Section};

/// What of a page that has been sensed moves over the channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadTransfer {
    /// The data asked for.
    Data,
    /// The codewords that hold the data asked for: the data and its share of the parity.
    #[default]
    Codewords,
    /// All data of the page.
    Page,
    /// The page with its parity.
    PageAndParity,
}

impl ReadTransfer {
    /// Name, value and one line of documentation of each.
    pub const ALL: &'static [(&'static str, ReadTransfer, &'static str)] = &[
        ("data", ReadTransfer::Data, "the units asked for, without parity: the die corrects errors itself"),
        ("codewords", ReadTransfer::Codewords, "the units asked for with their share of the parity"),
        ("page", ReadTransfer::Page, "all data of the page, without parity: the die corrects errors itself"),
        ("page-and-parity", ReadTransfer::PageAndParity, "the page with its parity"),
    ];

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
