//! The table of rooms of docs/ARCHITECTURE.md: one line for each crate, with what it stands on.
//!
//! ```text
//! crates/flash/        what is in it                                  -> engine settings
//!                      what else is in it
//! ```

/// A crate's line of the table.
pub struct Room {
    /// Name of the crate's folder.
    pub name: String,
    /// Line of the page.
    pub line: usize,
    /// Crates behind the arrow, in the order of the page.
    pub stands_on: Vec<String>,
}

/// The rooms, from the top of the house. Panics with the line if the table cannot be read.
pub fn rooms(page: &str) -> Vec<Room> {
    let mut rooms: Vec<Room> = Vec::new();
    let lines = page.lines().zip(1..);
    let section = lines.skip_while(|(text, _)| *text != "## Rooms").skip(1);
    let section = section.take_while(|(text, _)| !text.starts_with("## "));
    let table = section.skip_while(|(text, _)| *text != "```").skip(1).take_while(|(text, _)| *text != "```");
    for (text, line) in table {
        if let Some(rest) = text.strip_prefix("crates/") {
            let name = rest.split('/').next().unwrap_or("").to_string();
            rooms.push(Room { name, line, stands_on: Vec::new() });
        }
        if let Some((_, arrow)) = text.split_once("->") {
            let room =
                rooms.last_mut().unwrap_or_else(|| panic!("line {line}: an arrow before the first crate"));
            assert!(room.stands_on.is_empty(), "line {line}: {} has an arrow already", room.name);
            room.stands_on = arrow.split_whitespace().map(str::to_string).collect();
        }
    }
    for room in &mut rooms {
        assert!(!room.stands_on.is_empty(), "line {}: {} has no arrow", room.line, room.name);
        room.stands_on.retain(|name| name != "(nothing)");
    }
    rooms
}

/// The source files that the page names, with their lines: `crate/path.rs` between backquotes stands for a file below that
/// crate's `src`, `crates/...` for itself.
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
