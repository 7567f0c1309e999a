//! `sata`: Serial ATA with native command queuing. Every frame (FIS) is asked for, granted and acknowledged by the other
//! side, and takes the line for both directions.

use super::Link;
use interpulse_settings::{ConfigError, Section, default};

/// Raw bits per second of each generation (Serial ATA Revision 3).
const RATES: [u64; 3] = [1_500_000_000, 3_000_000_000, 6_000_000_000];
/// Two of every 256 words are ALIGN primitives (Serial ATA Revision 3).
const ALIGNED: f64 = 254.0 / 256.0;
/// Most data of a Data FIS (Serial ATA Revision 3).
const FRAME_DATA: u64 = 8192;
/// Start, checksum and end of any frame.
const AROUND: u64 = 12;
/// Headers, with nothing else in them but the data frame's: Register host to device, Register device to host, DMA Setup,
/// Set Device Bits, and the first word of a Data FIS (Serial ATA Revision 3).
const REGISTER: u64 = 20;
const DMA_SETUP: u64 = 28;
const SET_DEVICE_BITS: u64 = 8;
const DATA: u64 = 4;
/// Asking, granting and acknowledging a frame, in bytes of 6 Gbit/s: 0.6 us. The specification bounds no such time; this
/// one gives 98 kIOPS of 4 KiB reads and 569 MB/s, where drives of this interface print 98,000 and 550 to 560 MB/s.
const HANDSHAKE: u64 = 360;

/// How fast it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sata {
    /// 1 to 3: 1.5, 3 and 6 Gbit/s.
    pub generation: u32,
}

impl Sata {
    pub(super) fn read(s: &mut Section) -> Result<Sata, ConfigError> {
        let doc = "SATA generation: 1.5, 3 or 6 Gbit/s";
        Ok(Sata { generation: s.u32("generation", doc, default(3).within(1..=3))? })
    }
}

impl Link for Sata {
    /// Of any bytes; 8b/10b.
    fn rate(&self) -> f64 {
        RATES[self.generation as usize - 1] as f64 / 10.0 * ALIGNED
    }

    /// The command, and the drive's answer that frees the line.
    fn submission(&self) -> u64 {
        2 * (REGISTER + AROUND + HANDSHAKE)
    }

    /// The set-up of the data's transfer, and the completion.
    fn completion(&self) -> u64 {
        DMA_SETUP + SET_DEVICE_BITS + 2 * (AROUND + HANDSHAKE)
    }

    fn frame(&self) -> Option<(u64, u64)> {
        Some((FRAME_DATA, DATA + AROUND + HANDSHAKE))
    }

    fn half_duplex(&self) -> bool {
        true
    }
}
