//! Changes of the suspension: checked on the thread that wants them, made on that of the drive.

use super::queue::Queue;
use super::suspension::{Change, NotChanged, Settings, Wanted};
use interpulse_embed::{Options, Suspension};
use std::sync::{Mutex, PoisonError};

/// Changes that a session takes; each stays in its report.
const MOST_CHANGES: usize = 1000;

/// What changes are checked against.
pub struct Changes {
    options: Options,
    is_recorded: bool,
    /// Keys changed so far with their last values, and the number of changes.
    so_far: Mutex<(Settings, usize)>,
}

impl Changes {
    /// Of a drive of `options`; one that is recorded takes none.
    pub fn new(options: Options, is_recorded: bool) -> Changes {
        Changes { options, is_recorded, so_far: Mutex::default() }
    }

    /// Why the suspension cannot change in this session.
    pub fn why_none(&self) -> Option<&'static str> {
        self.is_recorded.then_some(
            "record: a replay of the trace has one suspension from beginning to end; without --record it can change while \
             the drive runs",
        )
    }

    /// Changes `settings`, and keeps those that changed before.
    pub fn make(&self, queue: &Queue, settings: Settings) -> Result<Change, NotChanged> {
        let refused = |why: &str| Err(NotChanged::Refused(why.into()));
        if let Some(why) = self.why_none() {
            return refused(why);
        }
        if settings.is_empty() {
            return refused("no key; legal: keys of suspend.program and suspend.erase");
        }
        // Changes are made in the order of their checks.
        let mut so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
        if so_far.1 == MOST_CHANGES {
            return refused("the session has had 1000 changes of its suspension, the most");
        }
        let mut all = so_far.0.clone();
        all.retain(|(key, _)| settings.iter().all(|(other, _)| other != key));
        all.extend(settings.iter().cloned());
        let suspension = Suspension::read(&self.options, &all);
        let suspension = suspension.map_err(|error| NotChanged::Refused(error.to_string()))?;
        let change = queue.change(Wanted { suspension, settings }).ok_or(NotChanged::Ended)?;
        *so_far = (all, so_far.1 + 1);
        Ok(change)
    }
}
