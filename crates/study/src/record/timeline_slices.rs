//! Timeline slices: rows of die phases, bus transfers and queue lengths.

use super::columns::{Column, NOTHING, NameColumn};
use super::die_tracer::{DieTracer, relative_ns};
use super::series::USE_NAMES;
use interpulse_engine::{RequestId, SimTime};
use interpulse_flash::DieId;
use interpulse_flash::die::DiePhase;
use interpulse_flash::ids::BlockId;
use interpulse_flash::phases::{self, Phase};
use interpulse_flash::script;

/// Die phases of one drive.
pub struct DieSlices {
    window: i64,
    drive: i64,
    start: SimTime,
    from: SimTime,
    whole: [Vec<i64>; WHOLE.len()],
    what: NameColumn,
    usage: NameColumn,
    operation: NameColumn,
    state: NameColumn,
}

const WHOLE: [&str; 10] =
    ["window", "drive", "die", "from_ns", "to_ns", "block", "suspends", "running_on", "again", "request"];

impl DieSlices {
    /// Slices of one drive in one interval, empty. Times are relative to `start`; nothing before `from` is included.
    pub fn new(window: i64, drive: i64, start: SimTime, from: SimTime) -> DieSlices {
        DieSlices {
            window,
            drive,
            start,
            from,
            whole: Default::default(),
            what: NameColumn::default(),
            usage: NameColumn::default(),
            operation: NameColumn::default(),
            state: NameColumn::default(),
        }
    }

    /// Adds the phases of a drive; `whose` maps a request id of the drive at an instant to its row.
    pub fn add(&mut self, tracer: &DieTracer, whose: &dyn Fn(RequestId, i64) -> Option<usize>) {
        for (die, track) in (0..).zip(&tracer.dies) {
            let spans = track.intervals.iter().map(|interval| interval.span).collect();
            let timeline = script::Timeline { spans, ..script::Timeline::default() };
            let mut intervals = track.intervals.iter().peekable();
            for phase in phases::split(&timeline) {
                while intervals.next_if(|interval| interval.span.to <= phase.from).is_some() {}
                let of = intervals.peek().expect("a phase lies in an interval");
                let from = phase.from.max(self.from);
                if phase.to <= from {
                    continue;
                }
                let request =
                    of.reads_for.and_then(|id| whose(RequestId(id), relative_ns(self.start, of.span.from)));
                let values = [
                    self.window,
                    self.drive,
                    die,
                    relative_ns(self.start, from),
                    relative_ns(self.start, phase.to),
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

    /// Takes the rows.
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

/// Channel, from, to, kind, bytes.
type Transfer = (u32, SimTime, SimTime, &'static str, i64);

/// Bus transfers of a drive: data, and the command and address cycles from the die phases.
pub fn bus_slices(
    tracer: &DieTracer,
    window: i64,
    drive: i64,
    start: SimTime,
    to: SimTime,
    channel_of: &dyn Fn(DieId) -> u32,
) -> (usize, Vec<Column>) {
    let mut rows: Vec<Transfer> = Vec::new();
    for data in &tracer.moves {
        let what = match data.bytes {
            0 => "under way",
            _ if data.into => "data in",
            _ => "data out",
        };
        let bytes = if data.bytes == 0 { NOTHING } else { data.bytes as i64 };
        rows.push((data.channel, data.at, data.end.min(to), what, bytes));
    }
    for (die, track) in (0..).map(DieId).zip(&tracer.dies) {
        let spans = track.intervals.iter().map(|interval| interval.span).collect();
        let timeline = script::Timeline { spans, ..script::Timeline::default() };
        // A transfer that was active at the start has its own row.
        let new = |phase: &&Phase| phase.what == DiePhase::Command && phase.from >= tracer.from;
        for phase in phases::split(&timeline).iter().filter(new) {
            rows.push((channel_of(die), phase.from, phase.to, "command", NOTHING));
        }
    }
    rows.sort_unstable();
    let mut what = NameColumn::default();
    rows.iter().for_each(|row| what.push(Some(row.3)));
    let whole = |value: &dyn Fn(&Transfer) -> i64| rows.iter().map(value).collect::<Vec<i64>>();
    let columns = vec![
        Column::whole("window", vec![window; rows.len()]),
        Column::whole("drive", vec![drive; rows.len()]),
        Column::whole("channel", whole(&|row| i64::from(row.0))),
        Column::whole("from_ns", whole(&|row| relative_ns(start, row.1))),
        Column::whole("to_ns", whole(&|row| relative_ns(start, row.2))),
        what.column("what"),
        Column::whole("bytes", whole(&|row| row.4)),
    ];
    (rows.len(), columns)
}

/// Number of transactions that wait for each die, with the time of each change.
pub fn queue_lengths(tracer: &DieTracer, window: i64, drive: i64, start: SimTime) -> (usize, Vec<Column>) {
    let (rows, queues) = (tracer.queues.len(), tracer.queues.iter());
    let columns = vec![
        Column::whole("window", vec![window; rows]),
        Column::whole("drive", vec![drive; rows]),
        Column::whole("die", queues.clone().map(|q| i64::from(q.die.0)).collect()),
        Column::whole("at_ns", queues.clone().map(|q| relative_ns(start, q.at)).collect()),
        Column::whole("waiting", queues.map(|q| i64::from(q.waiting)).collect()),
    ];
    (rows, columns)
}
