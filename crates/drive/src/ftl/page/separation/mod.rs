//! Hot/cold separation. A policy is one file here, with keys of its own if it has any, and one registry line.

mod filter;
pub(crate) mod queues;
mod write_back;

use crate::ftl::page::blocks::layout::Layout;
use interpulse_settings::{ConfigError, Section, registry};

pub use filter::{Hotness, MOST_LEVELS};
pub use update_interval::UpdateInterval;

registry! {
    $ /// How host data is separated.
    #[derive(Clone, Debug, PartialEq)]
    pub enum HotnessPolicy, each_policy {
        "none" => none::None: "not at all";
        "update-interval" => update_interval::UpdateInterval(it): "by the time since it was last written";
    }
}

/// A way to tell how hot a write is.
trait Separation {
    /// Hot levels; cold data comes on top.
    fn levels(&self) -> u32;

    /// What tells the level of each write, for a drive of this layout; none where all are alike.
    fn filter(&self, layout: &Layout) -> Option<Hotness>;
}

impl HotnessPolicy {
    /// Reads how host data is separated.
    pub fn read(s: &mut Section) -> Result<HotnessPolicy, ConfigError> {
        let doc = "how host data is separated: not at all, or by the time since it was last written";
        s.policy("hotness", doc, Some("none"), HotnessPolicy::ROWS)
    }

    /// Hot levels; cold data comes on top.
    pub fn levels(&self) -> u32 {
        each_policy!(self, it => it.levels())
    }

    /// What tells the level of each write, for a drive of this layout; none where all are alike.
    pub fn filter(&self, layout: &Layout) -> Option<Hotness> {
        each_policy!(self, it => it.filter(layout))
    }
}
