//! The rows of a timeline: what each die did, phase by phase, what each bus moved, how long each line was.

use super::columns::{Column, Found, NOTHING};
use super::follow::{Follower, after};
use super::series::USE_NAMES;
use interpulse_engine::{RequestId, SimTime};
use interpulse_flash::DieId;
use interpulse_flash::die::What;
use interpulse_flash::numbers::BlockId;
use interpulse_flash::phases::{self, Phase};
use interpulse_flash::script;

/// Rows of what dies did.
pub struct Slices {
    window: i64,
    drive: i64,
    start: SimTime,
    from: SimTime,
    whole: [Vec<i64>; WHOLE.len()],
    what: Found,
    usage: Found,
    operation: Found,
    state: Found,
}

const WHOLE: [&str; 10] =
    ["window", "drive", "die", "from_ns", "to_ns", "block", "suspends", "running_on", "again", "request"];

impl Slices {
    /// Of one drive in one stretch, none yet. Times count from `start`, and nothing before `from` is shown.
    pub fn new(window: i64, drive: i64, start: SimTime, from: SimTime) -> Slices {
        Slices {
            window,
            drive,
            start,
            from,
            whole: Default::default(),
            what: Found::default(),
            usage: Found::default(),
            operation: Found::default(),
            state: Found::default(),
        }
    }

    /// Adds what a drive did; `whose` is the row of the request that a drive calls so at an instant.
    pub fn add(&mut self, follower: &Follower, whose: &dyn Fn(RequestId, i64) -> Option<usize>) {
        for (die, track) in (0..).zip(&follower.dies) {
            let spans = track.stretches.iter().map(|stretch| stretch.span).collect();
            let timeline = script::Timeline { spans, ..script::Timeline::default() };
            let mut stretches = track.stretches.iter().peekable();
            for phase in phases::of(&timeline) {
                while stretches.next_if(|stretch| stretch.span.to <= phase.from).is_some() {}
                let of = stretches.peek().expect("a phase lies in a stretch");
                let from = phase.from.max(self.from);
                if phase.to <= from {
                    continue;
                }
                let request =
                    of.reads_for.and_then(|id| whose(RequestId(id), after(self.start, of.span.from)));
                let values = [
                    self.window,
                    self.drive,
                    die,
                    after(self.start, from),
                    after(self.start, phase.to),
                    if of.block == BlockId::NONE { NOTHING } else { i64::from(of.block.0) },
                    i64::from(of.span.suspends),
                    i64::from(phase.running_on),
                    i64::from(phase.again),
                    request.map_or(NOTHING, |row| row as i64),
                ];
                for (column, value) in self.whole.iter_mut().zip(values) {
                    column.push(value);
                }
                self.what.push(Some(phase.what.name()));
                self.usage.push(Some(USE_NAMES[of.usage as usize].1));
                self.operation.push(phase.long.map(|kind| kind.command().name));
                self.state.push(Some(of.span.state.name()));
            }
        }
    }

    /// The rows.
    pub fn take(mut self) -> (usize, Vec<Column>) {
        let rows = self.whole[0].len();
        let mut columns: Vec<Column> =
            WHOLE.iter().zip(self.whole).map(|(name, of)| Column::whole(*name, of)).collect();
        columns.push(self.what.column("what"));
        columns.push(self.usage.column("use"));
        columns.push(self.operation.column("operation"));
        columns.push(self.state.column("state"));
        (rows, columns)
    }
}

/// Channel, from, to, what, bytes.
type Transfer = (u32, SimTime, SimTime, &'static str, i64);

/// What the buses of a drive moved: data, and command and address cycles, which are phases of their dies.
pub fn of_bus(
    follower: &Follower,
    window: i64,
    drive: i64,
    start: SimTime,
    to: SimTime,
    channel_of: &dyn Fn(DieId) -> u32,
) -> (usize, Vec<Column>) {
    let mut rows: Vec<Transfer> = Vec::new();
    for data in &follower.moves {
        let what = match data.bytes {
            0 => "under way",
            _ if data.into => "data in",
            _ => "data out",
        };
        let bytes = if data.bytes == 0 { NOTHING } else { data.bytes as i64 };
        rows.push((data.channel, data.at, data.end.min(to), what, bytes));
    }
    for (die, track) in (0..).map(DieId).zip(&follower.dies) {
        let spans = track.stretches.iter().map(|stretch| stretch.span).collect();
        let timeline = script::Timeline { spans, ..script::Timeline::default() };
        // What was on the bus when it began to be followed has its row.
        let new = |phase: &&Phase| phase.what == What::Command && phase.from >= follower.from;
        for phase in phases::of(&timeline).iter().filter(new) {
            rows.push((channel_of(die), phase.from, phase.to, "command", NOTHING));
        }
    }
    rows.sort_unstable();
    let mut what = Found::default();
    rows.iter().for_each(|row| what.push(Some(row.3)));
    let whole = |value: &dyn Fn(&Transfer) -> i64| rows.iter().map(value).collect::<Vec<i64>>();
    let columns = vec![
        Column::whole("window", vec![window; rows.len()]),
        Column::whole("drive", vec![drive; rows.len()]),
        Column::whole("channel", whole(&|row| i64::from(row.0))),
        Column::whole("from_ns", whole(&|row| after(start, row.1))),
        Column::whole("to_ns", whole(&|row| after(start, row.2))),
        what.column("what"),
        Column::whole("bytes", whole(&|row| row.4)),
    ];
    (rows.len(), columns)
}

/// How many transactions waited for each die, from when on.
pub fn of_queues(follower: &Follower, window: i64, drive: i64, start: SimTime) -> (usize, Vec<Column>) {
    let (rows, queues) = (follower.queues.len(), follower.queues.iter());
    let columns = vec![
        Column::whole("window", vec![window; rows]),
        Column::whole("drive", vec![drive; rows]),
        Column::whole("die", queues.clone().map(|q| i64::from(q.die.0)).collect()),
        Column::whole("at_ns", queues.clone().map(|q| after(start, q.at)).collect()),
        Column::whole("waiting", queues.map(|q| i64::from(q.waiting)).collect()),
    ];
    (rows, columns)
}
