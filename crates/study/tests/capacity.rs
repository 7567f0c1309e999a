//! Capacity tests: requested capacities, and refusals that name the nearest possible ones.

use interpulse_drive::spec::Capacity;
use interpulse_engine::Bytes;
use interpulse_study::config::{Case, PlanRequest, read_cases};

const MIB: u64 = 1 << 20;

fn resolve(text: &str, sets: &[(&str, &str)]) -> Result<Case, String> {
    let sets = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let text = format!("{text}[run]\nrequests = 10\n[[flow]]\n");
    let request = PlanRequest { text, path: "x.toml".into(), sets, ..PlanRequest::default() };
    read_cases(&request).map(|mut cases| cases.remove(0)).map_err(|e| e.to_string())
}

fn capacity(text: &str, sets: &[(&str, &str)]) -> Result<(Capacity, u32), String> {
    resolve(text, sets).map(|case| (case.drive.capacity(), case.drive.geometry.blocks_per_plane))
}

const A4: &str = "drive = \"a4\"\n";

#[test]
fn the_usable_capacity_is_the_one_asked_for_to_the_byte_and_no_block_too_many_is_taken() {
    for (asked, bytes) in [("512GB", 512_000_000_000), ("1TB", 1_000_000_000_000), ("96GiB", 96 << 30)] {
        let (of, blocks) = capacity(A4, &[("drive.capacity", asked)]).unwrap();
        assert_eq!(of.usable, Bytes(bytes), "{asked}");
        // 128 dies; 255 of the 256 pages of 16 KiB per block hold data.
        let data = |blocks: u32| (128 * u64::from(blocks) * 255 * 16) as f64 * 1024.0;
        assert!(
            data(blocks) >= 1.3 * bytes as f64 && data(blocks - 1) < 1.3 * bytes as f64 + MIB as f64,
            "{asked}"
        );
        assert_eq!(of.raw.get(), 128 * u64::from(blocks) * 4 * MIB, "{asked}");
        assert!((0.3..0.304).contains(&of.over_provisioning), "{asked}: {}", of.over_provisioning);
        assert!((data(blocks) / bytes as f64 - 1.0 - of.over_provisioning).abs() < 1e-9, "{asked}");
    }
    // Over-provisioning and bad-block reserve count.
    let blocks = |sets: &[(&str, &str)]| {
        let all: Vec<_> = [("drive.capacity", "512GB")].iter().chain(sets).copied().collect();
        capacity(A4, &all).unwrap().1
    };
    assert_eq!([blocks(&[]), blocks(&[("ftl.over-provisioning", "7%")])], [1245, 1025]);
    assert_eq!(blocks(&[("ftl.bad-block-reserve", "2%")]), 1271);
}

#[test]
fn the_raw_capacity_is_the_nearest_that_whole_blocks_make() {
    let (of, blocks) = capacity(A4, &[("drive.raw-capacity", "1TiB")]).unwrap();
    assert_eq!((of.raw, blocks), (Bytes(1 << 40), 2048));
    let (of, blocks) = capacity(A4, &[("drive.raw-capacity", "512GB")]).unwrap();
    assert_eq!((of.raw, blocks), (Bytes(954 * 512 * MIB), 954), "953.67 blocks");
}

#[test]
fn a_drive_may_be_a_table_and_the_preset_one_of_its_keys() {
    let table = "[drive]\npreset = \"a4\"\ncapacity = \"512GB\"\n";
    let case = resolve(table, &[]).unwrap();
    let set = resolve(A4, &[("drive.capacity", "512GB")]).unwrap();
    assert_eq!(case.config_hash(), set.config_hash());
    assert_eq!(case.state_hash(), set.state_hash());
    let blocks = case.resolution.entry("part.blocks-per-plane").unwrap();
    assert_eq!(
        (blocks.display.as_str(), blocks.origin.to_string().as_str()),
        ("1245", "follows from drive.capacity of x.toml:3")
    );
    assert_eq!(resolve(table, &[("drive", "atc19")]).unwrap().drive.part.name, "atc19-ll");
    let other = resolve(A4, &[("drive.capacity", "511GB")]).unwrap();
    assert_ne!(other.state_hash(), set.state_hash());
}

#[test]
fn a_capacity_beside_a_number_of_blocks_is_refused_with_where_both_stand() {
    let both = format!("{A4}[part]\nblocks-per-plane = 96\n");
    let cases = [
        (
            resolve(&both, &[("drive.capacity", "512GB")]),
            "--set: drive.capacity = 500000000KiB and part.blocks-per-plane = 96: either says how large the drive is: leave \
             out drive.capacity of --set or part.blocks-per-plane of x.toml:3",
        ),
        (
            resolve(
                "[drive]\npreset = \"a4\"\nraw-capacity = \"1TiB\"\n",
                &[("part.blocks-per-plane", "96")],
            ),
            "x.toml:3: drive.raw-capacity = 1TiB and part.blocks-per-plane = 96: either says how large the drive is: leave \
             out drive.raw-capacity of x.toml:3 or part.blocks-per-plane of --set",
        ),
        (
            resolve(A4, &[("drive.capacity", "1TiB"), ("drive.raw-capacity", "2TiB")]),
            "--set: drive.capacity = 1TiB and drive.raw-capacity = 2TiB: leave out drive.capacity of --set or \
             drive.raw-capacity of --set",
        ),
    ];
    for (seen, expected) in cases {
        assert_eq!(seen.unwrap_err(), expected);
    }
}

/// Every capacity that a message offers is accepted.
#[test]
fn a_capacity_that_cannot_be_had_is_refused_with_the_nearest_that_can() {
    let refused = |key: &str, asked: &str| {
        let seen = capacity("drive = \"a4-mini\"\n", &[(key, asked)]).unwrap_err();
        let start = format!("--set: {key}: seen \"{asked}\"; expected ");
        let offers = seen.strip_prefix(&start).unwrap_or_else(|| panic!("{seen}")).to_string();
        let sizes: Vec<String> =
            offers.split_whitespace().filter(|word| word.ends_with('B')).map(str::to_string).collect();
        for size in &sizes {
            let (of, _) = capacity("drive = \"a4-mini\"\n", &[(key, size)]).unwrap_or_else(|e| panic!("{e}"));
            let had = if key == "drive.capacity" { of.usable } else { of.raw };
            assert_eq!(&had.to_string(), size, "{seen}");
        }
        (offers, sizes.len())
    };
    // One block on each of the eight planes is a large share of such small drives.
    let (between, offered) = refused("drive.capacity", "985MB");
    assert_eq!(
        (between.as_str(), offered),
        (
            "what whole blocks make, to 1 %; the nearest: 931MiB (38 blocks a plane) or 956MiB (39 blocks a plane)",
            2
        )
    );
    let (between, offered) = refused("drive.raw-capacity", "1072MiB");
    assert_eq!(
        (between.as_str(), offered),
        (
            "what whole blocks make, to 1 %; the nearest: 1056MiB (33 blocks a plane) or 1088MiB (34 blocks a plane)",
            2
        )
    );
    assert!(refused("drive.capacity", "100MiB").0.starts_with("at least "));
    assert!(refused("drive.raw-capacity", "2MiB").0.starts_with("at least "));
    assert!(refused("drive.capacity", "100TB").0.starts_with("at most "));
    assert!(refused("drive.raw-capacity", "1000000TB").0.starts_with("at most "));
    let error = capacity("drive = \"a4-mini\"\n", &[("drive.capacity", "0GB")]).unwrap_err();
    assert_eq!(error, "--set: drive.capacity: seen \"0GB\"; expected a size of at least 1MiB");
}

#[test]
fn a_capacity_replaces_the_blocks_of_a_part_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let part = folder.path().join("part.toml");
    std::fs::write(&part, "[part]\npreset = \"a4-tlc\"\nblocks-per-plane = 64\n").expect("a file");
    let name = part.to_string_lossy().into_owned();
    let (of, _) = capacity(A4, &[("drive.capacity", "512GB"), ("part.file", &name)]).unwrap();
    assert_eq!(of.usable, Bytes(512_000_000_000));
}

#[test]
fn what_is_more_than_the_map_addresses_is_refused_with_what_would_help() {
    let seen = capacity(A4, &[("drive.capacity", "16TiB")]).unwrap_err();
    let expected = "the map has 2147483648 units of 4KiB: more needs a larger ftl.mapping-unit";
    assert!(
        seen.contains("drive.capacity: seen \"16TiB\"; expected at most ") && seen.ends_with(expected),
        "{seen}"
    );
    let large = [("drive.capacity", "16TiB"), ("ftl.mapping-unit", "16KiB")];
    assert_eq!(capacity(A4, &large).unwrap().0.usable, Bytes(16 << 40));
    let seen = capacity(A4, &[("drive.capacity", "64TiB"), ("ftl.mapping-unit", "16KiB")]).unwrap_err();
    assert!(seen.ends_with("more needs a larger part.page-size and ftl.mapping-unit"), "{seen}");
    let seen = resolve(A4, &[("part.blocks-per-plane", "40000")]).unwrap_err();
    assert!(
        seen.contains("ftl.mapping-unit = 4KiB: 19921 GiB of flash is more than the 8192 GiB that"),
        "{seen}"
    );
}
