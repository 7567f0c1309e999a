//! `fio-v2` format: I/O log of fio, version 2, `file action offset length`, separated by blanks, after a version line.
//! It has no times: the requests are issued in file order, closed loop. `wait` with a time in us pauses before the next
//! request. Otherwise like `fio`.

use super::fio::{ACTIONS, HEADER_V2, file, is_path, request, write_action};
use super::{ALL_OPS, Directive, Parsed, RowFault, Stamp, TimeUnit, TraceFormat, Units};
use crate::trace::columns::blanks;
use crate::trace::number::wait_us;
use interpulse_engine::{Op, Request};
use std::io::{self, Write};

const COLUMNS: &str = "4 columns between blanks: file action offset length";
const WAIT: &str = "3 columns between blanks: file wait us";
pub struct FioV2;

impl TraceFormat for FioV2 {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::Us);
    const UNITS: Units = Units::BYTES;
    const OPS: &'static [Op] = ALL_OPS;
    const HAS_TIMES: bool = false;

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        let [host, action] = blanks(line, COLUMNS)?;
        let time = Stamp::Number(0);
        request(time, host, action, || blanks::<4>(line, COLUMNS).map(|[_, _, offset, length]| [offset, length]))
    }

    fn directive<'l>(&self, line: &'l str) -> Result<Option<Directive<'l>>, RowFault> {
        let [_, action] = blanks(line, ACTIONS)?;
        if action != "wait" {
            return Ok(None);
        }
        let [_, _, us] = blanks(line, WAIT)?;
        Ok(Some(Directive::Wait { us: wait_us("wait", us)? }))
    }

    fn write(&self, out: &mut dyn Write, _at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        write_action(out, &file("", device), request)
    }

    fn holds_host(&self, host: &str) -> bool {
        is_path(host)
    }

    fn write_named(
        &self,
        out: &mut dyn Write,
        _at_ns: u64,
        host: &str,
        device: u32,
        request: Request,
    ) -> io::Result<()> {
        write_action(out, &file(host, device), request)
    }

    /// fio replays only files that were added and opened.
    fn write_heading(&self, out: &mut dyn Write, devices: &[(&str, u32)]) -> io::Result<()> {
        writeln!(out, "{HEADER_V2}")?;
        for action in ["add", "open"] {
            for &(host, device) in devices {
                writeln!(out, "{} {action}", file(host, device))?;
            }
        }
        Ok(())
    }

    fn is_header(&self, line: &str) -> bool {
        line.trim() == HEADER_V2
    }
}
