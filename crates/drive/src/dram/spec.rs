//! Keys of the DRAM: the section `[dram]`.

use interpulse_engine::{Bytes, Duration};
use interpulse_settings::{ConfigError, Section, choices, default};

choices! {
    /// Kind of memory: data rate, burst and the times of its commands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DramKind {
        /// 1600 MT/s, bursts of 8, 11-11-11 (JESD79-3F)
        Ddr3At1600 = "ddr3-1600",
        /// 2400 MT/s, bursts of 8, 16-16-16 (JESD79-4)
        Ddr4At2400 = "ddr4-2400",
        /// 3200 MT/s, bursts of 8, 22-22-22 (JESD79-4)
        Ddr4At3200 = "ddr4-3200",
        /// 3200 MT/s, bursts of 16, read latency of 28 cycles (JESD209-4)
        Lpddr4At3200 = "lpddr4-3200",
        /// 4266 MT/s, bursts of 16, read latency of 36 cycles (JESD209-4)
        Lpddr4At4266 = "lpddr4-4266",
    }
}

/// Timing of a DRAM by its commands. Rows are closed after each access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramSpec {
    /// Transfers per second.
    pub rate: u64,
    /// Transfers of a burst.
    pub burst: u32,
    /// Data lines.
    pub width: u32,
    /// Open row over all data lines.
    pub row: Bytes,
    /// From activate to column command (tRCD).
    pub activate: Duration,
    /// From column command to data (tCL).
    pub column: Duration,
    /// Precharge (tRP).
    pub precharge: Duration,
}

impl DramSpec {
    /// Memory of this kind, with 32 data lines and rows of 4 KiB.
    pub fn of(kind: DramKind) -> DramSpec {
        let (rate, burst, [activate, column, precharge]) = match kind {
            DramKind::Ddr3At1600 => (1_600_000_000, 8, [14, 14, 14]),
            DramKind::Ddr4At2400 => (2_400_000_000, 8, [14, 14, 14]),
            DramKind::Ddr4At3200 => (3_200_000_000, 8, [14, 14, 14]),
            DramKind::Lpddr4At3200 => (3_200_000_000, 16, [18, 18, 18]),
            DramKind::Lpddr4At4266 => (4_266_000_000, 16, [18, 17, 18]),
        };
        let [activate, column, precharge] = [activate, column, precharge].map(Duration::from_ns);
        DramSpec { rate, burst, width: 32, row: Bytes::kib(4), activate, column, precharge }
    }

    /// Reads the section.
    pub fn read(s: &mut Section) -> Result<DramSpec, ConfigError> {
        let kind = s.choice("kind", "kind of memory", Some("ddr4-2400"), DramKind::ALL)?;
        let usual = DramSpec::of(kind);
        let width = s.u32("width", "data lines, in bits", default(usual.width).within(8..=128))?;
        s.check(width.is_power_of_two(), "width", "8, 16, 32, 64 or 128")?;
        let row =
            "bytes of an open row over all data lines; a longer access opens several, one after another";
        let row = s.bytes("row-size", row, default(usual.row).within(Bytes(512)..=Bytes::kib(64)))?;
        s.check(row.get().is_power_of_two(), "row-size", "512B to 64KiB, a power of two")?;
        let mut time = |key, doc, usual| s.duration(key, doc, default(usual).at_most(Duration::from_us(1)));
        let activate =
            time("activate", "from the activate command to the column command (tRCD)", usual.activate)?;
        let column = time("column", "from the column command to the first data (tCL)", usual.column)?;
        let precharge = time("precharge", "closing of a row (tRP)", usual.precharge)?;
        Ok(DramSpec { width, row, activate, column, precharge, ..usual })
    }

    /// Time from the start of an access to its last byte, in whole bursts.
    pub fn transfer(&self, bytes: u64) -> Duration {
        let rows = bytes.div_ceil(self.row.get()).max(1);
        let burst_bytes = u64::from(self.burst) * u64::from(self.width) / 8;
        let transfers = bytes.div_ceil(burst_bytes) * u64::from(self.burst);
        let data = Duration::from_ns((transfers * 1_000_000_000).div_ceil(self.rate));
        self.activate * rows + self.column * rows + self.precharge * (rows - 1) + data
    }

    /// Time for which an access occupies the bus: with the end of its last row.
    pub fn cycle(&self, bytes: u64) -> Duration {
        self.transfer(bytes) + self.precharge
    }
}
