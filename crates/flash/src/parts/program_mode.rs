//! Programming of the pages of a word line.

use interpulse_settings::choices;

choices! {
    /// Programming of the pages of a word line.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ProgramMode {
        /// all pages of a word line at once
        OneShot = "one-shot",
        /// page by page
        Page = "page",
        /// all pages of a word line, in a coarse step and, after that of the next word line, a second one
        TwoStep = "two-step",
    }
}
