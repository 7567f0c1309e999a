//! `pcie`: PCI Express with NVMe.

use super::{Link, NO_FRAMES, Protocol};
use interpulse_settings::{default, keys};

/// Bytes of a submission queue entry (NVMe base specification).
const SUBMISSION_BYTES: u64 = 64;
/// Bytes of a completion queue entry (NVMe base specification).
const COMPLETION_BYTES: u64 = 16;
/// Raw bits per second of one lane of each generation, from PCIe 1.0 on (PCI-SIG).
const RATES: [u64; 6] =
    [2_500_000_000, 5_000_000_000, 8_000_000_000, 16_000_000_000, 32_000_000_000, 64_000_000_000];
/// Bytes around the payload of a memory write packet: framing and sequence number 8 (gen 3: token 4 + LCRC 4), header with
/// 64-bit address 16.
const PACKET_OVERHEAD: u64 = 24;
/// Share of the link left by flow-control and acknowledgement packets.
const DATA_SHARE: f64 = 0.97;

keys! {
    /// PCI Express link.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Pcie, pub(super) fn read(s) {
        /// PCIe generation
        pub generation: u32 = u32(default(3).within(1..=6)),
        /// PCIe lanes
        pub lanes: u32 = u32(default(4).within(1..=16)),
        /// largest payload of a packet in bytes
        pub max_payload: u32 = u32(default(256).within(128..=4096)),
    } check {
        s.check(lanes.is_power_of_two(), "lanes", "1, 2, 4, 8 or 16")?;
        let sizes = "128, 256, 512, 1024, 2048 or 4096, the sizes that PCIe has";
        s.check(max_payload.is_power_of_two(), "max-payload", sizes)?;
    }
}

impl Link for Pcie {
    /// Deducts line code (8b/10b, 128b/130b, or the 242/256 of FLIT mode), packet headers and flow control from the rate.
    fn protocol(&self) -> Protocol {
        let code = match self.generation {
            1 | 2 => 8.0 / 10.0,
            3..=5 => 128.0 / 130.0,
            _ => 242.0 / 256.0,
        };
        let raw = RATES[self.generation as usize - 1] as f64 / 8.0 * f64::from(self.lanes);
        let payload = f64::from(self.max_payload);
        Protocol {
            rate: raw * code * payload / (payload + PACKET_OVERHEAD as f64) * DATA_SHARE,
            submission: SUBMISSION_BYTES,
            completion: COMPLETION_BYTES,
            frame: NO_FRAMES,
            half_duplex: false,
        }
    }
}
