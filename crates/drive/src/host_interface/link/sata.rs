//! `sata`: Serial ATA with native command queuing. Every frame (FIS) needs a request, grant and acknowledgement from the
//! other side, and occupies the line in both directions.

use super::{Frame, Link, Protocol};
use interpulse_engine::Duration;
use interpulse_settings::{default, keys};

/// Raw bits per second of each generation (Serial ATA Revision 3).
const RATES: [u64; 3] = [1_500_000_000, 3_000_000_000, 6_000_000_000];
/// Two of every 256 words are ALIGN primitives (Serial ATA Revision 3).
const ALIGNED: f64 = 254.0 / 256.0;
/// Most data of a Data FIS (Serial ATA Revision 3).
const FRAME_DATA: u64 = 8192;
/// Start, checksum and end of any frame.
const AROUND: u64 = 12;
/// Frame sizes without data: Register host to device, Register device to host, DMA Setup, Set Device Bits, the first word
/// of a Data FIS, and the DMA Activate that requests each Data FIS from the host (Serial ATA Revision 3).
const REGISTER: u64 = 20;
const DMA_SETUP: u64 = 28;
const SET_DEVICE_BITS: u64 = 8;
const DATA: u64 = 4;
const DMA_ACTIVATE: u64 = 4;
/// Calibrated (the specification has no bound): results in 98 kIOPS of 4 KiB reads, 569 MB/s of reads and 545 of writes;
/// data sheets of the fastest drives print 98,000, 550 to 560 MB/s and 520 to 530 MB/s.
const HANDSHAKE: Duration = Duration::from_ns(600);

keys! {
    /// Serial ATA link.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Sata, pub(super) fn read(s) {
        /// SATA generation: 1.5, 3 or 6 Gbit/s
        pub generation: u32 = u32(default(3).within(1..=3)),
        /// time to request, grant and acknowledge each frame on SATA, by host and drive
        pub handshake: Duration = duration(default(HANDSHAKE).at_most(Duration::from_us(100))),
    }
}

impl Link for Sata {
    fn protocol(&self) -> Protocol {
        // Bytes per second, of data and overhead; 8b/10b.
        let rate = RATES[self.generation as usize - 1] as f64 / 10.0 * ALIGNED;
        // In bytes.
        let handshake = libm::round(rate * self.handshake.0 as f64 / 1e9) as u64;
        let leaving = DATA + AROUND + handshake;
        Protocol {
            rate,
            // Command, and the drive's response that frees the line.
            submission: 2 * (REGISTER + AROUND + handshake),
            // DMA setup and completion.
            completion: DMA_SETUP + SET_DEVICE_BITS + 2 * (AROUND + handshake),
            frame: Frame { data: FRAME_DATA, arriving: leaving + DMA_ACTIVATE + AROUND + handshake, leaving },
            half_duplex: true,
        }
    }
}
