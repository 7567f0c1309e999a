//! Slowest requests of a run.

use super::request_row::RequestRow;
use super::requests::Rows;
use super::row_batches::BatchSender;
use interpulse_engine::account::{Account, NO_ACCOUNT};
use interpulse_engine::{Completion, Duration, Op, RequestId, SimTime, Status, Tag};
use interpulse_host::Ended;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Slowest requests so far.
pub struct Slowest {
    most: usize,
    op: Option<Op>,
    /// Fastest first; of equal ones the later first.
    kept: BinaryHeap<Reverse<(Duration, Reverse<u64>, usize)>>,
    /// Data of each request.
    known: Vec<RequestData>,
    rows: Rows,
    sender: BatchSender,
}

struct RequestData {
    number: u64,
    arrival: i64,
    address: u64,
    at: SimTime,
    submitted: SimTime,
    op: Op,
    tag: Tag,
    bytes: u64,
    status: Status,
    busy: bool,
    account: Account,
}

impl Slowest {
    /// Keeps the slowest `most` requests, of one kind or of all.
    pub fn new(
        most: usize,
        op: Option<Op>,
        flows: &[String],
        accounts: usize,
        sender: BatchSender,
    ) -> Slowest {
        let rows = Rows::new(flows, accounts);
        Slowest { most, op, kept: BinaryHeap::new(), known: Vec::new(), rows, sender }
    }

    /// Tests an ended request.
    #[inline]
    pub fn take(&mut self, row: &RequestRow) {
        let latency = row.ended.latency;
        if self.op.is_some_and(|op| op != row.ended.of.op) {
            return;
        }
        if self.kept.len() < self.most {
            self.known.push(known(row));
            self.kept.push(Reverse((latency, Reverse(row.number), self.known.len() - 1)));
        } else if let Some(mut fastest) = self.kept.peek_mut()
            && fastest.0.0 < latency
        {
            let place = fastest.0.2;
            fastest.0 = (latency, Reverse(row.number), place);
            drop(fastest);
            self.known[place] = known(row);
        }
    }

    /// Sends the requests, slowest first.
    pub fn flush(&mut self) {
        let mut kept = std::mem::take(&mut self.kept).into_vec();
        kept.sort_unstable();
        for Reverse((latency, _, place)) in &kept {
            let of = &self.known[*place];
            let ended = Ended {
                at: of.at,
                latency: *latency,
                of: Completion {
                    id: RequestId(0),
                    tag: of.tag,
                    op: of.op,
                    bytes: of.bytes,
                    submitted: of.submitted,
                    status: of.status,
                    placed: None,
                    busy: of.busy,
                    account: Some(&of.account),
                },
            };
            self.rows.push(&RequestRow {
                number: of.number,
                arrival: of.arrival,
                numbered: of.submitted,
                address: of.address,
                ended: &ended,
            });
        }
        let rows = self.rows.len();
        self.sender.send("slowest", rows, self.rows.take());
    }
}

fn known(row: &RequestRow) -> RequestData {
    let of = &row.ended.of;
    RequestData {
        number: row.number,
        arrival: row.arrival,
        address: row.address,
        at: row.ended.at,
        submitted: of.submitted,
        op: of.op,
        tag: of.tag,
        bytes: of.bytes,
        status: of.status,
        busy: of.busy,
        account: of.account.copied().unwrap_or(NO_ACCOUNT),
    }
}
