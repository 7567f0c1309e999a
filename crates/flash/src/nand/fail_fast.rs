//! What a fail-fast read does not wait for.

use crate::command::Class;
use interpulse_settings::choices;

choices! {
    /// What a fail-fast read does not wait for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FailFastFor, default Collection {
        /// operations of garbage collection
        Collection = "collection",
        /// operations of garbage collection, and programs of host data
        AnyOperation = "any-operation",
    }
}

impl FailFastFor {
    /// Whether such a read does not wait for this class.
    pub(super) fn is_for(self, class: Class) -> bool {
        class != Class::HostRead && (class != Class::HostWrite || self == FailFastFor::AnyOperation)
    }
}
