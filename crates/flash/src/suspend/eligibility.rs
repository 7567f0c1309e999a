//! Which operations may be suspended at all: Starblaze's WHICH (LUN, block, page) and WHAT (multi-plane).

use crate::numbers::DieId;

/// What an operation that spans several planes does to a suspension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MultiPlane {
    /// All planes stop together, at the cost of one.
    #[default]
    Together,
    /// The planes are brought to a halt one after another: each costs an entry.
    InTurn,
    /// It is not suspended.
    Refuse,
}

impl MultiPlane {
    /// Name, value and one line of documentation of each.
    pub const ALL: &'static [(&'static str, MultiPlane, &'static str)] = &[
        ("together", MultiPlane::Together, "all planes stop at the cost of one"),
        ("in-turn", MultiPlane::InTurn, "each plane costs an entry"),
        ("refuse", MultiPlane::Refuse, "an operation on several planes is not suspended"),
    ];
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

/// Which operations may be suspended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eligibility {
    /// Dies whose operations may be suspended, in ascending order; `None` is all.
    pub dies: Option<Vec<u32>>,
    /// Operations on blocks with more program/erase cycles run to their end.
    pub max_cycles: Option<u32>,
    /// Page types whose programs may be suspended, as bits; a program of several types needs all of them.
    pub page_types: u32,
    /// What several planes do to it.
    pub multi_plane: MultiPlane,
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
