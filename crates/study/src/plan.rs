//! A configuration that has been read and checked: what the user asked for, as cases that can be run.

use crate::config::{self, Case, PlanError, PlanRequest};

/// A configuration that has been read and checked.
#[derive(Clone, Debug)]
pub struct Plan {
    cases: Vec<Case>,
}

/// One resolved value, for `interpulse show`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownEntry {
    /// Full key.
    pub key: String,
    /// Value in a readable unit.
    pub value: String,
    /// Where it comes from, with its source.
    pub origin: String,
    /// What it means.
    pub doc: String,
}

/// Reads and checks a configuration.
pub fn resolve(request: &PlanRequest) -> Result<Plan, PlanError> {
    Ok(Plan { cases: config::read_cases(request)? })
}

impl Plan {
    /// The cases of several plans, of which there is at least one, to be run as those of one: none waits for another plan's
    /// slowest.
    pub fn together<'a>(plans: impl IntoIterator<Item = &'a Plan>) -> Plan {
        let cases: Vec<Case> = plans.into_iter().flat_map(|plan| plan.cases.iter().cloned()).collect();
        assert!(!cases.is_empty(), "there is at least one plan");
        Plan { cases }
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

    /// Names of the cases, in order.
    pub fn case_names(&self) -> Vec<String> {
        self.cases.iter().map(|c| c.name.clone()).collect()
    }

    /// The cases.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }
}
