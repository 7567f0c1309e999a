//! How a row with pending writes is brought up to date: read-modify-write, reconstruct-write, or nothing to read.
//!
//! md counts the pages that each way would still have to read, a page that cannot be read as more than all together, and
//! takes the cheaper way; on a tie, with its default `rmw_level` 1, reconstruct-write (`handle_stripe_dirtying` in
//! drivers/md/raid5.c, Linux 4.10 and later). Pages that are in the stripe cache cost nothing. RAID-6 is counted in the
//! same way since Linux 4.1, both parities among the pages of read-modify-write; before, and still where the processor's
//! routines cannot update Q (`raid6_call.xor_syndrome`), it always reconstructs.

/// What is known of a row: one bit per drive in each mask.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Drives.
    pub drives: u32,
    /// The parities' bits.
    pub parity: u32,
    /// Drives that can be read.
    pub readable: u32,
    /// Pages that are in the stripe cache.
    pub uptodate: u32,
    /// Pages with pending writes.
    pub to_write: u32,
    /// Of these, pages that are overwritten as a whole.
    pub overwrite: u32,
}

/// The way taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Every data page is overwritten.
    FullStripe,
    /// The parities follow from what changes.
    ReadModifyWrite,
    /// The parities follow from all data.
    ReconstructWrite,
    /// Neither is possible before what lost drives held has been computed from all others.
    ComputeFirst,
}

/// What to do with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The way taken.
    pub way: Way,
    /// Pages to read before, one bit per drive.
    pub reads: u32,
}

impl Row {
    /// Pages that each way needs and the cache lacks: (read-modify-write, reconstruct-write).
    fn needs(&self) -> (u32, u32) {
        let data = ((1u64 << self.drives) - 1) as u32 & !self.parity;
        ((self.to_write | self.parity) & !self.uptodate, data & !self.overwrite & !self.uptodate)
    }

    fn cost(&self, needs: u32) -> u32 {
        let (some, none) = ((needs & self.readable).count_ones(), (needs & !self.readable).count_ones());
        some + none * 2 * self.drives
    }

    /// The way for a row whose parity is not known to fit: without it.
    pub fn reconstruct(&self) -> Choice {
        let choice = self.choose();
        match choice.way {
            Way::ReadModifyWrite => Choice { way: Way::ReconstructWrite, reads: self.needs().1 },
            _ => choice,
        }
    }

    /// The cheaper way.
    pub fn choose(&self) -> Choice {
        let data = ((1u64 << self.drives) - 1) as u32 & !self.parity;
        if self.overwrite == data {
            return Choice { way: Way::FullStripe, reads: 0 };
        }
        let (modify, reconstruct) = self.needs();
        let (rmw, rcw) = (self.cost(modify), self.cost(reconstruct));
        if rmw.min(rcw) >= 2 * self.drives {
            return Choice { way: Way::ComputeFirst, reads: self.readable & !self.uptodate };
        }
        if rmw < rcw {
            Choice { way: Way::ReadModifyWrite, reads: modify }
        } else {
            Choice { way: Way::ReconstructWrite, reads: reconstruct }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_oracle::raid;

    /// A row of `data` data pages, parity on the last drive, the first `changed` pages overwritten.
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
    fn an_empty_cache_costs_what_the_formulas_say() {
        for data in 2..16 {
            for changed in 1..=data {
                let choice = row(data, changed).choose();
                let cost = raid::cheapest(data, changed).expect("in the domain");
                assert_eq!(choice.reads.count_ones(), cost.reads, "{changed} of {data}");
                assert_eq!((1 + changed), cost.writes);
                let reconstruct = raid::reconstruct_write(data, changed).expect("in the domain").reads;
                let modify = raid::read_modify_write(data, changed).expect("in the domain").reads;
                let expected = match () {
                    () if changed == data => Way::FullStripe,
                    () if reconstruct <= modify => Way::ReconstructWrite,
                    () => Way::ReadModifyWrite,
                };
                assert_eq!(choice.way, expected, "{changed} of {data}: a tie is reconstructed");
            }
        }
    }

    #[test]
    fn two_parities_are_read_and_written_alike() {
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
                assert_eq!(choice.way == Way::ReadModifyWrite, modify, "{changed} of {data}");
            }
        }
        // P and a page that is not written are lost: the page has to be computed, by Q, before P can be.
        let lost =
            Row { drives: 6, parity: 0b11_0000, readable: 0b10_1101, uptodate: 0, to_write: 1, overwrite: 1 };
        assert_eq!(lost.choose(), Choice { way: Way::ComputeFirst, reads: 0b10_1101 });
        // Two pages that are not written are: both parities follow from what changes.
        let lost = Row { readable: 0b11_1001, ..lost };
        assert_eq!(lost.choose(), Choice { way: Way::ReadModifyWrite, reads: 0b11_0001 });
    }

    #[test]
    fn what_is_cached_is_not_read() {
        let mut one = row(5, 1);
        assert_eq!(one.choose(), Choice { way: Way::ReadModifyWrite, reads: 0b10_0001 });
        one.uptodate = 0b10_0001;
        assert_eq!(one.choose(), Choice { way: Way::ReadModifyWrite, reads: 0 });
        one.uptodate = 0b01_1100;
        assert_eq!(one.choose(), Choice { way: Way::ReconstructWrite, reads: 0b00_0010 });
    }

    #[test]
    fn a_page_written_in_part_is_read_either_way() {
        let mut part = row(3, 2);
        part.overwrite = 0b01;
        assert_eq!(part.choose(), Choice { way: Way::ReconstructWrite, reads: 0b110 });
    }

    #[test]
    fn a_lost_drive_decides_the_way() {
        // The lost page is overwritten: only reconstruction is possible.
        let mut lost = row(5, 1);
        lost.readable &= !1;
        assert_eq!(lost.choose(), Choice { way: Way::ReconstructWrite, reads: 0b1_1110 });
        // Another is: only modification is.
        lost.to_write = 0b110;
        lost.overwrite = 0b110;
        assert_eq!(lost.choose(), Choice { way: Way::ReadModifyWrite, reads: 0b10_0110 });
        // The lost page is written in part: it has to be computed first.
        lost.to_write = 1;
        lost.overwrite = 0;
        assert_eq!(lost.choose(), Choice { way: Way::ComputeFirst, reads: 0b11_1110 });
    }
}
