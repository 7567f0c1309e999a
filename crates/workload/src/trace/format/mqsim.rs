//! `mqsim` format: MQSim traces, like `ascii` with time in whole ns, type 1 = read.

use super::{AsciiLayout, Parsed, Role, TimeUnit, TraceFormat};
use interpulse_engine::Request;
use std::io::{self, Write};

pub struct MqSim;

impl TraceFormat for MqSim {
    const UNIT: Option<TimeUnit> = Some(TimeUnit::Ns);

    fn parse<'l>(&self, line: &'l str) -> Parsed<'l> {
        AsciiLayout::OF_SIMULATORS.parse(line)
    }

    fn layout(&self) -> &'static [Role] {
        AsciiLayout::ROLES
    }

    fn write(&self, out: &mut dyn Write, at_ns: u64, device: u32, request: Request) -> io::Result<()> {
        AsciiLayout::OF_SIMULATORS.write_in(TimeUnit::Ns, out, at_ns, device, request)
    }
}
