//! Reprogrammable word lines (ReSSD, MICRO 2019): legality of reprograms and the status that programs leave.

use super::{Die, LongOp};
use crate::cell_mode::CellMode;
use crate::geometry::Pages;
use crate::ids::{BlockId, WordLineId};
use crate::reprogram::{Bit, Status};
use interpulse_engine::SimTime;

impl Die {
    /// Checks that the program on the die may reprogram the page of `bit` of a word line; `validity` says which of the two
    /// pages are in use.
    ///
    /// A word line is reprogrammed at most twice, only in a page that is not in use, and only while no word line of the next
    /// super layer (of `super_layer` word lines) is programmed.
    pub fn check_reprogram(
        &mut self,
        now: SimTime,
        word_line: WordLineId,
        super_layer: u32,
        bit: Bit,
        validity: u8,
    ) {
        let op = self.long.as_ref().expect("pages are written by a program");
        let (planes, block) = (op.planes, op.block.expect("a word line has an address"));
        let pages = self.pages_per_word_line;
        for plane in planes.each() {
            self.check_mode(now, plane, block, CellMode::Mlc);
            let programmed = u32::from(self.blocks.programmed(plane, block));
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
        // The page buffer holds both pages of the word line meanwhile.
        op.pages = Pages { first: word_line.first_page(pages), count: 2 };
        (op.mode, op.reprograms) = (CellMode::Mlc, Some(bit));
    }

    /// Notes that pages of a block in `mode` are programmed, and unused pages of the word line passed over.
    pub(super) fn set_programmed(&mut self, mode: CellMode, plane: u32, block: BlockId, pages: Pages) {
        let end = mode.next_page(pages.end(), self.pages_per_word_line) as u16;
        match mode {
            CellMode::Native => self.blocks.set_programmed(plane, block, end),
            _ => {
                // A torn reprogram leaves the later word lines as they are.
                let end = end.max(self.blocks.programmed(plane, block));
                self.blocks.set_programmed_in(mode, plane, block, end);
            }
        }
    }

    /// A program of a block that is not in the native mode, or a reprogram, is complete.
    #[inline(never)]
    pub(super) fn finish_in_mode(&mut self, op: &LongOp) {
        let Some(block) = op.block else { return };
        let pages = self.pages_per_word_line;
        let word_line = WordLineId::of_page(op.pages.first, pages);
        for plane in op.planes.each() {
            match op.reprograms {
                None => {
                    self.set_programmed(op.mode, plane, block, op.pages);
                    if op.mode == CellMode::Mlc {
                        let word_lines = self.pages_per_block / pages;
                        self.blocks.set_status(plane, block, word_line, Status::INITIAL, word_lines);
                    }
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
