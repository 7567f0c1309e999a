//! Rows cut into columns.

use super::problem::RowFault;

/// The first `N` columns of a row between commas, blanks and `"` around them removed; more columns are left out.
///
/// Errors: there are fewer. `legal` says which ones there should be.
pub(super) fn commas<'l, const N: usize>(
    line: &'l str,
    legal: &'static str,
) -> Result<[&'l str; N], RowFault> {
    let mut rest = Some(line);
    first(std::iter::from_fn(|| Some(next_column(&mut rest)?.trim())), legal)
}

/// The first `N` columns of a row between blanks; more columns are left out.
///
/// Errors: there are fewer. `legal` says which ones there should be.
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

/// The column at the start of `rest`, which moves behind the comma that ends it. A comma between `"` ends none.
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

/// Whether a line before the first row may be a heading: it has columns, and none of them is a number.
pub(super) fn is_heading(line: &str) -> bool {
    let apart = |c: char| c == ',' || c == ';' || c == '"' || c.is_ascii_whitespace();
    let number =
        |word: &str| word.trim_start_matches(['-', '+', '.']).starts_with(|c: char| c.is_ascii_digit());
    !line.split(apart).any(number)
}

/// Whether a line is none: blank, or a comment.
pub(super) fn is_blank(line: &str) -> bool {
    let line = line.trim_ascii_start();
    line.is_empty() || line.starts_with(['#', ';']) || line.starts_with("//")
}
