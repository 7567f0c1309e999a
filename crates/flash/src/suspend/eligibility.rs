//! Eligibility for suspension by die, block wear, page type and planes: Starblaze's WHICH (LUN, block, page) and WHAT
//! (multi-plane).

use crate::ids::DieId;
use interpulse_settings::{ConfigError, Section, choices, keys, optional, required};

choices! {
    /// Suspension of multi-plane operations.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MultiPlane, default Together {
        /// all planes stop together, for one entry cost
        Together = "together",
        /// planes stop one after another, each for one entry cost
        InTurn = "in-turn",
        /// multi-plane operations are never suspended
        Refuse = "refuse",
    }
}

/// Properties of an operation that decide its eligibility.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Die of the operation.
    pub die: DieId,
    /// Program/erase cycles of the block.
    pub cycles: u32,
    /// Number of planes.
    pub planes: u32,
    /// Page types of a program, bit k for the k-th (least significant first); 0 for an erase.
    pub page_types: u32,
}

keys! {
    /// Conditions on operations that may be suspended.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Eligibility, pub(super) fn read(s, drive_dies: u32) {
        /// Dies whose operations may be suspended, in ascending order; `None` means all.
        pub dies: Option<Vec<u32>> => read_dies(s, drive_dies)?,
        /// operations on blocks with more program/erase cycles are not suspended
        pub max_cycles: Option<u32> = optional_u32(optional()),
        /// Page types whose programs may be suspended, as bits; a program of several types needs all its bits.
        pub page_types: u32 => u32::MAX,
        /// suspension of multi-plane operations
        pub multi_plane: MultiPlane = choice(Some("together"), MultiPlane::ALL),
    }
}

fn read_dies(s: &mut Section, drive_dies: u32) -> Result<Option<Vec<u32>>, ConfigError> {
    let doc = "dies whose operations may be suspended; [] means all";
    let mut dies = s.list_u32("dies", doc, Some(&[]), required())?;
    dies.sort_unstable();
    if let Some(last) = dies.last().filter(|&&last| last >= drive_dies) {
        return Err(s.invalid("dies", format!("dies from 0 to {}, not {last}", drive_dies - 1)));
    }
    Ok((!dies.is_empty()).then_some(dies))
}

impl Eligibility {
    /// All operations are eligible.
    pub const ALL: Eligibility =
        Eligibility { dies: None, max_cycles: None, page_types: u32::MAX, multi_plane: MultiPlane::Together };

    /// Whether the operation may be suspended; evaluated once, at its start.
    #[inline]
    pub fn admits(&self, of: &Candidate) -> bool {
        self.dies.as_ref().is_none_or(|dies| dies.binary_search(&of.die.0).is_ok())
            && self.max_cycles.is_none_or(|most| of.cycles <= most)
            && of.page_types & !self.page_types == 0
            && (of.planes == 1 || self.multi_plane != MultiPlane::Refuse)
    }
}
