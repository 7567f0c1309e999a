//! Lines or records of a trace through one fixed buffer.

use super::input::Opened;
use super::limits::LINE_MAX;
use super::packing::Packing;
use super::place::Place;
use super::problem::{RowFault, TraceProblem};
use std::io::{self, Read};

const BUFFER: usize = 64 << 10;
/// How much [`Lines::beginning`] shows.
const BEGINNING: usize = 4096;

/// A row as it stands in the file.
#[derive(Clone, Copy)]
pub(super) enum Raw<'l> {
    /// A line without its end.
    Line(&'l str),
    /// A record.
    Record(&'l [u8]),
}

/// Reads line by line, or record by record.
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
    /// Lines or records handed out.
    place: Place,
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
            place: Place::default(),
        }
    }

    /// The line or record handed out last.
    pub fn place(&self) -> Place {
        self.place
    }

    /// How the file is packed.
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// The next row: a line, or a record of so many bytes; the inner error is a line that is no text, or a record that is
    /// cut off.
    pub fn next_row(
        &mut self,
        record_bytes: Option<usize>,
    ) -> Result<Option<Result<Raw<'_>, RowFault>>, TraceProblem> {
        Ok(match record_bytes {
            None => self.next()?.map(|line| line.map(Raw::Line)),
            Some(bytes) => self.next_record(bytes)?.map(|record| record.map(Raw::Record)),
        })
    }

    /// What the file begins with, up to [`BEGINNING`] bytes; only before the first line.
    pub fn beginning(&mut self) -> &[u8] {
        // What cannot be read is noticed where it is read in earnest.
        while self.end < BEGINNING && !self.ended && self.fill().is_ok() {}
        &self.buffer[..self.end.min(BEGINNING)]
    }

    fn next_record(&mut self, bytes: usize) -> Result<Option<Result<&[u8], RowFault>>, TraceProblem> {
        self.place.records = true;
        while self.end - self.start < bytes && !self.ended {
            self.fill()?;
        }
        let found = self.end - self.start;
        if found == 0 {
            return Ok(None);
        }
        self.place.number += 1;
        let from = self.start;
        self.start += found.min(bytes);
        Ok(Some(if found < bytes {
            Err(RowFault::CutOff { found, bytes })
        } else {
            Ok(&self.buffer[from..from + bytes])
        }))
    }

    /// The next line without its end; the inner error is a line that is no text.
    pub fn next(&mut self) -> Result<Option<Result<&str, RowFault>>, TraceProblem> {
        let Some(length) = self.find_end()? else { return Ok(None) };
        self.place.number += 1;
        if length > LINE_MAX {
            self.drop_line(length)?;
            return Ok(Some(Err(RowFault::TooLong)));
        }
        let (from, to) = (self.start, self.start + length);
        // At the end of the file the line has no newline to step over.
        self.start = (to + 1).min(self.end);
        let mut line = &self.buffer[from..to];
        if self.place.number == 1 {
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
        let (line, packing) = (self.place, self.packing);
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
