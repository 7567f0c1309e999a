//! Cuts: the rows of a trace that are kept, by time, position and device.

use super::merge::{Merged, Merger};
use super::outcome::{Overview, RewriteError};
use interpulse_engine::Duration;

/// Rows that are kept. The default keeps all rows.
#[derive(Clone, Default, Debug)]
pub struct Cut {
    /// First time kept, from the first row of the trace.
    pub from: Option<Duration>,
    /// First time that is no longer kept.
    pub to: Option<Duration>,
    /// First row kept, counted from 1 over the requests of the trace.
    pub first_row: Option<u64>,
    /// Last row kept.
    pub last_row: Option<u64>,
    /// Names of the devices that are kept; all if empty.
    pub devices: Vec<String>,
}

/// Decision about a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kept {
    Yes,
    No,
    /// Neither this row nor a later one.
    End,
}

/// A cut with the devices of a trace.
pub(super) struct Cutter {
    cut: Cut,
    /// By device; empty if all are kept.
    kept: Vec<bool>,
    row: u64,
}

impl Cut {
    /// Errors: an empty range, a device that the trace does not have, times of a trace without times.
    pub(super) fn over(&self, merger: &Merger) -> Result<Cutter, RewriteError> {
        let refused = |text: String| Err(RewriteError::Refused(text));
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from >= to
        {
            return refused(format!("--end: seen {to}; expected a time after --start, which is {from}"));
        }
        if let (Some(first), Some(last)) = (self.first_row, self.last_row)
            && first > last
        {
            return refused(format!(
                "--last-row: seen {last}; expected at least --first-row, which is {first}"
            ));
        }
        if (self.from.is_some() || self.to.is_some()) && !merger.overview().timed {
            return refused(
                "--start, --end: the trace has no times; legal: --first-row and --last-row".to_owned(),
            );
        }
        let mut kept = vec![false; if self.devices.is_empty() { 0 } else { merger.keys().len() }];
        for name in &self.devices {
            let before = kept.iter().filter(|&&kept| kept).count();
            for (kept, key) in kept.iter_mut().zip(merger.keys()) {
                *kept |= key.is_named(name);
            }
            if kept.iter().filter(|&&kept| kept).count() == before {
                let known: Vec<_> = merger.keys().iter().take(20).map(|key| key.name()).collect();
                return refused(format!(
                    "--device: seen {name:?}; expected one of {} (each once)",
                    known.join("; ")
                ));
            }
        }
        Ok(Cutter { cut: self.clone(), kept, row: 0 })
    }
}

impl Cutter {
    pub fn keeps(&mut self, row: &Merged) -> Kept {
        self.row += 1;
        let at = Duration(row.at_ns);
        if self.cut.to.is_some_and(|to| at >= to) || self.cut.last_row.is_some_and(|last| self.row > last) {
            return Kept::End;
        }
        let early = self.cut.from.is_some_and(|from| at < from)
            || self.cut.first_row.is_some_and(|first| self.row < first);
        let other = !self.kept.is_empty() && !self.kept[row.device as usize];
        if early || other { Kept::No } else { Kept::Yes }
    }

    /// Message about a cut that keeps no row.
    pub fn nothing_left(&self, found: &Overview) -> String {
        format!(
            "the cut keeps no row; the trace has rows 1 to {} from 0 to {}",
            found.rows,
            Duration(found.span_ns)
        )
    }
}
