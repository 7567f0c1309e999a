//! Lines of a trace through one fixed buffer.

use super::input::Opened;
use super::limits::LINE_MAX;
use super::packing::Packing;
use super::problem::{RowFault, TraceProblem};
use std::io::{self, Read};

const BUFFER: usize = 64 << 10;

/// Reads line by line.
pub(super) struct Lines {
    bytes: Box<dyn Read + Send>,
    packing: Packing,
    /// What comes next belongs to a line that was too long.
    overlong: bool,
    buffer: Box<[u8]>,
    /// `buffer[start..end]` is read and not yet handed out.
    start: usize,
    end: usize,
    ended: bool,
    /// Lines handed out.
    line: u64,
}

impl Lines {
    pub fn new(opened: Opened) -> Lines {
        let Opened { bytes, packing } = opened;
        Lines {
            bytes,
            packing,
            overlong: false,
            buffer: vec![0; BUFFER].into_boxed_slice(),
            start: 0,
            end: 0,
            ended: false,
            line: 0,
        }
    }

    /// Number of the line handed out last, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// How the file is packed.
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// The next line without its end; the inner error is a line that is no text.
    pub fn next(&mut self) -> Result<Option<Result<&str, RowFault>>, TraceProblem> {
        let Some(length) = self.find_end()? else { return Ok(None) };
        self.line += 1;
        if length > LINE_MAX {
            self.drop_line(length)?;
            return Ok(Some(Err(RowFault::TooLong)));
        }
        let (from, to) = (self.start, self.start + length);
        // At the end of the file the line has no newline to step over.
        self.start = (to + 1).min(self.end);
        let mut line = &self.buffer[from..to];
        if self.line == 1 {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(Some(std::str::from_utf8(line).map_err(|error| RowFault::NotUtf8 {
            position: error.valid_up_to() + 1,
            byte: line[error.valid_up_to()],
        })))
    }

    /// The length of the line at `start`, or any length above [`LINE_MAX`] of one whose end is not in sight;
    /// `None` at the end of the file.
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

    /// Drops a line that is too long, of which `length` bytes are in the buffer. The rest is stepped over when the next
    /// line is asked for: a file that is one endless line is refused before anybody has read it all.
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
        let (line, packing) = (self.line, self.packing);
        match (packing, error.kind()) {
            (Packing::Plain, _) => TraceProblem::Read { line, error },
            (_, io::ErrorKind::UnexpectedEof) => TraceProblem::Truncated { packing, line },
            // Unpackers report through `InvalidData`, `InvalidInput` or `Other`; only errors of the
            // operating system carry its number.
            _ if error.raw_os_error().is_none() => {
                TraceProblem::Damaged { packing, line, detail: error.to_string() }
            }
            _ => TraceProblem::Read { line, error },
        }
    }
}
