//! Architecture tests: crate table of docs/ARCHITECTURE.md against manifests, layers of modules, cycles between
//! files.

mod arrows;
mod circles;
mod page;
mod signatures;
mod source;

use arrows::Arrows;
use page::CrateEntry;
use source::Source;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Modules of a crate by layer from the bottom; a module may use its own and lower layers.
const LAYERS: &[(&str, &[&[&str]])] = &[
    (
        "flash",
        &[
            &["parts", "pulse", "reprogram"],
            &["cell_mode", "command", "erase", "errors", "geometry", "hold_up", "suspend", "variation"],
            &["die"],
            &["nand"],
            &["script"],
            &["phases"],
            &["power"],
        ],
    ),
    (
        "cell",
        &[
            &["error_counts", "kernel", "laplace", "normal", "preset_values", "states", "uber"],
            // Each effect reads its own coefficients; the set of all includes every effect.
            &[
                "background_pattern",
                "cells",
                "coefficients",
                "disturb",
                "histogram",
                "interference",
                "ispe",
                "layers",
                "retention",
                "state_table",
                "wear",
            ],
            &["erase", "history", "program", "tester"],
            &["error_table", "replay"],
            &["jobs"],
        ],
    ),
    (
        "drive",
        &[
            &["account", "audit", "cache_writers", "counters", "dram", "memory", "owner", "replacement"],
            &["cache", "firmware", "ftl", "host_interface", "read_cache", "spec"],
            &["drive"],
        ],
    ),
    (
        "host",
        &[&["attribution", "backlog", "clock", "flows", "observe"], &["window"], &["host"], &["stepper"]],
    ),
    (
        "study",
        &[
            &["config", "record", "run_target"],
            &["control", "plan", "trace_file"],
            &["initial_state", "machine", "run"],
            &["report"],
            &["case", "catalog", "traces"],
            &["die_script", "runner", "trace_tools"],
        ],
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn crates() -> Vec<CrateEntry> {
    page::crates(&read("docs/ARCHITECTURE.md"))
}

fn folder(name: &str) -> PathBuf {
    root().join("crates").join(name)
}

/// Workspace crates in a manifest.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest: toml::Table =
        read(&format!("crates/{name}/Cargo.toml")).parse().expect("a manifest is TOML");
    let all = manifest.get("dependencies").and_then(toml::Value::as_table);
    all.into_iter()
        .flat_map(toml::Table::keys)
        .filter_map(|d| d.strip_prefix("interpulse-"))
        .map(str::to_string)
        .collect()
}

/// The page declares all dependencies: manifests have no others, and none points up.
#[test]
fn the_page_shows_every_crate_and_every_dependency() {
    let workspace: toml::Table = read("Cargo.toml").parse().expect("a manifest is TOML");
    let members = workspace["workspace"]["members"].as_array().expect("a list of members");
    let members: BTreeSet<&str> =
        members.iter().filter_map(|m| m.as_str()).filter_map(|m| m.strip_prefix("crates/")).collect();
    let crates = crates();
    for name in &members {
        let shown = crates.iter().filter(|entry| entry.name == *name).count();
        assert_eq!(shown, 1, "docs/ARCHITECTURE.md: lines for crates/{name}");
    }
    for (at, CrateEntry { name, line, depends_on }) in crates.iter().enumerate() {
        let place = format!("docs/ARCHITECTURE.md:{line}: crates/{name}");
        assert!(members.contains(name.as_str()), "{place} is not in the workspace");
        let (shown, real): (BTreeSet<String>, _) = (depends_on.iter().cloned().collect(), dependencies(name));
        assert_eq!(shown, real, "{place} depends on (left: the page, right: its manifest)");
        for below in depends_on {
            assert!(
                crates[at..].iter().any(|entry| entry.name == *below),
                "{place} depends on {below}, which is above it"
            );
        }
    }
}

/// Every file that the page names exists.
#[test]
fn the_page_names_files_that_are_there() {
    let named = page::files(&read("docs/ARCHITECTURE.md"));
    assert!(named.len() > 40, "{} files are named", named.len());
    for (line, file) in named {
        assert!(root().join(&file).is_file(), "docs/ARCHITECTURE.md:{line}: there is no {file}");
    }
}

/// No cycle between files.
#[test]
fn files_have_no_dependency_cycles() {
    let mut wrong = Vec::new();
    for CrateEntry { name, .. } in crates() {
        let arrows = arrows_of(&name);
        wrong.extend(circles::all(&arrows).into_iter().map(|arrow| format!("{name}: {arrow}")));
    }
    assert!(wrong.is_empty(), "cycles between files:\n{}", wrong.join("\n"));
}

#[test]
fn modules_use_lower_floors_only() {
    for (name, layers) in LAYERS {
        let layer_of = |file: &str| {
            let module = file.split('/').next().expect("a name").trim_end_matches(".rs");
            let layer = layers.iter().position(|layer| layer.contains(&module));
            layer.unwrap_or_else(|| panic!("{name}::{module} has no layer: add it to LAYERS"))
        };
        for ((user, used), (line, path)) in arrows_of(name) {
            if user != "lib.rs" && used != "lib.rs" {
                assert!(
                    layer_of(&used) <= layer_of(&user),
                    "{name}/src/{user}:{line} uses {path}, which is in a higher layer"
                );
            }
        }
    }
}

fn arrows_of(name: &str) -> Arrows {
    arrows::of(&Source::read(&folder(name)))
}

/// Tests the parser on a crate with every kind of use.
#[test]
fn every_kind_of_path_is_seen() {
    let files = [
        ("lib.rs", "pub mod a;\npub mod b;\nmod m;\nmod r;\nmod s;\n#[cfg(test)]\nmod t;\npub use a::A;\n"),
        ("a.rs", "pub mod deep;\npub struct A;\nconst N: u8 = deep::N;\n"),
        ("a/deep.rs", "use super::A;\npub const N: u8 = 1;\npub fn f(_: A) {}\n"),
        ("b/mod.rs", "mod inner;\nmod sibling;\npub use inner::Kind;\npub fn f() { self::sibling::g(); }\n"),
        ("b/inner.rs", "pub enum Kind { One }\n#[cfg(test)]\nmod tests { use crate::a::A; }\n"),
        (
            "b/sibling.rs",
            "use crate::b::{Kind::One, self as me};\nuse std::fmt;\npub fn g() { use crate::a::deep as d; d::N; }\n",
        ),
        (
            "m.rs",
            "macro_rules! made { () => { vec![$crate::A] } }\nfn f() { println!(\"{}\", b::Kind::One as u8) }\nuse crate::*;\n",
        ),
        (
            "r/mod.rs",
            "pub trait T {}\nrows! { pub enum All { row::Row } }\nmod other;\nfn f(_: row::Row) {}\n",
        ),
        ("r/other.rs", "numbers! { pub struct Other; }\n"),
        ("r/row.rs", "use super::{T, other::Other};\npub struct Row;\n"),
        ("s.rs", "use crate::r::{All, row};\n"),
        ("t.rs", "use crate::a::A;\n"),
    ];
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        let path = folder.path().join("src").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let arrows = arrows::of(&Source::read(folder.path()));
    let seen: Vec<String> =
        arrows.iter().map(|((user, used), (line, path))| format!("{user}:{line} {used} {path}")).collect();
    let expected = [
        "a.rs:3 a/deep.rs deep::N",
        "a/deep.rs:1 a.rs super::A",
        "b/mod.rs:4 b/sibling.rs self::sibling::g",
        "b/sibling.rs:3 a/deep.rs d::N",
        "b/sibling.rs:1 b/inner.rs crate::b::Kind::One",
        "m.rs:1 a.rs crate::A",
        "m.rs:2 b/inner.rs b::Kind::One",
        "m.rs:3 lib.rs crate",
        "r/mod.rs:4 r/row.rs row::Row",
        "r/row.rs:1 r/mod.rs super::T",
        "r/row.rs:1 r/other.rs super::other::Other",
        "s.rs:1 r/mod.rs crate::r::All",
    ];
    assert_eq!(seen, expected);
    assert_eq!(
        circles::all(&arrows),
        [
            "a.rs:3 uses a/deep.rs (deep::N)",
            "a/deep.rs:1 uses a.rs (super::A)",
            "r/mod.rs:4 uses r/row.rs (row::Row)",
            "r/row.rs:1 uses r/mod.rs (super::T)",
        ]
    );
}

/// Limits the length of files.
#[test]
fn files_stay_short() {
    for entry in crates() {
        for file in rust_files(&folder(&entry.name).join("src")) {
            let lines = fs::read_to_string(&file).expect("a source file").lines().count();
            assert!(lines <= 620, "{} has {lines} lines: two concepts?", file.display());
        }
    }
}

/// Arguments are named, not positional in a tuple.
#[test]
fn arguments_have_names() {
    let of = |entry: CrateEntry| (signatures::with_tuples(&Source::read(&folder(&entry.name))), entry.name);
    let found: Vec<_> = crates().into_iter().map(of).filter(|(found, _)| !found.is_empty()).collect();
    assert!(found.is_empty(), "arguments without names: {found:#?}");
}

#[test]
fn an_argument_without_names_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = "pub trait T { fn a(&self, _: (u8, u8)); fn b(_: &[(u8, u8)], _: ()); }\n\
                   fn c(_: Option<&(u8, u8)>) {}\n#[cfg(test)] fn d((_, _): (u8, u8)) {}\n";
    fs::create_dir(folder.path().join("src")).expect("a folder");
    fs::write(folder.path().join("src/lib.rs"), written).expect("a file");
    assert_eq!(signatures::with_tuples(&Source::read(folder.path())), ["lib.rs:1: a", "lib.rs:2: c"]);
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a source folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|x| x == "rs") {
            files.push(path);
        }
    }
    files
}

/// An undeclared file would never be compiled.
#[test]
fn every_test_file_is_in_its_crates_program() {
    let crates: Vec<PathBuf> = entries(&root().join("crates"));
    let mut programs = 0;
    for tests in crates.iter().map(|folder| folder.join("tests")).filter(|tests| tests.is_dir()) {
        programs += 1;
        let undeclared = undeclared_tests(&tests);
        assert!(undeclared.is_empty(), "{}: main.rs does not declare {undeclared:?}", tests.display());
    }
    assert!(programs >= 9, "{programs} crates with tests");
}

#[test]
fn a_test_file_that_is_not_declared_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("main.rs", "mod one;\nmod two;\n");
    fs::create_dir(folder.path().join("two")).expect("a folder");
    fs::create_dir(folder.path().join("corpus")).expect("a folder");
    for name in ["one.rs", "three.rs", "two/mod.rs", "two/four.rs", "corpus/five.txt"] {
        write(name, "");
    }
    assert_eq!(undeclared_tests(folder.path()), ["three", "two/four"]);
    write("main.rs", "mod one;\nmod three;\nmod two;\n");
    write("two/mod.rs", "pub mod four;\n");
    assert_eq!(undeclared_tests(folder.path()), [""; 0]);
}

/// Test files that neither `main.rs` nor their `mod.rs` declares.
fn undeclared_tests(tests: &Path) -> Vec<String> {
    let declared = |file: PathBuf, name: &str| {
        fs::read_to_string(file).is_ok_and(|text| {
            text.lines().any(|line| line.trim_start_matches("pub ") == format!("mod {name};"))
        })
    };
    let stem = |path: &Path| path.file_stem().expect("a name").to_string_lossy().into_owned();
    let is_source = |path: &PathBuf| path.extension().is_some_and(|e| e == "rs");
    let mut found = Vec::new();
    for path in entries(tests) {
        let name = stem(&path);
        let inner: Vec<PathBuf> = if path.is_dir() { entries(&path) } else { Vec::new() };
        let counts = is_source(&path) && name != "main" || inner.iter().any(is_source);
        if counts && !declared(tests.join("main.rs"), &name) {
            found.push(name.clone());
        }
        for file in
            inner.iter().filter(|file| is_source(file)).map(|file| stem(file)).filter(|file| file != "mod")
        {
            if !declared(path.join("mod.rs"), &file) {
                found.push(format!("{name}/{file}"));
            }
        }
    }
    found
}

/// Entries of a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    found.sort();
    found
}
