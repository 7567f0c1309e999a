//! Description of a flow that writes zones.

use crate::synthetic::size::BlockSize;
use crate::synthetic::spec::SyntheticPacing;
use interpulse_engine::{Bytes, SECTOR, VectorAction};
use interpulse_settings::{ConfigError, Section, choices, default, keys, optional};
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
        /// vector commands of an Open-Channel drive, each with a list of physical addresses
        Vector = "vector",
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
    /// Parallel units and programs, if the zones are chunks of an Open-Channel drive.
    pub chunks: Option<Chunks>,
}

/// Chunks of an Open-Channel drive: chunk k is on parallel unit k mod `units`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks {
    /// Parallel units of the drive.
    pub units: u32,
    /// Sectors of a program.
    pub program: u64,
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
        /// pointer, by zone appends, or in chunks by vector commands
        pub zones: ZoneWrites = choice(Some("write"), ZoneWrites::ALL),
        /// zones that the flow writes in turn
        pub open_zones: u32 = u32(default(1).within(1..=65536)),
        /// closed loop, or open loop
        pub pacing: SyntheticPacing = policy(Some("closed"), SyntheticPacing::ROWS),
        /// share of reads, of places written before; the rest writes
        pub read_share: f64 = ["read"] fraction(default(0.0)),
        /// Share of the writes that overwrite data in the random write area.
        pub overwrites: f64 => overwrites(s, zones)?,
        /// Lists of addresses of vector commands.
        pub vector: Option<VectorFlowSpec> => VectorFlowSpec::of(s, zones)?,
        /// Size of each read and write; a write ends at the end of its zone. Of vector commands, size of each place that is read.
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
        check_vectors(s, zones, open_zones, vector.as_ref(), &block_size, &drive)?;
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

/// Lists of addresses of the vector commands of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VectorFlowSpec {
    /// Chunks that a write has a program for.
    pub width: u32,
    /// Places that a read has.
    pub places: u32,
    /// Parallel units of the chunks.
    pub units: (u32, Option<u32>),
}

impl VectorFlowSpec {
    /// Reads the keys; `None` of a flow without vector commands.
    fn of(s: &mut Section, zones: ZoneWrites) -> Result<Option<VectorFlowSpec>, ConfigError> {
        let lists = 1..=VectorAction::MOST_ADDRESSES;
        s.when(zones == ZoneWrites::Vector, "zones = \"vector\"", |s| {
            let doc = "open chunks that a vector write has addresses in: a program of each";
            let width = s.u32("vector-width", doc, default(1).within(lists.clone()))?;
            let doc = "places that a vector read has addresses of, each of block-size";
            let places = s.u32("vector-places", doc, default(1).within(lists.clone()))?;
            let doc = "first parallel unit whose chunks the flow writes and reads";
            let first = s.u32("first-unit", doc, default(0).at_most(65535))?;
            let doc = "parallel units, from first-unit on, whose chunks the flow writes and reads; left out, all further ones";
            let count = s.optional_u32("parallel-units", doc, optional().within(1..=65536))?;
            Ok(VectorFlowSpec { width, places, units: (first, count) })
        })
    }
}

/// Checks that a flow has vector commands if its zones are chunks, and the lengths of their lists.
fn check_vectors(
    s: &Section,
    zones: ZoneWrites,
    open_zones: u32,
    vector: Option<&VectorFlowSpec>,
    block_size: &BlockSize,
    drive: &Zones,
) -> Result<(), ConfigError> {
    let (Some(chunks), Some(vector)) = (drive.chunks, vector) else {
        let legal = if drive.chunks.is_some() {
            "\"vector\": the chunks of an Open-Channel drive (ftl.family) are written by lists of addresses"
        } else {
            "\"write\", \"append\" or \"zrwa\": vector commands need ftl.family = \"open-channel\""
        };
        return s.check(drive.chunks.is_some() == (zones == ZoneWrites::Vector), "zones", legal);
    };
    let (block, most) = (drive.block.get(), u64::from(VectorAction::MOST_ADDRESSES));
    let blocks = chunks.program * SECTOR.get() / block;
    let why = format!(
        "at most {}: a program has {blocks} of the {most} addresses of a command",
        most / blocks.max(1)
    );
    s.check(u64::from(vector.width) * blocks <= most, "vector-width", why)?;
    let why = "a vector write has addresses in vector-width of the open chunks: give a multiple of it";
    s.check_together(open_zones.is_multiple_of(vector.width), &["open-zones", "vector-width"], why)?;
    let (first, count) = vector.units;
    let legal = format!("below the {} parallel units of the drive", chunks.units);
    s.check(first < chunks.units, "first-unit", legal)?;
    let left = chunks.units - first;
    let legal = format!("at most {left}, the parallel units of the drive from first-unit on");
    s.check(count.is_none_or(|count| count <= left), "parallel-units", legal)?;
    let largest = block_size.every_size().iter().map(|size| size.get() / block).max().unwrap_or(1);
    let why = format!(
        "at most {}: a place has up to {largest} of the {most} addresses of a command",
        most / largest.max(1)
    );
    s.check(u64::from(vector.places) * largest <= most, "vector-places", why)
}

impl ZoneFlowSpec {
    /// Numbers of the chunks of `region` that are on parallel units of the flow; all where the drive has none.
    pub fn numbers(&self, region: Range<u64>) -> impl Iterator<Item = u64> {
        let units = self.drive.chunks.map_or(1, |of| u64::from(of.units));
        let (first, count) = self.vector.map_or((0, None), |of| of.units);
        let first = u64::from(first);
        let end = count.map_or(units, |count| first + u64::from(count));
        region.filter(move |chunk| (first..end).contains(&(chunk % units)))
    }

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
