//! Request log: a row for every n-th request that ends in the measurement window.

use super::columns::{Column, list};
use super::request_row::RequestRow;
use super::row_batches::BatchSender;

use interpulse_engine::account::{CAUSE_INFO, CAUSES, NO_ACCOUNT};
use interpulse_engine::{Op, Status, VectorAction};
use std::sync::Arc;

/// Rows per batch.
const CHUNK: usize = 1 << 16;

/// Rows not sent yet.
pub struct RequestLog {
    every: u64,
    rows: Rows,
    sender: BatchSender,
}

/// Columns of requests.
pub struct Rows {
    flows: Arc<[String]>,
    kinds: Arc<[String]>,
    states: Arc<[String]>,
    /// Causes of the time accounts; none without accounts, and all but the last without a read cache.
    accounts: usize,
    whole: [Vec<i64>; WHOLE.len()],
    causes: [Vec<i64>; CAUSES],
    flow: Vec<i32>,
    kind: Vec<i32>,
    state: Vec<i32>,
}

const WHOLE: [&str; 5] = ["number", "arrival_ns", "latency_ns", "address_bytes", "size_bytes"];

impl Rows {
    /// Empty columns.
    pub fn new(flows: &[String], accounts: usize) -> Rows {
        Rows {
            flows: flows.into(),
            kinds: list(KINDS),
            states: list(["ok", "uncorrectable", "busy"]),
            accounts,
            whole: Default::default(),
            causes: std::array::from_fn(|_| Vec::new()),
            flow: Vec::new(),
            kind: Vec::new(),
            state: Vec::new(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.flow.len()
    }

    /// Adds a request.
    #[inline]
    pub fn push(&mut self, row: &RequestRow) {
        let of = &row.ended.of;
        let latency = row.ended.latency.as_ns();
        let values = [row.number as i64, row.arrival, latency as i64, row.address as i64, of.bytes as i64];
        for (column, value) in self.whole.iter_mut().zip(values) {
            column.push(value);
        }
        if self.accounts > 0 {
            for (column, ns) in self.causes.iter_mut().zip(of.account.unwrap_or(&NO_ACCOUNT)) {
                column.push(*ns as i64);
            }
        }
        self.flow.push((of.tag.index()).min(self.flows.len() - 1) as i32);
        self.kind.push(kind_of(of.op));
        self.state.push(if of.status != Status::Success { 1 } else { 2 * i32::from(of.busy) });
    }

    /// Takes all rows as columns.
    pub fn take(&mut self) -> Vec<Column> {
        let empty = Rows::new(&self.flows, self.accounts);
        let rows = std::mem::replace(self, empty);
        let mut columns: Vec<Column> =
            WHOLE.iter().zip(rows.whole).map(|(name, of)| Column::whole(*name, of)).collect();
        columns.insert(3, Column::names("flow", rows.flow, &rows.flows));
        columns.insert(4, Column::names("kind", rows.kind, &rows.kinds));
        columns.push(Column::names("status", rows.state, &rows.states));
        if rows.accounts > 0 {
            let causes = CAUSE_INFO.iter().zip(rows.causes).take(rows.accounts);
            columns.extend(causes.map(|((name, _), ns)| Column::whole(format!("{name}_ns"), ns)));
        }
        columns
    }
}

impl RequestLog {
    /// Logs one request in `every`.
    pub fn new(every: u64, flows: &[String], accounts: usize, sender: BatchSender) -> RequestLog {
        RequestLog { every, rows: Rows::new(flows, accounts), sender }
    }

    /// Logs an ended request.
    #[inline]
    pub fn take(&mut self, row: &RequestRow) {
        if self.every == 1 || row.number.is_multiple_of(self.every) {
            self.rows.push(row);
            if self.rows.len() == CHUNK {
                self.flush();
            }
        }
    }

    /// Sends the remaining rows, or only the column names.
    pub fn flush(&mut self) {
        let rows = self.rows.len();
        self.sender.send("requests", rows, self.rows.take());
    }
}

/// Names of operations.
pub const KINDS: [&str; 8] = ["read", "write", "trim", "flush", "zone", "write zeroes", "compare", "reset"];

/// Index of an operation in [`KINDS`].
pub fn kind_of(op: Op) -> i32 {
    match op {
        Op::Read | Op::Vector(VectorAction::Read) => 0,
        Op::Write | Op::Append | Op::Vector(VectorAction::Write) => 1,
        Op::Trim => 2,
        Op::Flush => 3,
        Op::Zone(_) => 4,
        Op::WriteZeroes => 5,
        Op::Compare => 6,
        Op::Vector(VectorAction::Reset) => 7,
    }
}
