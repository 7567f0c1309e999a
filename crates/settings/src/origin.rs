//! Origin of a value.

use crate::value::plain;
use std::fmt;
use std::sync::Arc;

/// What an embedded preset describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PresetKind {
    /// A flash part.
    Part,
    /// The interface of a flash part.
    Interface,
    /// A whole drive.
    Drive,
    /// The statistics of a trace.
    Twin,
    /// The coefficients of a cell model.
    Cells,
}

impl fmt::Display for PresetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PresetKind::Part => "part preset",
            PresetKind::Interface => "interface",
            PresetKind::Drive => "drive preset",
            PresetKind::Twin => "twin row",
            PresetKind::Cells => "cell preset",
        })
    }
}

/// Where a value came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A line of a user's file.
    File {
        /// Name of the file as it was given.
        file: Arc<str>,
        /// Line, counted from 1.
        line: u32,
        /// The citation beside the value, if it has one.
        source: Option<Arc<str>>,
    },
    /// A command line override.
    Set,
    /// An embedded preset.
    Preset {
        /// What the preset describes.
        kind: PresetKind,
        /// Name of the preset.
        name: Arc<str>,
        /// Line in the preset's text, counted from 1.
        line: u32,
        /// The citation beside the value, if it has one.
        source: Option<Arc<str>>,
    },
    /// It follows from another value, as the number of blocks does from a capacity.
    Follows {
        /// The key of that value.
        from: Arc<str>,
        /// Where that value came from.
        at: Arc<Origin>,
    },
    /// The default in the code that read the key.
    Default,
}

impl Origin {
    /// The citation beside the value, if it has one.
    pub fn source(&self) -> Option<&str> {
        match self {
            Origin::File { source, .. } | Origin::Preset { source, .. } => source.as_deref(),
            Origin::Set | Origin::Follows { .. } | Origin::Default => None,
        }
    }

    /// True for what the user wrote: a file or a `--set`.
    pub fn is_users(&self) -> bool {
        matches!(self, Origin::File { .. } | Origin::Set)
    }

    /// The same place with this citation.
    pub(crate) fn citing(mut self, citation: Option<Arc<str>>) -> Origin {
        if let Origin::File { source, .. } | Origin::Preset { source, .. } = &mut self {
            *source = citation;
        }
        self
    }

    /// File and line as error messages name them.
    pub(crate) fn place(&self) -> Place {
        match self {
            Origin::File { file, line, .. } => Place { file: Some(file.to_string()), line: Some(*line) },
            Origin::Set => Place { file: Some("--set".to_string()), line: None },
            Origin::Preset { kind, name, line, .. } => {
                Place { file: Some(format!("{kind} {name}")), line: Some(*line) }
            }
            Origin::Follows { at, .. } => at.place(),
            Origin::Default => Place::default(),
        }
    }
}

impl fmt::Display for Origin {
    /// `examples/x.toml:12`, `--set`, `follows from drive.capacity of --set`, `part preset a4-tlc (Zambelli 2021, Table 2)`, `default`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { file, line, .. } => write!(f, "{}:{line}", plain(file))?,
            Origin::Set => f.write_str("--set")?,
            Origin::Preset { kind, name, .. } => write!(f, "{kind} {name}")?,
            Origin::Follows { from, at } => write!(f, "follows from {from} of {at}")?,
            Origin::Default => f.write_str("default")?,
        }
        match self.source() {
            Some(source) => write!(f, " ({})", plain(source)),
            None => Ok(()),
        }
    }
}

/// A place that an error message can point at.
#[derive(Clone, Default, Debug)]
pub(crate) struct Place {
    pub file: Option<String>,
    pub line: Option<u32>,
}
