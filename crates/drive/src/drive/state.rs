//! What a drive starts from.

use crate::ftl::Tables;

/// The tables of an FTL ready to run: fresh, or preconditioned. Cloning it copies the maps.
#[derive(Clone)]
pub struct PreconditionedState {
    /// Its tables.
    pub ftl: Tables,
}
