//! Cache register of a part: cache program and cache read.

use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Section, choices, default, keys};

choices! {
    /// Programs that may be loaded while another program pulses.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CacheProgram {
        /// none: a program is loaded after the previous one has ended
        None = "none",
        /// the next program of the same block
        // Of the same blocks on all planes, as in data sheets of parts with cache program.
        Block = "block",
        /// the next program of the die, in any block
        Die = "die",
    }
}

choices! {
    /// Data in the cache register when a read precedes its program.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CacheOnRead {
        /// lost and loaded again: read data leaves through the cache register
        Lost = "lost",
        /// kept: the part has latches to read past the register
        Kept = "kept",
        /// no program is suspended while the register holds data; a read after the program loses it
        Refused = "refused",
    }
}

keys! {
    /// The cache register of a part.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CacheRegister, fn used(s, cache_program: CacheProgram, cache_read: bool) {
        /// Cache program.
        pub program: CacheProgram => cache_program,
        /// capacity of the cache register in pages per plane
        pub pages: u32 = u32(default(1).within(1..=4)),
        /// transfer from the cache register to the page buffer
        pub transfer: Duration = duration(default(Duration::ZERO).at_most(Duration::from_ms(1_000))),
        /// data in the cache register when a read precedes its program
        pub on_read: CacheOnRead = choice(Some("lost"), CacheOnRead::ALL),
        /// Cache read: data leaves the register while the next page is sensed.
        pub reads: bool => cache_read,
    }
}

impl CacheRegister {
    /// No cache register.
    pub const NONE: CacheRegister = CacheRegister {
        program: CacheProgram::None,
        pages: 0,
        transfer: Duration::ZERO,
        on_read: CacheOnRead::Lost,
        reads: false,
    };

    /// Reads the section `[part.cache]` of a part that programs `pages` pages of a plane at once. Keys of an unused register
    /// are errors.
    pub(super) fn read(s: &mut Section, pages: u32) -> Result<CacheRegister, ConfigError> {
        let doc =
            "cache program: the program that is loaded into the cache register while another program pulses";
        let program = s.choice("program", doc, Some("none"), CacheProgram::ALL)?;
        let reads = s.bool(
            "read",
            "cache read: data of a read leaves the cache register while the next read is sensed",
            default(false),
        )?;
        let used = program != CacheProgram::None;
        let spec = s.when(used, "program = \"block\" or \"die\"", |s| {
            let spec = CacheRegister::used(s, program, reads)?;
            let most = format!("at most {pages}: the pages that a program writes on a plane");
            s.check(spec.pages <= pages, "pages", most)?;
            Ok(spec)
        })?;
        Ok(spec.unwrap_or(CacheRegister { reads, ..CacheRegister::NONE }))
    }
}
