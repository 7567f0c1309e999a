//! What a drive starts from.

use crate::ftl::Tables;

/// The tables of an FTL ready to run: fresh, or preconditioned. Cloning it copies the maps.
#[derive(Clone)]
pub struct PreconditionedState {
    /// Its tables.
    pub ftl: Tables,
}

impl PreconditionedState {
    /// Has [others](PreconditionedState::another) like this one share what none of them changes, though it comes from no file.
    pub fn share(&mut self) {
        self.ftl.share();
    }

    /// The same for another drive, before any has been run with it: of what comes from a file, both share what neither changes.
    pub fn another(&self) -> PreconditionedState {
        PreconditionedState { ftl: self.ftl.another() }
    }
}
