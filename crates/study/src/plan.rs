//! Plan: the checked cases of a configuration.

use crate::config::{self, Case, PlanError, PlanRequest};
use interpulse_engine::SECTOR;
use std::path::Path;

/// Checked cases of a configuration.
#[derive(Clone, Debug)]
pub struct Plan {
    cases: Vec<Case>,
    file: Option<String>,
}

/// One resolved value for `interpulse show`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownEntry {
    /// Full key.
    pub key: String,
    /// Value with its unit.
    pub value: String,
    /// Origin of the value, with its source.
    pub origin: String,
    /// Meaning.
    pub doc: String,
}

/// Reads and checks a configuration.
pub fn resolve(request: &PlanRequest) -> Result<Plan, PlanError> {
    // A text without a file has a name in angle brackets. The folder is left out: it differs between machines.
    let named = !request.path.starts_with('<');
    let name = Path::new(&request.path).file_name().filter(|_| named);
    let file = name.map(|name| name.to_string_lossy().into_owned());
    Ok(Plan { cases: config::read_cases(request)?, file })
}

impl Plan {
    /// One plan with the cases of at least one plan, so that none waits for the slowest case of another.
    pub fn together<'a>(plans: impl IntoIterator<Item = &'a Plan>) -> Plan {
        let plans: Vec<_> = plans.into_iter().collect();
        let cases: Vec<Case> = plans.iter().flat_map(|plan| plan.cases.iter().cloned()).collect();
        assert!(!cases.is_empty(), "there is at least one plan");
        let file = plans[0].file.clone().filter(|_| plans.iter().all(|plan| plan.file == plans[0].file));
        Plan { cases, file }
    }

    /// The plan with only the cases at these positions; `None` without a case, or at a position that there is not.
    pub fn only(&self, cases: &[usize]) -> Option<Plan> {
        let cases: Option<Vec<Case>> = cases.iter().map(|&at| self.cases.get(at).cloned()).collect();
        let cases = cases.filter(|cases| !cases.is_empty())?;
        Some(Plan { cases, file: self.file.clone() })
    }

    /// The plan with other cases.
    pub(crate) fn with_cases(&self, cases: Vec<Case>) -> Plan {
        Plan { cases, file: self.file.clone() }
    }

    /// Every value of the first case with its origin.
    pub fn entries(&self) -> Vec<ShownEntry> {
        let shown = |e: &interpulse_settings::Entry| ShownEntry {
            key: e.path.clone(),
            value: e.display.clone(),
            origin: e.origin.to_string(),
            doc: e.doc.to_string(),
        };
        self.cases[0].resolution.entries().iter().map(shown).collect()
    }

    /// Hash of the resolved configuration of the first case.
    pub fn config_hash(&self) -> String {
        self.cases[0].config_hash()
    }

    /// Name of the configuration file without its folder; `None` for a text without a file, or for several files.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Names of the cases, in order.
    pub fn case_names(&self) -> Vec<String> {
        self.cases.iter().map(|c| c.name.clone()).collect()
    }

    /// Capacity of the device of each case in bytes, in order.
    pub fn capacity_bytes(&self) -> Vec<u64> {
        self.cases.iter().map(|case| case.capacity_sectors() * SECTOR.get()).collect()
    }

    /// The cases.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }
}
