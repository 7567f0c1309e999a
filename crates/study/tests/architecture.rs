//! *Do the arrows still point down?* The rooms of docs/ARCHITECTURE.md, checked against manifests and `use`s.

use std::fs;
use std::path::{Path, PathBuf};

/// What each crate may depend on inside the workspace.
const CRATES: &[(&str, &[&str])] = &[
    ("engine", &[]),
    ("oracle", &[]),
    ("settings", &["engine"]),
    ("workload", &["engine", "settings"]),
    ("flash", &["engine", "settings"]),
    ("cell", &["engine", "settings", "flash"]),
    ("drive", &["engine", "flash", "workload"]),
    ("array", &["engine", "settings", "flash", "workload", "drive"]),
    ("study", &["engine", "settings", "flash", "workload", "drive", "array"]),
    ("bench", &["drive", "study", "cell"]),
    ("python", &["study", "cell"]),
];

/// Modules of a crate, floor by floor from the ground; a module may use its own floor's and lower ones.
const FLOORS: &[(&str, &[&[&str]])] = &[
    (
        "flash",
        &[
            &["parts", "pulse", "reprogram"],
            &["errors", "geometry", "suspend", "variation"],
            &["die"],
            &["nand"],
            &["bench"],
            &["phases"],
            &["power"],
        ],
    ),
    (
        "cell",
        &[
            &["error_counts", "figure", "kernel", "laplace", "normal", "states", "uber"],
            // Each effect reads its own coefficients, and the set of all knows every effect.
            &[
                "cells",
                "coefficients",
                "disturb",
                "erase",
                "erasing",
                "histogram",
                "interference",
                "layers",
                "pattern",
                "retention",
                "table",
                "wear",
            ],
            &["history", "program", "reading", "tester"],
            &["error_table", "follow"],
            &["jobs"],
        ],
    ),
    ("drive", &[&["account", "audit", "memory"], &["cache", "ftl", "host"], &["drive"], &["simulated"]]),
    (
        "study",
        &[
            &["config", "control"],
            &["plan", "power", "precondition", "queue", "snapshot"],
            &["run", "state"],
            &["lists", "report", "room", "traces"],
            &["case"],
            &["die_bench", "runner"],
        ],
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn crates_depend_downwards_only() {
    for (name, allowed) in CRATES {
        let manifest =
            fs::read_to_string(root().join(name).join("Cargo.toml")).expect("every room has a manifest");
        let dependencies = manifest.split("[dependencies]").nth(1).expect("a list of dependencies");
        let dependencies = dependencies.split("\n[").next().unwrap_or("");
        for line in dependencies.lines() {
            if let Some(rest) = line.strip_prefix("interpulse-") {
                let used = rest.split(['.', ' ', '=']).next().unwrap_or("");
                assert!(allowed.contains(&used), "crate {name} must not depend on {used}");
            }
        }
    }
}

#[test]
fn modules_use_lower_floors_only() {
    for (name, floors) in FLOORS {
        let source = root().join(name).join("src");
        let floor_of = |module: &str| floors.iter().position(|floor| floor.contains(&module));
        let mut checked = 0;
        for file in rust_files(&source) {
            let inside = file.strip_prefix(&source).expect("files below the source");
            let first = inside.components().next().expect("a name").as_os_str().to_string_lossy();
            let module = first.trim_end_matches(".rs").to_string();
            if module == "lib" {
                continue;
            }
            let floor = floor_of(&module)
                .unwrap_or_else(|| panic!("{name}::{module} stands on no floor: give it one"));
            let text = fs::read_to_string(&file).expect("a source file");
            let code = text.split("#[cfg(test)]").next().unwrap_or("");
            let code: String = code.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
            for piece in code.split("crate::").skip(1) {
                let used: String = piece.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if let Some(other) = floor_of(&used) {
                    assert!(
                        other <= floor,
                        "{}: {name}::{module} uses {used}, which stands above it",
                        file.display()
                    );
                    checked += 1;
                }
            }
        }
        assert!(checked > 10, "the check must have found the uses of {name}");
    }
}

/// No file may be long enough to hold two concepts.
#[test]
fn files_stay_short() {
    for (name, _) in CRATES {
        for file in rust_files(&root().join(name).join("src")) {
            let lines = fs::read_to_string(&file).expect("a source file").lines().count();
            assert!(lines <= 620, "{} has {lines} lines: two concepts?", file.display());
        }
    }
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
