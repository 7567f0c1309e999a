//! `imposed`: no victims. Extra programs, with the reads of the pages they copy, follow every host program at the
//! configured write amplification.

use super::{Blocks, GcPolicy, VictimPolicy};
use interpulse_engine::Rng;
use interpulse_settings::{ConfigError, Section, default, keys, optional, required};

keys! {
    /// Synthetic write amplification as an input.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Imposed, fn keys(s) {
        /// write amplification to impose
        pub waf: f64 = ["imposed-waf"] f64(required().within(1.0..=100.0)),
        /// page reads before each extra program; if left out, derived from the write amplification: the share 1 - 1/WAF of
        /// a victim's units is valid, and every page with a valid unit is read
        pub reads: Option<f64> = ["imposed-reads"] optional_f64(optional().within(0.0..=1000.0)),
        /// erase a block after as many programs as fill one
        pub erases: bool = ["imposed-erases"] bool(default(false)),
    }
}

impl Imposed {
    /// No synthetic operations, as in preconditioning.
    pub const NONE: Imposed = Imposed { waf: 1.0, reads: None, erases: false };

    /// Reads the keys of a run; preconditioning ignores them.
    pub(crate) fn read(s: &mut Section) -> Result<Imposed, ConfigError> {
        Imposed::keys(&mut s.not_shaping_state())
    }

    /// Valid share of a victim: each erased block takes that share of moved data and host data otherwise.
    pub fn valid_share(&self) -> f64 {
        1.0 - 1.0 / self.waf
    }
}

impl GcPolicy {
    /// Synthetic write amplification of this policy, if any.
    pub fn imposed(&self) -> Option<&Imposed> {
        match self {
            GcPolicy::Imposed(imposed) => Some(imposed),
            _ => None,
        }
    }

    /// Whether this policy imposes write amplification instead of collecting.
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
