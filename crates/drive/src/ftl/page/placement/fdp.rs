//! `fdp`: placement handles of Flexible Data Placement (NVMe TP4146, Base Specification 2.1, Section 8.1.10).
//!
//! Each handle has a reclaim unit handle of its own in each reclaim group, an equal part of the dies. Its reclaim units are the
//! super blocks that it has open, one on each lane. Data of an initially isolated handle may share reclaim units with data of others once
//! it is relocated; data of a persistently isolated one never does.

use crate::ftl::page::placement::{MOST_HANDLES, MOST_IDENTIFIERS, Placement};
use interpulse_settings::{default, keys};

keys! {
    /// Flexible Data Placement.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Fdp, pub(crate) fn read(s) {
        /// placement handles, each with a reclaim unit handle of its own
        pub handles: u32 = ["placement-handles"] u32(default(8).within(1..=MOST_HANDLES)),
        /// handles whose relocated data shares no reclaim unit with that of others; the rest is initially isolated
        pub persistently_isolated: Vec<u32> =
            list_u32(Some(&[]), interpulse_settings::required().within(0..=MOST_HANDLES - 1)),
        /// reclaim groups: equal parts of the dies, in the order of channels, of which a write names one beside its handle
        pub groups: u32 = ["reclaim-groups"] u32(default(1).within(1..=MOST_IDENTIFIERS)),
    } check {
        let legal = |(k, of): (usize, &u32)| *of < handles && !persistently_isolated[..k].contains(of);
        let each = persistently_isolated.iter().enumerate().all(legal);
        s.check(each, "persistently-isolated", format!("different handles, each less than the {handles} of placement-handles"))?;
        let why = format!("at most {MOST_IDENTIFIERS} pairs of a reclaim group and a placement handle");
        s.check_together(groups * handles <= MOST_IDENTIFIERS, &["reclaim-groups", "placement-handles"], &why)?;
    }
}

impl Placement for Fdp {
    fn persistently_isolated(&self) -> Vec<bool> {
        (0..self.handles).map(|handle| self.persistently_isolated.contains(&handle)).collect()
    }

    fn groups(&self) -> u32 {
        self.groups
    }
}
