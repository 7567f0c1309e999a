//! `when-programmed`: completion with the data on flash.

use super::Acknowledgement;

/// Completion with the data on flash.
pub struct WhenProgrammed;

impl Acknowledgement for WhenProgrammed {
    fn waits_for_programs(&self) -> bool {
        true
    }

    fn absorbs(&self) -> bool {
        false
    }
}
