//! Reprogrammable blocks and a power cut: interrupted reprograms, and the blocks that are used further.
//!
//! The spare bytes of a page hold, beside [`Spare`](super::oob::Spare), RPCnt and Distribution ID after its program. Of the two
//! pages of a word line the one with the higher program number was reprogrammed last.
//!
//! An interrupted reprogram leaves the cells between two windows, so that both pages are lost, as the paired page of an
//! interrupted MLC program is (Tseng et al., DAC 2011). A drive with capacitors completes it. A drive without reprograms only word
//! lines that hold no valid data.

use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::program_address::ProgramAddress;
use crate::ftl::page::page_ftl::PageFtl;
use crate::ftl::page::reprogram::{Block, Reprogramming, WordLine, page_units};
use crate::numbers::SuperBlock;
use interpulse_flash::die::Die;
use interpulse_flash::ids::WordLineId;
use interpulse_flash::reprogram::{Bit, Status};

impl PageFtl {
    /// Capacitors have completed a reprogram: its data are on flash, and also in the saved cache.
    pub(super) fn reprogram_completed(&mut self, super_block: SuperBlock, word_line: WordLineId) {
        let layout = &self.blocks.layout;
        let of_it = |place: &ProgramAddress| {
            place.super_block == super_block
                && place.reprogram.is_some()
                && place.word_line(layout) == word_line
        };
        let job = self.jobs.in_flight().find(|job| job.place.as_ref().is_some_and(of_it));
        let job = job.expect("a reprogram on a die is in flight");
        let place = job.place.expect("a reprogram has an address");
        self.blocks.units.describe_landing(&self.blocks.layout, &job.slots, &place);
        let lane = job.lane;
        self.blocks.two_bit_done(lane, super_block, word_line);
    }

    /// A reprogram has been interrupted: neither page of its word line holds anything.
    pub(super) fn reprogram_torn(&mut self, super_block: SuperBlock, word_line: WordLineId) {
        let layout = &self.blocks.layout;
        let first = layout.first_unit(super_block);
        let units: Vec<_> = Bit::ALL
            .into_iter()
            .flat_map(|bit| page_units(layout, word_line, bit))
            .map(|offset| first + offset)
            .collect();
        self.blocks.units.tear(units.into_iter());
    }
}

impl BlockManager {
    /// Restores the reprogrammable blocks in use from what flash holds, after all other blocks. A block with a torn word line
    /// in its last super layer is closed, so that garbage collection repairs it.
    pub(crate) fn restore_two_bit(&mut self, programs: &[u32], dies: &[Die]) {
        let Some(mut of) = self.reprogramming.take() else { return };
        for at in 0..of.active.len() {
            let active = of.active[at].take();
            of.active[at] = active.and_then(|block| self.found_again(&of, &block, programs, dies));
            let candidates = std::mem::take(&mut of.candidates[at]);
            of.candidates[at] =
                candidates.iter().filter_map(|block| self.found_again(&of, block, programs, dies)).collect();
        }
        self.reprogramming = Some(of);
    }

    /// `before` as it is found on flash; `None` if no program of it has begun or it is closed.
    fn found_again(
        &mut self,
        of: &Reprogramming,
        before: &Block,
        programs: &[u32],
        dies: &[Die],
    ) -> Option<Block> {
        let super_block = before.super_block;
        let begun = programs[super_block.index()];
        let last = begun.checked_sub(1)? / self.layout.programs_per_word_line;
        let super_layer = last / of.word_lines;
        let first = super_layer * of.word_lines;
        let (lane, block) = self.layout.lane_of(super_block);
        let (die, plane) = self.layout.die_of(lane);
        let on_flash = dies[die.index()].blocks();
        let statuses: Option<Vec<Status>> =
            (first..=last).map(|line| on_flash.status_if_whole(plane, block, WordLineId(line))).collect();
        let Some(statuses) = statuses else {
            self.closed[super_block.index()] = self.clock;
            self.clock += 1;
            return None;
        };
        if before.super_layer == super_layer {
            let settled = before.lines.iter().map(|line| (line.busy == 0).then_some(line.status));
            for (k, status) in settled.enumerate().filter_map(|(k, status)| status.map(|status| (k, status)))
            {
                assert_eq!(
                    statuses.get(k),
                    Some(&status),
                    "word line {k} of a super layer of block {super_block}"
                );
            }
        }
        let line = |status| WordLine { status, busy: 0, half: false };
        let mut lines: Vec<WordLine> = statuses.into_iter().map(line).collect();
        if let Some(last) = lines.last_mut() {
            last.half = !begun.is_multiple_of(self.layout.programs_per_word_line);
        }
        self.units.set_candidate(super_block, false);
        Some(Block { super_block, super_layer, lines, next: 0, draining: false, moving: 0 })
    }
}
