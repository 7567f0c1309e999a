//! Namespaces of a drive: the tables `[[namespace]]`.

use super::ftl::FtlSpec;
use interpulse_engine::Bytes;
use interpulse_settings::{ConfigError, Section, keys, optional};

/// Most namespaces of a drive.
pub const MOST_NAMESPACES: usize = 32;

/// Namespace of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct NamespaceSpec {
    /// Share of the blocks, if requested.
    pub share: Option<f64>,
    /// Share of the namespace that preconditioning fills; that of the drive if left out.
    pub fill: Option<f64>,
    /// Its FTL, with the host capacity if requested.
    pub ftl: FtlSpec,
}

keys! {
    /// Size and content of a namespace.
    struct SizeKeys, fn read(s) {
        /// share of the blocks of each plane that the namespace owns; namespaces without share and capacity divide the rest
        share: Option<f64> = optional_fraction(optional().positive()),
        /// what the host sees of the namespace, which owns the blocks that its over-provisioning asks for
        capacity: Option<Bytes> = optional_bytes(optional().at_least(Bytes::mib(1))),
        /// share of the namespace that is written once, in order, before the run; precondition.fill if left out
        fill: Option<f64> = optional_fraction(optional()),
    } check {
        let why = "either says how large the namespace is: leave out one of them";
        s.check_together(share.is_none() || capacity.is_none(), &["share", "capacity"], why)?;
    }
}

impl NamespaceSpec {
    /// Reads a table `[[namespace]]` of a drive with the section `drive`.
    pub fn read(s: &mut Section, drive: &FtlSpec) -> Result<NamespaceSpec, ConfigError> {
        let SizeKeys { share, capacity, fill } = SizeKeys::read(s)?;
        Ok(NamespaceSpec { share, fill, ftl: FtlSpec::read_of_namespace(s, drive, capacity)? })
    }
}

/// Place of a namespace on its drive; the default is that of a whole drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamespacePlace {
    /// Number of the namespace, from zero.
    pub namespace: u32,
    /// Its first block of each plane.
    pub first_block: u32,
}
