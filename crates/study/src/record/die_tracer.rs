//! Die tracer: die states, bus transfers and queue lengths of one drive during an interval.

use interpulse_drive::Drive;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::DieId;
use interpulse_flash::command::{DIE_ACTIVITIES, DieActivity};
use interpulse_flash::die::State;
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::observer::{DataMove, DieChange, FlashObserver, QueueChange};
use interpulse_flash::script::Span;

/// Interval in which a die has one state and use.
pub struct DieInterval {
    /// Span that the phases of a timeline derive from.
    pub span: Span,
    /// DieActivity of the die.
    pub usage: DieActivity,
    /// Block.
    pub block: BlockId,
    /// Request that the die reads for.
    pub reads_for: Option<u32>,
}

/// Trace of one die.
pub struct DieTrace {
    begun: DieChange,
    /// Intervals in order.
    pub intervals: Vec<DieInterval>,
    /// Time by use at the start of the trace.
    before: [u64; DIE_ACTIVITIES],
}

/// Trace of one drive.
pub struct DieTracer {
    /// Start of the trace.
    pub from: SimTime,
    /// The dies.
    pub dies: Vec<DieTrace>,
    /// Bus transfers; one that was active at the start has zero bytes.
    pub moves: Vec<DataMove>,
    /// Queue lengths of dies.
    pub queues: Vec<QueueChange>,
    /// Recorded entries, for a limit.
    pub kept: usize,
}

impl DieTracer {
    /// Starts to trace `drive` at `from`.
    pub fn begin(drive: &mut Drive, from: SimTime) -> DieTracer {
        let nand = drive.nand_mut();
        nand.start_observing();
        let standing = |d| nand.current_activity(d);
        let dies = DieId::first(nand.dies().len() as u32);
        let changes: Vec<DieChange> = dies.clone().map(standing).collect();
        let waits = |d: DieId| QueueChange { die: d, at: from, waiting: nand.waiting_at(d) };
        let queues = dies.map(waits).collect();
        // Of an active transfer only the end is known.
        let busy = |(channel, of): (u32, &interpulse_flash::nand::channel::Channel)| {
            (of.free_at() > from).then(|| DataMove {
                channel,
                into: false,
                bytes: 0,
                at: from,
                end: of.free_at(),
            })
        };
        let moves = (0..).zip(nand.channels()).filter_map(busy).collect();
        let dies = nand.dies_mut().iter_mut().zip(changes).map(|(die, begun)| {
            die.usage.settle(from);
            DieTrace { begun, intervals: Vec::new(), before: die.usage.uses() }
        });
        DieTracer { from, dies: dies.collect(), moves, queues, kept: 0 }
    }

    /// Ends the trace. Panics if the intervals of a die differ from its counters.
    pub fn end(&mut self, drive: &mut Drive, to: SimTime) {
        drive.nand_mut().notify(self);
        drive.nand_mut().stop_observing();
        let from = self.from;
        for (track, die) in self.dies.iter_mut().zip(drive.nand_mut().dies_mut()) {
            track.close(to);
            die.usage.settle(to);
            let mut uses = [0; DIE_ACTIVITIES];
            for each in &track.intervals {
                uses[each.usage as usize] += each.span.to.since(each.span.from.max(from)).as_ns();
            }
            let counted: [u64; DIE_ACTIVITIES] =
                std::array::from_fn(|k| die.usage.uses()[k] - track.before[k]);
            assert_eq!(uses, counted, "the timeline of a die is not what its counters say");
        }
    }
}

impl FlashObserver for DieTracer {
    fn die_changed(&mut self, change: &DieChange) {
        let track = &mut self.dies[change.die.index()];
        // A state of zero length is dropped, and a repeated state continues.
        let same = |a: &DieChange| (a.state, a.usage, a.operation, a.reads_for);
        let stays = track.begun.state != State::Out && same(&track.begun) == same(change);
        if change.schedule.is_none() || stays {
            return;
        }
        track.close(change.at);
        track.begun = *change;
        self.kept += 1;
    }

    fn data_moves(&mut self, data: &DataMove) {
        self.moves.push(*data);
        self.kept += 1;
    }

    fn queue_changed(&mut self, change: &QueueChange) {
        self.queues.push(*change);
        self.kept += 1;
    }
}

impl DieTrace {
    /// Ends the current interval.
    fn close(&mut self, at: SimTime) {
        let begun = &self.begun;
        if begun.at < at {
            let span = Span {
                from: begun.at,
                to: at,
                state: begun.state,
                long: begun.operation.map(|op| op.kind),
                suspends: begun.operation.map_or(0, |op| op.suspends),
                course: begun.schedule.expect("only a traced state starts an interval"),
            };
            let (usage, block, reads_for) = (begun.usage, begun.block, begun.reads_for);
            self.intervals.push(DieInterval { span, usage, block, reads_for });
        }
    }
}

/// `at` relative to `start`, in ns.
pub fn relative_ns(start: SimTime, at: SimTime) -> i64 {
    at.as_ns() as i64 - start.as_ns() as i64
}

/// Interval at which the events of a traced drive are collected.
pub const POLL_INTERVAL: Duration = Duration::from_ms(1);
