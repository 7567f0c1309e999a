//! Columns of a table that is being written down.

use std::mem::take;
use std::sync::Arc;

/// What stands in a column of whole numbers where there is no value.
pub const NOTHING: i64 = i64::MIN;

/// The values of a column.
#[derive(Clone, Debug)]
pub enum Data {
    /// Whole numbers; [`NOTHING`] is none.
    Whole(Vec<i64>),
    /// Shares and means; NaN is none.
    Real(Vec<f64>),
    /// Places in a list of names; a negative one is none.
    Names(Vec<i32>, Arc<[String]>),
    /// Text of so many rows.
    Text(Vec<u8>),
}

/// A column of a chunk.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its values.
    pub data: Data,
}

impl Column {
    /// Of whole numbers.
    pub fn whole(name: impl Into<String>, values: Vec<i64>) -> Column {
        Column { name: name.into(), data: Data::Whole(values) }
    }

    /// Of names.
    pub fn names(name: &str, values: Vec<i32>, names: &Arc<[String]>) -> Column {
        Column { name: name.into(), data: Data::Names(values, Arc::clone(names)) }
    }
}

/// A column of names that come up as they may.
#[derive(Default)]
pub struct Found {
    names: Vec<&'static str>,
    values: Vec<i32>,
}

impl Found {
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

    /// The column.
    pub fn column(&mut self, name: &str) -> Column {
        let names: Arc<[String]> = take(&mut self.names).into_iter().map(String::from).collect();
        Column::names(name, take(&mut self.values), &names)
    }
}

/// A list of names.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> Arc<[String]> {
    names.into_iter().map(String::from).collect()
}
