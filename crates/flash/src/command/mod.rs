//! What a die can be told to do: one row for each command, which everything that tells commands apart reads.
//!
//! A row says in whose line a command waits, which steps it takes on its die, and on what its time, its energy and its
//! number are booked. The states that a die may pass, the pairs of state and use that its time is summed by, who may stop
//! what, and what a budget of current has to grant follow from the rows. How each step is carried out is the array's
//! ([`crate::nand`]), how long it takes the part's.

mod columns;
mod counters;
mod spender;
mod uses;

use crate::parts::power::Draw;

pub(crate) use columns::{Busy, Step};
pub use columns::{CLASSES, Class, EFFECTS, Effect, Train};
pub use counters::NandCounters;
pub use spender::{SPENDERS, Spender};
pub use uses::{USES, Use, WAITS, Wait};

/// The pulses of programs, and of erases.
static PROGRAM: Train =
    Train { stop: Use::StopProgram, draws: [Draw::ProgramPulse, Draw::ProgramReset, Draw::ProgramVerify] };
static ERASE: Train =
    Train { stop: Use::StopErase, draws: [Draw::ErasePulse, Draw::EraseReset, Draw::EraseVerify] };

/// Status and data of a word line are read into the page buffer before it is reprogrammed.
static RECALL: Busy = Busy { draw: Draw::Sense1, array: false, time: |timing| timing.read_two_bit };

/// Data goes from the cache register to the page buffer.
static HAND_OVER: Busy = Busy { draw: Draw::Reload, array: true, time: |timing| timing.cache_transfer };

/// One row; a cache line.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Its name in scripts and results.
    pub name: &'static str,
    /// In whose line it waits.
    pub class: Class,
    /// What it does to cells.
    pub effect: Effect,
    /// Its steps.
    pub(crate) steps: &'static [Step],
    /// Its steps where it changes one page of a word line with two bits per cell; none if it never does.
    pub(crate) reprogram: &'static [Step],
    /// Its steps where its data, or some of it, was loaded into the cache register before; none if it never is.
    pub(crate) cached: &'static [Step],
    /// What the die is put to while the command waits for the bus or uses it.
    pub(crate) bus: Use,
    /// What the die is put to while it senses or pulses for the command.
    pub(crate) array: Use,
    /// Its pulses, if it has any.
    pub(crate) train: Option<&'static Train>,
    /// Whom its energy is spent on.
    pub spender: Spender,
}

/// Declares the commands: a variant of [`Kind`] with its documentation, the one of [`NandCounters`] that counts it, and its
/// row.
macro_rules! commands {
    ($($(#[doc = $doc:literal])+ $kind:ident counted by $counter:ident: $row:expr;)+) => {
        /// A command to a die.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind { $($(#[doc = $doc])+ $kind),+ }

        /// Number of [`Kind`] values.
        pub const KINDS: usize = [$(Kind::$kind),+].len();

        /// The rows, in the order of [`Kind`].
        pub(crate) const COMMANDS: &[Command; KINDS] = &[$($row),+];

        impl Kind {
            /// Every command.
            pub const ALL: [Kind; KINDS] = [$(Kind::$kind),+];

            /// Its counter.
            #[inline]
            pub(crate) fn count(self, counters: &mut NandCounters) -> &mut u64 {
                match self { $(Kind::$kind => &mut counters.$counter),+ }
            }
        }
    };
}

commands! {
    /// A read for the host.
    HostRead counted by host_reads: Command {
        name: "read",
        class: Class::HostRead,
        effect: Effect::Reads,
        steps: &[Step::Command, Step::Sense, Step::Out],
        reprogram: &[],
        cached: &[],
        bus: Use::BusHost,
        array: Use::SenseHost,
        train: None,
        spender: Spender::Read,
    };
    /// A read for garbage collection.
    GcRead counted by gc_reads: Command {
        name: "gc-read",
        class: Class::GcRead,
        effect: Effect::Reads,
        steps: &[Step::Command, Step::Sense, Step::Out],
        reprogram: &[],
        cached: &[],
        bus: Use::BusGc,
        array: Use::SenseGc,
        train: None,
        spender: Spender::GcRead,
    };
    /// A program of host data.
    HostProgram counted by host_programs: Command {
        name: "program",
        class: Class::HostWrite,
        effect: Effect::Programs,
        steps: &[Step::Load, Step::Pulses],
        reprogram: &[Step::Busy(&RECALL), Step::Load, Step::Pulses],
        cached: &[Step::Load, Step::Busy(&HAND_OVER), Step::Pulses],
        bus: Use::BusProgram,
        array: Use::PulseHost,
        train: Some(&PROGRAM),
        spender: Spender::Program,
    };
    /// A program of moved data.
    GcProgram counted by gc_programs: Command {
        name: "gc-program",
        class: Class::GcWrite,
        effect: Effect::Programs,
        steps: &[Step::Load, Step::Pulses],
        reprogram: &[Step::Busy(&RECALL), Step::Load, Step::Pulses],
        cached: &[Step::Load, Step::Busy(&HAND_OVER), Step::Pulses],
        bus: Use::BusGc,
        array: Use::PulseGc,
        train: Some(&PROGRAM),
        spender: Spender::GcProgram,
    };
    /// An erase.
    Erase counted by erases: Command {
        name: "erase",
        class: Class::Erase,
        effect: Effect::Erases,
        steps: &[Step::Command, Step::Pulses],
        reprogram: &[],
        cached: &[],
        bus: Use::Erase,
        array: Use::Erase,
        train: Some(&ERASE),
        spender: Spender::Erase,
    };
}

/// What a row may not say.
const _: () = {
    let mut k = 0;
    while k < KINDS {
        let of = &COMMANDS[k];
        let waits_as_read = matches!(of.class, Class::HostRead | Class::GcRead);
        assert!(waits_as_read == matches!(of.effect, Effect::Reads), "the lines of reads hold reads alone");
        let pulses = matches!(of.effect, Effect::Programs | Effect::Erases);
        assert!(
            pulses == of.train.is_some(),
            "what programs or erases has a train, and nothing else has one"
        );
        assert!(!of.steps.is_empty(), "a command without a step never ends");
        k += 1;
    }
};

impl Spender {
    /// How often it was spent on; `None` for what is not counted.
    pub fn count(self, counters: &NandCounters) -> Option<u64> {
        match self {
            Spender::Idle => None,
            Spender::Suspension => Some(counters.program_suspends + counters.erase_suspends),
            _ => Some(count_of(*counters, |command| command.spender == self)),
        }
    }
}

impl NandCounters {
    /// Operations, whatever they do.
    pub fn operations(&self) -> u64 {
        count_of(*self, |_| true)
    }

    /// Operations that read.
    pub fn reads(&self) -> u64 {
        count_of(*self, |command| command.effect == Effect::Reads)
    }

    /// Operations that program.
    pub fn programs(&self) -> u64 {
        count_of(*self, |command| command.effect == Effect::Programs)
    }
}

fn count_of(mut counters: NandCounters, counts: impl Fn(&Command) -> bool) -> u64 {
    let counted = Kind::ALL.into_iter().filter(|kind| counts(kind.command()));
    counted.map(|kind| *kind.count(&mut counters)).sum()
}

impl Kind {
    /// Its row.
    #[inline(always)]
    pub const fn command(self) -> &'static Command {
        &COMMANDS[self as usize]
    }

    /// The command of this name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.command().name == name)
    }

    /// Its pulses, which it must have.
    #[inline]
    pub(crate) fn train(self) -> &'static Train {
        self.command().train.expect("only a program or an erase pulses")
    }
}
