//! Write streams: sources of data that do not share open blocks.

use crate::numbers::SuperBlock;
use std::collections::VecDeque;

/// Index of a write stream in [`WriteStreams`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream(u8);

/// Origin of a stream's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Host writes. They leave the last `hard_free` super blocks of a lane to garbage collection.
    Host,
    /// Units that garbage collection relocates.
    Relocation,
}

/// One write stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSpec {
    /// Name in diagnostics: `host`, `gc`, `hot-0`.
    pub name: String,
    /// Origin of its data.
    pub origin: Origin,
}

impl Stream {
    /// Host data, or cold host data where hot data is separated.
    pub const HOST: Stream = Stream(0);
    /// Data that garbage collection relocates.
    pub const GC: Stream = Stream(1);

    /// Position in the list of streams.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The write streams of one FTL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteStreams {
    specs: Vec<StreamSpec>,
    /// Stream of each hotness level; the last one holds cold data.
    by_level: Vec<Stream>,
}

impl Default for WriteStreams {
    fn default() -> WriteStreams {
        let spec = |name: &str, origin| StreamSpec { name: name.to_string(), origin };
        WriteStreams {
            specs: vec![spec("host", Origin::Host), spec("gc", Origin::Relocation)],
            by_level: vec![Stream::HOST],
        }
    }
}

impl WriteStreams {
    /// Streams for host data, garbage collection and each of `hot` levels.
    pub fn with_hot_levels(hot: u32) -> WriteStreams {
        let mut streams = WriteStreams::default();
        let hot = (0..hot).map(|level| streams.add(format!("hot-{level}"), Origin::Host)).collect::<Vec<_>>();
        streams.by_level.splice(0..0, hot);
        streams
    }

    /// Adds a stream.
    pub fn add(&mut self, name: String, origin: Origin) -> Stream {
        let index = u8::try_from(self.specs.len()).expect("at most 256 write streams");
        self.specs.push(StreamSpec { name, origin });
        Stream(index)
    }

    /// Number of streams.
    #[inline]
    pub fn count(&self) -> usize {
        self.specs.len()
    }

    /// All streams in order of their index.
    pub fn all(&self) -> impl Iterator<Item = Stream> + use<> {
        (0..self.specs.len() as u8).map(Stream)
    }

    /// Description of a stream.
    #[inline]
    pub fn spec(&self, stream: Stream) -> &StreamSpec {
        &self.specs[stream.index()]
    }

    /// Whether the stream holds relocated data, which may take every free block.
    #[inline]
    pub fn relocates(&self, stream: Stream) -> bool {
        self.spec(stream).origin == Origin::Relocation
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
}
