//! Description of a flow that writes zones.

use crate::synthetic::size::BlockSize;
use crate::synthetic::spec::SyntheticPacing;
use interpulse_engine::{Bytes, SECTOR};
use interpulse_settings::{ConfigError, Section, choices, default, keys};
use std::ops::Range;

choices! {
    /// Command that writes a zone.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ZoneWrites {
        /// writes at the write pointer
        Write = "write",
        /// zone appends, which the drive places at the write pointer
        Append = "append",
        /// writes in order and overwrites of what the random write area of the zone (ZRWA) holds
        Zrwa = "zrwa",
    }
}

/// Zones of the drive that a flow writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zones {
    /// Sectors of a zone's capacity.
    pub sectors: u64,
    /// Sectors between the starts of neighbouring zones.
    pub distance: u64,
    /// Bytes of a logical block, of which writes have a whole number.
    pub block: Bytes,
    /// Conventional zones, which precede the others; a flow writes none of them.
    pub conventional: u64,
    /// Zones from the start of the drive on that are full at the start of a run, conventional ones included.
    pub full: u64,
    /// Random write area that a zone can have.
    pub area: Option<AreaSectors>,
}

impl Zones {
    /// These zones behind `conventional` ones.
    #[must_use]
    pub fn behind(self, conventional: u64) -> Zones {
        Zones { conventional, full: self.full + conventional, ..self }
    }
}

/// Random write area (ZRWA) of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaSectors {
    /// Sectors of an area.
    pub sectors: u64,
    /// Sectors of which commits have a whole number.
    pub granularity: u64,
}

keys! {
    /// Flow that fills zones one after another and resets the oldest one before it is written again.
    #[derive(Clone, PartialEq, Debug)]
    pub struct ZoneFlowSpec, pub fn read(s, drive: Zones) {
        /// the flow writes zones in order, and resets the oldest one before it is written again: by writes at the write
        /// pointer, or by zone appends
        pub zones: ZoneWrites = choice(Some("write"), ZoneWrites::ALL),
        /// zones that the flow writes in turn
        pub open_zones: u32 = u32(default(1).within(1..=65536)),
        /// closed loop, or open loop
        pub pacing: SyntheticPacing = policy(Some("closed"), SyntheticPacing::ROWS),
        /// share of reads, of places written before; the rest writes
        pub read_share: f64 = ["read"] fraction(default(0.0)),
        /// Share of the writes that overwrite data in the random write area.
        pub overwrites: f64 => overwrites(s, zones)?,
        /// Size of each read and write; a write ends at the end of its zone.
        pub block_size: BlockSize => BlockSize::read(s)?,
        /// addresses of reads are multiples of this, from the start of a zone
        pub alignment: Bytes = bytes(default(Bytes::kib(4)).within(Bytes(512)..=Bytes::mib(16))),
        /// start of the region written, as a share of the drive; rounded up to a whole zone
        pub from: f64 = fraction(default(0.0)),
        /// end of the region written, as a share of the drive; rounded down to a whole zone
        pub to: f64 = fraction(default(1.0)),
        /// Zones of the drive.
        pub drive: Zones => drive,
    } check {
        s.check(alignment.get().is_multiple_of(SECTOR.get()), "alignment", "a multiple of 512B")?;
        let whole = block_size.every_size().iter().all(|size| size.get().is_multiple_of(drive.block.get()));
        let sizes = if s.has("sizes") { "sizes" } else { "block-size" };
        s.check(whole, sizes, format!("multiples of {}, the logical block of a zoned drive", drive.block))?;
        if zones == ZoneWrites::Zrwa {
            let Some(area) = drive.area else {
                return Err(s.invalid("zones", "\"write\" or \"append\": zones without ftl.zrwa-size have no random write area"));
            };
            let most = Bytes(area.sectors * SECTOR.get());
            let fits = block_size.every_size().iter().all(|&size| size <= most);
            s.check(fits, sizes, format!("at most {most}, the random write area of a zone"))?;
        }
        s.check_together(from < to, &["from", "to"], "the region addressed is empty")?;
    }
}

impl ZoneFlowSpec {
    /// The sequential zones, of a drive with so many in all, that lie as a whole in the region of the flow.
    pub fn region(&self, zones: u64) -> Range<u64> {
        let at = |share: f64| share * zones as f64;
        let first = (libm::ceil(at(self.from)) as u64).max(self.drive.conventional);
        first..(libm::floor(at(self.to)) as u64).max(first)
    }
}

fn overwrites(s: &mut Section, zones: ZoneWrites) -> Result<f64, ConfigError> {
    let doc = "share of the writes that overwrite data which the random write area of the zone holds, anywhere in it; the other \
               writes continue in order";
    let read = |s: &mut Section| s.fraction("overwrites", doc, default(0.5).at_most(0.999));
    Ok(s.when(zones == ZoneWrites::Zrwa, "zones = \"zrwa\"", read)?.unwrap_or(0.0))
}
