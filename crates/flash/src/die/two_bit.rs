//! Word lines with two bits per cell: what a program of one may do, and what it leaves.

use super::{Die, LongOp};
use crate::geometry::Pages;
use crate::numbers::{BlockId, WordLineId};
use crate::reprogram::{Bit, Status, TwoBit};
use interpulse_engine::SimTime;

impl Die {
    /// Checks that the program on the die may do `how` to a word line of its block, as two bits per cell; `validity` says
    /// which of the word line's two pages are in use.
    ///
    /// A word line is programmed in order, both pages at once or, with `page`, one after the other; then reprogrammed at most twice, one page at a time, which must not be in use,
    /// and only while no word line of the next super layer (of `super_layer` word lines) is programmed.
    pub fn check_two_bit(
        &mut self,
        now: SimTime,
        word_line: WordLineId,
        super_layer: u32,
        how: TwoBit,
        page: Option<Bit>,
        validity: u8,
    ) {
        let op = self.long.as_ref().expect("pages are written by a program");
        let (planes, block) = (op.planes, op.block.expect("a word line has an address"));
        let pages = self.pages_per_word_line;
        let first = word_line.first_page(pages) + page.map_or(0, |bit| bit as u32);
        for plane in planes.each() {
            let programmed = u32::from(self.blocks.programmed(plane, block));
            let fresh = programmed == 0;
            if !fresh && !self.blocks.is_two_bit(plane, block) {
                self.illegal(
                    now,
                    &format!("program of two bits per cell of block {block}, which holds three"),
                );
            }
            let Some(bit) = how.bit() else {
                if programmed != first || (word_line + 1).first_page(pages) > self.pages_per_block {
                    let what = format!(
                        "program of word line {word_line} of block {block}, plane {plane}, whose next one is {}",
                        programmed / pages
                    );
                    self.illegal(now, &what);
                }
                continue;
            };
            let last = (programmed / pages).checked_sub(1).map(WordLineId);
            if last.is_none_or(|last| word_line > last || word_line.0 / super_layer != last.0 / super_layer) {
                let what = format!(
                    "reprogram of word line {word_line} of block {block}, plane {plane}, which is not in the super layer of \
                     {last:?}, the last one programmed"
                );
                self.illegal(now, &what);
            }
            let status = self.blocks.status(plane, block, word_line).with_validity(validity);
            if let Err(refusal) = status.next(bit) {
                let what =
                    format!("reprogram of word line {word_line} of block {block}, plane {plane}: {refusal}");
                self.illegal(now, &what);
            }
        }
        let op = self.long.as_mut().expect("pages are written by a program");
        // While its operation is on the die, the pages that it writes, and the other one of a reprogram, are in the page
        // buffer.
        let count = if page.is_some() { 1 } else { 2 };
        (op.pages, op.two_bit) = (Pages { first, count }, Some(how));
    }

    /// A program of two bits per cell, or a reprogram, is complete.
    #[inline(never)]
    pub(super) fn finish_two_bit(&mut self, op: &LongOp, block: BlockId, how: TwoBit) {
        let pages = self.pages_per_word_line;
        let word_line = WordLineId::of_page(op.pages.first, pages);
        for plane in op.planes.each() {
            match how.bit() {
                None => {
                    let word_lines = self.pages_per_block / pages;
                    self.blocks.set_status(plane, block, word_line, Status::INITIAL, word_lines);
                    // The first page of two leaves the word line unfinished: it cannot be reprogrammed.
                    let half = op.pages.count == 1 && op.pages.first.is_multiple_of(pages);
                    let end = if half { op.pages.end() } else { (word_line + 1).first_page(pages) };
                    self.blocks.set_programmed_two_bit(plane, block, end as u16);
                }
                Some(bit) => {
                    let before = self.blocks.status(plane, block, word_line).invalidate(bit);
                    let after = before.next(bit).expect("checked when the operation was put on the die");
                    self.blocks.set_status(plane, block, word_line, after, 0);
                }
            }
        }
    }
}
