//! Write streams: sources of data that do not share open blocks.

use crate::numbers::SuperBlock;
use interpulse_flash::cell_mode::CellMode;
use std::collections::VecDeque;

/// A write stream: its index in [`WriteStreams`], with the origin, which decides which free blocks it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    index: u8,
    origin: Origin,
}

/// Origin of a stream's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Host writes. They leave the last `hard_free` super blocks of a lane to garbage collection.
    Host,
    /// Units that garbage collection relocates.
    Relocation,
    /// Translation pages that write-back programs. They leave the same super blocks to garbage collection.
    Map,
}

/// One write stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSpec {
    /// Name in diagnostics: `host`, `gc`, `map`, `hot-0`.
    pub name: String,
    /// Origin of its data.
    pub origin: Origin,
    /// Cell mode of the super blocks that it opens.
    pub mode: CellMode,
}

impl Stream {
    /// Host data, or cold host data where hot data is separated.
    pub const HOST: Stream = Stream { index: 0, origin: Origin::Host };
    /// Data that garbage collection relocates.
    pub const GC: Stream = Stream { index: 1, origin: Origin::Relocation };

    /// Translation pages, where they are on flash.
    pub const MAP: Stream = Stream { index: 2, origin: Origin::Map };
    /// Translation pages that garbage collection relocates, to the same super blocks.
    pub const MAP_GC: Stream = Stream { index: 2, origin: Origin::Relocation };

    /// Whether it holds translation pages of write-back.
    #[inline]
    pub(crate) fn is_map(self) -> bool {
        self.origin == Origin::Map
    }

    /// Whether it holds data that the host has written, which nothing has relocated.
    #[inline]
    pub(crate) fn is_host(self) -> bool {
        self.origin == Origin::Host
    }

    /// Whether it holds relocated data, which may take every free block.
    #[inline]
    pub fn relocates(self) -> bool {
        self.origin == Origin::Relocation
    }

    /// Position in the list of streams.
    #[inline]
    pub fn index(self) -> usize {
        self.index as usize
    }
}

/// The write streams of one FTL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteStreams {
    specs: Vec<StreamSpec>,
    /// Stream of each hotness level, the last one holding cold data, or of each placement handle.
    by_level: Vec<Stream>,
}

impl Default for WriteStreams {
    fn default() -> WriteStreams {
        let spec = |name: &str, origin| StreamSpec { name: name.to_string(), origin, mode: CellMode::Native };
        WriteStreams {
            specs: vec![spec("host", Origin::Host), spec("gc", Origin::Relocation)],
            by_level: vec![Stream::HOST],
        }
    }
}

impl WriteStreams {
    /// Streams of an FTL without hot levels, whose map has `translation_pages` on flash.
    pub fn of(translation_pages: u32) -> WriteStreams {
        let mut streams = WriteStreams::default();
        if translation_pages > 0 {
            let mode = CellMode::Native;
            let map = streams.add(StreamSpec { name: "map".to_string(), origin: Origin::Map, mode });
            debug_assert_eq!(map, Stream::MAP);
        }
        streams
    }

    /// Adds a stream for each of `hot` levels, whose super blocks are in `mode`.
    pub fn with_hot_levels(self, hot: u32, mode: CellMode) -> WriteStreams {
        let mut streams = self;
        let add =
            |level| streams.add(StreamSpec { name: format!("hot-{level}"), origin: Origin::Host, mode });
        let hot = (0..hot).map(add).collect::<Vec<_>>();
        streams.by_level.splice(0..0, hot);
        streams
    }

    /// Adds a stream.
    pub fn add(&mut self, spec: StreamSpec) -> Stream {
        let index = u8::try_from(self.specs.len()).expect("at most 256 write streams");
        let origin = spec.origin;
        self.specs.push(spec);
        Stream { index, origin }
    }

    /// Sets the stream of each level.
    pub(crate) fn set_levels(&mut self, by_level: Vec<Stream>) {
        self.by_level = by_level;
    }

    /// Sets the cell mode of the super blocks that a stream will open.
    pub(crate) fn set_mode(&mut self, stream: Stream, mode: CellMode) {
        self.specs[stream.index()].mode = mode;
    }

    /// Number of streams.
    #[inline]
    pub fn count(&self) -> usize {
        self.specs.len()
    }

    /// All streams in order of their index.
    pub fn all(&self) -> impl Iterator<Item = Stream> {
        (0..).zip(&self.specs).map(|(index, spec)| Stream { index, origin: spec.origin })
    }

    /// Description of a stream.
    #[inline]
    pub fn spec(&self, stream: Stream) -> &StreamSpec {
        &self.specs[stream.index()]
    }

    /// Stream of host data of `level`; cold data has the highest level.
    #[inline]
    pub fn of_level(&self, level: u32) -> Stream {
        self.by_level[(level as usize).min(self.by_level.len() - 1)]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct WritePointer {
    /// The open super block, valid while `next_program` is below the programs of a block.
    pub(crate) block: SuperBlock,
    /// The next program operation; equal to the programs of a block when no block is open.
    pub(crate) next_program: u32,
}

/// Free blocks of a lane and the write pointer of each stream.
#[derive(Clone)]
pub(crate) struct LaneBlocks {
    /// Erased super blocks in order of erase; taking the oldest first levels wear.
    pub(crate) free: VecDeque<SuperBlock>,
    /// By [`Stream::index`].
    pub(crate) write_pointers: Vec<WritePointer>,
    /// Pages of each plane that the super blocks opened in other modes than native do not have.
    pub(crate) passed_over: u32,
    /// The current victim is one of static wear levelling: its data is cold.
    pub(crate) levels_wear: bool,
    /// While static wear levelling is due: host data opens only blocks with fewer erases than this.
    pub(crate) wear_limit: Option<u32>,
    /// Rewrites of static wear levelling since host data last opened a block.
    pub(crate) leveled: u32,
}
