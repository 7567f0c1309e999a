//! Scheduled Format NVM commands: the tables `[[format]]`.

use super::namespace::MOST_NAMESPACES;
use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Section, default, optional, required};

const DAY: Duration = Duration::from_ms(24 * 3_600_000);

/// A Format NVM command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatSpec {
    /// Simulated time of the command.
    pub at: Duration,
    /// Namespace, counted from zero; `None` for all that the drive has.
    pub namespace: Option<u32>,
    /// Whether the blocks that hold data are erased (Secure Erase Settings: User Data Erase).
    pub erases: bool,
    /// Shortest time of the command.
    pub takes: Duration,
}

impl FormatSpec {
    /// Reads one table `[[format]]` of a drive with so many namespaces, or without any.
    pub fn read(s: &mut Section, namespaces: u32) -> Result<FormatSpec, ConfigError> {
        let doc = "simulated time of the command, the warm-up included";
        let range = required().at_most(DAY * 100).typical(Duration::from_ms(1000));
        let at = s.duration("at", doc, range)?;
        let namespace = s.when(namespaces > 0, "a drive with [[namespace]] tables", |s| {
            let doc = "namespace to format, counted from 1 as in NVMe; all of them if left out";
            s.optional_u32("namespace", doc, optional().within(1..=MOST_NAMESPACES as u32))
        })?;
        let namespace = namespace.flatten();
        let legal = format!("1 to {namespaces}: the drive has {namespaces} [[namespace]] tables");
        s.check(namespace.is_none_or(|of| of <= namespaces), "namespace", legal)?;
        let doc =
            "erase the blocks that hold data, too (NVMe: user data erase), before the command completes";
        let erases = s.bool("erase", doc, default(false))?;
        let doc = "shortest time of the command, for instance to write an empty map";
        let takes = s.duration("takes", doc, default(Duration::ZERO).at_most(DAY))?;
        Ok(FormatSpec { at, namespace: namespace.map(|of| of - 1), erases, takes })
    }
}
