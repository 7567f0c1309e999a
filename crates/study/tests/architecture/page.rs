//! Crate table of docs/ARCHITECTURE.md: one line per crate with its dependencies.
//!
//! ```text
//! crates/flash/        contents                                       -> engine settings
//!                      more contents
//! ```

/// Line of the table.
pub struct CrateEntry {
    /// Folder of the crate.
    pub name: String,
    /// Line number.
    pub line: usize,
    /// Dependencies, in the order of the page.
    pub depends_on: Vec<String>,
}

/// Crates from top to bottom. Panics with the line number if the table cannot be parsed.
pub fn crates(page: &str) -> Vec<CrateEntry> {
    let mut crates: Vec<CrateEntry> = Vec::new();
    let lines = page.lines().zip(1..);
    let section = lines.skip_while(|(text, _)| !["## Rooms", "## Crates"].contains(text)).skip(1);
    let section = section.take_while(|(text, _)| !text.starts_with("## "));
    let table = section.skip_while(|(text, _)| *text != "```").skip(1).take_while(|(text, _)| *text != "```");
    for (text, line) in table {
        if let Some(rest) = text.strip_prefix("crates/") {
            let name = rest.split('/').next().unwrap_or("").to_string();
            crates.push(CrateEntry { name, line, depends_on: Vec::new() });
        }
        if let Some((_, arrow)) = text.split_once("->") {
            let entry =
                crates.last_mut().unwrap_or_else(|| panic!("line {line}: an arrow before the first crate"));
            assert!(entry.depends_on.is_empty(), "line {line}: {} has an arrow already", entry.name);
            entry.depends_on = arrow.split_whitespace().map(str::to_string).collect();
        }
    }
    for entry in &mut crates {
        assert!(!entry.depends_on.is_empty(), "line {}: {} has no arrow", entry.line, entry.name);
        entry.depends_on.retain(|name| name != "(nothing)");
    }
    crates
}

/// Source files that the page names, with their lines: `crate/path.rs` in backquotes is a file in the `src` of that
/// crate, `crates/...` is a full path.
pub fn files(page: &str) -> Vec<(usize, String)> {
    let quoted = |line: usize, text: &str| -> Vec<(usize, String)> {
        let words = text.split('`').skip(1).step_by(2).filter(|word| word.ends_with(".rs"));
        words.map(|word| (line, word.to_string())).collect()
    };
    let lines = (1..).zip(page.lines());
    let named = lines.flat_map(|(line, text)| quoted(line, text));
    let path = |file: String| match file.split_once('/') {
        Some(("crates", _)) => file,
        Some((name, rest)) => format!("crates/{name}/src/{rest}"),
        None => file,
    };
    named.map(|(line, file)| (line, path(file))).collect()
}
