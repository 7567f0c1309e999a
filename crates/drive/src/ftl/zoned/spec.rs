//! Zones of a drive: their keys in the section `[ftl]`.

use interpulse_settings::{Section, choices, default, keys, optional};

choices! {
    /// End of a zone reset.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ResetEnd {
        /// when the blocks of the zone are erased
        WhenErased = "when-erased",
        /// at once; the blocks are erased afterwards
        AtOnce = "at-once",
    }
}

keys! {
    /// Zones of a drive.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ZoneSpec, pub(crate) fn read(s, run: &mut Section) {
        /// lanes that a zone spreads over: its programs go to them in turn; left out, all lanes of the drive
        // A lane is `multi-plane` planes of a die. Consecutive lanes of a zone are on different channels first.
        pub width: Option<u32> = ["zone-width"] optional_u32(optional().within(1..=65536)),
        /// super blocks of each lane that a zone takes
        pub rows: u32 = ["zone-rows"] u32(default(1).within(1..=4096)),
        // The following keys affect a run but not its initial state.
        /// most zones that are open at a time; left out, no limit
        pub max_open: Option<u32> = (run) optional_u32(optional().at_least(1)),
        /// most zones that are active (open or closed) at a time
        pub max_active: u32 = (run) u32(default(14).at_least(1)),
        /// when a zone reset is complete
        pub reset_end: ResetEnd = ["zone-reset"] (run) choice(Some("when-erased"), ResetEnd::ALL),
    } check {
        let why = "an open zone is active: give a max-active that is at least max-open";
        s.check_together(max_open.is_none_or(|open| open <= max_active), &["max-open", "max-active"], why)?;
    }
}

impl ZoneSpec {
    /// Limit of open zones.
    pub fn open_limit(&self) -> u32 {
        self.max_open.unwrap_or(self.max_active)
    }
}
