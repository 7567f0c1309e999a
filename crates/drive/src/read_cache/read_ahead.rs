//! Read-ahead: detection of sequential streams, and what to read next for them.

use super::spec::ReadAheadSpec;
use crate::numbers::Lpn;

/// A stream of reads, each beginning where the one before it ended.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// End of its last read.
    next: Lpn,
    /// Reads so far.
    reads: u32,
    /// Queue of its last read.
    queue: u16,
    /// Units from here to `until` are to be read ahead.
    from: Lpn,
    until: Lpn,
    /// Number of its last read among all reads.
    last: u64,
}

/// Units to read ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// First unit.
    pub from: Lpn,
    /// End.
    pub to: Lpn,
    /// Queue of the stream.
    pub queue: u16,
}

/// Sequential streams of a drive.
#[derive(Clone, Debug)]
pub struct ReadAhead {
    after: u32,
    /// Units behind the last read.
    window: u32,
    depth: u32,
    most: usize,
    /// Logical units.
    logical: u32,
    streams: Vec<Stream>,
    /// Reads of the host.
    reads: u64,
    /// Fills in flight.
    pub(crate) in_flight: u32,
}

impl ReadAhead {
    /// No streams yet on a drive of `logical` units of `unit_bytes`.
    pub fn new(spec: &ReadAheadSpec, unit_bytes: u64, logical: u32) -> ReadAhead {
        ReadAhead {
            after: spec.after,
            window: (spec.window.get() / unit_bytes).clamp(1, u64::from(logical)) as u32,
            depth: spec.depth,
            most: spec.streams as usize,
            logical,
            streams: Vec::new(),
            reads: 0,
            in_flight: 0,
        }
    }

    /// Notes a host read of `from..to` from `queue`.
    pub fn note(&mut self, queue: u16, from: Lpn, to: Lpn) {
        self.reads += 1;
        let last = self.reads;
        if let Some(of) = self.streams.iter_mut().find(|of| of.next == from) {
            (of.next, of.queue, of.last) = (to, queue, last);
            of.reads += 1;
            if of.reads >= self.after {
                of.from = of.from.max(to);
                of.until = Lpn(to.0.saturating_add(self.window).min(self.logical));
            }
            return;
        }
        let mut stream = Stream { next: to, reads: 1, queue, from: to, until: to, last };
        if self.after == 1 {
            stream.until = Lpn(to.0.saturating_add(self.window).min(self.logical));
        }
        if self.streams.len() < self.most {
            self.streams.push(stream);
        } else if let Some(oldest) = self.streams.iter_mut().min_by_key(|of| of.last) {
            *oldest = stream;
        }
    }

    /// Next units to read, of one page of `page` units, of the stream that has read least ahead; `None` if nothing is left or
    /// enough is in flight.
    pub fn next(&mut self, page: u32) -> Option<Chunk> {
        if self.in_flight >= self.depth {
            return None;
        }
        let waiting = self.streams.iter_mut().filter(|of| of.from < of.until);
        let of = waiting.min_by_key(|of| of.from.0 - of.next.0)?;
        let from = of.from;
        of.from = Lpn((from.0 / page + 1) * page).min(of.until);
        Some(Chunk { from, to: of.from, queue: of.queue })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_engine::Bytes;

    fn ahead(after: u32, window: u32, depth: u32, streams: u32) -> ReadAhead {
        let window = Bytes(4096 * u64::from(window));
        ReadAhead::new(&ReadAheadSpec { after, window, depth, streams }, 4096, 100)
    }

    fn chunks(of: &mut ReadAhead) -> Vec<(u32, u32)> {
        std::iter::from_fn(|| of.next(4).map(|chunk| (chunk.from.0, chunk.to.0))).collect()
    }

    #[test]
    fn the_window_of_a_stream_is_read_page_by_page() {
        let mut of = ahead(2, 10, 9, 2);
        of.note(0, Lpn(1), Lpn(3));
        assert_eq!(chunks(&mut of), [], "one read is no stream");
        of.note(0, Lpn(3), Lpn(5));
        assert_eq!(chunks(&mut of), [(5, 8), (8, 12), (12, 15)]);
        of.note(0, Lpn(5), Lpn(6));
        assert_eq!(chunks(&mut of), [(15, 16)]);
        of.note(0, Lpn(7), Lpn(8));
        assert_eq!(chunks(&mut of), [], "a gap begins another stream");
        of.note(0, Lpn(6), Lpn(30));
        assert_eq!(chunks(&mut of), [(30, 32), (32, 36), (36, 40)], "the host overtook the window");
    }

    #[test]
    fn depth_streams_and_the_end_of_the_drive_limit_it() {
        let mut of = ahead(2, 40, 2, 2);
        for lpn in [10, 60, 11, 61, 12] {
            of.note(0, Lpn(lpn), Lpn(lpn + 1));
        }
        let mut take = |in_flight| {
            of.in_flight = in_flight;
            of.next(4).map(|chunk| (chunk.from.0, chunk.to.0))
        };
        // The stream that is least ahead first: both are 0 ahead, then 62 by 0 and 13 by 3.
        assert_eq!(take(0), Some((13, 16)));
        assert_eq!(take(1), Some((62, 64)));
        assert_eq!(take(2), None, "two are in flight");
        assert_eq!(take(1), Some((64, 68)));
        // A third stream replaces the one of 62, whose last read is older.
        of.in_flight = 0;
        of.note(0, Lpn(97), Lpn(98));
        of.note(0, Lpn(98), Lpn(99));
        assert_eq!(of.next(4), Some(Chunk { from: Lpn(99), to: Lpn(100), queue: 0 }));
        of.note(0, Lpn(62), Lpn(63));
        assert_eq!(of.streams.iter().filter(|of| of.until > of.next).count(), 1, "62 is no longer followed");
    }
}
