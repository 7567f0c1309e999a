//! Why requests took as long as they did: their accounts, summed.

use interpulse_engine::account::{Account, CAUSES, check};
use interpulse_engine::{Duration, LatencyHistogram};

/// Sums of the accounts of some requests.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Sums {
    /// Requests.
    pub requests: u64,
    /// Their accounts summed, in ns by cause.
    pub by_cause: [u128; CAUSES],
}

impl Sums {
    /// Adds a request of this latency. Panics if the account does not add up to the latency.
    #[inline]
    pub fn add(&mut self, latency: Duration, account: &Account) {
        check(latency, account);
        self.requests += 1;
        for (to, part) in self.by_cause.iter_mut().zip(account) {
            *to += u128::from(*part);
        }
    }

    /// Latency of all requests together, in ns.
    pub fn total_ns(&self) -> u128 {
        self.by_cause.iter().sum()
    }

    fn add_row(&mut self, row: &Row) {
        self.requests += row[REQUESTS];
        for (to, part) in self.by_cause.iter_mut().zip(row) {
            *to += u128::from(*part);
        }
    }
}

/// Sums of accounts by latency, in the buckets of [`LatencyHistogram`] (0.2 % wide), so that any tail can be
/// split by cause after the run.
#[derive(Clone)]
pub struct Blame {
    /// A row for each bucket, one after the other.
    rows: Box<[Row]>,
    /// Of each group of rows, whether any is not zero: a bit. All that is looked at after the run.
    used: u64,
}

/// The sums of one bucket: ns by cause, then the number of requests; as long as whole cache lines.
const ROW: usize = (CAUSES + 1).next_multiple_of(8);
type Row = [u64; ROW];
const REQUESTS: usize = CAUSES;

/// Rows of a group, as a power of two: those of a power of two of latencies, of which there are fewer than 64.
const GROUP: u32 = 9;
const _: () = assert!(LatencyHistogram::BUCKETS <= 64 << GROUP);

/// The slowest requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Every request of the tail took longer than this, and no other one did.
    pub above: Duration,
    /// Their accounts.
    pub sums: Sums,
}

impl Default for Blame {
    fn default() -> Self {
        // Zeroed as a whole by the system: only the pages of buckets that are used take memory.
        Blame { rows: vec![[0; ROW]; LatencyHistogram::BUCKETS].into(), used: 0 }
    }
}

impl Blame {
    /// The rows that may be other than zero, in ascending order, with their buckets.
    fn rows(&self) -> impl DoubleEndedIterator<Item = (usize, &Row)> {
        let groups =
            self.rows.chunks(1 << GROUP).enumerate().filter(|(group, _)| self.used >> group & 1 == 1);
        groups.flat_map(|(group, rows)| ((group << GROUP)..(group << GROUP) + rows.len()).zip(rows))
    }

    /// Adds a request of this latency. Panics if the account does not add up to the latency.
    #[inline]
    pub fn add(&mut self, latency: Duration, account: &Account) {
        check(latency, account);
        let bucket = LatencyHistogram::bucket_of(latency);
        self.used |= 1 << (bucket >> GROUP);
        let row = &mut self.rows[bucket];
        // All are read before one is written, so that two of them go together.
        let mut sums = *row;
        sums.iter_mut().zip(account).for_each(|(to, part)| *to += part);
        sums[REQUESTS] += 1;
        *row = sums;
    }

    /// The sums of all requests.
    pub fn total(&self) -> Sums {
        let mut sums = Sums::default();
        self.rows().for_each(|(_, row)| sums.add_row(row));
        sums
    }

    /// The slowest one in `one_in` requests: whole buckets from the top, as few as hold at least this share.
    /// `None` with fewer than `one_in` requests, whose share would be less than one.
    pub fn slowest(&self, one_in: u64) -> Option<Tail> {
        let all: u64 = self.rows().map(|(_, row)| row[REQUESTS]).sum();
        if all < one_in {
            return None;
        }
        let mut sums = Sums::default();
        for (bucket, row) in self.rows().rev() {
            sums.add_row(row);
            if u128::from(sums.requests) * u128::from(one_in) >= u128::from(all) {
                let start = LatencyHistogram::bucket_start(bucket);
                return Some(Tail { above: Duration::from_ns(start.as_ns().saturating_sub(1)), sums });
            }
        }
        unreachable!("the buckets hold every request")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_engine::account::Cause;

    /// `ns` of this cause alone.
    fn only(cause: Cause, ns: u64) -> (Duration, Account) {
        let mut account = [0; CAUSES];
        account[cause as usize] = ns;
        (Duration::from_ns(ns), account)
    }

    fn blame(requests: impl IntoIterator<Item = (Cause, u64)>) -> Blame {
        let mut blame = Blame::default();
        for (cause, ns) in requests {
            let (latency, account) = only(cause, ns);
            blame.add(latency, &account);
        }
        blame
    }

    /// 990 fast reads, 9 that waited for a program, one for an erase.
    #[test]
    fn a_tail_is_the_slowest_share() {
        let fast = (0..990).map(|k| (Cause::Sensing, 80_000 + k));
        let slow = (0..9).map(|k| (Cause::Programs, 1_000_000 + 10_000 * k));
        let b = blame(fast.chain(slow).chain([(Cause::Erases, 5_000_000)]));
        let p99 = b.slowest(100).unwrap();
        assert_eq!(p99.sums.requests, 10);
        assert_eq!(p99.sums.by_cause[Cause::Programs as usize], 9_360_000);
        assert_eq!(p99.sums.by_cause[Cause::Erases as usize], 5_000_000);
        assert_eq!(p99.sums.total_ns(), 14_360_000);
        assert!(p99.above < Duration::from_ns(1_000_000) && p99.above >= Duration::from_ns(998_000));
        let p999 = b.slowest(1000).unwrap();
        assert_eq!((p999.sums.requests, p999.sums.total_ns()), (1, 5_000_000));
        assert_eq!(b.slowest(10_000), None, "a thousand requests have no slowest one in ten thousand");
        assert_eq!(b.total().requests, 1000);
    }

    #[test]
    fn equal_latencies_are_never_torn_apart() {
        let b = blame((0..500).map(|_| (Cause::Bus, 7_000)));
        let tail = b.slowest(100).unwrap();
        assert_eq!((tail.sums.requests, tail.above), (500, Duration::from_ns(6_999)));
        assert_eq!(tail.sums, b.total());
        assert_eq!(Blame::default().slowest(1), None);
    }

    #[test]
    #[should_panic(expected = "does not add up")]
    fn a_nanosecond_without_a_cause_stops_the_run() {
        let (latency, mut account) = only(Cause::Bus, 7_000);
        account[Cause::Queue as usize] = 1;
        Blame::default().add(latency, &account);
    }
}
