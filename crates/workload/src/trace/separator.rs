//! Separator of the columns of a text trace.

use interpulse_settings::choices;

choices! {
    /// Separator of columns.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Separator {
        /// a comma; columns may be quoted
        Comma = "comma",
        /// a tab character
        Tab = "tab",
        /// a semicolon
        Semicolon = "semicolon",
        /// a vertical bar
        Pipe = "pipe",
        /// one or more spaces or tabs
        Spaces = "spaces",
    }
}

impl Separator {
    /// The character, or `None` for any number of blanks.
    pub(in crate::trace) fn character(self) -> Option<char> {
        match self {
            Separator::Comma => Some(','),
            Separator::Tab => Some('\t'),
            Separator::Semicolon => Some(';'),
            Separator::Pipe => Some('|'),
            Separator::Spaces => None,
        }
    }

    /// Separator of a row: the first of tab, semicolon, bar and comma that occurs, otherwise blanks.
    pub(in crate::trace) fn of(line: &str) -> Separator {
        let all = [Separator::Tab, Separator::Semicolon, Separator::Pipe, Separator::Comma];
        let occurs = |separator: &Separator| separator.character().is_some_and(|c| line.trim().contains(c));
        all.into_iter().find(occurs).unwrap_or(Separator::Spaces)
    }
}
