//! fio latency log with offsets (`log_offset`): one file per flow, as fio writes one per job.

use super::columns::{Column, Data};
use super::request_row::RequestRow;
use super::row_batches::BatchSender;
use interpulse_engine::{Op, SimTime, VectorAction};
use std::io::Write;

/// Approximate bytes per batch.
const CHUNK: usize = 1 << 20;

/// Log lines not sent yet.
pub struct FioLog {
    every: u64,
    /// Text and line count of each flow.
    flows: Vec<(Vec<u8>, usize)>,
    sender: BatchSender,
}

impl FioLog {
    /// Logs one request in `every`.
    pub fn new(every: u64, flows: usize, sender: BatchSender) -> FioLog {
        FioLog { every, flows: vec![(Vec::new(), 0); flows], sender }
    }

    /// Logs an ended request; times are relative to `start`.
    #[inline]
    pub fn take(&mut self, row: &RequestRow, start: SimTime) {
        if !row.number.is_multiple_of(self.every) {
            return;
        }
        let of = &row.ended.of;
        let direction = match of.op {
            Op::Read | Op::Vector(VectorAction::Read) => 0,
            Op::Write | Op::Append | Op::Vector(VectorAction::Write) => 1,
            Op::Trim => 2,
            // fio logs neither flushes nor these.
            Op::Flush | Op::WriteZeroes | Op::Compare | Op::Zone(_) | Op::Vector(VectorAction::Reset) => {
                return;
            }
        };
        let flow = (of.tag.index()).min(self.flows.len() - 1);
        let (text, lines) = &mut self.flows[flow];
        let (ms, latency) = (row.ended.at.since(start).as_ns() / 1_000_000, row.ended.latency.as_ns());
        // The last field is the command priority, which is always 0.
        let written = writeln!(text, "{ms}, {latency}, {direction}, {}, {}, 0", of.bytes, row.address);
        written.expect("memory takes any text");
        *lines += 1;
        if text.len() >= CHUNK {
            self.send(flow);
        }
    }

    /// Sends the remaining lines.
    pub fn flush(&mut self) {
        (0..self.flows.len())
            .filter(|&flow| self.flows[flow].1 > 0)
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|flow| self.send(flow));
    }

    fn send(&mut self, flow: usize) {
        let (text, lines) = std::mem::take(&mut self.flows[flow]);
        let column = Column { name: "line".into(), data: Data::Text(text) };
        self.sender.send(format!("fio.{}", flow + 1), lines, vec![column]);
    }
}
