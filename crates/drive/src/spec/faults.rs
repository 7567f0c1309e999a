//! Specification of faults of the flash array: the section `[faults]`.

use interpulse_settings::{ConfigError, Section, choices, default, keys, required};

choices! {
    /// Endurance of the blocks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WearOut {
        /// blocks endure any number of cycles
        Never = "never",
        /// every block endures part.endurance cycles
        Equal = "equal",
        /// normally distributed around part.endurance
        Normal = "normal",
        /// lognormally distributed with the median part.endurance
        Lognormal = "lognormal",
    }
}

keys! {
    /// Wear-out, bad blocks, program and erase failures.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FaultSpec, fn keys(s, state: &mut Section) {
        /// program/erase cycles that a super block endures: the erase after them fails, and a reserved block replaces it
        pub wear_out: WearOut = choice(Some("never"), WearOut::ALL),
        /// Standard deviation of the endurance, of its logarithm where that is normally distributed, relative to its centre.
        pub endurance_spread: f64 => spread(s, wear_out)?,
        /// probability that a block of a plane is bad when the drive is made; those blocks are taken from ftl.bad-block-reserve
        pub factory_bad_blocks: f64 = fraction(default(0.0).at_most(0.5)),
        /// probability that a program of data fails: the data is programmed elsewhere and the block is replaced
        // Collection keeps one block more, so that a failure never leaves it without a place.
        pub program_failure: f64 = (state) fraction(default(0.0).at_most(0.01)),
        /// probability that an erase fails, whatever the wear: the block is replaced
        pub erase_failure: f64 = fraction(default(0.0).at_most(0.1)),
    }
}

fn spread(s: &mut Section, wear_out: WearOut) -> Result<f64, ConfigError> {
    let spreads = matches!(wear_out, WearOut::Normal | WearOut::Lognormal);
    let doc = "standard deviation of the endurance (of its natural logarithm with \"lognormal\"), relative to part.endurance";
    let read = |s: &mut Section| {
        s.fraction("endurance-spread", doc, required().positive().at_most(0.5).typical(0.1))
    };
    Ok(s.when(spreads, "wear-out = \"normal\" or \"lognormal\"", read)?.unwrap_or(0.0))
}

impl FaultSpec {
    /// Faults that change nothing.
    pub const NONE: FaultSpec = FaultSpec {
        wear_out: WearOut::Never,
        endurance_spread: 0.0,
        factory_bad_blocks: 0.0,
        program_failure: 0.0,
        erase_failure: 0.0,
    };

    /// Reads the section `[faults]`.
    pub fn read(s: &mut Section) -> Result<FaultSpec, ConfigError> {
        let mut state = s.shaping_state();
        FaultSpec::keys(s, &mut state)
    }

    /// Whether blocks may become bad in a run, and the drive read-only.
    pub fn retires_blocks(&self) -> bool {
        self.wear_out != WearOut::Never || self.program_failure > 0.0 || self.erase_failure > 0.0
    }
}
