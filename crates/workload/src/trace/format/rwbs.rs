//! Operation column of blktrace (`rwbs`): the operation between its flags, as the kernel and blkparse print it.

use super::WithFlush;
use interpulse_engine::Op;

/// Operation of a row, and what its flags ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rwbs {
    /// `None` for an operation that is no request to replay, such as a zone command.
    pub op: Option<Op>,
    pub flush: WithFlush,
}

impl Rwbs {
    /// `F` before the operation is `REQ_PREFLUSH`, after it `REQ_FUA`; `D` is a discard, `DE` a secure erase; `N` with
    /// a preflush, or `F` in place of the operation, is a flush.
    pub fn parse(text: &str) -> Rwbs {
        let none = |op| Rwbs { op, flush: WithFlush::None };
        let (preflush, rest) = match text.strip_prefix('F') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if rest.starts_with('Z') {
            return none(None);
        }
        if rest.contains('D') {
            return none(Some(Op::Trim));
        }
        match rest.find(['R', 'W']) {
            Some(at) if rest.as_bytes()[at] == b'R' => none(Some(Op::Read)),
            Some(at) => {
                let flush = match (rest[at + 1..].contains('F'), preflush) {
                    (true, _) => WithFlush::After,
                    (false, true) => WithFlush::Before,
                    (false, false) => WithFlush::None,
                };
                Rwbs { op: Some(Op::Write), flush }
            }
            None if preflush || rest.starts_with('F') => none(Some(Op::Flush)),
            None => none(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operation_and_flags_follow_their_order() {
        use WithFlush::{After, Before, None as No};
        for (text, op, flush) in [
            ("R", Some(Op::Read), No),
            ("RA", Some(Op::Read), No),
            ("RSM", Some(Op::Read), No),
            ("W", Some(Op::Write), No),
            ("WS", Some(Op::Write), No),
            ("WFS", Some(Op::Write), After),
            ("FWFS", Some(Op::Write), After),
            ("FWFSM", Some(Op::Write), After),
            ("FW", Some(Op::Write), Before),
            ("FWS", Some(Op::Write), Before),
            ("D", Some(Op::Trim), No),
            ("DS", Some(Op::Trim), No),
            ("DE", Some(Op::Trim), No),
            ("F", Some(Op::Flush), No),
            ("FF", Some(Op::Flush), No),
            ("FFS", Some(Op::Flush), No),
            ("FN", Some(Op::Flush), No),
            ("N", None, No),
            ("NS", None, No),
            ("ZR", None, No),
            ("ZA", None, No),
            ("", None, No),
        ] {
            assert_eq!(Rwbs::parse(text), Rwbs { op, flush }, "{text}");
        }
    }
}
