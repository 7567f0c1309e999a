//! `ispe`: incremental step pulse erasing with loops of one length.

use super::{BlockErase, Method};
use crate::pulse::PulseTrain;

/// Whole loops.
pub struct Ispe;

impl Method for Ispe {
    #[inline]
    fn train(&self, erase: &BlockErase) -> PulseTrain {
        erase.nominal
    }
}
