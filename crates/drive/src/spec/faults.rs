//! Specification of faults of the flash array: the section `[faults]`.

use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Section, choices, default, keys, optional, required};

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
        /// probability that a page read of the host finds data that nothing corrects until it is written again
        pub uncorrectable_read: f64 = fraction(default(0.0).at_most(0.1)),
        /// mean time between failures of dies drawn at random, exponentially distributed; left out, none fails
        pub die_failure_every: Option<Duration> = optional_duration(optional().positive()),
        /// mean time between stalls of dies drawn at random, exponentially distributed; left out, none stalls
        pub die_stall_every: Option<Duration> = optional_duration(optional().positive()),
        /// Length of these stalls.
        pub die_stall: Duration => stall(s, die_stall_every)?,
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

fn stall(s: &mut Section, every: Option<Duration>) -> Result<Duration, ConfigError> {
    let doc = "how long a die stalls: it begins no operation";
    let read = |s: &mut Section| {
        let range = required().positive().at_most(Duration::from_ms(60_000));
        s.duration("die-stall", doc, range.typical(Duration::from_ms(5)))
    };
    Ok(s.when(every.is_some(), "a given die-stall-every", read)?.unwrap_or(Duration::ZERO))
}

impl FaultSpec {
    /// Faults that change nothing.
    pub const NONE: FaultSpec = FaultSpec {
        wear_out: WearOut::Never,
        endurance_spread: 0.0,
        factory_bad_blocks: 0.0,
        program_failure: 0.0,
        erase_failure: 0.0,
        uncorrectable_read: 0.0,
        die_failure_every: None,
        die_stall_every: None,
        die_stall: Duration::ZERO,
    };

    /// Reads the section `[faults]`.
    pub fn read(s: &mut Section) -> Result<FaultSpec, ConfigError> {
        let mut state = s.shaping_state();
        FaultSpec::keys(s, &mut state)
    }

    /// Whether reads, dies or their stalls are injected at random.
    pub(crate) fn injects(&self) -> bool {
        self.injects_into_flash() || self.die_stall_every.is_some()
    }

    /// Whether reads or dies fail at random.
    pub(crate) fn injects_into_flash(&self) -> bool {
        self.uncorrectable_read > 0.0 || self.die_failure_every.is_some()
    }

    /// Whether blocks may become bad in a run, and the drive read-only.
    pub fn retires_blocks(&self) -> bool {
        self.wear_out != WearOut::Never || self.program_failure > 0.0 || self.erase_failure > 0.0
    }
}
