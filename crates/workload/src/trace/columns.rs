//! Column splitter for rows of text traces.

use super::problem::RowFault;

/// First `N` columns of a comma-separated row, without surrounding blanks and quotes; further columns are ignored.
///
/// Errors: fewer columns; `legal` names the expected ones.
pub(super) fn commas<'l, const N: usize>(
    line: &'l str,
    legal: &'static str,
) -> Result<[&'l str; N], RowFault> {
    let mut rest = Some(line);
    first(std::iter::from_fn(|| Some(next_column(&mut rest)?.trim())), legal)
}

/// Like [`commas`] for columns separated by blanks.
pub(super) fn blanks<'l, const N: usize>(
    line: &'l str,
    legal: &'static str,
) -> Result<[&'l str; N], RowFault> {
    first(line.split_ascii_whitespace(), legal)
}

fn first<'l, const N: usize>(
    all: impl Iterator<Item = &'l str>,
    legal: &'static str,
) -> Result<[&'l str; N], RowFault> {
    let mut columns = [""; N];
    let mut found = 0;
    for column in all.take(N) {
        columns[found] = column;
        found += 1;
    }
    if found < N { Err(RowFault::Columns { found, legal }) } else { Ok(columns) }
}

/// Column at the start of `rest`, which advances past the next comma outside of quotes.
fn next_column<'l>(rest: &mut Option<&'l str>) -> Option<&'l str> {
    let line = (*rest)?;
    if let Some(quoted) = line.trim_start().strip_prefix('"')
        && let Some((column, after)) = quoted.split_once('"')
    {
        *rest = after.split_once(',').map(|(_, after)| after);
        return Some(column);
    }
    let (column, after) = match line.split_once(',') {
        Some((column, after)) => (column, Some(after)),
        None => (line, None),
    };
    *rest = after;
    Some(column)
}

/// Whether a line before the first row may be a heading: no column is a number.
pub(super) fn is_heading(line: &str) -> bool {
    let apart = |c: char| c == ',' || c == ';' || c == '"' || c.is_ascii_whitespace();
    let number =
        |word: &str| word.trim_start_matches(['-', '+', '.']).starts_with(|c: char| c.is_ascii_digit());
    !line.split(apart).any(number)
}

pub(super) fn is_blank(line: &str) -> bool {
    let line = line.trim_ascii_start();
    line.is_empty() || line.starts_with(['#', ';']) || line.starts_with("//")
}
