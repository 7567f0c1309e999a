//! Columns of recorded tables.

use std::mem::take;
use std::sync::Arc;

/// Missing value of a column of integers.
pub const NOTHING: i64 = i64::MIN;

/// Values of a column.
#[derive(Clone, Debug)]
pub enum Data {
    /// Integers; `NOTHING` is a missing value.
    Whole(Vec<i64>),
    /// Real numbers; NaN is a missing value.
    Real(Vec<f64>),
    /// Indices into a list of names; a negative one is a missing value.
    Names(Vec<i32>, Arc<[String]>),
    /// Text of all rows.
    Text(Vec<u8>),
}

/// Column of a row batch.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Values.
    pub data: Data,
}

impl Column {
    /// Column of integers.
    pub fn whole(name: impl Into<String>, values: Vec<i64>) -> Column {
        Column { name: name.into(), data: Data::Whole(values) }
    }

    /// Column of names.
    pub fn names(name: &str, values: Vec<i32>, names: &Arc<[String]>) -> Column {
        Column { name: name.into(), data: Data::Names(values, Arc::clone(names)) }
    }
}

/// Column of names that are collected while rows are added.
#[derive(Default)]
pub struct NameColumn {
    names: Vec<&'static str>,
    values: Vec<i32>,
}

impl NameColumn {
    /// Adds a value.
    pub fn push(&mut self, name: Option<&'static str>) {
        let known = name.map(|name| {
            self.names.iter().position(|&other| other == name).unwrap_or_else(|| {
                self.names.push(name);
                self.names.len() - 1
            })
        });
        self.values.push(known.map_or(-1, |k| k as i32));
    }

    /// Takes the column.
    pub fn column(&mut self, name: &str) -> Column {
        let names: Arc<[String]> = take(&mut self.names).into_iter().map(String::from).collect();
        Column::names(name, take(&mut self.values), &names)
    }
}

/// Shared list of names.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> Arc<[String]> {
    names.into_iter().map(String::from).collect()
}
