//! Scheduled faults: the tables `[[fault]]`.

use interpulse_engine::{Bytes, Duration};
use interpulse_settings::{ConfigError, Section, Variant, choices, default, optional, required};

choices! {
    /// Kind of a scheduled fault, as the configuration names it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Kind {
        /// the next program of data that ends fails
        ProgramFailure = "program-failure",
        /// the next erase that ends fails
        EraseFailure = "erase-failure",
        /// nothing corrects the data of an address, or of the next page that the host reads on a die
        UncorrectableRead = "uncorrectable-read",
        /// a die fails for good
        DieFailure = "die-failure",
        /// all dies of a channel fail for good
        ChannelFailure = "channel-failure",
        /// a die, a channel or the firmware serves nothing for a time
        Stall = "stall",
    }
}

/// When a scheduled fault occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At this simulated time.
    At(Duration),
    /// When the drive has executed so many commands of the host.
    After(u64),
}

/// Scheduled fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Drive of an array.
    pub drive: u32,
    /// When it occurs.
    pub when: When,
    /// What fails.
    pub what: FaultKind,
}

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The next program of data that ends, on this die if one is given.
    Program(Option<u32>),
    /// The next erase that ends, on this die if one is given.
    Erase(Option<u32>),
    /// The flash copy of the unit at this address.
    Address(Bytes),
    /// Data of the next page that the host reads on this die.
    NextRead(u32),
    /// This die.
    Die(u32),
    /// All dies of this channel.
    Channel(u32),
    /// This serves nothing for a time.
    Stall(Stalled, Duration),
}

impl FaultKind {
    /// Whether nothing of it remains when it is over.
    pub(crate) fn leaves_no_state(self) -> bool {
        matches!(self, FaultKind::Stall(..))
    }
}

/// What stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stalled {
    /// A die: it begins no operation.
    Die(u32),
    /// A channel: it begins no transfer.
    Channel(u32),
    /// The firmware: it executes no command of the host.
    Drive,
}

const DAY: Duration = Duration::from_ms(24 * 3_600_000);

impl Fault {
    /// Reads one table `[[fault]]` for drives of so many dies and channels.
    pub fn read(s: &mut Section, dies: u32, channels: u32) -> Result<Fault, ConfigError> {
        // The kind decides about reserves of blocks that collection keeps, and so about the initial state.
        let kind = s.shaping_state().choice("kind", "what fails", None, Kind::ALL)?;
        let drive = s.u32("drive", "drive of an array, counted from 0", default(0).at_most(31))?;
        let times: [Variant<When>; 2] = [
            ("a fault at a time, without `after`".to_string(), &|s| {
                let doc = "simulated time of the fault, the warm-up included";
                let range = required().at_most(DAY * 100).typical(Duration::from_ms(1000));
                Ok(When::At(s.duration("at", doc, range)?))
            }),
            ("a fault after a number of commands, without `at`".to_string(), &|s| {
                let doc =
                    "commands of the host that the drive executes before the fault, the warm-up included";
                Ok(When::After(s.u64("after", doc, required().at_least(0).typical(1000))?))
            }),
        ];
        let when = s.read_variant(usize::from(s.has("after")), &times)?;
        let of = |kind: Kind| format!("kind = \"{}\"", kind.name());
        let kinds: [Variant<FaultKind>; 6] = [
            (of(Kind::ProgramFailure), &|s| Ok(FaultKind::Program(optional_die(s, dies)?))),
            (of(Kind::EraseFailure), &|s| Ok(FaultKind::Erase(optional_die(s, dies)?))),
            (of(Kind::UncorrectableRead), &|s| read_uncorrectable(s, dies)),
            (of(Kind::DieFailure), &|s| Ok(FaultKind::Die(die(s, dies)?))),
            (of(Kind::ChannelFailure), &|s| Ok(FaultKind::Channel(channel(s, channels)?))),
            (of(Kind::Stall), &|s| read_stall(s, dies, channels)),
        ];
        let what = s.read_variant(kind as usize, &kinds)?;
        Ok(Fault { drive, when, what })
    }

    /// Whether a block fails.
    pub fn fails_a_block(&self) -> bool {
        matches!(self.what, FaultKind::Program(_) | FaultKind::Erase(_))
    }

    /// Whether data becomes uncorrectable.
    pub fn loses_data(&self) -> bool {
        !self.fails_a_block() && !self.stalls()
    }

    /// Whether something stalls.
    pub fn stalls(&self) -> bool {
        matches!(self.what, FaultKind::Stall(..))
    }

    /// Whether dies fail.
    pub fn fails_dies(&self) -> bool {
        matches!(self.what, FaultKind::Die(_) | FaultKind::Channel(_))
    }
}

fn die(s: &mut Section, dies: u32) -> Result<u32, ConfigError> {
    let die = s.u32("die", DIE, required().at_least(0).typical(0))?;
    s.check(die < dies, "die", format!("a die from 0 to {}", dies - 1))?;
    Ok(die)
}

fn channel(s: &mut Section, channels: u32) -> Result<u32, ConfigError> {
    let doc = "channel, counted from 0";
    let channel = s.u32("channel", doc, required().at_least(0).typical(0))?;
    s.check(channel < channels, "channel", format!("a channel from 0 to {}", channels - 1))?;
    Ok(channel)
}

const DIE: &str = "die, counted from 0, die by die, chip by chip, channel by channel";

fn optional_die(s: &mut Section, dies: u32) -> Result<Option<u32>, ConfigError> {
    if !s.has("die") {
        return s.optional_u32("die", DIE, optional());
    }
    die(s, dies).map(Some)
}

fn read_uncorrectable(s: &mut Section, dies: u32) -> Result<FaultKind, ConfigError> {
    let variants: [Variant<FaultKind>; 2] = [
        ("kind = \"uncorrectable-read\" without `address`".to_string(), &|s| {
            Ok(FaultKind::NextRead(die(s, dies)?))
        }),
        ("kind = \"uncorrectable-read\" without `die`".to_string(), &|s| {
            let doc = "logical address of the drive, in bytes: its mapping unit is uncorrectable on flash";
            Ok(FaultKind::Address(s.bytes(
                "address",
                doc,
                required().at_least(Bytes(0)).typical(Bytes(0)),
            )?))
        }),
    ];
    s.read_variant(usize::from(s.has("address")), &variants)
}

fn read_stall(s: &mut Section, dies: u32, channels: u32) -> Result<FaultKind, ConfigError> {
    let doc = "how long the die, the channel, or without both the firmware serves nothing";
    let range = required().positive().at_most(Duration::from_ms(60_000)).typical(Duration::from_ms(5));
    let length = s.duration("duration", doc, range)?;
    let of_channel = s.has("channel");
    let stalled = match (s.has("die"), of_channel) {
        (true, true) => {
            return Err(s.conflict(&["die", "channel"], "a die stalls, or a channel: give one of them"));
        }
        (true, false) => Stalled::Die(die(s, dies)?),
        (false, true) => Stalled::Channel(channel(s, channels)?),
        (false, false) => {
            s.optional_u32("die", DIE, optional())?;
            s.optional_u32("channel", "channel, counted from 0", optional())?;
            Stalled::Drive
        }
    };
    Ok(FaultKind::Stall(stalled, length))
}
