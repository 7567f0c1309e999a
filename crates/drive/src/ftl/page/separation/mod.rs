//! Hot/cold separation policies: one file and one registry line for each, with its own keys if it has any.

mod filter;
pub(crate) mod queues;
mod write_back;

use crate::ftl::layout::Layout;
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

/// Policy that assigns hotness levels to writes.
trait Separation {
    /// Hot levels; cold data has one more.
    fn levels(&self) -> u32;

    /// Hotness filter for a drive of this layout; `None` without separation.
    fn filter(&self, layout: &Layout) -> Option<Hotness>;
}

impl HotnessPolicy {
    /// Reads the separation policy.
    pub fn read(s: &mut Section) -> Result<HotnessPolicy, ConfigError> {
        let doc = "how host data is separated: not at all, or by the time since it was last written";
        s.policy("hotness", doc, Some("none"), HotnessPolicy::ROWS)
    }

    /// Hot levels; cold data has one more.
    pub fn levels(&self) -> u32 {
        each_policy!(self, it => it.levels())
    }

    /// Hotness filter for a drive of this layout; `None` without separation.
    pub fn filter(&self, layout: &Layout) -> Option<Hotness> {
        each_policy!(self, it => it.filter(layout))
    }
}
