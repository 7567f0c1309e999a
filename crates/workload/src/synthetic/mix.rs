//! Operation mix of synthetic flows.

use super::spec::SyntheticSpec;
use crate::error::Illegal;
use interpulse_engine::{Op, Rng};

/// Operation generator: draws operations by share and inserts a flush after `flush_every` writes.
pub(super) struct Mix {
    rng: Rng,
    /// Only operation of a mix without choice: consumes no random numbers.
    only: Option<Op>,
    /// Draws below this bound are reads.
    reads_below: u64,
    /// Draws between `reads_below` and this bound are writes.
    writes_below: u64,
    /// Larger draws up to each bound, in order, are of these operations.
    others_up_to: [(u64, Op); 3],
    /// Writes until the next flush; 2^64 - 1 (never reached) without flushes.
    writes_left: u64,
    flush_every: u64,
}

impl Mix {
    pub(super) fn new(spec: &SyntheticSpec, rng: Rng) -> Result<Mix, Illegal> {
        let shares = [
            ("read_share", spec.read_share, Op::Read),
            ("write_share", spec.write_share, Op::Write),
            ("trim_share", spec.trim_share, Op::Trim),
            ("zeroes_share", spec.zeroes_share, Op::WriteZeroes),
            ("compare_share", spec.compare_share, Op::Compare),
        ];
        for (field, share, _) in shares {
            Illegal::unless((0.0..=1.0).contains(&share), field, share, "0 to 1")?;
        }
        let sum: f64 = shares.iter().map(|(_, share, _)| share).sum();
        let legal = "shares that sum to 1";
        Illegal::unless(
            (sum - 1.0).abs() <= 1e-9,
            "read_share + write_share + trim_share + zeroes_share + compare_share",
            sum,
            legal,
        )?;
        let legal = "at least 1 write, or none for no flushes";
        Illegal::unless(spec.flush_every != Some(0), "flush_every", 0, legal)?;
        let mut present = shares.iter().filter(|(_, share, _)| *share > 0.0);
        let only = match (present.next(), present.next()) {
            (Some(&(_, _, op)), None) => Some(op),
            _ => None,
        };
        let flush_every = spec.flush_every.unwrap_or(u64::MAX);
        // The last operation with a share takes what rounding leaves.
        let up_to = |k: usize| {
            let rest = shares[k + 1..].iter().any(|(_, share, _)| *share > 0.0);
            let sum: f64 = shares[..=k].iter().map(|(_, share, _)| share).sum();
            if rest { Rng::threshold(sum) } else { u64::MAX }
        };
        Ok(Mix {
            rng,
            only,
            reads_below: Rng::threshold(spec.read_share),
            writes_below: up_to(1),
            others_up_to: [2, 3, 4].map(|k| (up_to(k), shares[k].2)),
            writes_left: flush_every,
            flush_every,
        })
    }

    #[inline]
    pub(super) fn next(&mut self) -> Op {
        if self.writes_left == 0 {
            self.writes_left = self.flush_every;
            return Op::Flush;
        }
        let op = match self.only {
            Some(op) => op,
            None => {
                let draw = self.rng.next_u64();
                if draw < self.reads_below {
                    Op::Read
                } else if draw <= self.writes_below {
                    Op::Write
                } else {
                    self.other(draw)
                }
            }
        };
        self.writes_left -= u64::from(op == Op::Write);
        op
    }

    /// Operation of a draw that is neither a read nor a write.
    #[inline(never)]
    fn other(&self, draw: u64) -> Op {
        let of = self.others_up_to.iter().find(|(bound, _)| draw <= *bound);
        of.expect("the last bound is the largest draw").1
    }
}
