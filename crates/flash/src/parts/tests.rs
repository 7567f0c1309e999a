//! Tests of parts: presets are complete, cited and equal to the papers; invalid parts are rejected.

mod interfaces;
mod sub_blocks;

use super::*;
use interpulse_engine::Duration;
use interpulse_settings::{ConfigError, Document};

fn read(document: Document) -> Result<PartSpec, ConfigError> {
    let part = PartSpec::read(&mut document.section("part")?)?;
    document.finish().map(|()| part)
}

fn of(name: &str) -> PartSpec {
    read(preset(name).unwrap()).unwrap()
}

fn total(train: &TrainSpec) -> Duration {
    train.loop_time() * u64::from(train.loops)
}

#[test]
fn every_preset_is_complete_and_every_figure_has_a_source() {
    for name in names() {
        let document = preset(name).unwrap();
        assert_eq!(document.uncited(), Vec::<String>::new(), "{name}");
        let part = read(document.clone()).unwrap();
        assert_eq!(part.name, name);
        // A preset gives every figure itself.
        let defaulted: Vec<String> = document
            .section("part")
            .and_then(|mut section| PartSpec::read(&mut section).map(drop))
            .map(|()| document.resolution())
            .unwrap()
            .entries()
            .iter()
            .filter(|entry| entry.hashed && entry.origin == interpulse_settings::Origin::Default)
            .filter(|entry| entry.display != "not set")
            .map(|entry| entry.path.clone())
            .collect();
        assert_eq!(defaulted, Vec::<String>::new(), "{name}");
    }
}

/// Read, program and erase times in microseconds, as the papers print them.
#[test]
fn the_times_are_those_of_the_papers() {
    let printed = [
        ("a4-tlc", 80, 2_000, 5_000),
        ("atc19-ll", 3, 100, 5_000),
        ("fast12-slc", 10, 140, 1_512),
        ("fast12-mlc", 25, 660, 3_012),
        ("ressd-tlc", 66, 3_000, 10_000),
        ("ressd-mlc", 53, 2_200, 10_000),
        ("starblaze-slc2d-typ", 35, 300, 5_000),
        ("starblaze-slc2d-max", 50, 3_000, 10_000),
        ("starblaze-mlc2d-typ", 50, 1_400, 5_000),
        ("starblaze-mlc2d-max", 85, 3_000, 10_000),
        ("starblaze-slc3d-typ", 37, 250, 10_000),
        ("starblaze-slc3d-max", 65, 600, 25_000),
        ("starblaze-tlc3d-typ", 67, 2_300, 10_000),
        ("starblaze-tlc3d-max", 100, 11_000, 25_000),
    ];
    let tabulated = ISSCC.iter().map(|die| die.name);
    assert_eq!(printed.iter().map(|(name, ..)| *name).chain(tabulated).collect::<Vec<_>>(), names());
    for (name, read_us, program_us, erase_us) in printed {
        let part = of(name);
        assert_eq!(part.read, vec![Duration::from_us(read_us); part.bits_per_cell as usize], "{name}");
        assert_eq!(total(&part.program), Duration::from_us(program_us), "{name}");
        assert_eq!(total(&part.erase), Duration::from_us(erase_us), "{name}");
    }
}

/// What the tables of ISSCC dies print.
struct Tabulated {
    name: &'static str,
    gigabits: u64,
    /// tR of a page of any type in us, if printed.
    read_us: Option<u64>,
    /// tPROG of a page in us, if printed.
    program_us: Option<u64>,
    /// Program throughput in MB/s, if printed.
    megabytes: Option<u64>,
    /// Interface rate in MT/s, if printed.
    transfers: Option<u64>,
}

const fn tabulated(
    name: &'static str,
    gigabits: u64,
    read_us: Option<u64>,
    program_us: Option<u64>,
    megabytes: Option<u64>,
    transfers: Option<u64>,
) -> Tabulated {
    Tabulated { name, gigabits, read_us, program_us, megabytes, transfers }
}

/// Sources are in the presets.
const ISSCC: [Tabulated; 6] = [
    tabulated("toshiba-96l-tlc", 512, Some(58), None, Some(57), Some(533)),
    tabulated("hynix-176l-tlc", 512, Some(50), None, Some(168), Some(1_600)),
    tabulated("hynix-300l-tlc", 1_024, None, None, Some(194), Some(2_400)),
    tabulated("hynix-96l-qlc", 1_024, Some(170), Some(2_150), Some(30), None),
    tabulated("intel-144l-qlc", 1_024, Some(85), Some(1_630), Some(40), None),
    tabulated("samsung-48l-slc", 64, Some(3), Some(100), None, None),
];

/// Programs on all planes have the printed throughput and tPROG of a page within the rounding of what is printed, and the
/// blocks are the fewest that hold the printed capacity.
#[test]
fn the_dies_of_isscc_tables_have_the_printed_figures() {
    for printed in &ISSCC {
        let (name, part) = (printed.name, of(printed.name));
        let bits = u64::from(part.bits_per_cell);
        if let Some(us) = printed.read_us {
            assert_eq!(part.read, vec![Duration::from_us(us); bits as usize], "{name}");
        }
        let word_line_ns = total(&part.program).as_ns();
        if let Some(us) = printed.program_us {
            assert_eq!(word_line_ns, us * 1_000 * bits, "{name}");
        }
        let planes = u64::from(part.planes);
        let page = part.page_size.get();
        if let Some(printed) = printed.megabytes {
            let megabytes = (planes * bits * page) as f64 * 1e3 / word_line_ns as f64;
            assert!((megabytes - printed as f64).abs() <= 0.5, "{name}: {megabytes} MB/s");
        }
        if let Some(transfers) = printed.transfers {
            assert_eq!(part.bus_rate, transfers * 1_000_000, "{name}");
        }
        let block = planes * page * u64::from(part.usable_pages());
        let die = (printed.gigabits << 30) / 8;
        assert_eq!(u64::from(part.blocks_per_plane), die.div_ceil(block), "{name}");
        assert_eq!(part.word_lines() % part.layers, 0, "{name}");
    }
}

/// Gao et al., MICRO 2019, Table 4: a reprogram of 2705 us includes the read of 53 us.
#[test]
fn the_times_of_reprogramming_are_those_of_the_paper() {
    let of = of("ressd-tlc").reprogram.expect("the part reprograms");
    let us = Duration::from_us;
    assert_eq!((total(&of.mlc_program), total(&of.reprogram), of.read), (us(2675), us(2705 - 53), us(53)));
}

#[test]
fn the_geometries_are_those_of_the_papers() {
    let a4 = of("a4-tlc");
    assert_eq!(
        (a4.blocks_per_plane, a4.pages_per_block, a4.word_lines(), a4.usable_pages()),
        (2048, 256, 85, 255)
    );
    let ll = of("atc19-ll");
    assert_eq!((ll.planes, ll.blocks_per_plane, ll.pages_per_block, ll.bits_per_cell), (8, 683, 768, 1));
    assert_eq!((ll.page_size.get(), ll.page_parity.get(), ll.bus_rate), (4096, 448, 1_200_000_000));
    assert_eq!(ll.erase_suspend_entry, Duration::from_us(100));
    let re = of("ressd-tlc");
    assert_eq!((re.planes, re.blocks_per_plane, re.pages_per_block, re.layers), (2, 1536, 384, 64));
    let slc = of("fast12-slc");
    assert_eq!((slc.program.pulse, slc.program.verify), (Duration::from_us(20), Duration::from_us(8)));
    assert_eq!(slc.voltage_reset, Duration::from_us(4));
    assert_eq!(of("fast12-mlc").program_mode, ProgramMode::Page);
    assert_eq!(of("starblaze-tlc3d-max").program_mode, ProgramMode::OneShot);
}

#[test]
fn an_unknown_preset_is_refused_with_the_known_names() {
    let all = names().join(", ");
    let error = preset("a5-tlc").unwrap_err().to_string();
    assert_eq!(
        error,
        format!("part.preset: seen \"a5-tlc\"; expected one of {all} (did you mean \"a4-tlc\"?)")
    );
    let file = Document::from_toml("[part]\npreset = \"x25\"", "x.toml").unwrap();
    let error = layered(file).unwrap_err().to_string();
    assert_eq!(error, format!("x.toml:2: part.preset: seen \"x25\"; expected one of {all}"));
}

#[test]
fn a_part_may_be_spelled_out_without_a_preset() {
    let text = "[part]\nplanes = 1\nblocks-per-plane = 16\npages-per-block = 8\npage-size = \"4KiB\"\n\
        page-parity = \"0B\"\nbits-per-cell = 4\nlayers = 2\nprogram-mode = \"one-shot\"\nread-lsb = \"50us\"\n\
        read-csb = \"60us\"\nread-msb = \"70us\"\nread-top = \"80us\"\nprogram-loops = 20\n\
        program-pulse = \"30us\"\nprogram-verify = \"90us\"\nerase-loops = 3\nerase-pulse = \"3ms\"\n\
        erase-verify = \"0us\"\nerase-wear = \"aero\"\nbus-rate = \"1.2GT/s\"\nendurance = 1000\n\
        program-suspend-entry = \"20us\"\nprogram-resume = \"0us\"\nerase-suspend-entry = \"100us\"\nerase-resume = \"0us\"\n";
    let part = read(layered(Document::from_toml(text, "x.toml").unwrap()).unwrap()).unwrap();
    assert_eq!((part.name.as_str(), part.erase_wear), ("custom", EraseWear::Aero));
    assert_eq!(part.read, [50, 60, 70, 80].map(Duration::from_us));
}

#[test]
fn all_missing_keys_are_named_at_once_with_what_they_mean_and_a_typical_value() {
    let file =
        Document::from_toml("[part]\nplanes = 4\nblocks-per-plane = 16\npage-size = \"16KiB\"\n", "x.toml");
    let error = read(file.unwrap()).unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    // Without bits-per-cell the typical three bits apply.
    let keys = [
        "pages-per-block",
        "page-parity",
        "bits-per-cell",
        "layers",
        "program-mode",
        "read-lsb",
        "read-csb",
        "read-msb",
        "program-loops",
        "program-pulse",
        "program-verify",
        "erase-loops",
        "erase-pulse",
        "erase-verify",
        "program-suspend-entry",
        "program-resume",
        "erase-suspend-entry",
        "erase-resume",
        "bus-rate",
        "endurance",
    ];
    assert_eq!(lines[0], format!("x.toml:1: {} keys are missing:", keys.len()));
    let named: Vec<&str> = lines[1..].iter().map(|line| line.split(':').next().unwrap().trim()).collect();
    assert_eq!(named, keys.map(|key| format!("part.{key}")));
    assert_eq!(
        lines[1],
        "  part.pages-per-block: pages per block, as the data sheet counts them; expected a whole number from 1 to 65535 \
         (typically 2112)"
    );
    assert!(lines[1..].iter().all(|line| line.contains("(typically ")), "{error}");
}

/// Suspend and resume times have no silent default of zero.
#[test]
fn only_a_part_that_suspends_must_say_what_suspending_takes() {
    let with = |support: &str| {
        let text = format!(
            "[part]\nsuspend-support = \"{support}\"\nplanes = 1\nblocks-per-plane = 16\npages-per-block = 8\n\
            page-size = \"4KiB\"\npage-parity = \"0B\"\nbits-per-cell = 1\nlayers = 1\nprogram-mode = \"page\"\n\
            read-lsb = \"50us\"\nprogram-loops = 5\nprogram-pulse = \"30us\"\nprogram-verify = \"9us\"\nerase-loops = 3\n\
            erase-pulse = \"3ms\"\nerase-verify = \"0us\"\nbus-rate = \"1.2GT/s\"\nendurance = 1000\n"
        );
        read(Document::from_toml(&text, "x.toml").unwrap()).map_err(|error| error.to_string())
    };
    assert_eq!(with("none").unwrap().erase_suspend_entry, Duration::ZERO);
    let missing = |support| with(support).unwrap_err().matches("\n  part.").count();
    assert_eq!(["program", "erase", "both", "nested"].map(missing), [2, 2, 4, 4]);
}

#[test]
fn a_part_may_have_a_name_of_its_own() {
    let file = Document::from_toml("[part]\npreset = \"a4-tlc\"\nname = \"mine\"\n", "x.toml").unwrap();
    assert_eq!(read(layered(file).unwrap()).unwrap().name, "mine");
}

#[test]
fn the_preset_a_part_was_based_on_does_not_enter_the_hash() {
    let renamed = Document::set("part.preset", "mine").unwrap().over(preset("a4-tlc").unwrap()).unwrap();
    let hash = |document: Document| {
        let _ = PartSpec::read(&mut document.section("part").unwrap()).unwrap();
        document.resolution().hash(&[])
    };
    assert_eq!(hash(renamed), hash(preset("a4-tlc").unwrap()));
}

#[test]
fn bad_parts_are_refused_with_their_reason() {
    let with = |name: &str, lines: &str| {
        let file = Document::from_toml(&format!("[part]\npreset = \"{name}\"\n{lines}"), "x.toml").unwrap();
        layered(file).and_then(read).map(drop)
    };
    let cases = [
        (
            with("fast12-slc", "read-msb = \"1us\""),
            "x.toml:3: part.read-msb: does not apply; it belongs to bits-per-cell = 2 or 3 or 4 or 5",
        ),
        (
            with("fast12-mlc", "read-csb = \"1us\""),
            "x.toml:3: part.read-csb: does not apply; it belongs to bits-per-cell = 3 or 4 or 5",
        ),
        (
            with("a4-tlc", "read-top = \"1us\""),
            "x.toml:3: part.read-top: does not apply; it belongs to bits-per-cell = 4 or 5",
        ),
        (
            with("a4-tlc", "read-lsb = \"0us\""),
            "x.toml:3: part.read-lsb: seen \"0us\"; expected a duration greater than 0ns and at most 60s",
        ),
        (
            with("a4-tlc", "bits-per-cell = 4"),
            "x.toml:1: part.read-top: missing key; expected a duration greater than 0ns and at most 60s (sensing time of the fourth (top) page; typically 100us)",
        ),
        (
            with("hynix-96l-qlc", "read-fifth = \"1us\""),
            "x.toml:3: part.read-fifth: does not apply; it belongs to bits-per-cell = 5",
        ),
        (
            with("a4-tlc", "bits-per-cell = 6"),
            "x.toml:3: part.bits-per-cell: seen 6; expected a whole number from 1 to 5",
        ),
        (
            with("a4-tlc", "program-pulse = \"0us\""),
            "x.toml:3: part.program-pulse: seen \"0us\"; expected a duration greater than 0ns and at most 60s",
        ),
        (
            with("a4-tlc", "erase-loops = 0"),
            "x.toml:3: part.erase-loops: seen 0; expected a whole number from 1 to 1000",
        ),
        (
            with("a4-tlc", "pages-per-block = 2"),
            "x.toml:3: part.pages-per-block = 2 and part.bits-per-cell = 3: a block needs at least one whole word line, a page for each bit of a cell",
        ),
        (
            with("a4-tlc", "layers = 86"),
            "x.toml:3: part.layers = 86 and part.pages-per-block = 256 and part.bits-per-cell = 3: more layers than the 85 word lines of a block",
        ),
        (
            with("a4-tlc", "program-loops-sd = 17"),
            "x.toml:3: part.program-loops-sd = 17 and part.program-loops = 16: the spread of the program loops is wider than their number",
        ),
        (
            with("a4-tlc", "read_lsb = \"1us\""),
            "x.toml:3: part.read_lsb: unknown key; expected one of preset, name, interface, planes, blocks-per-plane, pages-per-block, page-size, page-parity, bits-per-cell, sub-blocks, layers, program-mode, read-lsb, read-csb, read-msb, independent-plane-reads, plane-address, buffer-setup, program-loops, program-pulse, program-reset, program-verify, program-loops-sd, erase-loops, erase-pulse, erase-reset, erase-verify, erase-wear, suspend-support, voltage-reset, program-suspend-entry, program-resume, page-buffer-reload, erase-suspend-entry, erase-resume, bus-rate, page-load, read-transfer, command-bus, command-cycles, endurance, reprogram, slc-mode, two-step, cache, power (did you mean \"read-lsb\"?)",
        ),
    ];
    for (result, expected) in cases {
        assert_eq!(result.unwrap_err().to_string(), expected);
    }
}

/// Keys of the cache register are legal only if it is used.
#[test]
fn a_cache_register_is_what_a_program_can_use() {
    let with = |keys: &str| {
        let text = format!("[part]\npreset = \"fast12-mlc\"\n[part.cache]\n{keys}\n");
        read(layered(Document::from_toml(&text, "x.toml").unwrap())?)
    };
    assert_eq!(with("program = \"none\"").unwrap().cache, CacheRegister::NONE);
    let block = with("program = \"block\"\ntransfer = \"3us\"\non-read = \"kept\"").unwrap().cache;
    let transfer = Duration::from_us(3);
    let (program, on_read) = (CacheProgram::Block, CacheOnRead::Kept);
    assert_eq!(block, CacheRegister { program, pages: 1, transfer, on_read, reads: false });
    assert!(with("read = true").unwrap().cache.reads);
    // Page programming has no second page per program.
    for (keys, why) in [
        ("program = \"block\"\npages = 2", "at most 1: the pages that a program writes"),
        ("pages = 1", "does not apply"),
        ("on-read = \"kept\"", "does not apply"),
        ("program = \"blok\"", "did you mean"),
    ] {
        let message = with(keys).unwrap_err().to_string();
        assert!(message.contains(why), "{keys}: {message}");
    }
}
