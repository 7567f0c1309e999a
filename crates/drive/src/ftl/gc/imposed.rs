//! `imposed`: no victims. Every host program is followed by extra programs so that the stated write amplification results,
//! with the reads of what they copy.

use super::{Blocks, GcPolicy, VictimPolicy};
use interpulse_engine::Rng;
use interpulse_settings::{ConfigError, Section, default, optional, required};

/// Garbage collection as an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imposed {
    /// Units programmed for each unit of the host.
    pub waf: f64,
    /// Page reads for each extra program; `None` for as many as collection with that write amplification needs.
    pub reads: Option<f64>,
    /// A lane is erased once for every block's worth of programs.
    pub erases: bool,
}

impl Imposed {
    /// Nothing.
    pub const NONE: Imposed = Imposed { waf: 1.0, reads: None, erases: false };

    /// A run reads its keys, preconditioning does not.
    pub(super) fn read(s: &mut Section) -> Result<Imposed, ConfigError> {
        let mut s = s.leaving_state();
        let waf = s.f64("imposed-waf", "write amplification to impose", required().within(1.0..=100.0))?;
        let reads = s.optional_f64(
            "imposed-reads",
            "page reads before each extra program; left out, as many as the write amplification says: of a victim's units the \
             share 1 - 1/WAF is valid, and every page with a valid unit is read",
            optional().within(0.0..=1000.0),
        )?;
        let erases =
            s.bool("imposed-erases", "erase a block for every block's worth of programs", default(false))?;
        Ok(Imposed { waf, reads, erases })
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
