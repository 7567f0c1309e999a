//! Part files: drives use them, and errors name file and line.

use interpulse_study::case::notes::assumed_figures;
use interpulse_study::config::{Case, PlanRequest, read_cases};
use std::path::Path;

const REST: &str = "[run]\nrequests = 10\n[[flow]]\n";

/// Resolves `text` as `x.toml` in a folder where `part.toml` holds `part`.
fn resolve(text: &str, part: &str, sets: &[(&str, &str)]) -> Result<Case, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("part.toml"), part).expect("a file");
    let sets = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let path = folder.path().join("x.toml").to_string_lossy().into_owned();
    let request = PlanRequest { text: format!("{text}{REST}"), path, sets, ..PlanRequest::default() };
    let place = format!("{}/", folder.path().display());
    read_cases(&request).map(|mut cases| cases.remove(0)).map_err(|e| e.to_string().replace(&place, ""))
}

const DRIVE: &str = "drive = \"a4-mini\"\n[part]\nfile = \"part.toml\"\n";
const MEASURED: &str = "# Measured.\n[part]\npreset = \"a4-tlc\"\nprogram-loops = { value = 17, source = \"measured\" }\n\
    blocks-per-plane = 80\n";

#[test]
fn a_part_file_lies_over_the_presets_and_under_the_configuration() {
    let case = resolve(DRIVE, MEASURED, &[]).unwrap();
    let part = &case.drive.part;
    assert_eq!((part.name.as_str(), part.program.loops, part.blocks_per_plane), ("a4-tlc", 17, 80));
    assert_eq!(part.planes, 1, "of the part preset");
    let loops = case.resolution.entry("part.program-loops").unwrap();
    assert!(loops.origin.to_string().ends_with("part.toml:4 (measured)"), "{}", loops.origin);
    assert_eq!(case.resolution.entry("part.file").unwrap().display, "part.toml");

    let own = resolve(&format!("{DRIVE}program-loops = 18\n"), MEASURED, &[]).unwrap();
    assert_eq!((own.drive.part.program.loops, own.drive.part.blocks_per_plane), (18, 80));
}

#[test]
fn a_part_file_may_change_the_part_preset_of_a_drive() {
    let case = resolve(DRIVE, "[part]\npreset = \"ressd-tlc\"\n", &[]).unwrap();
    assert_eq!((case.drive.part.name.as_str(), case.drive.part.blocks_per_plane), ("ressd-tlc", 96));
}

#[test]
fn what_a_part_file_says_enters_the_hash_and_its_name_does_not() {
    let spelled = format!("{}[part]\nprogram-loops = 17\nblocks-per-plane = 80\n", "drive = \"a4-mini\"\n");
    let hash = |text: &str, part: &str| resolve(text, part, &[]).unwrap().config_hash();
    assert_eq!(hash(DRIVE, MEASURED), hash(&spelled, ""));
    assert_ne!(hash(DRIVE, MEASURED), hash(DRIVE, &MEASURED.replace("17", "16")));
}

#[test]
fn a_file_of_the_command_line_starts_from_the_working_folder() {
    let folder = tempfile::tempdir_in(".").expect("a temporary folder");
    let path = folder.path().join("own.toml");
    std::fs::write(&path, MEASURED).expect("a file");
    let name = Path::new(folder.path().file_name().expect("a name")).join("own.toml");
    let set = name.to_string_lossy().into_owned();
    let case = resolve("drive = \"a4-mini\"\n", "", &[("part.file", &set)]).unwrap();
    assert_eq!(case.drive.part.program.loops, 17);
}

#[test]
fn a_mistake_in_a_part_file_names_the_file_and_the_line() {
    let cases = [
        ("[part]\npreset = \"a5\"\n", "part.toml:2: part.preset: seen \"a5\"; expected one of a4-tlc, "),
        (
            "[part]\npreset = \"a4-tlc\"\nprogam-loops = 3\n",
            "part.toml:3: part.progam-loops: unknown key; expected one of file, ",
        ),
        (
            "[part]\nprogram-loops = 0\n",
            "part.toml:2: part.program-loops: seen 0; expected a whole number from 1 to 1000",
        ),
        (
            "[part]\nplanes = 1\n[cache]\nsize = \"1MiB\"\n",
            "part.toml:3: cache: unknown section; expected part",
        ),
        ("drive = \"a4\"\n[part]\n", "part.toml:1: drive: unknown key; expected part"),
        (
            "[part]\nplanes = 4\n",
            "part.toml:1: 22 keys are missing:\n  part.blocks-per-plane: blocks per plane",
        ),
        (
            "[part]\nfile = \"part.toml\"\n",
            "part.toml:2: part.file: does not apply; a part file cannot name another",
        ),
        ("part = 3\n", "part.toml:1: part: seen 3; expected a table"),
        ("[part\n", "part.toml:1: "),
        (
            "",
            "x.toml:3: part.file: seen \"part.toml\"; expected a file with a section [part]; part.toml: has none",
        ),
    ];
    for (part, expected) in cases {
        let seen = resolve(DRIVE, part, &[]).expect_err(part);
        assert!(seen.starts_with(expected), "{seen}");
    }
    let missing = DRIVE.replace("part.toml", "other.toml");
    let expected = "x.toml:3: part.file: seen \"other.toml\"; expected a file with a section [part]; other.toml: cannot be \
                    opened: ";
    let seen = resolve(&missing, MEASURED, &[]).expect_err("there is no such file");
    assert!(seen.starts_with(expected), "{seen}");
    let seen = resolve("drive = \"a4-mini\"\n", "", &[("part.file", ".")]).expect_err("a folder");
    assert!(seen.contains("is not a regular file of at most 1 MiB"), "{seen}");
    let seen = resolve("drive = \"a4-mini\"\n[part]\nfile = 3\n", "", &[]).expect_err("not text");
    assert!(seen.starts_with("x.toml:3: part.file: seen 3; expected "), "{seen}");
}

/// A part file without a preset replaces the part of the drive preset completely.
#[test]
fn a_part_file_that_names_no_preset_takes_nothing_of_the_drives_part() {
    let whole = "[part]\nname = \"mine\"\nplanes = 2\nblocks-per-plane = 64\npages-per-block = 24\npage-size = \"16KiB\"\n\
        page-parity = \"2KiB\"\nbits-per-cell = 3\nlayers = 8\nprogram-mode = \"one-shot\"\nread-lsb = \"50us\"\n\
        read-csb = \"60us\"\nread-msb = \"70us\"\nprogram-loops = 10\nprogram-pulse = \"20us\"\nprogram-verify = \"50us\"\n\
        erase-loops = 3\nerase-pulse = \"1ms\"\nerase-verify = \"100us\"\nbus-rate = \"1.2GT/s\"\nendurance = 3000\n\
        program-suspend-entry = \"20us\"\nprogram-resume = { value = \"5us\", source = \"assumed: typical value\" }\n\
        erase-suspend-entry = \"100us\"\nerase-resume = \"5us\"\n";
    let case = resolve(DRIVE, whole, &[]).unwrap();
    let part = &case.drive.part;
    assert_eq!((part.name.as_str(), part.planes, part.blocks_per_plane), ("mine", 2, 64));
    let shown = |key: &str| case.resolution.entry(key).unwrap().origin.to_string();
    assert!(shown("part.power.sense-lsb") == "default", "{}", shown("part.power.sense-lsb"));
    assert_eq!(
        assumed_figures(&case).unwrap(),
        "part mine: assumed, and not from a data sheet: program-resume = 5us"
    );
    let all = whole
        .replace("\"20us\"\nprogram-resume", "{ value = \"9us\", source = \"assumed\" }\nprogram-resume");
    let all = all.replace("endurance = 3000", "endurance = { value = 3000, source = \"assumed\" }");
    assert!(
        assumed_figures(&resolve(DRIVE, &all, &[]).unwrap())
            .unwrap()
            .ends_with(": program-suspend-entry = 9us, program-resume = 5us, 1 other figure(s)")
    );
    assert_eq!(assumed_figures(&resolve("drive = \"a4-mini\"\n", "", &[]).unwrap()), None, "presets cite");

    let without = |key: &str| whole.lines().filter(|l| !l.starts_with(key)).collect::<Vec<_>>().join("\n");
    assert_eq!(
        resolve(DRIVE, &without("erase-resume"), &[]).unwrap_err(),
        "part.toml:1: part.erase-resume: missing key; expected a duration of at most 60s (from the resume command to erase \
         progress; typically 5us)"
    );
    assert!(
        resolve(DRIVE, &without("read-"), &[]).unwrap_err().starts_with("part.toml:1: 3 keys are missing:\n")
    );
}

/// One message names all missing keys, of the part and elsewhere.
#[test]
fn a_drive_of_its_own_is_told_all_that_it_lacks() {
    let seen = resolve("[part]\npreset = \"a4-tlc\"\n", "", &[]).unwrap_err();
    let keys: Vec<&str> = seen.lines().skip(1).map(|line| line.split(':').next().unwrap().trim()).collect();
    assert_eq!(keys, ["geometry.channels", "geometry.chips-per-channel", "ftl.over-provisioning"], "{seen}");
}
