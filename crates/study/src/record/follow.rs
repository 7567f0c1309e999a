//! What the dies, buses and lines of one drive do in a stretch of time.

use interpulse_drive::drive::Drive;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::DieId;
use interpulse_flash::command::{USES, Use};
use interpulse_flash::die::State;
use interpulse_flash::nand::observe::{DataMove, DieChange, FlashObserver, QueueChange};
use interpulse_flash::numbers::BlockId;
use interpulse_flash::script::Span;

/// A stretch of time in which a die was in one state, put to one use.
pub struct Stretch {
    /// As the phases of a timeline are made from.
    pub span: Span,
    /// What that was to those who waited.
    pub usage: Use,
    /// The block concerned.
    pub block: BlockId,
    /// The request that it read for.
    pub reads_for: Option<u32>,
}

/// A die that is followed.
pub struct DieTrack {
    begun: DieChange,
    /// What it did.
    pub stretches: Vec<Stretch>,
    /// Time by use when it began to be followed.
    before: [u64; USES],
}

/// A drive that is followed.
pub struct Follower {
    /// Since when.
    pub from: SimTime,
    /// The dies.
    pub dies: Vec<DieTrack>,
    /// Data that has moved, with what moved at the beginning as no bytes.
    pub moves: Vec<DataMove>,
    /// The lines of dies.
    pub queues: Vec<QueueChange>,
    /// Stretches and moves, for a limit.
    pub kept: usize,
}

impl Follower {
    /// Follows `drive` from now on.
    pub fn begin(drive: &mut Drive, from: SimTime) -> Follower {
        let nand = drive.nand_mut();
        nand.follow();
        let standing = |d| nand.standing(d);
        let dies = DieId::first(nand.dies().len() as u32);
        let changes: Vec<DieChange> = dies.clone().map(standing).collect();
        let waits = |d: DieId| QueueChange { die: d, at: from, waiting: nand.waiting_at(d) };
        let queues = dies.map(waits).collect();
        // Of what is on its way already only the end is known.
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
            DieTrack { begun, stretches: Vec::new(), before: die.usage.uses() }
        });
        Follower { from, dies: dies.collect(), moves, queues, kept: 0 }
    }

    /// Follows it no longer. Panics if the stretches of a die are not what its counters say.
    pub fn end(&mut self, drive: &mut Drive, to: SimTime) {
        drive.nand_mut().tell(self);
        drive.nand_mut().unfollow();
        let from = self.from;
        for (track, die) in self.dies.iter_mut().zip(drive.nand_mut().dies_mut()) {
            track.close(to);
            die.usage.settle(to);
            let mut uses = [0; USES];
            for each in &track.stretches {
                uses[each.usage as usize] += each.span.to.since(each.span.from.max(from)).as_ns();
            }
            let counted: [u64; USES] = std::array::from_fn(|k| die.usage.uses()[k] - track.before[k]);
            assert_eq!(uses, counted, "the timeline of a die is not what its counters say");
        }
    }
}

impl FlashObserver for Follower {
    fn die_changed(&mut self, change: &DieChange) {
        let track = &mut self.dies[change.die.index()];
        // A state that is left at once takes no time, and one that comes back is the same.
        let same = |a: &DieChange| (a.state, a.usage, a.operation, a.reads_for);
        let stays = track.begun.state != State::Out && same(&track.begun) == same(change);
        if change.course.is_none() || stays {
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

impl DieTrack {
    /// The present stretch ends.
    fn close(&mut self, at: SimTime) {
        let begun = &self.begun;
        if begun.at < at {
            let span = Span {
                from: begun.at,
                to: at,
                state: begun.state,
                long: begun.operation.map(|op| op.kind),
                suspends: begun.operation.map_or(0, |op| op.suspends),
                course: begun.course.expect("only such begin a stretch"),
            };
            let (usage, block, reads_for) = (begun.usage, begun.block, begun.reads_for);
            self.stretches.push(Stretch { span, usage, block, reads_for });
        }
    }
}

/// A time as it is written down: from `start` on.
pub fn after(start: SimTime, at: SimTime) -> i64 {
    at.as_ns() as i64 - start.as_ns() as i64
}

/// How often the events of a drive that is followed are taken from it.
pub const OFTEN: Duration = Duration::from_ms(1);
