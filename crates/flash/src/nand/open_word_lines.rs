//! Word lines between the two steps of their programs, by die.

use super::txn::Txn;
use crate::ids::BlockId;
use crate::parts::TwoStepSpec;

/// Word lines of one block, on the planes of a program, that are between their steps.
#[derive(Clone, Debug)]
pub(super) struct OpenBlock {
    plane: u8,
    planes: u8,
    block: BlockId,
    /// First page of the word line whose second step has not been queued.
    waits: Option<u32>,
    /// First pages of the word lines whose second step has been queued.
    queued: Vec<u32>,
    /// Erase that waits for the second steps.
    erase: Option<Txn>,
}

/// Word lines between their steps, by die.
#[derive(Clone, Debug)]
pub(super) struct TwoStep {
    spec: TwoStepSpec,
    pub(super) dies: Vec<Vec<OpenBlock>>,
}

impl OpenBlock {
    /// Whether the word line of this page is between its steps.
    pub(super) fn holds(&self, plane: u8, block: BlockId, word_line: u32) -> bool {
        let here = self.block == block && (self.plane..self.plane + self.planes).contains(&plane);
        here && (self.waits == Some(word_line) || self.queued.contains(&word_line))
    }
}

impl TwoStep {
    pub(super) fn new(spec: TwoStepSpec, dies: usize) -> Box<TwoStep> {
        Box::new(TwoStep { spec, dies: vec![Vec::new(); dies] })
    }

    /// Pages that a step loads on each plane.
    pub(super) fn pages(&self, txn: &Txn) -> u32 {
        if txn.is_first_step() { self.spec.first_pages } else { self.spec.second_pages }
    }

    fn find(&mut self, d: usize, txn: &Txn) -> Option<usize> {
        self.dies[d].iter().position(|of| of.plane == txn.plane && of.block == txn.block)
    }

    /// The program `txn` of a word line is queued: returns the first page of the word line whose second step follows it.
    pub(super) fn program_queued(&mut self, d: usize, txn: &Txn) -> Option<u32> {
        let at = self.find(d, txn).unwrap_or_else(|| {
            self.dies[d].push(OpenBlock {
                plane: txn.plane,
                planes: txn.planes,
                block: txn.block,
                waits: None,
                queued: Vec::new(),
                erase: None,
            });
            self.dies[d].len() - 1
        });
        let of = &mut self.dies[d][at];
        let before = of.waits.replace(txn.page);
        of.queued.extend(before);
        before
    }

    /// The second step of the last word line of a block follows its first one.
    pub(super) fn last_queued(&mut self, d: usize, txn: &Txn) {
        let at = self.find(d, txn).expect("its first step is queued");
        let of = &mut self.dies[d][at];
        of.queued.extend(of.waits.take());
    }

    /// The second step `txn` has ended: returns the erase that waits for it, if it is the last one.
    pub(super) fn ended(&mut self, d: usize, txn: &Txn) -> Option<Txn> {
        let at = self.find(d, txn).expect("its word line is between its steps");
        let of = &mut self.dies[d][at];
        of.queued.retain(|&page| page != txn.page);
        if !of.queued.is_empty() || of.waits.is_some() {
            return None;
        }
        self.dies[d].swap_remove(at).erase
    }

    /// The owner erases the block of `txn`, whose data it does not need: returns whether the erase has to wait.
    pub(super) fn erases(&mut self, d: usize, txn: &Txn) -> bool {
        let Some(at) = self.find(d, txn) else { return false };
        let of = &mut self.dies[d][at];
        of.waits = None;
        if of.queued.is_empty() {
            self.dies[d].swap_remove(at);
            return false;
        }
        of.erase = Some(*txn);
        true
    }
}
