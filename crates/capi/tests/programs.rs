//! Do programs in C and C++ work: the worked examples, wrong inputs, a thousand drives?

use crate::library::{compile, crate_folder, run};
use std::path::PathBuf;
use std::process::Command;

fn example(name: &str) -> PathBuf {
    crate_folder().join("../../examples/embedding").join(name)
}

/// Output of a program whose second run prints the same.
fn repeated(source: PathBuf) -> String {
    let program = compile(&source);
    let output = run(&mut Command::new(&program));
    assert_eq!(run(&mut Command::new(&program)), output, "{} is deterministic", source.display());
    output
}

#[test]
fn two_drives_in_c() {
    let output = repeated(example("two_drives.c"));
    assert!(
        output.contains("no-suspend: 4000 requests") && output.contains("suspend: 4000 requests"),
        "{output}"
    );
    let p99: Vec<f64> = output
        .lines()
        .filter_map(|line| line.split_once("p99 of reads ")?.1.split_whitespace().next()?.parse().ok())
        .collect();
    assert!(p99.len() == 2 && p99[1] < p99[0], "suspension shortens the tail of reads:\n{output}");
}

#[test]
fn an_event_loop_in_cpp() {
    let output = repeated(example("event_loop.cpp"));
    assert!(output.contains("20000 requests"), "{output}");
}

#[test]
fn wrong_inputs_from_c() {
    let program = compile(&crate_folder().join("tests/programs/wrong_inputs.c"));
    let output = run(Command::new(program).arg(env!("CARGO_TARGET_TMPDIR")));
    assert!(output.ends_with("refused\n"), "{output}");
}

#[test]
fn a_thousand_drives_on_four_threads() {
    let output = repeated(crate_folder().join("tests/programs/thousand_drives.cpp"));
    assert!(output.starts_with("1000 drives, 20000 completions"), "{output}");
}
