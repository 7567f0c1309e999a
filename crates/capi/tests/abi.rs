//! Are symbols, constants and layouts those of the committed list? A change of the list is a change of the interface.

use crate::library::{compile, crate_folder, folder, run};
use interpulse::{interpulse_audit, interpulse_completion, interpulse_options, interpulse_request};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::mem::{align_of, offset_of, size_of};
use std::process::Command;

/// Set to write the list instead of comparing it.
const WRITE: &str = "INTERPULSE_WRITE_ABI";

/// Name, size, alignment and the offset of each field.
type Layout = (&'static str, usize, usize, Vec<(&'static str, usize)>);

macro_rules! layout {
    ($name:ident { $($field:ident),+ }) => {
        (
            stringify!($name),
            size_of::<$name>(),
            align_of::<$name>(),
            vec![$((stringify!($field), offset_of!($name, $field))),+],
        )
    };
}

fn layouts() -> Vec<Layout> {
    vec![
        layout!(interpulse_options {
            size,
            config,
            path,
            case_name,
            sets,
            set_count,
            cache_folder,
            cache_limit,
            flags,
            reserved
        }),
        layout!(interpulse_request { at_ns, offset, bytes, user_data, op, nsid, queue, handle }),
        layout!(interpulse_completion {
            tag,
            user_data,
            submitted_ns,
            completed_ns,
            bytes,
            placed,
            op,
            status
        }),
        layout!(interpulse_audit { requests, mapped_units, versions_checked }),
    ]
}

fn header() -> String {
    fs::read_to_string(crate_folder().join("include/interpulse.h")).expect("the header is there")
}

/// Constants and declarations of functions in the header, each on one line.
fn declarations() -> Vec<String> {
    let text = header();
    let mut code = String::new();
    let mut rest = text.as_str();
    while let Some((before, comment)) = rest.split_once("/*") {
        code.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    code.push_str(rest);
    let code: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .fold(String::new(), |text, line| text + line + "\n");
    let defines =
        code.lines().filter(|line| line.starts_with("#define INTERPULSE_") && !line.ends_with("_H"));
    let mut all: Vec<String> = defines.map(str::to_string).collect();
    let flat = code.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" ");
    let pieces = flat.split([';', '{', '}']);
    let functions = pieces.filter(|piece| piece.contains('(') && piece.contains("interpulse_"));
    all.extend(functions.map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" ")));
    all.sort();
    all
}

/// Names of the functions that the header declares.
fn functions() -> BTreeSet<String> {
    let names = declarations().into_iter().filter(|line| !line.starts_with('#'));
    names
        .map(|line| {
            let before = line.split('(').next().unwrap_or_default();
            before.rsplit([' ', '*']).next().unwrap_or_default().to_string()
        })
        .collect()
}

fn list() -> String {
    let mut text =
        String::from("Interface of libinterpulse: a change here needs another INTERPULSE_ABI.\n\n");
    for (name, size, align, fields) in layouts() {
        let fields: Vec<String> = fields.iter().map(|(field, at)| format!("{field} {at}")).collect();
        writeln!(text, "struct {name}: size {size}, alignment {align}: {}", fields.join(", "))
            .expect("a text");
    }
    declarations().iter().for_each(|line| writeln!(text, "{line}").expect("a text"));
    text
}

#[test]
fn the_interface_is_that_of_the_list() {
    let path = crate_folder().join("abi.txt");
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, list()).expect("it can be written");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(list(), there, "left: the crate, right: abi.txt ({WRITE}=1 writes it)");
}

#[test]
fn the_shared_library_exports_these_functions_with_a_version_and_nothing_else() {
    let library = folder().join("libinterpulse.so");
    let symbols =
        run(Command::new("nm").args(["-D", "--defined-only", "--with-symbol-versions"]).arg(&library));
    let exported: BTreeSet<String> =
        symbols.lines().filter_map(|line| line.split_whitespace().nth(2)).map(str::to_string).collect();
    let mut expected: BTreeSet<String> =
        functions().into_iter().map(|name| format!("{name}@@INTERPULSE_0")).collect();
    assert!(expected.len() > 20);
    expected.insert("INTERPULSE_0".into());
    let exported = exported.into_iter().map(|name| name.trim_end_matches("@@INTERPULSE_0@@").to_string());
    let exported: BTreeSet<String> = exported
        .map(|name| if name.starts_with("INTERPULSE_0") { "INTERPULSE_0".into() } else { name })
        .collect();
    assert_eq!(exported, expected);
    let dynamic = run(Command::new("readelf").args(["-d"]).arg(&library));
    assert!(dynamic.contains("[libinterpulse.so.0]"), "{dynamic}");
}

#[test]
fn c_has_the_same_layouts() {
    let mut program = String::from("#include <interpulse.h>\n#include <stdio.h>\nint main(void) {\n");
    let mut expected = String::new();
    for (name, size, _, fields) in layouts() {
        writeln!(program, "printf(\"{name} %zu\\n\", sizeof(struct {name}));").expect("a text");
        writeln!(expected, "{name} {size}").expect("a text");
        for (field, at) in fields {
            writeln!(program, "printf(\"{field} %zu\\n\", offsetof({name}, {field}));").expect("a text");
            writeln!(expected, "{field} {at}").expect("a text");
        }
    }
    program.push_str("return (int)interpulse_abi() - INTERPULSE_ABI;\n}\n");
    let source = folder().join("layouts.c");
    fs::write(&source, program).expect("it can be written");
    assert_eq!(run(&mut Command::new(compile(&source))), expected);
}
