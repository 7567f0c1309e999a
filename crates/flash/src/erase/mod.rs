//! Erase methods: how long an erase takes on a block, and in which loops. Every suspension scheme applies to every method.
//!
//! A method is one file and one line of the registry below.

mod multi_block;

use crate::pulse::PulseTrain;
use interpulse_settings::{ConfigError, Section, registry};

pub use aero::Aero;
pub use multi_block::{MultiBlock, MultiBlockVerify};

/// Erase of one block.
#[derive(Clone, Copy, Debug)]
pub struct BlockErase {
    /// Loops that the block needs at its wear, all whole.
    pub nominal: PulseTrain,
    /// The part's loops at zero wear.
    pub fresh: PulseTrain,
    /// Cycles that the loops of the part grow with; zero for a part whose loops do not.
    pub cycles: u32,
    /// Rank of the block among all, from 0 (erases most easily) to below 1.
    pub rank: f64,
    /// Random number from 0 to below 1 of this erase.
    pub chance: f64,
}

/// An erase method.
trait Method {
    /// The train of an erase.
    fn train(&self, erase: &BlockErase) -> PulseTrain;
}

registry! {
    $ /// How blocks are erased.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum EraseMethod, each_method {
        "ispe" => ispe::Ispe: "whole loops until a verify passes";
        "aero" => aero::Aero(it): "a short first loop, whose fail bits give the length of the rest (Cho et al., ASPLOS'24)";
    }
}

impl EraseMethod {
    /// Reads the section `[erase]`.
    pub fn read(s: &mut Section) -> Result<EraseMethod, ConfigError> {
        s.policy("method", "how a block is erased", Some("ispe"), EraseMethod::ROWS)
    }

    /// The train of an erase.
    #[inline]
    pub fn train(&self, erase: &BlockErase) -> PulseTrain {
        each_method!(self, it => it.train(erase))
    }
}
