//! The record through a loss of power: what the drives had, and what makes the parity of a row fit again.

use super::{Contents, Hole, NOTHING};
use crate::plan::Way;

impl Contents {
    /// Power is cut: every page is what its drive has, and that must be no older than what was complete.
    pub fn cut(&mut self) {
        let layout = self.layout;
        for (&row, of) in &mut self.rows {
            of.touched = 0;
            for d in (0..layout.drives).filter(|&d| layout.unit_at(d, row).is_some()) {
                let i = d as usize;
                let held = of.on_drive[i];
                let known = (of.acknowledged[i]..=of.issued[i])
                    .any(|version| of.value(&layout, row, d, version) == Some(held));
                assert!(known, "a power cut has lost a complete write of row {row}, drive {d}");
                of.touched |= u32::from(of.acknowledged[i] < of.issued[i]) << d;
                of.settled[i] = (of.issued[i], held);
                (of.acknowledged[i], of.taken[i]) = (of.issued[i], of.issued[i]);
            }
            of.cached.fill(NOTHING);
        }
    }

    /// The parity of a row without the pages that change, as the array computes it from what it has read for the way
    /// chosen; to be asked before [`Contents::drain`]. Panics unless it is what the host's writes alone make it.
    #[cold]
    pub fn partial_parity(&mut self, row: u32, way: Way, changes: u32) -> u64 {
        let layout = self.layout;
        let parity = layout.parity(row);
        let of = self.row(row);
        let sum = |mask: u32, of: &[u64]| {
            (0..).zip(of).filter(|(d, _)| mask >> d & 1 == 1).fold(0, |sum, (_, v)| sum ^ v)
        };
        let rest = ((1u64 << layout.drives) - 1) as u32 & !(changes | 1 << parity);
        let computed = match way {
            Way::ReadModifyWrite => sum(changes | 1 << parity, &of.cached),
            _ => sum(rest, &of.cached),
        };
        let right = |d: u32| of.value(&layout, row, d, of.taken[d as usize]).unwrap_or(0);
        let expected = (0..layout.drives).filter(|d| rest >> d & 1 == 1).fold(0, |all, d| all ^ right(d));
        let through_hole = of.hole.is_some_and(|Hole { drive: d, upto, value }| {
            let stands = rest >> d & 1 == 1 && of.taken[d as usize] <= upto;
            stands && computed == expected ^ right(d) ^ value
        });
        assert!(
            computed == expected || through_hole,
            "the partial parity of row {row} is not what the host's writes make it"
        );
        computed
    }

    /// The parity of a row is made of its log and of the pages that were changing, as the drives have them.
    #[cold]
    pub fn mend(&mut self, row: u32, partial: u64, changes: u32) {
        let parity = self.layout.parity(row) as usize;
        let of = self.row(row);
        let changing = (0..).zip(&of.on_drive).filter(|(d, _)| changes >> d & 1 == 1);
        of.on_drive[parity] = changing.fold(partial, |sum, (_, v)| sum ^ v);
        let all = of.on_drive.iter().fold(0, |sum, v| sum ^ v);
        assert_eq!(all, 0, "the log has not made the parity of row {row} fit");
    }
}
