//! Content audit across a power loss: surviving values, and parity recovery.

use super::{ContentAudit, Hole, NOTHING};
use crate::raid::plan::WriteStrategy;

impl ContentAudit {
    /// Applies a power cut: pages have the values of their drives, which must include every completed write.
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

    /// Partial parity of a row for its log, computed from the cached pages by `strategy` before [`ContentAudit::drain`].
    /// Panics if it differs from the partial parity of the host writes.
    #[cold]
    pub fn partial_parity(&mut self, row: u32, strategy: WriteStrategy, changes: u32) -> u64 {
        let layout = self.layout;
        let parity = layout.parity(row);
        let of = self.row(row);
        let sum = |mask: u32, of: &[u64]| {
            (0..).zip(of).filter(|(d, _)| mask >> d & 1 == 1).fold(0, |sum, (_, v)| sum ^ v)
        };
        let rest = ((1u64 << layout.drives) - 1) as u32 & !(changes | 1 << parity);
        let computed = match strategy {
            WriteStrategy::ReadModifyWrite => sum(changes | 1 << parity, &of.cached),
            _ => sum(rest, &of.cached),
        };
        let right = |d: u32| of.value(&layout, row, d, of.taken[d as usize]).unwrap_or(0);
        let expected = (0..layout.drives).filter(|d| rest >> d & 1 == 1).fold(0, |all, d| all ^ right(d));
        let through_hole = of.hole.is_some_and(|Hole { drive: d, upto, value }| {
            let current = rest >> d & 1 == 1 && of.taken[d as usize] <= upto;
            current && computed == expected ^ right(d) ^ value
        });
        assert!(
            computed == expected || through_hole,
            "the partial parity of row {row} differs from that of the host writes"
        );
        computed
    }

    /// Computes the parity of a row from its log and the changing pages.
    #[cold]
    pub fn apply_log(&mut self, row: u32, partial: u64, changes: u32) {
        let parity = self.layout.parity(row) as usize;
        let of = self.row(row);
        let changing = (0..).zip(&of.on_drive).filter(|(d, _)| changes >> d & 1 == 1);
        of.on_drive[parity] = changing.fold(partial, |sum, (_, v)| sum ^ v);
        let all = of.on_drive.iter().fold(0, |sum, v| sum ^ v);
        assert_eq!(all, 0, "the log did not make the parity of row {row} consistent");
    }
}
