//! Byte source of a trace: a file or (for fuzzing) memory, decompressed while reading.

use super::packing::Packing;
use super::position::Position;
use super::problem::{TraceError, TraceProblem, addressed};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

#[derive(Clone)]
pub(crate) struct Input {
    path: PathBuf,
    memory: Option<Arc<[u8]>>,
    flow: Option<u64>,
}

/// Size and modification time of a file, to detect changes.
pub(crate) type Stamp = (u64, SystemTime);

pub(crate) struct Opened {
    pub bytes: Box<dyn Read + Send>,
    pub packing: Packing,
}

impl Input {
    pub fn file(path: &Path) -> Input {
        Input { path: path.to_owned(), memory: None, flow: None }
    }

    pub fn memory(name: &str, bytes: &[u8]) -> Input {
        Input { path: PathBuf::from(name), memory: Some(bytes.into()), flow: None }
    }

    /// The same input for the flow of this index, for settings in messages.
    pub fn of_flow(self, index: u64) -> Input {
        Input { flow: Some(index), ..self }
    }

    /// `text` with its settings written for the reader of the trace (see [`addressed`]).
    pub fn addressed(&self, text: &str) -> String {
        addressed(text, self.flow)
    }

    /// Last part of the path; empty if it is not valid text.
    pub fn file_name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or("")
    }

    pub fn error(&self, problem: TraceProblem) -> TraceError {
        TraceError { path: self.path.clone(), flow: self.flow, problem }
    }

    /// Current stamp of the file; `None` if unavailable.
    pub fn stamp(&self) -> Option<Stamp> {
        let found = self.memory.is_none().then(|| std::fs::metadata(&self.path))?.ok()?;
        Some((found.len(), found.modified().ok()?))
    }

    pub fn open(&self) -> Result<Opened, TraceProblem> {
        match &self.memory {
            Some(bytes) => unpack(Cursor::new(Arc::clone(bytes))),
            None => unpack(open_file(&self.path)?),
        }
        .map_err(|error| TraceProblem::Read { line: Position::default(), error })
    }
}

fn open_file(path: &Path) -> Result<File, TraceProblem> {
    let problem = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => TraceProblem::Missing,
        _ => TraceProblem::Open(error),
    };
    // Checked before opening, because opening a pipe would wait for its writer.
    if !std::fs::metadata(path).map_err(problem)?.is_file() {
        return Err(TraceProblem::NotAFile);
    }
    File::open(path).map_err(problem)
}

fn unpack(mut packed: impl Read + Send + 'static) -> io::Result<Opened> {
    let mut magic = [0; 4];
    let mut have = 0;
    while have < magic.len() {
        match packed.read(&mut magic[have..]) {
            Ok(0) => break,
            Ok(n) => have += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let packing = match magic[..have] {
        [0x1f, 0x8b] | [0x1f, 0x8b, 8, ..] => Packing::Gzip,
        // Zstandard frame, or one of the sixteen kinds of skippable frames that some writers emit first.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Packing::Zstd,
        _ => Packing::Plain,
    };
    let whole = Cursor::new(magic).take(have as u64).chain(packed);
    let bytes: Box<dyn Read + Send> = match packing {
        Packing::Plain => Box::new(whole),
        Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        Packing::Zstd => Box::new(zstd::Decoder::new(whole)?),
    };
    Ok(Opened { bytes, packing })
}
