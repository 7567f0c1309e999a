//! Latency attribution: latency accounts summed by cause, in total and by latency.

use interpulse_engine::account::{Account, CAUSES, check};
use interpulse_engine::{Duration, LatencyHistogram};

/// Sums of latency accounts.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct CauseSums {
    /// Number of requests.
    pub requests: u64,
    /// Latency in ns by cause.
    pub by_cause: [u128; CAUSES],
}

impl CauseSums {
    /// Sum of the latencies, in ns.
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

/// Latency accounts summed over all requests.
#[derive(Clone, Default)]
pub struct AccountSums(Row);

impl AccountSums {
    /// Adds a request. Panics if the account does not add up to the latency.
    #[inline]
    pub fn add(&mut self, latency: Duration, account: &Account) {
        check(latency, account);
        add_account(&mut self.0, account);
    }

    /// The sums.
    pub fn total(&self) -> CauseSums {
        let mut sums = CauseSums::default();
        sums.add_row(&self.0);
        sums
    }
}

/// Latency accounts summed per bucket of [`LatencyHistogram`] (0.2 % wide), so that any tail can be split by cause after
/// the run.
#[derive(Clone)]
pub struct Attribution {
    /// One row per bucket.
    rows: Box<[Row]>,
    /// One bit per group of rows: whether any row is not zero. Only those groups are scanned.
    used: u64,
}

/// Sums: ns by cause, then the number of requests; padded to whole cache lines.
const ROW: usize = (CAUSES + 1).next_multiple_of(8);
type Row = [u64; ROW];
const REQUESTS: usize = CAUSES;

/// Adds the account of a request to a row.
#[inline(always)]
fn add_account(row: &mut Row, account: &Account) {
    // All sums are read before any is written, so that the loop is vectorised.
    let mut sums = *row;
    sums.iter_mut().zip(account).for_each(|(to, part)| *to += part);
    sums[REQUESTS] += 1;
    *row = sums;
}

/// Rows of a group, as a power of two: one group per power of two of latency, of which there are fewer than 64.
const GROUP: u32 = 9;
const _: () = assert!(LatencyHistogram::BUCKETS <= 64 << GROUP);

/// The slowest requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Every request of the tail took longer, and no other request did.
    pub above: Duration,
    /// Their latency accounts.
    pub sums: CauseSums,
}

impl Default for Attribution {
    fn default() -> Self {
        // Zeroed by the operating system: only pages of used buckets take memory.
        Attribution { rows: vec![[0; ROW]; LatencyHistogram::BUCKETS].into(), used: 0 }
    }
}

impl Attribution {
    /// The rows of used groups with their buckets, in ascending order.
    fn rows(&self) -> impl DoubleEndedIterator<Item = (usize, &Row)> {
        let groups =
            self.rows.chunks(1 << GROUP).enumerate().filter(|(group, _)| self.used >> group & 1 == 1);
        groups.flat_map(|(group, rows)| ((group << GROUP)..(group << GROUP) + rows.len()).zip(rows))
    }

    /// Adds a request. Panics if the account does not add up to the latency.
    #[inline]
    pub fn add(&mut self, latency: Duration, account: &Account) {
        check(latency, account);
        let bucket = LatencyHistogram::bucket_of(latency);
        self.used |= 1 << (bucket >> GROUP);
        add_account(&mut self.rows[bucket], account);
    }

    /// The sums of all requests.
    pub fn total(&self) -> CauseSums {
        let mut sums = CauseSums::default();
        self.rows().for_each(|(_, row)| sums.add_row(row));
        sums
    }

    /// The slowest `1 / one_in` of the requests: whole buckets from the top, as few as contain this share. `None` with fewer
    /// than `one_in` requests.
    pub fn slowest(&self, one_in: u64) -> Option<Tail> {
        let all: u64 = self.rows().map(|(_, row)| row[REQUESTS]).sum();
        if all < one_in {
            return None;
        }
        let mut sums = CauseSums::default();
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

    fn attribution(requests: impl IntoIterator<Item = (Cause, u64)>) -> Attribution {
        let mut attribution = Attribution::default();
        for (cause, ns) in requests {
            let (latency, account) = only(cause, ns);
            attribution.add(latency, &account);
        }
        attribution
    }

    /// 990 fast reads, 9 that waited for a program, one for an erase.
    #[test]
    fn a_tail_is_the_slowest_share() {
        let fast = (0..990).map(|k| (Cause::Sensing, 80_000 + k));
        let slow = (0..9).map(|k| (Cause::Programs, 1_000_000 + 10_000 * k));
        let b = attribution(fast.chain(slow).chain([(Cause::Erases, 5_000_000)]));
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
        let b = attribution((0..500).map(|_| (Cause::Bus, 7_000)));
        let tail = b.slowest(100).unwrap();
        assert_eq!((tail.sums.requests, tail.above), (500, Duration::from_ns(6_999)));
        assert_eq!(tail.sums, b.total());
        assert_eq!(Attribution::default().slowest(1), None);
    }

    #[test]
    #[should_panic(expected = "does not add up")]
    fn a_nanosecond_without_a_cause_stops_the_run() {
        let (latency, mut account) = only(Cause::Bus, 7_000);
        account[Cause::Queue as usize] = 1;
        Attribution::default().add(latency, &account);
    }
}
