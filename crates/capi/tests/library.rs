//! The library as C programs use it: linked once per run of the tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

/// Folder of the crate.
pub fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a command and returns what it prints; panics with its output if it fails.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
    out
}

/// The static library that this run of cargo has built.
fn archive() -> PathBuf {
    let deps = env::current_exe().expect("the test has a path").parent().expect("a folder").to_path_buf();
    let folders = [deps.clone(), deps.parent().expect("a folder").to_path_buf()];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder").flatten());
    let archives = files.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("libinterpulse-") && name.ends_with(".a") || name == "libinterpulse.a"
    });
    let newest = archives.max_by_key(|path| fs::metadata(path).and_then(|of| of.modified()).ok());
    newest.expect("cargo builds the static library")
}

/// Folder of the shared library.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let to = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("libinterpulse");
        let link = crate_folder().join("package/link.sh");
        run(Command::new(link).arg(archive()).arg(&to).args([env!("CARGO_PKG_VERSION"), "0"]));
        to
    })
}

/// Compiles a program against the shared library, with warnings as errors; C or C++ by its extension.
pub fn compile(source: &Path) -> PathBuf {
    let name = source.file_stem().expect("a file").to_string_lossy().into_owned();
    let program = folder().join(format!("{name}.out"));
    let (compiler, standard) = match source.extension().is_some_and(|e| e == "c") {
        true => (env::var("CC").unwrap_or_else(|_| "cc".into()), "-std=c99"),
        false => (env::var("CXX").unwrap_or_else(|_| "c++".into()), "-std=c++11"),
    };
    run(Command::new(compiler)
        .args([standard, "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o"])
        .arg(&program)
        .arg(source)
        .arg("-I")
        .arg(crate_folder().join("include"))
        .arg("-L")
        .arg(folder())
        .args(["-linterpulse", "-lpthread"])
        .arg(format!("-Wl,-rpath,{}", folder().display())));
    program
}
