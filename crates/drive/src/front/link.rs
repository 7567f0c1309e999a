//! The PCIe link: two directions, each one transfer after the other.

use interpulse_engine::{Duration, SimTime};

/// Bytes of a submission queue entry (NVMe base specification).
pub const SUBMISSION_BYTES: u64 = 64;
/// Bytes of a completion queue entry (NVMe base specification).
pub const COMPLETION_BYTES: u64 = 16;

/// How fast the link is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSpec {
    /// PCIe generation, 1 to 6.
    pub generation: u32,
    /// Lanes.
    pub lanes: u32,
    /// Largest payload of a packet, in bytes.
    pub max_payload: u32,
}

impl LinkSpec {
    /// Raw bits per second of one lane of each generation, from PCIe 1.0 on (PCI-SIG).
    const RATES: [u64; 6] =
        [2_500_000_000, 5_000_000_000, 8_000_000_000, 16_000_000_000, 32_000_000_000, 64_000_000_000];
    /// Bytes around the payload of a memory write packet: framing and sequence number 8 (gen 3: token 4 +
    /// LCRC 4), header with 64-bit address 16.
    const PACKET_OVERHEAD: u64 = 24;
    /// Share of the link left by flow-control and acknowledgement packets.
    const DATA_SHARE: f64 = 0.97;

    /// Payload bytes per second in one direction: line code (8b/10b, 128b/130b, or the 242/256 of FLIT mode),
    /// packet headers and flow control taken off.
    pub fn payload_rate(&self) -> f64 {
        let code = match self.generation {
            1 | 2 => 8.0 / 10.0,
            3..=5 => 128.0 / 130.0,
            _ => 242.0 / 256.0,
        };
        let raw = Self::RATES[self.generation as usize - 1] as f64 / 8.0 * f64::from(self.lanes);
        let payload = f64::from(self.max_payload);
        raw * code * payload / (payload + Self::PACKET_OVERHEAD as f64) * Self::DATA_SHARE
    }
}

/// One direction of the link.
#[derive(Clone, Debug)]
pub struct Direction {
    free_at: SimTime,
    /// Femtoseconds per payload byte, so that rounding happens once per transfer (the fastest link takes some
    /// 9 ps for a byte).
    fs_per_byte: u64,
}

impl Direction {
    /// An idle direction of a link.
    pub fn new(spec: &LinkSpec) -> Direction {
        let fs_per_byte = libm::round(1e15 / spec.payload_rate()) as u64;
        Direction { free_at: SimTime::ZERO, fs_per_byte }
    }

    /// Time `bytes` take.
    #[inline]
    pub fn time(&self, bytes: u64) -> Duration {
        Duration::from_ns((bytes * self.fs_per_byte).div_ceil(1_000_000))
    }

    /// Moves something of length `time` as soon as what was asked for before has moved; returns when it has
    /// arrived.
    #[inline]
    pub fn send(&mut self, now: SimTime, time: Duration) -> SimTime {
        let start = self.free_at.max(now);
        self.free_at = start + time;
        self.free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gen3_x4_moves_about_3_4_gb_per_second() {
        let spec = LinkSpec { generation: 3, lanes: 4, max_payload: 256 };
        // 8 GT/s x 4 / 8 x 128/130 = 3.938 GB/s raw; 256 of 280 bytes payload; 3 % flow control.
        assert!((spec.payload_rate() / 3.4925e9 - 1.0).abs() < 1e-3, "{}", spec.payload_rate());
        let link = Direction::new(&spec);
        assert_eq!(link.time(4096), Duration::from_ns(1173), "4096 B x 286.33 ps");
    }

    #[test]
    fn transfers_follow_one_another() {
        let mut link = Direction::new(&LinkSpec { generation: 3, lanes: 4, max_payload: 256 });
        let t = Duration::from_ns(100);
        assert_eq!(link.send(SimTime(10), t), SimTime(110));
        assert_eq!(link.send(SimTime(20), t), SimTime(210));
        assert_eq!(link.send(SimTime(500), t), SimTime(600));
    }
}
