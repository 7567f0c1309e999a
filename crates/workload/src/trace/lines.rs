//! Line and record reader of traces, with one buffer of fixed size.

use super::input::Opened;
use super::limits::LINE_MAX;
use super::packing::Packing;
use super::position::Position;
use super::problem::{RowFault, TraceProblem};
use std::io::{self, Read};

const BUFFER: usize = 64 << 10;
/// Length of [`Lines::beginning`].
const BEGINNING: usize = 4096;

#[derive(Clone, Copy)]
pub(super) enum Raw<'l> {
    /// Line without its terminator.
    Line(&'l str),
    Record(&'l [u8]),
}

/// Division of a file into rows.
#[derive(Clone, Copy)]
pub(super) enum Framing {
    Lines,
    /// Records of a fixed length, each followed by as many bytes as `tail` returns for it, which are skipped.
    Records {
        bytes: usize,
        tail: fn(&[u8]) -> usize,
    },
}

pub(super) struct Lines {
    bytes: Box<dyn Read + Send>,
    packing: Packing,
    /// Whether the next bytes belong to a line that was too long.
    overlong: bool,
    /// Bytes between the last record and the next one.
    tail: usize,
    buffer: Box<[u8]>,
    /// `buffer[start..end]` is unread.
    start: usize,
    end: usize,
    ended: bool,
    /// Position of the last line or record returned.
    position: Position,
}

impl Lines {
    pub fn new(opened: Opened) -> Lines {
        let Opened { bytes, packing } = opened;
        Lines {
            bytes,
            packing,
            overlong: false,
            tail: 0,
            buffer: vec![0; BUFFER].into_boxed_slice(),
            start: 0,
            end: 0,
            ended: false,
            position: Position::default(),
        }
    }

    /// Position of the last line or record returned.
    pub fn position(&self) -> Position {
        self.position
    }

    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// Returns the next line or record; the inner error is a line that is not text or an incomplete record.
    pub fn next_row(&mut self, framing: Framing) -> Result<Option<Result<Raw<'_>, RowFault>>, TraceProblem> {
        Ok(match framing {
            Framing::Lines => self.next()?.map(|line| line.map(Raw::Line)),
            Framing::Records { bytes, tail } => {
                self.next_record(bytes, tail)?.map(|record| record.map(Raw::Record))
            }
        })
    }

    /// First bytes of the file, at most [`BEGINNING`]; only available before the first line.
    pub fn beginning(&mut self) -> &[u8] {
        // Read errors are reported by the later pass.
        while self.end < BEGINNING && !self.ended && self.fill().is_ok() {}
        &self.buffer[..self.end.min(BEGINNING)]
    }

    fn next_record(
        &mut self,
        bytes: usize,
        tail: fn(&[u8]) -> usize,
    ) -> Result<Option<Result<&[u8], RowFault>>, TraceProblem> {
        self.position.records = true;
        if self.tail > 0
            && let Some(fault) = self.skip_tail()?
        {
            return Ok(Some(Err(fault)));
        }
        while self.end - self.start < bytes && !self.ended {
            self.fill()?;
        }
        let found = self.end - self.start;
        if found == 0 {
            return Ok(None);
        }
        self.position.number += 1;
        let from = self.start;
        self.start += found.min(bytes);
        Ok(Some(if found < bytes {
            Err(RowFault::CutOff { found, bytes })
        } else {
            let record = &self.buffer[from..from + bytes];
            self.tail = tail(record);
            Ok(record)
        }))
    }

    /// Skips the bytes after a record. A fault is a file that ends before them.
    fn skip_tail(&mut self) -> Result<Option<RowFault>, TraceProblem> {
        let bytes = std::mem::take(&mut self.tail);
        let mut left = bytes;
        loop {
            let found = left.min(self.end - self.start);
            self.start += found;
            left -= found;
            if left == 0 {
                return Ok(None);
            }
            if self.ended {
                return Ok(Some(RowFault::CutOff { found: bytes - left, bytes }));
            }
            self.fill()?;
        }
    }

    /// Next line without its terminator; the inner error is a line that is not text.
    pub fn next(&mut self) -> Result<Option<Result<&str, RowFault>>, TraceProblem> {
        let Some(length) = self.find_end()? else { return Ok(None) };
        self.position.number += 1;
        if length > LINE_MAX {
            self.drop_line(length)?;
            return Ok(Some(Err(RowFault::TooLong)));
        }
        let (from, to) = (self.start, self.start + length);
        // The last line may lack a newline.
        self.start = (to + 1).min(self.end);
        let mut line = &self.buffer[from..to];
        if self.position.number == 1 {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(Some(std::str::from_utf8(line).map_err(|error| RowFault::NotUtf8 {
            position: error.valid_up_to() + 1,
            byte: line[error.valid_up_to()],
        })))
    }

    /// Length of the line at `start`, or any length above [`LINE_MAX`] if its end is beyond the limit; `None` at the
    /// end of the file.
    fn find_end(&mut self) -> Result<Option<usize>, TraceProblem> {
        if self.overlong {
            self.step_over()?;
            self.overlong = false;
        }
        loop {
            let pending = &self.buffer[self.start..self.end];
            if let Some(length) = pending.iter().position(|&byte| byte == b'\n') {
                return Ok(Some(length));
            }
            if pending.len() > LINE_MAX {
                return Ok(Some(pending.len()));
            }
            if self.ended {
                return Ok((!pending.is_empty()).then_some(pending.len()));
            }
            self.fill()?;
        }
    }

    /// Discards a line that is too long, of which `length` bytes are buffered. The rest is skipped by the next call,
    /// so that a file with one endless line is rejected without being read completely.
    fn drop_line(&mut self, length: usize) -> Result<(), TraceProblem> {
        self.start += length;
        self.overlong = true;
        Ok(())
    }

    fn step_over(&mut self) -> Result<(), TraceProblem> {
        loop {
            let pending = &self.buffer[self.start..self.end];
            if let Some(length) = pending.iter().position(|&byte| byte == b'\n') {
                self.start += length + 1;
                return Ok(());
            }
            self.start = self.end;
            if self.ended {
                return Ok(());
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> Result<(), TraceProblem> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        loop {
            match self.bytes.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.problem(error)),
            }
            return Ok(());
        }
    }

    fn problem(&self, error: io::Error) -> TraceProblem {
        let (line, packing) = (self.position, self.packing);
        match (packing, error.kind()) {
            (Packing::Plain, _) => TraceProblem::Read { line, error },
            (_, io::ErrorKind::UnexpectedEof) => TraceProblem::Truncated { packing, line },
            // Decompressors report `InvalidData`, `InvalidInput` or `Other`; only errors of the operating system have
            // a number.
            _ if error.raw_os_error().is_none() => {
                TraceProblem::Damaged { packing, line, detail: error.to_string() }
            }
            _ => TraceProblem::Read { line, error },
        }
    }
}
