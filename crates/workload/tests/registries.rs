//! Registry tests: each alternative is one file and one line, selected by name and read back.

use interpulse_settings::{Document, Row};
use interpulse_workload::{AddressSpec, Arrivals, BlockSize, Format};
use std::fmt::Debug;
use std::path::Path;

fn walk<T: PartialEq + Debug>(folder: &str, rows: &[Row<T>], all: &[(&'static str, T, &'static str)]) {
    assert!(rows.len() > 1);
    for (k, (row, (name, value, doc))) in rows.iter().zip(all).enumerate() {
        assert_eq!((row.name, row.doc), (*name, *doc));
        assert!(!doc.is_empty() && rows[..k].iter().all(|other| other.name != row.name), "{name}");
        let file = format!("src/{folder}/{}.rs", name.replace('-', "_"));
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file).is_file(), "{file}");
        let chosen = Document::set("which", name).unwrap().declaring();
        assert_eq!(chosen.top().policy("which", "", None, rows).unwrap(), *value);
    }
}

#[test]
fn every_row_has_its_file_and_is_chosen_by_its_name() {
    walk("synthetic/address", AddressSpec::ROWS, &AddressSpec::all());
    walk("synthetic/arrival", Arrivals::ROWS, &Arrivals::all());
    walk("synthetic/size", BlockSize::ROWS, &BlockSize::all());
    walk("trace/format", Format::ROWS, &Format::all());
}

#[test]
fn a_name_is_distinguished_from_its_value() {
    assert!(AddressSpec::all().iter().all(|(name, value, _)| value.name() == *name));
    assert!(Arrivals::all().iter().all(|(name, value, _)| value.name() == *name));
    assert!(BlockSize::all().iter().all(|(name, value, _)| value.name() == *name));
    for (name, format, _) in Format::all() {
        assert_eq!(format.name(), name);
        // `ascii` alone cannot be parsed as a name: its time unit is required.
        assert_eq!(Format::named(name), (name != "ascii").then_some(format));
    }
}
