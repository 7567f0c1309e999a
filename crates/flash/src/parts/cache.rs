//! What a part can do with its cache register: take the data of the next program while one pulses, and give out the data of
//! a read while the next is sensed.

use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Section, choices, default, keys};

choices! {
    /// Which program may be loaded while another one pulses.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CacheProgram {
        /// none: a program is loaded when the one before has ended
        None = "none",
        /// the next of the same block
        // Over several planes of the same blocks, as data sheets of parts with cache program have it.
        Block = "block",
        /// the next of the die, whatever its block
        Die = "die",
    }
}

choices! {
    /// What becomes of data in the cache register when a read comes before its program.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CacheOnRead {
        /// lost, and sent again: what is read leaves through the cache register
        Lost = "lost",
        /// kept: the part has latches to read past it
        Kept = "kept",
        /// no program is suspended while it is there; read at its end, it is lost
        Refused = "refused",
    }
}

keys! {
    /// The cache register of a part.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CacheRegister, fn used(s, its_program: CacheProgram, its_reads: bool) {
        /// Which program it takes the data of.
        pub program: CacheProgram => its_program,
        /// pages of each plane that the cache register takes
        pub pages: u32 = u32(default(1).within(1..=4)),
        /// from the cache register to the page buffer
        pub transfer: Duration = duration(default(Duration::ZERO).at_most(Duration::from_ms(1_000))),
        /// what becomes of data in the cache register when a read comes before its program
        pub on_read: CacheOnRead = choice(Some("lost"), CacheOnRead::ALL),
        /// Cache read: data moves out of it while the next page is sensed.
        pub reads: bool => its_reads,
    }
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
        let program = s.choice("program", doc, Some("none"), CacheProgram::ALL)?;
        let reads = s.bool(
            "read",
            "cache read: the data of a read moves out of the cache register while the next read is sensed",
            default(false),
        )?;
        let used = program != CacheProgram::None;
        let spec = s.when(used, "program = \"block\" or \"die\"", |s| {
            let spec = CacheRegister::used(s, program, reads)?;
            let most = format!("at most the {pages} that a program writes on a plane");
            s.check(spec.pages <= pages, "pages", most)?;
            Ok(spec)
        })?;
        Ok(spec.unwrap_or(CacheRegister { reads, ..CacheRegister::NONE }))
    }
}
