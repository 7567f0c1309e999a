//! Is the header that of the crate, and does it compile as C99 and as C++11?

use crate::library::{crate_folder, run};
use std::fs;
use std::process::Command;

/// Set to write the header instead of comparing it.
const WRITE: &str = "INTERPULSE_WRITE_HEADER";

#[test]
fn the_header_is_current() {
    let folder = crate_folder();
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("the file is there");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in ["codes", "structs", "handle", "calls"] {
        builder = builder.with_src(folder.join("src").join(file).with_extension("rs"));
    }
    let mut text = Vec::new();
    builder.generate().expect("cbindgen reads the crate").write(&mut text);
    let text = String::from_utf8(text).expect("a text");
    let path = folder.join("include/interpulse.h");
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, &text).expect("it can be written");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == text,
        "include/interpulse.h is not that of the crate: {WRITE}=1 cargo test -p interpulse-capi header"
    );
}

#[test]
fn the_header_compiles_as_c99_and_as_cpp11() {
    let header = crate_folder().join("include/interpulse.h");
    for (compiler, language, standard) in
        [("cc", "c", "c99"), ("c++", "c++", "c++11"), ("c++", "c++", "c++20")]
    {
        run(Command::new(compiler)
            .args(["-x", language, &format!("-std={standard}")])
            .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"])
            .arg(&header));
    }
}
