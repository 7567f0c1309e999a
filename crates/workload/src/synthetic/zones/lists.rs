//! State of the vector commands of a flow on an Open-Channel drive: lengths of their lists, and the list generated last.

use super::spec::ZoneFlowSpec;

/// Vector commands of a flow.
pub(super) struct Vectors {
    /// Chunks that a write has a program for.
    pub(super) width: u32,
    /// Places that a read has.
    pub(super) places: u32,
    /// Sectors of a program.
    pub(super) program: u64,
    /// Numbers of the chunks of the flow.
    pub(super) numbers: Vec<u64>,
    /// Addresses of the command generated last, in sectors.
    pub(super) list: Vec<u64>,
}

impl Vectors {
    pub(super) fn of(spec: &ZoneFlowSpec, numbers: Vec<u64>) -> Option<Vectors> {
        let (of, program) = (spec.vector?, spec.drive.chunks?.program);
        Some(Vectors { width: of.width, places: of.places, program, numbers, list: Vec::new() })
    }
}
