//! Requests that wait in the host for a place in their submission queue: a FIFO of a few bytes a request.
//!
//! A device takes as many requests as its queues hold, but a load that exceeds it makes any number wait. A request is stored
//! as its differences to the one before it, of which most have none.

use interpulse_engine::{Op, Request, SimTime, Tag, VectorAction, Waiting, ZoneAction};
use std::collections::VecDeque;

/// Bytes allocated at a time.
const CHUNK: usize = 1 << 16;
/// Most bytes of a request: its head, then time, tag, handle, length and address.
const MOST: usize = 1 + 10 + 5 + 1 + 5 + 10;

/// Operations by their number in the low bits of a head.
const OPS: [Op; 16] = [
    Op::Read,
    Op::Write,
    Op::Trim,
    Op::Flush,
    Op::Append,
    Op::Zone(ZoneAction::Open),
    Op::Zone(ZoneAction::OpenZrwa),
    Op::Zone(ZoneAction::Commit),
    Op::Zone(ZoneAction::Close),
    Op::Zone(ZoneAction::Finish),
    Op::Zone(ZoneAction::Reset),
    Op::Zone(ZoneAction::Offline),
    Op::Zone(ZoneAction::Report),
    Op::WriteZeroes,
    Op::Compare,
    Op::Vector(VectorAction::Read),
];
/// Number of vector commands; the handle of one is the number of its action.
const VECTOR: u8 = 15;
const OP: u8 = 0x0f;
/// Bits of a head: the field differs from the request before.
const TIME: u8 = 0x10;
const SOURCE: u8 = 0x20;
const LENGTH: u8 = 0x40;
/// The distance from the end of the request before is in units of 8 sectors.
const UNITS: u8 = 0x80;
const UNIT_SHIFT: u32 = 3;

/// Requests before the first one.
const NOTHING: Waiting = Waiting { submitted: SimTime::ZERO, tag: Tag(0), request: Request::FLUSH };

/// FIFO of waiting requests, submitted in the order of time.
#[derive(Clone, Debug, Default)]
pub struct WaitingLine {
    len: usize,
    /// Rest of a request, before all others.
    rest: Option<Waiting>,
    chunks: VecDeque<Box<[u8]>>,
    /// A chunk that was read to its end.
    spare: Option<Box<[u8]>>,
    /// In the last chunk.
    written: Place,
    /// In the first chunk.
    read: Place,
}

/// Position between two requests, and the request before it.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    before: Waiting,
}

impl Default for Place {
    fn default() -> Self {
        Place { at: 0, before: NOTHING }
    }
}

impl WaitingLine {
    /// Adds a request, submitted no earlier than those before it.
    pub fn push(&mut self, waiting: Waiting) {
        if self.chunks.is_empty() || self.written.is_at_end() {
            let chunk = self.spare.take().unwrap_or_else(|| vec![0; CHUNK].into_boxed_slice());
            self.chunks.push_back(chunk);
            self.written.at = 0;
        }
        let chunk = self.chunks.back_mut().expect("it was added");
        self.written.write(chunk, waiting);
        self.len += 1;
    }

    /// Adds what remains of the request that was taken last.
    pub fn put_back(&mut self, rest: Waiting) {
        debug_assert_eq!(self.rest, None);
        self.rest = Some(rest);
        self.len += 1;
    }

    /// What was put back, unless it has been taken.
    pub fn rest(&self) -> Option<Waiting> {
        self.rest
    }

    /// Takes the oldest request.
    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        if self.len == 0 { None } else { Some(self.take()) }
    }

    #[inline(never)]
    fn take(&mut self) -> Waiting {
        if let Some(rest) = self.rest.take() {
            self.len -= 1;
            return rest;
        }
        if self.read.is_at_end() {
            self.spare = self.chunks.pop_front();
            self.read.at = 0;
        }
        let waiting = self.read.read(&self.chunks[0]);
        self.len -= 1;
        if self.len == 0 {
            // Both places are the same.
            (self.read.at, self.written.at) = (0, 0);
        }
        waiting
    }

    /// All whole requests, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Waiting> {
        let (mut place, mut chunk) = (self.read, 0);
        (usize::from(self.rest.is_some())..self.len).map(move |_| {
            if place.is_at_end() {
                (chunk, place.at) = (chunk + 1, 0);
            }
            place.read(&self.chunks[chunk])
        })
    }
}

impl Place {
    /// Whether the chunk may have no room for another request.
    fn is_at_end(&self) -> bool {
        self.at > CHUNK - MOST
    }

    fn write(&mut self, chunk: &mut [u8], waiting: Waiting) {
        let before = std::mem::replace(&mut self.before, waiting);
        let Waiting { submitted, tag, request } = waiting;
        let head_at = self.at;
        self.at += 1;
        let mut head = number_of(request.op);
        if submitted != before.submitted {
            head |= TIME;
            self.put(chunk, submitted.since(before.submitted).as_ns());
        }
        if (tag, request.handle) != (before.tag, before.request.handle) {
            head |= SOURCE;
            self.put(chunk, u64::from(tag.0));
            chunk[self.at] = request.handle;
            self.at += 1;
        }
        if request.sectors != before.request.sectors {
            head |= LENGTH;
            self.put(chunk, u64::from(request.sectors));
        }
        let mut distance = request.sector.wrapping_sub(before.request.end()).cast_signed();
        if distance.trailing_zeros() >= UNIT_SHIFT {
            head |= UNITS;
            distance >>= UNIT_SHIFT;
        }
        // The sign goes to the lowest bit, so that small distances of both signs are short.
        self.put(chunk, ((distance << 1) ^ (distance >> 63)).cast_unsigned());
        chunk[head_at] = head;
    }

    fn read(&mut self, chunk: &[u8]) -> Waiting {
        let head = chunk[self.at];
        self.at += 1;
        let Waiting { mut submitted, mut tag, request: before } = self.before;
        let mut request = Request { op: OPS[usize::from(head & OP)], ..before };
        if head & TIME != 0 {
            submitted.0 += self.get(chunk);
        }
        if head & SOURCE != 0 {
            tag = Tag(self.get(chunk) as u32);
            request.handle = chunk[self.at];
            self.at += 1;
        }
        if head & OP == VECTOR {
            request.op = Op::Vector(VectorAction::ALL[usize::from(request.handle)]);
        }
        if head & LENGTH != 0 {
            request.sectors = self.get(chunk) as u32;
        }
        let folded = self.get(chunk);
        let distance = (folded >> 1) ^ (folded & 1).wrapping_neg();
        let shift = if head & UNITS != 0 { UNIT_SHIFT } else { 0 };
        request.sector = before.end().wrapping_add(distance << shift);
        self.before = Waiting { submitted, tag, request };
        self.before
    }

    /// Writes a number, seven bits a byte, lowest first.
    fn put(&mut self, chunk: &mut [u8], mut number: u64) {
        while number >= 0x80 {
            chunk[self.at] = number as u8 | 0x80;
            self.at += 1;
            number >>= 7;
        }
        chunk[self.at] = number as u8;
        self.at += 1;
    }

    fn get(&mut self, chunk: &[u8]) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = chunk[self.at];
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }
}

/// Index in [`OPS`].
fn number_of(op: Op) -> u8 {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
        Op::Flush => 3,
        Op::Append => 4,
        Op::Zone(ZoneAction::Open) => 5,
        Op::Zone(ZoneAction::OpenZrwa) => 6,
        Op::Zone(ZoneAction::Commit) => 7,
        Op::Zone(ZoneAction::Close) => 8,
        Op::Zone(ZoneAction::Finish) => 9,
        Op::Zone(ZoneAction::Reset) => 10,
        Op::Zone(ZoneAction::Offline) => 11,
        Op::Zone(ZoneAction::Report) => 12,
        Op::WriteZeroes => 13,
        Op::Compare => 14,
        Op::Vector(_) => VECTOR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(line: &WaitingLine) -> usize {
        line.chunks.len() * CHUNK
    }

    #[test]
    fn every_operation_has_the_number_of_its_place() {
        OPS.iter().enumerate().for_each(|(k, &op)| assert_eq!(usize::from(number_of(op)), k, "{op:?}"));
    }

    #[test]
    fn random_requests_of_one_instant_take_six_bytes() {
        let mut line = WaitingLine::default();
        let mut rng = interpulse_engine::Streams::new(1).stream("waiting", 0);
        // 512 GB.
        let request = |unit: u64| Request::new(Op::Read, 8 * unit, 8);
        let each: Vec<_> = (0..200_000).map(|_| request(rng.below(1 << 27))).collect();
        let submitted = SimTime(7);
        each.iter().for_each(|&request| line.push(Waiting { submitted, tag: Tag(3), request }));
        assert!(bytes(&line) < 6 * each.len(), "{} bytes", bytes(&line));
        assert!(each.iter().all(|&request| line.pop() == Some(Waiting { submitted, tag: Tag(3), request })));
        assert_eq!((line.len, bytes(&line)), (0, CHUNK));
    }

    #[test]
    fn requests_that_come_and_go_use_one_chunk() {
        let mut line = WaitingLine::default();
        for k in 0..100_000 {
            let waiting = Waiting { submitted: SimTime(k), ..NOTHING };
            line.push(waiting);
            assert_eq!(line.pop(), Some(waiting));
            assert_eq!(bytes(&line), CHUNK);
        }
    }

    #[test]
    fn what_is_put_back_leaves_first() {
        let [a, rest, b] = [1, 2, 3].map(|k| Waiting { tag: Tag(k), ..NOTHING });
        for others in [&[][..], &[b, a, b]] {
            let mut line = WaitingLine::default();
            line.push(a);
            others.iter().for_each(|&other| line.push(other));
            assert_eq!(line.pop(), Some(a));
            line.put_back(rest);
            assert_eq!(line.rest(), Some(rest));
            line.push(b);
            assert!(line.iter().eq(others.iter().copied().chain([b])));
            assert_eq!((line.pop(), line.rest()), (Some(rest), None));
            others.iter().chain([&b]).for_each(|&other| assert_eq!(line.pop(), Some(other)));
            assert_eq!(line.pop(), None);
        }
    }

    fn any_waiting() -> impl Strategy<Value = (u64, Waiting)> {
        let number = || prop_oneof![0..4u64, any::<u64>(), any::<u64>().prop_map(|n| n << 3)];
        let fields = (number(), number(), number(), 0..OPS.len(), prop_oneof![0..2u8, any::<u8>()]);
        fields.prop_map(|(tag, sector, sectors, op, handle)| {
            let (sector, sectors) = (sector >> 2, sectors as u32);
            let request = match OPS[op] {
                Op::Vector(_) => {
                    Request::vector(VectorAction::ALL[usize::from(handle % 3)], sector, sectors, 1)
                }
                op => Request { op, sector, sectors, handle },
            };
            (tag >> 8, Waiting { submitted: SimTime::ZERO, tag: Tag(tag as u32), request })
        })
    }

    proptest! {
        /// Any requests leave as they came, however many wait.
        #[test]
        fn requests_leave_as_they_came(
            each in prop::collection::vec((any_waiting(), any::<bool>()), 1..200),
            times in 1usize..100,
        ) {
            let (mut line, mut expected) = (WaitingLine::default(), VecDeque::new());
            let mut now = 0u64;
            for _ in 0..times {
                for &((gap, waiting), pops) in &each {
                    now = now.saturating_add(gap >> 16);
                    let waiting = Waiting { submitted: SimTime(now), ..waiting };
                    line.push(waiting);
                    expected.push_back(waiting);
                    if pops {
                        prop_assert_eq!(line.pop(), expected.pop_front());
                    }
                }
            }
            prop_assert!(line.iter().eq(expected.iter().copied()));
            while let Some(waiting) = expected.pop_front() {
                prop_assert_eq!(line.pop(), Some(waiting));
            }
            prop_assert_eq!(line.pop(), None);
        }
    }
}
