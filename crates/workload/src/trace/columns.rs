//! Column splitter for rows of text traces.

use super::problem::RowFault;
use super::separator::Separator;

/// First `N` columns of a comma-separated row, without surrounding blanks and quotes; further columns are ignored.
///
/// Errors: fewer columns; `legal` names the expected ones.
pub(super) fn commas<'l, const N: usize>(
    line: &'l str,
    legal: &'static str,
) -> Result<[&'l str; N], RowFault> {
    first(separated(line, ','), legal)
}

/// Like [`commas`] for columns separated by blanks.
pub(super) fn blanks<'l, const N: usize>(
    line: &'l str,
    legal: &'static str,
) -> Result<[&'l str; N], RowFault> {
    first(line.split_ascii_whitespace(), legal)
}

/// All columns of a row, without surrounding blanks and quotes.
#[inline]
pub(super) fn split(line: &str, separator: Separator) -> impl Iterator<Item = &str> {
    let (mut between, mut blank) = match separator.character() {
        Some(character) => (Some(separated(line, character)), None),
        None => (None, Some(line.split_ascii_whitespace())),
    };
    std::iter::from_fn(move || match (&mut between, &mut blank) {
        (Some(between), _) => between.next(),
        (None, Some(blank)) => blank.next(),
        (None, None) => None,
    })
}

fn separated(line: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || Some(next_column(&mut rest, separator)?.trim()))
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
    if found < N { Err(RowFault::Columns { found, legal: legal.into() }) } else { Ok(columns) }
}

/// Column at the start of `rest`, which advances past the next separator outside of quotes.
fn next_column<'l>(rest: &mut Option<&'l str>, separator: char) -> Option<&'l str> {
    let line = (*rest)?;
    if let Some(quoted) = line.trim_start().strip_prefix('"')
        && let Some((column, after)) = quoted.split_once('"')
    {
        *rest = after.split_once(separator).map(|(_, after)| after);
        return Some(column);
    }
    let (column, after) = match line.split_once(separator) {
        Some((column, after)) => (column, Some(after)),
        None => (line, None),
    };
    *rest = after;
    Some(column)
}

/// Whether a line before the first row may be a heading: no column is a number, except in the name that pandas gives to
/// a column without one.
pub(super) fn is_heading(line: &str) -> bool {
    if line.contains("Unnamed: ") {
        return true;
    }
    let apart = |c: char| c == ',' || c == ';' || c == '"' || c.is_ascii_whitespace();
    let number =
        |word: &str| word.trim_start_matches(['-', '+', '.']).starts_with(|c: char| c.is_ascii_digit());
    !line.split(apart).any(number)
}

pub(super) fn is_blank(line: &str) -> bool {
    let line = line.trim_ascii_start();
    line.is_empty() || line.starts_with(['#', ';']) || line.starts_with("//")
}
