//! Command table: one row for each NAND command; all code that distinguishes commands reads it.
//!
//! A row gives the scheduling class, the steps on the die, and the categories of time, energy and count. The legal states of
//! a die, the pairs of state and activity, the rules of preemption and the requests to the power budget follow from the rows.
//! The array ([`crate::nand`]) carries out the steps; the part gives their times.

mod columns;
mod counters;
mod die_activity;
mod energy_category;

use crate::parts::power::Draw;

pub(crate) use columns::{Busy, Step};
pub use columns::{CLASSES, Class, EFFECTS, Effect, Train};
pub use counters::NandCounters;
pub use die_activity::{DIE_ACTIVITIES, DieActivity, WAITS, Wait};
pub use energy_category::{ENERGY_CATEGORIES, EnergyCategory};

/// The pulses of programs, and of erases.
static PROGRAM: Train = Train {
    stop: DieActivity::StopProgram,
    draws: [Draw::ProgramPulse, Draw::ProgramReset, Draw::ProgramVerify],
};
static ERASE: Train =
    Train { stop: DieActivity::StopErase, draws: [Draw::ErasePulse, Draw::EraseReset, Draw::EraseVerify] };

/// A reprogram first reads status and data of the word line into the page buffer.
static RECALL: Busy = Busy { draw: Draw::Sense1, array: false, time: |timing| timing.read_mlc_mode };

/// Move from the cache register to the page buffer.
static HAND_OVER: Busy = Busy { draw: Draw::Reload, array: true, time: |timing| timing.cache_transfer };

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Name in scripts and results.
    pub name: &'static str,
    /// Scheduling class.
    pub class: Class,
    /// Effect on cells.
    pub effect: Effect,
    /// Steps on the die.
    pub(crate) steps: &'static [Step],
    /// Steps as a reprogram; none if it never is one.
    pub(crate) reprogram: &'static [Step],
    /// Steps with data already in the cache register; none if it never has.
    pub(crate) cached: &'static [Step],
    /// Steps as a copyback of a single round of sources; none if it never is one.
    pub(crate) copyback: &'static [Step],
    /// Activity while the command waits for the bus or uses it.
    pub(crate) bus: DieActivity,
    /// Activity while the die senses or pulses.
    pub(crate) array: DieActivity,
    /// Pulses, if it has any.
    pub(crate) train: Option<&'static Train>,
    /// Energy category.
    pub category: EnergyCategory,
    /// Derived: whether its steps are those of [`PAGE_READ`].
    page_read: bool,
}

/// Steps of a page read. The array has a path of its own for them, which senses several planes together.
const PAGE_READ: &[Step] = &[Step::Command, Step::Sense, Step::Out];

/// Declares the commands: a variant of [`Kind`] with its documentation, its counter in [`NandCounters`], and its row.
macro_rules! commands {
    ($($(#[doc = $doc:literal])+ $kind:ident counted by $counter:ident: $row:expr;)+) => {
        /// A command to a die.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind { $($(#[doc = $doc])+ $kind),+ }

        /// Number of [`Kind`] values.
        pub const KINDS: usize = [$(Kind::$kind),+].len();

        /// The rows, in the order of [`Kind`].
        pub(crate) const COMMANDS: &[Command; KINDS] = &{
            const ROWS: [Command; KINDS] = [$($row),+];
            let mut rows = ROWS;
            let mut k = 0;
            while k < KINDS {
                rows[k].page_read = is_page_read(rows[k].steps);
                k += 1;
            }
            rows
        };

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
        steps: PAGE_READ,
        reprogram: &[],
        cached: &[],
        copyback: &[],
        bus: DieActivity::BusHost,
        array: DieActivity::SenseHost,
        train: None,
        category: EnergyCategory::Read,
        page_read: false,
    };
    /// A read for garbage collection.
    GcRead counted by gc_reads: Command {
        name: "gc-read",
        class: Class::GcRead,
        effect: Effect::Reads,
        steps: PAGE_READ,
        reprogram: &[],
        cached: &[],
        copyback: &[],
        bus: DieActivity::BusGc,
        array: DieActivity::SenseGc,
        train: None,
        category: EnergyCategory::GcRead,
        page_read: false,
    };
    /// A program of host data.
    HostProgram counted by host_programs: Command {
        name: "program",
        class: Class::HostWrite,
        effect: Effect::Programs,
        steps: &[Step::Load, Step::Pulses],
        reprogram: &[Step::Busy(&RECALL), Step::Load, Step::Pulses],
        cached: &[Step::Load, Step::Busy(&HAND_OVER), Step::Pulses],
        copyback: &[],
        bus: DieActivity::BusProgram,
        array: DieActivity::PulseHost,
        train: Some(&PROGRAM),
        category: EnergyCategory::Program,
        page_read: false,
    };
    /// A program of moved data.
    GcProgram counted by gc_programs: Command {
        name: "gc-program",
        class: Class::GcWrite,
        effect: Effect::Programs,
        steps: &[Step::Load, Step::Pulses],
        reprogram: &[Step::Busy(&RECALL), Step::Load, Step::Pulses],
        cached: &[Step::Load, Step::Busy(&HAND_OVER), Step::Pulses],
        copyback: &[Step::Command, Step::SenseSource, Step::Command, Step::Pulses],
        bus: DieActivity::BusGc,
        array: DieActivity::PulseGc,
        train: Some(&PROGRAM),
        category: EnergyCategory::GcProgram,
        page_read: false,
    };
    /// An erase.
    Erase counted by erases: Command {
        name: "erase",
        class: Class::Erase,
        effect: Effect::Erases,
        steps: &[Step::Command, Step::Pulses],
        reprogram: &[],
        cached: &[],
        copyback: &[],
        bus: DieActivity::Erase,
        array: DieActivity::Erase,
        train: Some(&ERASE),
        category: EnergyCategory::Erase,
        page_read: false,
    };
}

/// Consistency of the rows.
const _: () = {
    let mut k = 0;
    while k < KINDS {
        let of = &COMMANDS[k];
        let waits_as_read = matches!(of.class, Class::HostRead | Class::GcRead);
        assert!(waits_as_read == matches!(of.effect, Effect::Reads), "the queues of reads hold reads alone");
        let pulses = matches!(of.effect, Effect::Programs | Effect::Erases);
        assert!(
            pulses == of.train.is_some(),
            "what programs or erases has a train, and nothing else has one"
        );
        assert!(!of.steps.is_empty(), "a command without a step never ends");
        let mut step = 0;
        while step < of.steps.len() {
            let last = step + 1 == of.steps.len();
            match of.steps[step] {
                Step::Sense => {
                    assert!(!last && matches!(of.steps[step + 1], Step::Out), "sensed data moves out");
                }
                Step::Out => assert!(last, "a command ends when its data has moved out"),
                _ => {}
            }
            step += 1;
        }
        let moves_out = matches!(of.steps[of.steps.len() - 1], Step::Out);
        assert!(moves_out == waits_as_read, "reads, and nothing else, end with data out");
        k += 1;
    }
};

impl EnergyCategory {
    /// Number of operations of this category; `None` for idle dies.
    pub fn count(self, counters: &NandCounters) -> Option<u64> {
        match self {
            EnergyCategory::Idle => None,
            EnergyCategory::Suspension => Some(counters.program_suspends + counters.erase_suspends),
            _ => Some(count_of(*counters, |command| command.category == self)),
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

/// Whether all reads are page reads.
pub(crate) const ALL_PAGE_READS: bool = {
    let mut k = 0;
    let mut all = true;
    while k < KINDS {
        all &= COMMANDS[k].page_read || !matches!(COMMANDS[k].effect, Effect::Reads);
        k += 1;
    }
    all
};

impl Command {
    /// Whether the command is a page read with the steps of [`PAGE_READ`].
    #[inline(always)]
    pub(crate) const fn is_page_read(&self) -> bool {
        self.page_read
    }
}

/// Whether the steps are those of [`PAGE_READ`].
const fn is_page_read(steps: &[Step]) -> bool {
    matches!(steps, [Step::Command, Step::Sense, Step::Out])
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
