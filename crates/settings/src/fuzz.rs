//! Fuzz target: reads arbitrary bytes with every reader.

use crate::document::Document;
use crate::section::Section;
use crate::spec::{default, optional, required};
use crate::tree::{Node, Table};

/// Parses `bytes` as a configuration and reads every key with every reader. Never panics, whatever the bytes.
pub fn fuzz_config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (key, value) = text.split_once('=').unwrap_or((&text, ""));
    let set = Document::set(key.trim(), value);
    let file = Document::from_bytes(bytes, "fuzz.toml").and_then(|_| Document::from_toml(&text, "fuzz.toml"));
    let layered = match (set, file) {
        (Ok(set), Ok(file)) => set.over(file.clone()).and_then(|both| file.over(both)),
        (Ok(only), Err(error)) | (Err(error), Ok(only)) => {
            let _ = error.to_string();
            Ok(only)
        }
        (Err(first), Err(_)) => Err(first),
    };
    match layered {
        Ok(document) => read_everything(&document),
        Err(error) => drop(error.to_string()),
    }
}

fn read_everything(document: &Document) {
    let mut top = document.top();
    visit(document.root(), &mut top);
    let resolution = document.resolution();
    let _ = resolution.hash(&["run"]);
    for entry in resolution.entries() {
        let _ = top.conflict(&[&entry.path], entry.origin.to_string()).to_string();
    }
    let _ = document.uncited();
    if let Err(error) = document.finish() {
        let _ = error.to_string();
    }
}

fn visit(table: &Table, section: &mut Section) {
    for (key, node) in &table.entries {
        // Leaving some keys unread lets `finish` find unknown ones.
        if !key.starts_with("skip") {
            read(key, section);
        }
        match node {
            Node::Leaf(_) => {}
            Node::Table(table) => drop(section.section(key).map(|mut inner| visit(table, &mut inner))),
            Node::Tables(tables, _) => {
                for (mut inner, table) in section.tables(key).into_iter().flatten().zip(tables) {
                    visit(table, &mut inner);
                }
            }
        }
    }
}

fn read(key: &str, section: &mut Section) {
    const DOC: &str = "anything";
    let options = [("greedy", 1, "emptiest"), ("fifo", 2, "oldest")];
    let failures = [
        section.duration(key, DOC, required().positive()).err(),
        section.bytes(key, DOC, required()).err(),
        section.rate(key, DOC, required()).err(),
        section.per_second(key, DOC, required()).err(),
        section.current(key, DOC, required().positive()).err(),
        section.voltage(key, DOC, required()).err(),
        section.power(key, DOC, required()).err(),
        section.limit(key, DOC, required()).err(),
        section.energy_per_bit(key, DOC, required()).err(),
        section.u64(key, DOC, required()).err(),
        section.u32(key, DOC, default(3).within(1..=8)).err(),
        section.f64(key, DOC, required()).err(),
        section.fraction(key, DOC, required()).err(),
        section.bool(key, DOC, required()).err(),
        section.string(key, DOC, None).err(),
        section.label(key, DOC).err(),
        section.optional_duration(key, DOC, optional()).err(),
        section.choice(key, DOC, Some("fifo"), &options).err(),
        section.list_choice(key, DOC, None, &options).err(),
        section.list_duration(key, DOC, None, required().positive()).err(),
        section.list_string(key, DOC, None).err(),
        section.tables(key).err(),
        section.section(key).err(),
        section.refuse(key, "for no reason").err(),
        Some(section.invalid(key, "something else")),
    ];
    for error in failures.into_iter().flatten() {
        let _ = error.to_string();
    }
}
