//! What a part can do with its cache register: take the data of the next program while one pulses, and give out the data of
//! a read while the next is sensed.

use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Section, default};

/// Which program may be loaded while another one pulses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheProgram {
    /// None.
    None,
    /// One of the same block (of the same blocks, over several planes), as data sheets of parts with cache program have it.
    Block,
    /// Any of the die.
    Die,
}

impl CacheProgram {
    const ALL: [(&'static str, CacheProgram, &'static str); 3] = [
        ("none", CacheProgram::None, "none: a program is loaded when the one before has ended"),
        ("block", CacheProgram::Block, "the next of the same block"),
        ("die", CacheProgram::Die, "the next of the die, whatever its block"),
    ];
}

/// What becomes of data in the cache register when a read comes before its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheOnRead {
    /// The read's data leaves through the cache register: what was in it is lost, and is sent again.
    Lost,
    /// The part reads past it.
    Kept,
    /// A program that runs cannot be suspended while there is data in the cache register; otherwise as [`Self::Lost`].
    Refused,
}

impl CacheOnRead {
    const ALL: [(&'static str, CacheOnRead, &'static str); 3] = [
        ("lost", CacheOnRead::Lost, "lost, and sent again: what is read leaves through the cache register"),
        ("kept", CacheOnRead::Kept, "kept: the part has latches to read past it"),
        (
            "refused",
            CacheOnRead::Refused,
            "no program is suspended while it is there; read at its end, it is lost",
        ),
    ];
}

/// The cache register of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheRegister {
    /// Which program it takes the data of.
    pub program: CacheProgram,
    /// Pages of each plane that it takes.
    pub pages: u32,
    /// From the cache register to the page buffer, before the pulses.
    pub transfer: Duration,
    /// What a read does to it.
    pub on_read: CacheOnRead,
    /// Cache read: data moves out of it while the next page is sensed.
    pub reads: bool,
}

impl CacheRegister {
    /// A part that uses none.
    pub const NONE: CacheRegister = CacheRegister {
        program: CacheProgram::None,
        pages: 0,
        transfer: Duration::ZERO,
        on_read: CacheOnRead::Lost,
        reads: false,
    };

    /// Reads the section `[part.cache]` of a part that programs `pages` pages of a plane at once.
    ///
    /// Fails on malformed values, and on keys of a register that is not used.
    pub(super) fn read(s: &mut Section, pages: u32) -> Result<CacheRegister, ConfigError> {
        let doc = "cache program: which program is loaded into the cache register while one pulses";
        let program = s.choice("program", doc, Some("none"), &CacheProgram::ALL)?;
        let reads = s.bool(
            "read",
            "cache read: the data of a read moves out of the cache register while the next read is sensed",
            default(false),
        )?;
        let used = program != CacheProgram::None;
        let spec = s.when(used, "program = \"block\" or \"die\"", |s| {
            let one = default(1).within(1..=4);
            let taken = s.u32("pages", "pages of each plane that the cache register takes", one)?;
            if taken > pages {
                return Err(
                    s.invalid("pages", format!("at most the {pages} that a program writes on a plane"))
                );
            }
            let most = default(Duration::ZERO).at_most(Duration::from_ms(1_000));
            Ok(CacheRegister {
                program,
                pages: taken,
                transfer: s.duration("transfer", "from the cache register to the page buffer", most)?,
                on_read: s.choice(
                    "on-read",
                    "what becomes of data in the cache register when a read comes before its program",
                    Some("lost"),
                    &CacheOnRead::ALL,
                )?,
                reads,
            })
        })?;
        Ok(spec.unwrap_or(CacheRegister { reads, ..CacheRegister::NONE }))
    }
}
