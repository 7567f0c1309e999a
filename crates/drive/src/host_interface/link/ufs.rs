//! `ufs`: Universal Flash Storage (JESD220) over UniPro and M-PHY: lanes of their own in each direction.

use super::{Frame, Link, Protocol};
use interpulse_engine::Bytes;
use interpulse_settings::{default, keys};

/// Raw bits per second of a lane in high-speed gears 1 to 5, rate B (M-PHY 5.0, as JESD220F names them). All use 8b/10b.
const RATES: [u64; 5] = [1_457_600_000, 2_915_200_000, 5_830_400_000, 11_660_800_000, 23_321_600_000];
/// Most bytes of a UniPro segment (T_MTU), and what surrounds them: transport and network header of a byte each, start,
/// end and checksum of the data link frame of two bytes each (UniPro 1.8).
const SEGMENT: f64 = 272.0;
const AROUND_SEGMENT: f64 = 8.0;
/// Bytes of a COMMAND and of a RESPONSE UPIU without sense data, and of the header of a DATA IN or DATA OUT UPIU (JESD220).
const UPIU: u64 = 32;

keys! {
    /// Universal Flash Storage link.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Ufs, pub(super) fn read(s) {
        /// high-speed gear of UFS, at rate B: 1.46, 2.92, 5.83, 11.66 or 23.32 Gbit/s for each lane
        pub gear: u32 = u32(default(4).within(1..=5)),
        /// UFS lanes in each direction
        pub lanes: u32 = u32(default(2).within(1..=2)),
        /// most data of a UPIU (`bMaxDataInSize` and `bMaxDataOutSize` of JESD220)
        pub max_data: Bytes = bytes(default(Bytes::kib(32)).within(Bytes(512)..=Bytes::kib(32))),
    } check {
        let sizes = "a power of two from 512B to 32KiB";
        s.check(max_data.get().is_power_of_two(), "max-data", sizes)?;
    }
}

impl Link for Ufs {
    /// Deducts line code and UniPro framing from the rate. What the opposite direction carries meanwhile (a READY TO
    /// TRANSFER UPIU for each UPIU of write data, flow control) is free: 32 bytes for up to 32 KiB.
    fn protocol(&self) -> Protocol {
        let raw = RATES[self.gear as usize - 1] as f64 / 10.0 * f64::from(self.lanes);
        Protocol {
            rate: raw * SEGMENT / (SEGMENT + AROUND_SEGMENT),
            submission: UPIU,
            completion: UPIU,
            frame: Frame { data: self.max_data.get(), arriving: UPIU, leaving: UPIU },
            half_duplex: false,
        }
    }
}
