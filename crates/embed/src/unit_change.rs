//! Changes of units, for a host that keeps the data of a drive and restores what a power cut takes back.

/// Change of a mapping unit, in the order of the drive. Offsets are bytes of the first namespace, as in requests.
///
/// The versions of a unit rise from change to change, and fall back with [`UnitChange::Reverted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitChange {
    /// A write has its data of this unit, or of a part of it, in the write cache.
    Written {
        /// That of the request.
        cookie: u64,
        /// First byte of the unit.
        offset: u64,
        /// New version of the unit.
        version: u32,
        /// No power cut can restore the version before: it was only in the cache, in the same place.
        absorbed: bool,
    },
    /// A trim has removed the data of the unit.
    Trimmed {
        /// First byte of the unit.
        offset: u64,
        /// Version that the trim is.
        version: u32,
        /// No power cut can restore the version before: it was only in the cache.
        absorbed: bool,
    },
    /// A trim has covered units without data, whose versions stay.
    Empty {
        /// First byte.
        offset: u64,
        /// Bytes, of whole units.
        bytes: u64,
    },
    /// From now on a power cut restores this version or a later one.
    Durable {
        /// First byte of the unit.
        offset: u64,
        /// Version.
        version: u32,
    },
    /// A power cut has restored this version, which is not the newest.
    Reverted {
        /// First byte of the unit.
        offset: u64,
        /// Version that survived.
        version: u32,
    },
    /// The power was cut. Units that were not reverted have their newest version, and all versions are durable.
    PowerLost,
}
