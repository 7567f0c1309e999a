//! Description of a kept state: what it belongs to, what it looks like, and what the drive has done.

use crate::config::Case;
use interpulse_drive::{BlockPast, History, PreconditionedState, StateFigures};
use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Document, Entry, default};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Keys of the initial state, which a kept state replaces.
const REPLACED: &str = "precondition.";
/// Differing keys that a message names.
const MOST_NAMED: usize = 3;
/// Longest age of data: 20 years, as `errors.initial-age`.
pub const OLDEST: Duration = Duration(20 * 365 * 86_400_000_000_000);
/// Most P/E cycles that ageing adds, as `precondition.cycles`.
pub const MOST_CYCLES: u32 = 1_000_000;

/// A key that shapes states, with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyValue {
    /// The value in base units.
    pub value: String,
    /// The value as a user writes it.
    pub text: String,
}

/// Figures of a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Bytes that the host can address.
    pub capacity_bytes: u64,
    /// Bytes of a mapping unit.
    pub unit_bytes: u64,
    /// Units with data.
    pub mapped_units: u64,
    /// Super blocks.
    pub blocks: u64,
    /// Erased super blocks.
    pub free_blocks: u64,
    /// Super blocks that are partly programmed.
    pub open_blocks: u64,
    /// P/E cycles of the least worn super block.
    pub min_cycles: u64,
    /// Mean P/E cycles.
    pub mean_cycles: f64,
    /// P/E cycles of the most worn super block.
    pub max_cycles: u64,
}

/// What the drive has done in sessions and runs, without preconditioning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// Sessions and runs.
    pub sessions: u32,
    /// Their simulated time in ns.
    pub time_ns: u64,
    /// Units that hosts wrote.
    pub host_units: u64,
    /// Units programmed.
    pub programmed_units: u64,
    /// Erases.
    pub erases: u64,
}

/// Ageing without simulation, on top of the stored state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aged {
    /// P/E cycles of every block.
    pub cycles: u32,
    /// Age of all data in ns.
    pub retention_ns: u64,
    /// Page reads of every block.
    pub reads: u32,
}

/// What a file of a kept state says about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Version of interpulse that wrote it.
    pub interpulse: String,
    /// Hash of the keys that shape the state.
    pub state_hash: String,
    /// Hash of the configuration of the last session.
    pub config_hash: String,
    /// Figures at the end of the last session.
    pub figures: Figures,
    /// What the drive has done.
    pub done: Done,
    /// Ageing since then.
    pub aged: Aged,
    /// Keys that shape the state, by path.
    pub keys: BTreeMap<String, KeyValue>,
}

fn shaping(case: &Case) -> impl Iterator<Item = &Entry> {
    case.resolution.entries().iter().filter(|entry| entry.hashed && entry.shapes_state)
}

impl Description {
    /// Description of a state of `case`.
    pub fn new(case: &Case, state: &PreconditionedState, history: &History) -> Description {
        let StateFigures { logical_units, mapped_units, blocks, free_blocks, open_blocks, cycles } =
            state.figures();
        let unit_bytes = case.drive.geometry.unit_bytes;
        let key = |of: &Entry| {
            (of.path.clone(), KeyValue { value: of.canonical.clone(), text: of.display.clone() })
        };
        Description {
            interpulse: env!("CARGO_PKG_VERSION").into(),
            state_hash: case.state_hash(),
            config_hash: case.config_hash(),
            figures: Figures {
                capacity_bytes: logical_units * unit_bytes,
                unit_bytes,
                mapped_units,
                blocks,
                free_blocks,
                open_blocks,
                min_cycles: cycles.0.into(),
                max_cycles: cycles.1.into(),
                mean_cycles: cycles.2,
            },
            done: Done {
                sessions: history.sessions,
                time_ns: history.time_ns,
                host_units: history.host_units,
                programmed_units: history.programmed_units,
                erases: history.erases,
            },
            aged: Aged::default(),
            keys: shaping(case).map(key).collect(),
        }
    }

    /// Why a drive of `case` cannot start with the state: the keys that differ, with both values.
    pub fn excludes(&self, case: &Case) -> Option<String> {
        let theirs: BTreeMap<&str, &Entry> = shaping(case).map(|of| (of.path.as_str(), of)).collect();
        let paths: std::collections::BTreeSet<&str> =
            self.keys.keys().map(String::as_str).chain(theirs.keys().copied()).collect();
        let differing = paths.into_iter().filter(|path| !path.starts_with(REPLACED)).filter_map(|path| {
            let (ours, theirs) = (self.keys.get(path), theirs.get(path));
            if ours.map(|of| &of.value) == theirs.map(|of| &of.canonical) {
                return None;
            }
            let text = |of: Option<&str>| of.unwrap_or("not set").to_string();
            let (of_state, of_case) =
                (text(ours.map(|of| of.text.as_str())), text(theirs.map(|of| of.display.as_str())));
            Some(format!("{path} is {of_state} in the state and {of_case} in the configuration"))
        });
        let differing: Vec<String> = differing.collect();
        let more = differing.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let named = differing[..differing.len().min(MOST_NAMED)].join("; ");
        (!differing.is_empty())
            .then(|| format!("it is the state of another configuration: {named}{more}; legal: equal values"))
    }

    /// History of the drive with these pasts of its blocks, aged.
    pub fn history(&self, blocks: Vec<BlockPast>) -> History {
        let Aged { retention_ns, reads, .. } = self.aged;
        let is_aged = retention_ns > 0 || reads > 0;
        let mut blocks = match blocks.is_empty() && is_aged {
            true => vec![BlockPast::default(); self.figures.blocks as usize],
            false => blocks,
        };
        for past in &mut blocks {
            let age = past.age.as_ns().saturating_add(retention_ns).min(OLDEST.as_ns());
            *past = BlockPast { age: Duration::from_ns(age), reads: past.reads.saturating_add(reads) };
        }
        let Done { sessions, time_ns, host_units, programmed_units, erases } = self.done;
        History { sessions, time_ns, host_units, programmed_units, erases, blocks }
    }
}

/// Retention of a text such as `90d`, at most 20 years.
pub fn retention_of(text: &str) -> Result<Duration, ConfigError> {
    let document = Document::set("retention", text)?;
    document.top().duration("retention", "age of all data", default(Duration::ZERO).at_most(OLDEST))
}

impl Aged {
    /// Both ageings together; the error names what exceeds its limit.
    pub fn and(self, more: Aged) -> Result<Aged, String> {
        let cycles = self.cycles.saturating_add(more.cycles);
        if cycles > MOST_CYCLES {
            return Err(format!("cycles: {cycles} in all; legal: at most {MOST_CYCLES}"));
        }
        let retention_ns = self.retention_ns.saturating_add(more.retention_ns);
        if retention_ns > OLDEST.as_ns() {
            return Err(format!("retention: {} in all; legal: at most 20 years", Duration(retention_ns)));
        }
        let reads = self.reads.checked_add(more.reads);
        let reads = reads.ok_or_else(|| format!("reads: legal: at most {} in all", u32::MAX))?;
        Ok(Aged { cycles, retention_ns, reads })
    }
}
