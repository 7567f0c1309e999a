//! Layout of a file in the format `columns`: what settings and heading leave open follows from the rows. A layout that
//! cannot be completed is refused with the settings to try.

use super::address_units::Units;
use super::columns::{is_heading, split};
use super::format::{Columns, Format, Role, Separator};
use super::heading::{Heading, Named};
use super::lines::Raw;
use super::number::Decimal;
use super::position::Position;
use super::problem::{TraceProblem, shorten};
use super::spec::TraceSpec;
use super::unit::TimeUnit;
use interpulse_engine::SECTOR;

/// First lines of a file that are neither blank nor comments, and the heading, which may be a comment.
pub(super) struct Sample {
    pub lines: Vec<(Position, String)>,
    pub heading: Option<Heading>,
}

/// Layout with everything that the rows need.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub columns: Columns,
    pub units: Units,
    /// Time unit that the heading gives.
    pub time_unit: Option<TimeUnit>,
    /// Assumptions, with the settings that override them.
    pub assumed: String,
}

/// Columns of the trace that ships with libCacheSim, whose times are in s.
const LIBCACHESIM: [&str; 5] = ["version", "time", "op", "size", "lbn"];

/// Completes a layout from the heading and the rows of a file.
///
/// Errors: a part of the layout is unknown; the message has the settings to try.
pub(super) fn complete(given: &Columns, spec: &TraceSpec, sample: &Sample) -> Result<Layout, TraceProblem> {
    let after = |line: Position| line.number > given.header_rows.into();
    let rows: Vec<&(Position, String)> = sample.rows().filter(|(line, _)| after(*line)).collect();
    let Some((line, first)) = rows.first().map(|row| (row.0, row.1.as_str())) else {
        return Err(TraceProblem::Empty);
    };
    let refuse = |why: String| {
        let remedy = suggestion(given, spec, sample);
        Err(TraceProblem::Layout { line, why, remedy })
    };
    let mut columns = given.clone();
    let named = given.columns.is_empty();
    if named {
        let Some(heading) = &sample.heading else {
            return refuse("no heading names the columns of the rows".to_owned());
        };
        columns.separator = Some(given.separator.unwrap_or(heading.separator));
        columns.columns = heading.roles();
        if columns.operation.is_some() {
            columns.columns.iter_mut().filter(|role| **role == Role::Op).for_each(|role| *role = Role::Skip);
        }
        if let Err(why) = by_heading(&columns, heading, first) {
            return refuse(why);
        }
    } else {
        columns.separator = Some(given.separator.unwrap_or_else(|| separator(&columns.columns, first)));
    }
    let heading = sample.heading.as_ref();
    let cell = |role| {
        let at = columns.columns.iter().position(|&other| other == role)?;
        heading?.columns.get(at).filter(|named| named.role == Some(role))
    };
    if let Some(one_writes) = cell(Role::Op).and_then(|named| named.one_writes)
        && columns.read_words.is_empty()
        && columns.write_words.is_empty()
    {
        let words = |all: [&str; 2]| all.map(str::to_owned).to_vec();
        let (set, clear) = (words(["1", "true"]), words(["0", "false"]));
        (columns.read_words, columns.write_words) = if one_writes { (clear, set) } else { (set, clear) };
    }
    let units = match units(&columns, spec, cell(Role::Offset), cell(Role::Size), &rows) {
        Ok(units) => units,
        Err(why) => return refuse(why),
    };
    let released =
        heading.is_some_and(|heading| heading.columns.iter().map(|c| &c.name).eq(LIBCACHESIM.iter()));
    let time_unit = cell(Role::Time).and_then(|named| named.time_unit).or(released.then_some(TimeUnit::S));
    let mut assumed = String::new();
    if named {
        let settings = settings(&columns, None);
        assumed += &format!("; columns as the heading names them (override: {settings})");
    }
    if spec.address_unit.is_none() || spec.size_unit.is_none() {
        let (address, size) = (interpulse_engine::Bytes(units.address), interpulse_engine::Bytes(units.size));
        assumed += &format!(
            "; addresses in units of {address}, sizes of {size} (override: --set flow.N.address-unit={address} \
             --set flow.N.size-unit={size})"
        );
    }
    Ok(Layout { columns, units, time_unit, assumed })
}

/// Settings to try for a file that no format reads; `None` if its rows have no numbers in columns.
pub(super) fn to_try(spec: &TraceSpec, sample: &Sample) -> Option<String> {
    guess(&Columns::of(&[]), sample).map(|_| suggestion(&Columns::of(&[]), spec, sample))
}

impl Sample {
    /// Lines that may be rows.
    pub fn rows(&self) -> impl Iterator<Item = &(Position, String)> {
        let heading = self.heading.as_ref().map(|heading| heading.line);
        self.lines.iter().skip_while(move |(line, text)| Some(*line) == heading || is_heading(text))
    }
}

/// Separator that splits a row into enough columns.
fn separator(columns: &[Role], row: &str) -> Separator {
    let usual = Separator::of(row);
    let enough = |separator: &Separator| split(row, *separator).count() >= columns.len();
    if enough(&usual) {
        return usual;
    }
    Separator::ALL.iter().map(|&(_, separator, _)| separator).find(enough).unwrap_or(usual)
}

/// Checks that the heading names every column that a request needs, once.
fn by_heading(columns: &Columns, heading: &Heading, first: &str) -> Result<(), String> {
    let names = |role: Role| {
        let all: Vec<_> = heading.with(role).map(|named| format!("`{}`", shorten(&named.name))).collect();
        all.join(" and ")
    };
    for role in [Role::Time, Role::Op, Role::Offset, Role::Size, Role::Device] {
        if columns.columns.iter().filter(|&&other| other == role).count() > 1 {
            return Err(format!("the heading has several columns for {}: {}", role.name(), names(role)));
        }
    }
    for role in [Role::Offset, Role::Size, Role::Time] {
        if !columns.columns.contains(&role) {
            return Err(format!("the heading names no column for {}", role.name()));
        }
    }
    if columns.check().is_err() {
        return Err("no column says which requests are reads and which are writes".to_owned());
    }
    let (named, found) =
        (heading.columns.len(), split(first, columns.separator.unwrap_or(heading.separator)).count());
    if named != found {
        return Err(format!("the heading names {named} columns and the row has {found}"));
    }
    Ok(())
}

/// Units of addresses and sizes: as set, as the heading gives them, or bytes if the sizes allow bytes.
fn units(
    columns: &Columns,
    spec: &TraceSpec,
    offset: Option<&Named>,
    size: Option<&Named>,
    rows: &[&(Position, String)],
) -> Result<Units, String> {
    let (address_set, size_set) = (spec.address_unit.map(|b| b.get()), spec.size_unit.map(|b| b.get()));
    let (blocks_at, blocks) =
        (offset.filter(|named| named.counts_blocks()), size.filter(|named| named.counts_blocks()));
    if let Some(named) = blocks_at.filter(|_| address_set.is_none()) {
        return Err(format!("the heading does not say the unit of `{}`", shorten(&named.name)));
    }
    let address_said = address_set.or(offset.and_then(|named| named.bytes));
    let size_said = size_set.or(size.and_then(|named| named.bytes)).or(address_set);
    if let Some(named) = blocks.filter(|_| size_said.is_none()) {
        return Err(format!("the heading does not say the unit of `{}`", shorten(&named.name)));
    }
    let address = address_said.unwrap_or(1);
    if let Some(size) = size_said {
        return Ok(Units { address, size });
    }
    let sizes = rows.iter().filter_map(|(_, row)| columns_of(columns, row));
    let largest = sizes.max().unwrap_or(SECTOR.get());
    match (largest >= SECTOR.get(), address_said) {
        (true, _) => Ok(Units { address, size: 1 }),
        // Sizes below a sector count what the addresses count.
        (false, Some(unit)) if unit > 1 => Ok(Units { address, size: unit }),
        (false, _) => Err(format!("the sizes, at most {largest}, are too small for bytes")),
    }
}

/// Number in the column of sizes.
fn columns_of(columns: &Columns, row: &str) -> Option<u64> {
    Format::Columns(columns.clone()).parse(Raw::Line(row)).ok().flatten().map(|row| row.size)
}

/// Guessed layout of rows of numbers.
struct Guess {
    columns: Columns,
    /// Units of addresses and sizes that the numbers suggest, where they are not bytes.
    address_unit: Option<u64>,
    size_unit: Option<u64>,
}

/// Settings for the rows of a file, with what is not settled by a setting guessed from heading and numbers.
fn suggestion(given: &Columns, spec: &TraceSpec, sample: &Sample) -> String {
    let Some(guess) = guess(given, sample) else {
        return "name the columns with --set flow.N.columns=[time,op,offset,size] in the order of the rows; device and \
                skip are other columns"
            .to_owned();
    };
    let mut text = format!("try {}", settings(&guess.columns, given.operation.map(|_| ())));
    for (key, set, unit) in [
        ("address-unit", spec.address_unit, guess.address_unit),
        ("size-unit", spec.size_unit, guess.size_unit),
    ] {
        if let (None, Some(unit)) = (set, unit) {
            text += &format!(" --set flow.N.{key}={}", interpulse_engine::Bytes(unit));
        }
    }
    if given.operation.is_none() {
        if guess.columns.operation.is_some() {
            text += " (or write)";
        }
        if !guess.columns.read_words.is_empty() {
            text += " (or the words the other way round)";
        }
    }
    text
}

/// Settings of a layout, as `--set` options; `given` if the operation is already set.
fn settings(columns: &Columns, given: Option<()>) -> String {
    let list = |words: Vec<&str>| format!("[{}]", words.join(","));
    let roles = list(columns.columns.iter().map(|role| role.name()).collect());
    let mut text = format!("--set flow.N.format=columns --set flow.N.columns={roles}");
    if let Some(separator) = columns.separator {
        text += &format!(" --set flow.N.separator={}", separator.name());
    }
    if columns.header_rows > 0 {
        text += &format!(" --set flow.N.header-rows={}", columns.header_rows);
    }
    for (key, words) in [("read-words", &columns.read_words), ("write-words", &columns.write_words)] {
        if !words.is_empty() {
            text += &format!(" --set flow.N.{key}={}", list(words.iter().map(String::as_str).collect()));
        }
    }
    if let (Some(operation), None) = (columns.operation, given) {
        text += &format!(" --set flow.N.operation={}", operation.name());
    }
    text
}

/// Values of a column.
struct Values<'s> {
    texts: Vec<&'s str>,
    /// `None` if a text is no number.
    numbers: Option<Vec<f64>>,
}

fn number(text: &str) -> Option<f64> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).ok().map(|value| value as f64);
    }
    Decimal::parse(text)?;
    text.parse().ok()
}

impl Values<'_> {
    fn all(&self, holds: impl Fn(f64) -> bool) -> bool {
        self.numbers.as_ref().is_some_and(|all| all.iter().all(|&value| holds(value)))
    }

    fn ascends(&self) -> bool {
        let up = |all: &Vec<f64>| all.windows(2).all(|pair| pair[0] <= pair[1]) && all.first() < all.last();
        self.numbers.as_ref().is_some_and(|all| all.len() == 1 || up(all))
    }

    /// Whether the column numbers the rows, of which few may do so by chance.
    fn counts(&self) -> bool {
        let steps = |all: &Vec<f64>| all.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
        self.numbers.as_ref().is_some_and(|all| all.len() > 3 && all[0] <= 1.0 && steps(all))
    }

    fn largest(&self) -> f64 {
        self.numbers.iter().flatten().fold(0.0, |most, &value| most.max(value))
    }

    fn is_binary(&self) -> bool {
        self.texts.iter().all(|&text| text == "0" || text == "1")
    }
}

/// Guesses which column is which, from the heading and then from the numbers; `None` without a place for address and
/// size.
fn guess(given: &Columns, sample: &Sample) -> Option<Guess> {
    let after = |line: Position| line.number > given.header_rows.into();
    let mut rows = sample.rows().filter(|(line, _)| after(*line)).map(|(_, row)| row.as_str()).peekable();
    let first = *rows.peek()?;
    let separator = given.separator.unwrap_or_else(|| Separator::of(first));
    let width = split(first, separator).count();
    let table: Vec<Vec<&str>> =
        rows.map(|row| split(row, separator).collect()).filter(|r: &Vec<_>| r.len() == width).collect();
    let columns: Vec<Values> = (0..width)
        .map(|at| {
            let texts: Vec<&str> = table.iter().map(|row| row[at]).collect();
            let numbers = texts.iter().map(|text| number(text)).collect();
            Values { texts, numbers }
        })
        .collect();
    let mut layout = Columns { separator: Some(separator), columns: Vec::new(), ..given.clone() };
    let mut roles: Vec<Option<Role>> = vec![None; width];
    let heading = sample.heading.as_ref().filter(|heading| heading.columns.len() == width);
    for (at, role) in roles.iter_mut().enumerate() {
        let named = heading.and_then(|heading| heading.columns[at].role);
        *role = match (given.columns.get(at), named) {
            (Some(&role), _) => Some(role),
            (None, Some(named)) if heading.is_some_and(|h| h.with(named).count() == 1) => Some(named),
            (None, Some(Role::Skip)) => Some(Role::Skip),
            _ => None,
        };
    }
    let sized = roles.contains(&Some(Role::Size));
    let mut assign = |role: Role, choose: &dyn Fn(&[usize]) -> Option<usize>| {
        if !roles.contains(&Some(role)) {
            let free: Vec<usize> = (0..width).filter(|&at| roles[at].is_none()).collect();
            if let Some(at) = choose(&free) {
                roles[at] = Some(role);
            }
        }
        roles.contains(&Some(role))
    };
    if given.operation.is_none() {
        let words = |at: &usize| {
            let usual =
                Columns { columns: vec![Role::Op], separator: Some(Separator::Comma), ..given.clone() };
            columns[*at].numbers.is_none() && columns[*at].texts.iter().all(|word| usual.knows(word))
        };
        let binary = |at: &usize| columns[*at].is_binary();
        let found = assign(Role::Op, &|free| {
            free.iter().copied().find(words).or(free.iter().copied().rfind(|at| binary(at) && width > 3))
        });
        if !found {
            layout.operation = Some(super::format::Operation::Read);
        }
    }
    assign(Role::Time, &|free| {
        let times: Vec<usize> = free.iter().copied().filter(|&at| columns[at].ascends()).collect();
        let decimals = |at: &usize| columns[*at].texts.iter().any(|text| text.contains(['.', 'e', 'E']));
        let others = || times.iter().copied().find(|&at| !columns[at].counts());
        times.iter().copied().find(decimals).or(others()).or(times.first().copied())
    });
    let whole = |at: usize| columns[at].all(|value| value.fract() == 0.0);
    let sizes = |free: &[usize]| -> Vec<usize> {
        let legal = |&at: &usize| whole(at) && columns[at].all(|value| value > 0.0 && value <= 1e9);
        free.iter().copied().filter(legal).collect()
    };
    let has_offset = assign(Role::Offset, &|free| {
        // The only column that can hold sizes holds them.
        let only = Some(sizes(free)).filter(|sizes| !sized && sizes.len() == 1).map(|sizes| sizes[0]);
        let wholes =
            free.iter().copied().filter(|&at| whole(at) && !columns[at].counts() && Some(at) != only);
        wholes.max_by(|&a, &b| columns[a].largest().total_cmp(&columns[b].largest()).then(b.cmp(&a)))
    });
    let has_size = assign(Role::Size, &|free| {
        let sectors = |at: usize| columns[at].all(|value| value % 512.0 == 0.0);
        sizes(free).into_iter().max_by(|&a, &b| {
            let largest = columns[a].largest().total_cmp(&columns[b].largest());
            sectors(a).cmp(&sectors(b)).then(largest).then(b.cmp(&a))
        })
    });
    if !has_offset || !has_size {
        return None;
    }
    layout.columns = roles.iter().map(|role| role.unwrap_or(Role::Skip)).collect();
    while layout.columns.last() == Some(&Role::Skip) {
        layout.columns.pop();
    }
    let of = |role| layout.columns.iter().position(|&other| other == role).map(|at| &columns[at]);
    if let Some(op) = of(Role::Op)
        && op.is_binary()
        && given.read_words.is_empty()
        && given.write_words.is_empty()
    {
        (layout.read_words, layout.write_words) = (vec!["0".to_owned()], vec!["1".to_owned()]);
    }
    let cell = |role: Role| {
        let at = layout.columns.iter().position(|&other| other == role)?;
        heading?.columns.get(at)?.bytes
    };
    let sectors = |values: Option<&Values>| values.is_some_and(|v| v.all(|value| value % 512.0 == 0.0));
    let (offset, size) = (of(Role::Offset), of(Role::Size));
    let small = size.is_some_and(|size| size.largest() < 512.0);
    let (address_unit, size_unit) = match (small, sectors(size) && !sectors(offset)) {
        (true, _) => (Some(512), Some(512)),
        (false, true) => (Some(512), Some(1)),
        (false, false) => (None, None),
    };
    let (address_unit, size_unit) = (cell(Role::Offset).or(address_unit), cell(Role::Size).or(size_unit));
    Some(Guess { columns: layout, address_unit, size_unit })
}
