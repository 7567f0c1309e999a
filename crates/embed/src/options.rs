//! Options of a device: configuration text, its overrides, and what to keep.

use crate::error::Error;
use interpulse_study::config::{Case, PlanRequest, read_cases};
use std::path::PathBuf;

/// What a device is made of.
#[derive(Clone, Debug)]
pub struct Options {
    /// Configuration text (TOML, docs/CONFIGURATION.md): drive or array and their initial state. The load of a run (`[[flow]]`,
    /// `[run]`, `[report]`) may be left out; if it is there, it is checked and nothing more: requests come from the host.
    pub config: String,
    /// Name of the text in messages. Files that the text names are relative to its folder.
    pub path: String,
    /// Name of the `[[case]]` to build; needed if there are several.
    pub case: Option<String>,
    /// Overrides (key, value), as `--set` of the command line.
    pub sets: Vec<(String, String)>,
    /// Folder of preconditioned states, which later devices load instead of preconditioning again; `None` keeps none.
    pub cache: Option<PathBuf>,
    /// Size limit of the cache in bytes.
    pub cache_limit: u64,
    /// Keep all submissions, 56 bytes each, so that the device can be [saved](crate::Device::save).
    pub journal: bool,
    /// Record the latency by cause with each completion.
    pub causes: bool,
}

impl Options {
    /// Limit of the cache in bytes unless stated.
    pub const CACHE_LIMIT: u64 = 10 << 30;

    /// A device of this configuration without cache and journal, with causes.
    pub fn new(config: impl Into<String>) -> Options {
        Options {
            config: config.into(),
            path: "<config>".into(),
            case: None,
            sets: Vec::new(),
            cache: None,
            cache_limit: Options::CACHE_LIMIT,
            journal: false,
            causes: true,
        }
    }

    /// The checked case of the configuration.
    pub(crate) fn case(&self) -> Result<Case, Error> {
        let request = PlanRequest {
            text: self.config.clone(),
            path: self.path.clone(),
            sets: self.sets.clone(),
            embedded: true,
            ..PlanRequest::default()
        };
        let mut cases = read_cases(&request)?;
        let names = || cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>().join(", ");
        let at = match &self.case {
            None if cases.len() == 1 => 0,
            None => {
                let why = format!("{}: several cases: choose one of {}", self.path, names());
                return Err(Error::Config(why));
            }
            Some(name) => cases.iter().position(|case| case.name == *name).ok_or_else(|| {
                Error::Config(format!("{}: no case \"{name}\"; legal: {}", self.path, names()))
            })?,
        };
        Ok(cases.swap_remove(at))
    }
}
