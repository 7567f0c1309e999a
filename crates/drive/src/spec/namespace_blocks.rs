//! Blocks that namespaces own, and the specification of each namespace as a drive.
//!
//! Namespaces share dies, channels, host interface and power. Each owns a range of the blocks of every plane, with an FTL and a
//! part of the write cache of its own: no garbage collection of one moves data of another, and every die serves all.

use super::{
    CacheSpec, Capacity, DriveSpec, Fault, FtlSpec, Impossible, MOST_NAMESPACES, NamespacePlace,
    NamespaceSpec, Wanted,
};
use crate::ftl::zoned::spec::ZoneSpec;
use interpulse_engine::Bytes;
use interpulse_flash::parts::PartSpec;
use std::borrow::Cow;

/// Fewest blocks of a plane that a namespace can have.
const LEAST_BLOCKS: u32 = 4;

/// Blocks of each plane that a namespace owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnBlocks {
    /// The first one.
    pub first: u32,
    /// Their number.
    pub count: u32,
}

impl DriveSpec {
    /// Blocks of each plane that each namespace owns.
    pub fn namespace_blocks(&self) -> Result<Vec<OwnBlocks>, Impossible> {
        let all = self.geometry.blocks_per_plane;
        let blocks = all.saturating_sub(self.ftl.reserved(all));
        let mut counts = Vec::new();
        let parts = self.parts()?;
        let one = self.namespaces.is_empty();
        for (k, of) in (0..).zip(&parts) {
            counts.push(match (of.share, of.ftl.capacity) {
                (Some(share), _) => Some((share * f64::from(blocks)) as u32),
                (None, Some(capacity)) if one => {
                    Some(self.blocks_of_conventional_zones(of, capacity, blocks)?)
                }
                (None, Some(capacity)) => {
                    let alone =
                        self.namespace_as_drive(k, of, OwnBlocks { first: 0, count: blocks }, Bytes(0));
                    let count = alone.blocks_for(Wanted::Usable(capacity));
                    Some(count.map_err(|why| of_namespace(k, Impossible::new(&["drive.capacity"], why)))?)
                }
                (None, None) => None,
            });
        }
        let taken: u64 = counts.iter().flatten().map(|&count| u64::from(count)).sum();
        let open = counts.iter().filter(|count| count.is_none()).count() as u32;
        let why = format!(
            "the namespaces ask for {taken} of the {blocks} blocks of a plane{}: give smaller ones, or more part.blocks-per-plane",
            if open > 0 { format!(", and {open} without a size take the rest") } else { String::new() }
        );
        let keys: &[&'static str] = if one {
            &["ftl.conventional-zones", "part.blocks-per-plane"]
        } else {
            &["namespace.0.share", "namespace.0.capacity", "part.blocks-per-plane"]
        };
        let why = match one {
            true => format!(
                "conventional zones take {taken} of the {blocks} blocks of a plane, which leaves too few for others"
            ),
            false => why,
        };
        let fits = taken + u64::from(open * LEAST_BLOCKS) <= u64::from(blocks);
        Impossible::unless(fits, keys, why)?;
        let rest = blocks - taken as u32;
        let (mut first, mut given) = (0, 0);
        let mut owned = Vec::new();
        for (k, count) in (0..).zip(counts) {
            let count = count.unwrap_or_else(|| {
                given += 1;
                // The first ones have what does not divide.
                rest / open + u32::from(given <= rest % open)
            });
            let why =
                format!("{count} blocks of a plane are fewer than the {LEAST_BLOCKS} of the smallest one");
            Impossible::unless(count >= LEAST_BLOCKS, &["namespace.share", "part.blocks-per-plane"], why)
                .map_err(|why| of_namespace(k, why))?;
            owned.push(OwnBlocks { first, count });
            first += count;
        }
        Ok(owned)
    }

    /// Specification of each namespace as a drive of its own blocks and its part of the write cache; empty without namespaces.
    pub fn namespaces(&self) -> Result<Vec<DriveSpec>, Impossible> {
        let owned = self.namespace_blocks()?;
        let all: u64 = owned.iter().map(|of| u64::from(of.count)).sum();
        let unit = self.geometry.unit_bytes;
        let parts = self.parts()?;
        let part = |of: OwnBlocks| {
            let units = u128::from(self.cache.size.get() / unit) * u128::from(of.count) / u128::from(all);
            units as u64
        };
        let mut units: Vec<u64> = owned.iter().map(|&of| part(of)).collect();
        if self.namespaces.is_empty() {
            // However few conventional zones are, write-back of their data needs its slots.
            let least = super::cache::least_slots(&self.geometry, &parts[0].ftl);
            units[0] = units[0].max(least);
            units[1] = (self.cache.size.get() / unit).saturating_sub(units[0]);
        }
        let drive = |(k, ((of, blocks), units)): (u32, ((&NamespaceSpec, OwnBlocks), u64))| {
            self.namespace_as_drive(k, of, blocks, Bytes(units * unit))
        };
        Ok((0..).zip(parts.iter().zip(owned).zip(units)).map(drive).collect())
    }

    /// Whether several FTLs divide the blocks of the drive: those of namespaces, or of conventional and of sequential zones.
    pub fn is_divided(&self) -> bool {
        !self.namespaces.is_empty() || self.conventional_zones() > 0
    }

    /// Conventional zones of the drive; namespaces have none.
    pub fn conventional_zones(&self) -> u32 {
        let zones = self.ftl.zones.as_ref().filter(|_| self.namespaces.is_empty());
        zones.map_or(0, |zones| zones.conventional)
    }

    /// The namespaces, or the conventional and the sequential zones as two of them.
    pub fn parts(&self) -> Result<Vec<NamespaceSpec>, Impossible> {
        let Some(zones) = self.ftl.zones.as_ref().filter(|_| self.conventional_zones() > 0) else {
            return Ok(self.namespaces.clone());
        };
        let layout = self.layout()?;
        let bytes = u64::from(zones.conventional)
            * zones.distance(&layout, self.geometry.unit_bytes)
            * self.geometry.unit_bytes;
        let conventional = FtlSpec { capacity: Some(Bytes(bytes)), ..self.ftl.of_conventional_zones() };
        let zones = Some(ZoneSpec { conventional: 0, ..zones.clone() });
        let sequential = FtlSpec { capacity: None, bad_block_reserve: 0.0, zones, ..self.ftl.clone() };
        let part = |ftl| NamespaceSpec { share: None, fill: None, ftl };
        Ok(vec![part(FtlSpec { bad_block_reserve: 0.0, ..conventional }), part(sequential)])
    }

    /// Fewest blocks of a plane, of at most `most`, that hold conventional zones of `capacity`.
    fn blocks_of_conventional_zones(
        &self,
        of: &NamespaceSpec,
        capacity: Bytes,
        most: u32,
    ) -> Result<u32, Impossible> {
        let units = capacity.get() / self.geometry.unit_bytes;
        let layout = self.layout()?;
        let of_block = u64::from(layout.lanes) * u64::from(layout.units_per_block);
        let least = (units.div_ceil(of_block) as u32).max(LEAST_BLOCKS);
        let holds = |&count: &u32| {
            let alone = self.namespace_as_drive(0, of, OwnBlocks { first: 0, count }, Bytes(0));
            alone.logical_units().is_ok_and(|found| u64::from(found) == units)
        };
        let why = format!(
            "{most} blocks of a plane do not hold conventional zones of {capacity} with the over-provisioning of the drive"
        );
        let keys = ["ftl.conventional-zones", "ftl.over-provisioning", "part.blocks-per-plane"];
        (least..=most).find(holds).ok_or_else(|| Impossible::new(&keys, why))
    }

    /// The specification of what one FTL manages: each namespace, or the whole drive.
    pub fn ftl_domains(&self) -> Result<Vec<DriveSpec>, Impossible> {
        if self.is_divided() { self.namespaces() } else { Ok(vec![self.clone()]) }
    }

    fn namespace_as_drive(&self, k: u32, of: &NamespaceSpec, blocks: OwnBlocks, cache: Bytes) -> DriveSpec {
        let mut spec = self.clone();
        spec.ftl = of.ftl.clone();
        spec.namespaces = Vec::new();
        spec.formats = Vec::new();
        spec.place = NamespacePlace { namespace: k, first_block: blocks.first };
        spec.part = PartSpec { blocks_per_plane: blocks.count, ..spec.part };
        spec.geometry.blocks_per_plane = blocks.count;
        spec.cache = CacheSpec { size: cache, ..spec.cache };
        spec
    }

    /// Sizes of all namespaces together.
    pub(super) fn capacity_of_namespaces(&self, raw: Bytes) -> Capacity {
        let namespaces = self.namespaces().expect("the spec has been checked");
        let (mut usable, mut physical) = (0, 0);
        for of in &namespaces {
            usable += u64::from(of.usable_units().expect("the spec has been checked"));
            physical += of.layout().expect("the spec has been checked").units();
        }
        Capacity {
            raw,
            usable: Bytes(usable * self.geometry.unit_bytes),
            over_provisioning: (physical - usable) as f64 / usable as f64,
        }
    }

    /// Checks each namespace as a drive, and what namespaces do not go together with.
    pub(super) fn check_namespaces(&self) -> Result<(), Impossible> {
        let first = "namespace.0.over-provisioning";
        let goes = |holds, key: &'static str, why: &str| Impossible::unless(holds, &[key, first], why);
        let why =
            "several FTLs are not recovered after a loss of power: leave out [power-loss], or the namespaces";
        goes(self.power_loss.is_none(), "power-loss.at", why)?;
        let why = "a failing block makes a whole drive read-only, not a namespace: leave out [faults], or the namespaces";
        let fails = self.faults.is_some() || !self.schedule.iter().all(Fault::stalls);
        goes(!fails, self.fault_key(), why)?;
        let errors = self.nand.errors.as_ref();
        let why = "the patrol read belongs to one FTL: leave it out, or the namespaces";
        goes(errors.is_none_or(|of| of.refresh_after.is_none()), "errors.refresh-after", why)?;
        goes(errors.is_none_or(|of| of.reclaim_reads.is_none()), "errors.reclaim-reads", why)?;
        let why = "each namespace has a capacity: give namespace.N.capacity or namespace.N.share, and drive.raw-capacity for the \
                   size of the flash";
        goes(self.ftl.capacity.is_none(), "drive.capacity", why)?;
        let why = format!("at most {MOST_NAMESPACES} namespaces");
        goes(self.namespaces.len() <= MOST_NAMESPACES, first, &why)?;
        // The section of the drive holds what its namespaces leave out.
        self.check_alone()?;
        for (k, of) in (0..).zip(self.namespaces()?) {
            of.check_alone().and_then(|()| of.check()).map_err(|why| of_namespace(k, why))?;
        }
        Ok(())
    }

    /// Checks conventional and sequential zones as drives of their own, and what they do not go together with.
    pub(super) fn check_conventional_zones(&self) -> Result<(), Impossible> {
        let key = "ftl.conventional-zones";
        let goes = |holds, other: &'static str, why: &str| Impossible::unless(holds, &[key, other], why);
        let why = "the FTLs of conventional and sequential zones are not recovered together after a loss of power: leave out one of them";
        goes(self.power_loss.is_none(), "power-loss.at", why)?;
        let why =
            "a failing block of conventional zones would make the drive read-only: leave out one of them";
        let fails = self.faults.is_some() || !self.schedule.iter().all(Fault::stalls);
        goes(!fails, self.fault_key(), why)?;
        self.namespaces()?.iter().try_for_each(DriveSpec::check)
    }

    /// Checks that the FTL of a namespace has no feature of which a drive has one.
    fn check_alone(&self) -> Result<(), Impossible> {
        let ftl = &self.ftl;
        let goes = |holds, key: &'static str, what: &str| {
            Impossible::unless(holds, &[key], format!("{what}: not on a drive with namespaces"))
        };
        let conventional = ftl.zones.as_ref().is_some_and(|zones| zones.conventional > 0);
        goes(!conventional, "ftl.conventional-zones", "conventional zones belong to a whole drive")?;
        goes(ftl.log_blocks.is_none(), "ftl.family", "log blocks belong to a whole drive")?;
        let why = "an Open-Channel drive shows its parallel units as a whole";
        goes(!ftl.is_open_channel(), "ftl.family", why)?;
        goes(!ftl.gc.imposes(), "ftl.gc", "imposed write amplification belongs to a whole drive")?;
        goes(ftl.mapping.cached().is_none(), "ftl.mapping", "the mapping cache belongs to a whole drive")?;
        goes(
            ftl.slc.is_none(),
            "ftl.slc-cache.kind",
            "the SLC cache folds in the idle time of a whole drive",
        )?;
        goes(ftl.reprogram.is_none(), "ftl.reprogram", "word lines are reprogrammed on a whole drive")?;
        goes(ftl.placement.handles() == 0, "ftl.placement", "placement handles belong to a whole drive")
    }
}

/// The error of namespace `k`: its keys are those of its table.
fn of_namespace(k: u32, why: Impossible) -> Impossible {
    let own = |key: Cow<'static, str>| match key.strip_prefix("ftl.") {
        Some(name) if !FtlSpec::DRIVE_WIDE.contains(&name) => Cow::Owned(format!("namespace.{k}.{name}")),
        _ if key == "drive.capacity" => Cow::Owned(format!("namespace.{k}.capacity")),
        _ if key == "namespace.share" => Cow::Owned(format!("namespace.{k}.share")),
        _ => key,
    };
    let message = format!("namespace {}: {}", k + 1, why.message);
    Impossible { keys: why.keys.into_iter().map(own).collect(), message }
}
