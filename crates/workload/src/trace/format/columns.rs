//! `columns` format: text with one request per row, in columns that the configuration or the heading of the file
//! names. Addresses and sizes are in bytes and times in the most plausible unit unless a setting or the heading gives
//! their units.

use super::{ALL_OPS, Format, Parsed, ParsedRow, RowFault, Stamp, TimeUnit, TraceFormat, Units, decimal, WithFlush};
use crate::trace::columns::split;
use crate::trace::role::Role;
use crate::trace::separator::Separator;
use crate::trace::number::{Column, discard_bytes, length_bytes, offset_bytes};
use interpulse_engine::{Op, Request, SECTOR};
use interpulse_settings::{choices, default, keys};
use std::io::{self, Write};

keys! {
    /// Layout of the rows.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Columns, pub(super) fn read(s) {
        /// content of each column, in order; [] takes it from the heading of the file
        pub columns: Vec<Role> = list_choice(Some(&[]), Role::ALL),
        /// separator of the columns; default: the one that the rows have
        pub separator: Option<Separator> = optional_choice(Separator::ALL),
        /// lines at the start of the file that hold no rows
        // Headings without numbers need none.
        pub header_rows: u32 = u32(default(0).at_most(1000)),
        /// operation of every row, for a file whose columns do not give it
        pub operation: Option<Operation> = optional_choice(Operation::ALL),
        /// words of the column op for reads; [] accepts r, read, get, SCSI read commands and flags such as RA
        pub read_words: Vec<String> = list_string(Some(&[])),
        /// words of the column op for writes; [] accepts w, write, put, SCSI write commands and flags such as WS
        pub write_words: Vec<String> = list_string(Some(&[])),
    } check {
        for (key, words) in [("read-words", &read_words), ("write-words", &write_words)] {
            s.check(words.iter().all(|word| !word.trim().is_empty()), key, "words that are not empty")?;
        }
        let same = |word: &String| write_words.iter().any(|other| other.eq_ignore_ascii_case(word));
        s.check_together(!read_words.iter().any(same), &["read-words", "write-words"], "no word can mean both")?;
        if let Err(expected) = legal_columns(&columns, operation.is_some()) {
            return Err(s.invalid("columns", expected));
        }
    }
}

choices! {
    /// Operation of every row.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Operation {
        /// every row is a read
        Read = "read",
        /// every row is a write
        Write = "write",
    }
}

impl From<Operation> for Op {
    fn from(of: Operation) -> Op {
        match of {
            Operation::Read => Op::Read,
            Operation::Write => Op::Write,
        }
    }
}

/// Checks a list of columns; none is legal.
fn legal_columns(columns: &[Role], operation: bool) -> Result<(), &'static str> {
    let count = |role| columns.iter().filter(|&&other| other == role).count();
    if columns.is_empty() {
        return Ok(());
    }
    if columns.len() > Columns::MOST {
        return Err("at most 64 columns; further ones are ignored");
    }
    if Role::ALL.iter().any(|&(_, role, _)| role != Role::Skip && count(role) > 1) {
        return Err("time, op, offset, size and device at most once each; skip ignores a column");
    }
    if count(Role::Offset) == 0 || count(Role::Size) == 0 {
        return Err("a list with offset and size");
    }
    match (count(Role::Op), operation) {
        (0, false) => Err("a list with op, or operation = \"read\" or \"write\" for every row"),
        (1, true) => Err("a list without op beside `operation`; skip ignores a column"),
        _ => Ok(()),
    }
}

const OPS: &str = "a read (r, read, ...) or a write (w, write, ...); for other words set read-words and write-words";

const DISCARDS: [&str; 4] = ["d", "discard", "trim", "unmap"];
const FLUSHES: [&str; 7] = ["f", "fn", "flush", "sync", "fsync", "fdatasync", "datasync"];
const READS: [&str; 10] = ["r", "read", "rd", "get", "diskread", "28", "08", "88", "a8", "0x28"];
const WRITES: [&str; 12] =
    ["w", "write", "wr", "put", "set", "diskwrite", "update", "2a", "0a", "8a", "aa", "0x2a"];

/// Operation in the flags of the block layer, such as `RA` and `WSM`; `None` for another word.
fn flagged(word: &str) -> Option<Op> {
    let flags = word.strip_prefix('F').unwrap_or(word);
    let (first, rest) = (flags.chars().next()?, flags.get(1..)?);
    let known = rest.len() <= 4 && rest.chars().all(|flag| matches!(flag, 'F' | 'A' | 'S' | 'M'));
    match first {
        'R' if known => Some(Op::Read),
        'W' if known => Some(Op::Write),
        _ => None,
    }
}

impl Columns {
    const MOST: usize = 64;
    /// Roles of the rows that [`TraceFormat::write`] writes without `columns`.
    pub(super) const WRITTEN: [Role; 5] = [Role::Time, Role::Op, Role::Offset, Role::Size, Role::Device];

    /// Layout with these columns, and any separator and usual words.
    pub fn of(columns: &[Role]) -> Columns {
        Columns {
            columns: columns.to_vec(),
            separator: None,
            header_rows: 0,
            operation: None,
            read_words: Vec::new(),
            write_words: Vec::new(),
        }
    }

    /// Whether the layout can read rows.
    pub(in crate::trace) fn check(&self) -> Result<(), &'static str> {
        legal_columns(&self.columns, self.operation.is_some())
    }

    /// Whether the columns are known and none of them is a time.
    pub(in crate::trace) fn has_no_time(&self) -> bool {
        !self.columns.is_empty() && !self.columns.contains(&Role::Time)
    }

    fn op(&self, word: &str) -> Result<Op, RowFault> {
        if let Some(operation) = self.operation {
            return Ok(operation.into());
        }
        let among = |own: &[String], usual: &[&str]| match own {
            [] => usual.iter().any(|each| each.eq_ignore_ascii_case(word)),
            own => own.iter().any(|each| each.eq_ignore_ascii_case(word)),
        };
        if among(&self.read_words, &READS) {
            return Ok(Op::Read);
        }
        if among(&self.write_words, &WRITES) {
            return Ok(Op::Write);
        }
        let usual = |words: &[&str]| words.iter().any(|each| each.eq_ignore_ascii_case(word));
        match flagged(word) {
            Some(Op::Read) if self.read_words.is_empty() => Ok(Op::Read),
            Some(Op::Write) if self.write_words.is_empty() => Ok(Op::Write),
            _ if usual(&DISCARDS) => Ok(Op::Trim),
            _ if usual(&FLUSHES) => Ok(Op::Flush),
            _ => Err(RowFault::field("op", word, "not an operation", self.legal_ops())),
        }
    }

    /// Whether a word is an operation, whichever.
    pub(in crate::trace) fn knows(&self, word: &str) -> bool {
        self.op(word).is_ok()
    }

    fn legal_ops(&self) -> String {
        if self.read_words.is_empty() && self.write_words.is_empty() {
            return OPS.to_owned();
        }
        let words = |own: &[String], usual: &str| match own {
            [] => usual.to_owned(),
            own => own.join(", "),
        };
        let (reads, writes) = (words(&self.read_words, "r, read, ..."), words(&self.write_words, "w, write, ..."));
        format!("{reads} (read) or {writes} (write)")
    }
}

impl TraceFormat for Columns {
    const UNIT: Option<TimeUnit> = None;
    const UNITS: Units = Units::BYTES;

    const OPS: &'static [Op] = ALL_OPS;

    fn as_written(&self) -> Option<Format> {
        Some(Format::Columns(Columns::of(&Columns::WRITTEN)))
    }

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let (mut time, mut op, mut offset, mut size, mut number) = ("0", "", "", "", "0");
        let mut found = 0;
        for (role, text) in self.columns.iter().zip(split(line, self.separator.unwrap_or(Separator::of(line)))) {
            found += 1;
            match role {
                Role::Time => time = text,
                Role::Op => op = text,
                Role::Offset => offset = text,
                Role::Size => size = text,
                Role::Device => number = text,
                Role::Skip => {}
            }
        }
        let last = self.columns.iter().rposition(|&role| role != Role::Skip);
        if last.is_none_or(|last| found <= last) {
            let names: Vec<_> = self.columns.iter().map(|role| role.name()).collect();
            let between = self.separator.map_or("", |separator| separator.name());
            let legal = format!("the columns {}, separator {between}", names.join(", "));
            return Err(RowFault::Columns { found, legal: legal.into() });
        }
        let time = Stamp::text(time, TimeUnit::Us)?;
        let op = self.op(op)?;
        let (host, device) = match (Column { name: "device", text: number, legal: "" }).whole(0, u32::MAX.into()) {
            Ok(number) => ("", number as u32),
            Err(_) => (number, 0),
        };
        if op == Op::Flush {
            return Ok(Some(ParsedRow::flush(time, host, device)));
        }
        let length = if op == Op::Trim { discard_bytes } else { length_bytes };
        let (offset, size) = (offset_bytes("offset", offset)?, length("size", size)?);
        Ok(Some(ParsedRow { time, host, device, op, offset, size, flush: WithFlush::None }))
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        let word = |own: &[String], usual: &str| own.first().map_or(usual.to_owned(), String::clone);
        let columns = if self.columns.is_empty() { &Columns::WRITTEN[..] } else { &self.columns };
        let texts: Vec<String> = columns
            .iter()
            .map(|role| match role {
                Role::Time => decimal(at_ns, 3),
                Role::Op => match request.op {
                    Op::Read => word(&self.read_words, "R"),
                    Op::Write => word(&self.write_words, "W"),
                    Op::Trim => "D".to_owned(),
                    Op::Flush => "F".to_owned(),
                    Op::Append | Op::Zone(_) | Op::Vector(_) | Op::WriteZeroes | Op::Compare => unreachable!("a trace has no such command"),
                },
                Role::Offset => (request.sector * SECTOR.get()).to_string(),
                Role::Size => request.bytes().get().to_string(),
                Role::Device => device.to_string(),
                Role::Skip => "-".to_owned(),
            })
            .collect();
        let separator = self.separator.unwrap_or(Separator::Comma).character().unwrap_or(' ');
        writeln!(out, "{}", texts.join(&separator.to_string()))
    }

    fn write_heading(&self, out: &mut dyn Write, _devices: &[(&str, u32)]) -> io::Result<()> {
        writeln!(out, "time_us,op,offset_bytes,size_bytes,device")
    }

    fn has_times(&self) -> bool {
        !self.has_no_time()
    }

    fn header_rows(&self) -> u64 {
        self.header_rows.into()
    }

    fn is_row(&self, line: &str) -> bool {
        // A row may begin with an empty column.
        self.separator == Some(Separator::Semicolon) && line.trim_ascii_start().starts_with(';')
    }
}
