//! Which operations may be suspended at all: Starblaze's WHICH (LUN, block, page) and WHAT (multi-plane).

use crate::numbers::DieId;
use interpulse_settings::{ConfigError, Section, choices, keys, optional, required};

choices! {
    /// What an operation that spans several planes does to a suspension.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MultiPlane, default Together {
        /// all planes stop at the cost of one
        Together = "together",
        /// each plane costs an entry
        InTurn = "in-turn",
        /// an operation on several planes is not suspended
        Refuse = "refuse",
    }
}

/// The operation that is to be judged.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Die it runs on.
    pub die: DieId,
    /// Program/erase cycles of its block.
    pub cycles: u32,
    /// Planes it spans.
    pub planes: u32,
    /// Types of the pages it programs, bit k for the k-th (least significant first); 0 for an erase.
    pub page_types: u32,
}

keys! {
    /// Which operations may be suspended.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Eligibility, pub(super) fn read(s, drive_dies: u32) {
        /// Dies whose operations may be suspended, in ascending order; `None` is all.
        pub dies: Option<Vec<u32>> => read_dies(s, drive_dies)?,
        /// operations on blocks with more program/erase cycles are not suspended
        pub max_cycles: Option<u32> = optional_u32(optional()),
        /// Page types whose programs may be suspended, as bits; a program of several types needs all of them.
        pub page_types: u32 => u32::MAX,
        /// what an operation on several planes does to a suspension
        pub multi_plane: MultiPlane = choice(Some("together"), MultiPlane::ALL),
    }
}

fn read_dies(s: &mut Section, drive_dies: u32) -> Result<Option<Vec<u32>>, ConfigError> {
    let doc = "dies whose operations may be suspended; [] is all";
    let mut dies = s.list_u32("dies", doc, Some(&[]), required())?;
    dies.sort_unstable();
    if let Some(last) = dies.last().filter(|&&last| last >= drive_dies) {
        return Err(s.invalid("dies", format!("dies from 0 to {}, not {last}", drive_dies - 1)));
    }
    Ok((!dies.is_empty()).then_some(dies))
}

impl Eligibility {
    /// Every operation.
    pub const ALL: Eligibility =
        Eligibility { dies: None, max_cycles: None, page_types: u32::MAX, multi_plane: MultiPlane::Together };

    /// Whether the operation may be suspended; asked once, when it starts.
    #[inline]
    pub fn admits(&self, of: &Candidate) -> bool {
        self.dies.as_ref().is_none_or(|dies| dies.binary_search(&of.die.0).is_ok())
            && self.max_cycles.is_none_or(|most| of.cycles <= most)
            && of.page_types & !self.page_types == 0
            && (of.planes == 1 || self.multi_plane != MultiPlane::Refuse)
    }
}
