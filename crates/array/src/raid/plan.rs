//! Write plan of a row: full-stripe write, read-modify-write or reconstruct-write.
//!
//! md counts the pages that each strategy has to read, an unreadable page as more than all others together, and chooses the
//! cheaper one; on a tie, with its default `rmw_level` 1, reconstruct-write (`handle_stripe_dirtying` in drivers/md/raid5.c,
//! Linux 4.10 and later). Pages in the stripe cache cost nothing. RAID-6 uses the same rule since Linux 4.1, with both
//! parities among the pages of read-modify-write; before, and where the processor's routines cannot update Q
//! (`raid6_call.xor_syndrome`), it always reconstructs.

/// State of a row: masks with one bit per drive.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Drives.
    pub drives: u32,
    /// Parity pages.
    pub parity: u32,
    /// Readable drives.
    pub readable: u32,
    /// Pages in the stripe cache.
    pub uptodate: u32,
    /// Pages with pending writes.
    pub to_write: u32,
    /// Of these, pages that are completely overwritten.
    pub overwrite: u32,
}

/// Write strategy of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteStrategy {
    /// All data pages are overwritten.
    FullStripe,
    /// Parity is updated from the changes.
    ReadModifyWrite,
    /// Parity is computed from all data.
    ReconstructWrite,
    /// Missing pages must be computed from all others first.
    ComputeFirst,
}

/// Write plan of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritePlan {
    /// Strategy.
    pub strategy: WriteStrategy,
    /// Pages to preread (bit mask).
    pub reads: u32,
}

impl Row {
    /// Uncached pages that read-modify-write and reconstruct-write need.
    fn needs(&self) -> (u32, u32) {
        let data = ((1u64 << self.drives) - 1) as u32 & !self.parity;
        ((self.to_write | self.parity) & !self.uptodate, data & !self.overwrite & !self.uptodate)
    }

    fn cost(&self, needs: u32) -> u32 {
        let (some, none) = ((needs & self.readable).count_ones(), (needs & !self.readable).count_ones());
        some + none * 2 * self.drives
    }

    /// Plan without read-modify-write, for a row whose parity may be inconsistent.
    pub fn reconstruct(&self) -> WritePlan {
        let choice = self.choose();
        match choice.strategy {
            WriteStrategy::ReadModifyWrite => {
                WritePlan { strategy: WriteStrategy::ReconstructWrite, reads: self.needs().1 }
            }
            _ => choice,
        }
    }

    /// Cheaper plan.
    pub fn choose(&self) -> WritePlan {
        let data = ((1u64 << self.drives) - 1) as u32 & !self.parity;
        if self.overwrite == data {
            return WritePlan { strategy: WriteStrategy::FullStripe, reads: 0 };
        }
        let (modify, reconstruct) = self.needs();
        let (rmw, rcw) = (self.cost(modify), self.cost(reconstruct));
        if rmw.min(rcw) >= 2 * self.drives {
            return WritePlan {
                strategy: WriteStrategy::ComputeFirst,
                reads: self.readable & !self.uptodate,
            };
        }
        if rmw < rcw {
            WritePlan { strategy: WriteStrategy::ReadModifyWrite, reads: modify }
        } else {
            WritePlan { strategy: WriteStrategy::ReconstructWrite, reads: reconstruct }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_oracle::raid;

    /// Row of `data` data pages and parity on the last drive; the first `changed` pages are overwritten.
    fn row(data: u32, changed: u32) -> Row {
        let to_write = (1 << changed) - 1;
        let drives = data + 1;
        Row {
            drives,
            parity: 1 << data,
            readable: (1 << drives) - 1,
            uptodate: 0,
            to_write,
            overwrite: to_write,
        }
    }

    #[test]
    fn an_empty_cache_costs_what_the_formulas_predict() {
        for data in 2..16 {
            for changed in 1..=data {
                let choice = row(data, changed).choose();
                let cost = raid::cheapest(data, changed).expect("in the domain");
                assert_eq!(choice.reads.count_ones(), cost.reads, "{changed} of {data}");
                assert_eq!((1 + changed), cost.writes);
                let reconstruct = raid::reconstruct_write(data, changed).expect("in the domain").reads;
                let modify = raid::read_modify_write(data, changed).expect("in the domain").reads;
                let expected = match () {
                    () if changed == data => WriteStrategy::FullStripe,
                    () if reconstruct <= modify => WriteStrategy::ReconstructWrite,
                    () => WriteStrategy::ReadModifyWrite,
                };
                assert_eq!(choice.strategy, expected, "{changed} of {data}: a tie is reconstructed");
            }
        }
    }

    #[test]
    fn two_parities_use_the_same_rule() {
        for data in 2..16 {
            for changed in 1..=data {
                let mut two = row(data, changed);
                two.drives += 1;
                two.parity |= 1 << (data + 1);
                two.readable |= 1 << (data + 1);
                let choice = two.choose();
                let cost = raid::cheapest_with_two(data, changed).expect("in the domain");
                assert_eq!(choice.reads.count_ones(), cost.reads, "{changed} of {data}");
                let modify = changed + 2 < data - changed;
                assert_eq!(choice.strategy == WriteStrategy::ReadModifyWrite, modify, "{changed} of {data}");
            }
        }
        // P and an unwritten page are missing: Q must recover the page before P can be computed.
        let lost =
            Row { drives: 6, parity: 0b11_0000, readable: 0b10_1101, uptodate: 0, to_write: 1, overwrite: 1 };
        assert_eq!(lost.choose(), WritePlan { strategy: WriteStrategy::ComputeFirst, reads: 0b10_1101 });
        // Two unwritten pages are missing: read-modify-write updates both parities.
        let lost = Row { readable: 0b11_1001, ..lost };
        assert_eq!(lost.choose(), WritePlan { strategy: WriteStrategy::ReadModifyWrite, reads: 0b11_0001 });
    }

    #[test]
    fn cached_pages_are_not_read() {
        let mut one = row(5, 1);
        assert_eq!(one.choose(), WritePlan { strategy: WriteStrategy::ReadModifyWrite, reads: 0b10_0001 });
        one.uptodate = 0b10_0001;
        assert_eq!(one.choose(), WritePlan { strategy: WriteStrategy::ReadModifyWrite, reads: 0 });
        one.uptodate = 0b01_1100;
        assert_eq!(one.choose(), WritePlan { strategy: WriteStrategy::ReconstructWrite, reads: 0b00_0010 });
    }

    #[test]
    fn a_partly_written_page_is_read_by_both_strategies() {
        let mut part = row(3, 2);
        part.overwrite = 0b01;
        assert_eq!(part.choose(), WritePlan { strategy: WriteStrategy::ReconstructWrite, reads: 0b110 });
    }

    #[test]
    fn a_lost_drive_decides_the_strategy() {
        // The missing page is overwritten: only reconstruct-write works.
        let mut lost = row(5, 1);
        lost.readable &= !1;
        assert_eq!(lost.choose(), WritePlan { strategy: WriteStrategy::ReconstructWrite, reads: 0b1_1110 });
        // Another page is missing: only read-modify-write works.
        lost.to_write = 0b110;
        lost.overwrite = 0b110;
        assert_eq!(lost.choose(), WritePlan { strategy: WriteStrategy::ReadModifyWrite, reads: 0b10_0110 });
        // The missing page is partly written: it must be computed first.
        lost.to_write = 1;
        lost.overwrite = 0;
        assert_eq!(lost.choose(), WritePlan { strategy: WriteStrategy::ComputeFirst, reads: 0b11_1110 });
    }
}
