//! `imposed`: no victims. Every host program is followed by extra programs so that the stated write amplification results,
//! with the reads of what they copy.

use super::{Blocks, GcPolicy, VictimPolicy};
use interpulse_engine::Rng;
use interpulse_settings::{ConfigError, Section, default, keys, optional, required};

keys! {
    /// Garbage collection as an input.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Imposed, fn keys(s) {
        /// write amplification to impose
        pub waf: f64 = ["imposed-waf"] f64(required().within(1.0..=100.0)),
        /// page reads before each extra program; left out, as many as the write amplification says: of a victim's units the
        /// share 1 - 1/WAF is valid, and every page with a valid unit is read
        pub reads: Option<f64> = ["imposed-reads"] optional_f64(optional().within(0.0..=1000.0)),
        /// erase a block for every block's worth of programs
        pub erases: bool = ["imposed-erases"] bool(default(false)),
    }
}

impl Imposed {
    /// Nothing.
    pub const NONE: Imposed = Imposed { waf: 1.0, reads: None, erases: false };

    /// A run reads its keys, preconditioning does not.
    pub(crate) fn read(s: &mut Section) -> Result<Imposed, ConfigError> {
        Imposed::keys(&mut s.not_shaping_state())
    }

    /// The share of the units of a victim that are valid: each erased block takes that much moved data and host data else.
    pub fn valid_share(&self) -> f64 {
        1.0 - 1.0 / self.waf
    }
}

impl GcPolicy {
    /// What write amplification it imposes instead of collecting, if it does.
    pub fn imposed(&self) -> Option<&Imposed> {
        match self {
            GcPolicy::Imposed(imposed) => Some(imposed),
            _ => None,
        }
    }

    /// Whether it imposes write amplification instead of collecting.
    #[inline]
    pub fn imposes(&self) -> bool {
        self.imposed().is_some()
    }
}

impl VictimPolicy for Imposed {
    fn victim(&self, _: &Blocks, _: &mut Rng) -> Option<usize> {
        unreachable!("imposed write amplification has no victims")
    }
}
