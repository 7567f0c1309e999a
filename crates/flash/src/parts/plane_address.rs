//! Addresses of the planes of a multi-plane operation.

use interpulse_settings::choices;

choices! {
    /// What the addresses on the planes of one multi-plane operation have in common.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PlaneAddress {
        /// nothing
        Any = "any",
        /// the page type: lower, middle or upper page, in the same cell mode
        PageType = "page-type",
        /// the page of the block
        Page = "page",
        /// block and page
        BlockAndPage = "block-and-page",
    }
}
