//! Error tables as TOML: writer and strict reader.

use super::table::{ErrorTable, TableError};
use interpulse_settings::{ConfigError, Document, FileError, Section};
use std::fmt::Write;
use std::path::Path;

/// Section name of an error table.
pub const SECTION: &str = "error-table";
/// Rates per line of a written table.
const ON_A_LINE: usize = 8;

/// Reads the table in the file at `path`.
///
/// Fails if the file cannot be read or [`ErrorTable::read`] fails.
pub fn read_table_file(path: &Path) -> Result<ErrorTable, FileError> {
    Ok(in_document(Document::in_file(path, "error table ", 32)?)?)
}

fn in_document(document: Document) -> Result<ErrorTable, ConfigError> {
    let table = ErrorTable::read(&mut document.section(SECTION)?)?;
    document.finish()?;
    Ok(table)
}

impl ErrorTable {
    /// Parses a table; `name` is the name of the text in messages.
    pub fn from_toml(text: &str, name: &str) -> Result<ErrorTable, ConfigError> {
        in_document(Document::from_toml(text, name)?)
    }

    /// Reads a table from its section. Errors name file, line and key.
    pub fn read(s: &mut Section) -> Result<ErrorTable, ConfigError> {
        let table = ErrorTable::keys(s)?;
        table.check().map_err(|TableError { key, legal }| s.invalid(key, legal))?;
        Ok(table)
    }

    /// The table as TOML, which [`ErrorTable::from_toml`] reads back to an equal table.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let line = |text: &mut String, key: &str, value: &str| {
            writeln!(text, "{key} = {value}").expect("a string takes any text");
        };
        let float = |x: &f64| format!("{x:e}");
        let floats = |all: &[f64]| format!("[{}]", all.iter().map(float).collect::<Vec<_>>().join(", "));
        let counts =
            |all: &[u32]| format!("[{}]", all.iter().map(u32::to_string).collect::<Vec<_>>().join(", "));
        let quote = |name: &String| basic_string(name);
        let names = |all: &[String]| format!("[{}]", all.iter().map(quote).collect::<Vec<_>>().join(", "));
        text.push_str("[error-table]\n");
        line(&mut text, "title", &basic_string(&self.title));
        line(&mut text, "source", &basic_string(&self.source));
        line(&mut text, "temperature-c", &float(&self.temperature_c));
        line(&mut text, "cycles", &counts(&self.cycles));
        line(&mut text, "retention-h", &floats(&self.retention_h));
        line(&mut text, "reprograms", &counts(&self.reprograms));
        line(&mut text, "layer-fraction", &floats(&self.layer_fraction));
        line(&mut text, "page-types", &names(&self.page_types));
        line(&mut text, "attempts", &names(&self.attempts));
        line(&mut text, "spread-ln-sd", &float(&self.spread_ln_sd));
        if let Some(d) = &self.disturb {
            line(&mut text, "disturb-coefficient", &float(&d.coefficient));
            line(&mut text, "disturb-cycles-exponent", &float(&d.cycles_exponent));
            line(&mut text, "disturb-reads-exponent", &float(&d.reads_exponent));
        }
        text.push_str("rber = [\n");
        // One line per cell of the other axes if attempts vary.
        let row = if self.attempts.len() > 1 { self.attempts.len() } else { ON_A_LINE };
        for cells in self.rber.chunks(row) {
            let cells: Vec<String> = cells.iter().map(float).collect();
            writeln!(text, "    {},", cells.join(", ")).expect("a string takes any text");
        }
        text.push_str("]\n");
        text
    }
}

/// Quotes a text as a TOML basic string.
fn basic_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                write!(out, "\\u{:04X}", u32::from(c)).expect("a string takes any text");
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
