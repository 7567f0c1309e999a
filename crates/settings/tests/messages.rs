//! Error messages, in one table: the file, the reader, the message.

use interpulse_engine::{Bytes, Current, Duration};
use interpulse_settings::{ConfigError, Document, Problem, default, optional, required};

type Read = fn(&Document) -> Result<(), ConfigError>;

fn message(text: &str, read: Read) -> String {
    match Document::from_toml(text, "x.toml").and_then(|document| read(&document).and(document.finish())) {
        Ok(()) => "accepted".to_string(),
        Err(error) => error.to_string(),
    }
}

fn duration(document: &Document) -> Result<(), ConfigError> {
    document.section("part")?.duration("read", "sensing time", required().positive()).map(drop)
}

fn narrow(document: &Document) -> Result<(), ConfigError> {
    let range = Duration::from_us(1)..=Duration::from_ms(1);
    document.section("part")?.duration("read", "sensing time", required().within(range)).map(drop)
}

fn bytes(document: &Document) -> Result<(), ConfigError> {
    document.section("part")?.bytes("page", "page size", required()).map(drop)
}

fn rate(document: &Document) -> Result<(), ConfigError> {
    document.section("part")?.rate("bus", "bus rate", required().positive()).map(drop)
}

fn current(document: &Document) -> Result<(), ConfigError> {
    document.section("part")?.current("pulse", "current", required().at_most(Current(1_000_000))).map(drop)
}

fn voltage(document: &Document) -> Result<(), ConfigError> {
    document.section("part")?.voltage("vcc", "supply", required().positive()).map(drop)
}

fn energy_per_bit(document: &Document) -> Result<(), ConfigError> {
    document.section("part")?.energy_per_bit("bus", "bus energy", required()).map(drop)
}

fn limit(document: &Document) -> Result<(), ConfigError> {
    document.section("part")?.limit("budget", "budget", required()).map(drop)
}

fn per_second(document: &Document) -> Result<(), ConfigError> {
    document.section("flow")?.per_second("rate", "arrivals", required().positive()).map(drop)
}

fn count(document: &Document) -> Result<(), ConfigError> {
    document.section("part")?.u32("planes", "planes", default(1).at_least(1)).map(drop)
}

fn number(document: &Document) -> Result<(), ConfigError> {
    document.section("part")?.f64("sd", "spread", required().at_most(9.5)).map(drop)
}

fn fraction(document: &Document) -> Result<(), ConfigError> {
    document.section("ftl")?.fraction("op", "over-provisioning", required()).map(drop)
}

fn flag(document: &Document) -> Result<(), ConfigError> {
    document.section("ftl")?.bool("audit", "audit", required()).map(drop)
}

fn text(document: &Document) -> Result<(), ConfigError> {
    document.section("ftl")?.string("name", "name", None).map(drop)
}

fn gc(document: &Document) -> Result<(), ConfigError> {
    let options = ["greedy", "d-choices", "fifo", "cost-benefit", "imposed"].map(|name| (name, (), ""));
    document.section("ftl")?.choice("gc", "victim policy", None, &options).map(drop)
}

fn schemes(document: &Document) -> Result<(), ConfigError> {
    let options = [("ips", 0, ""), ("ipc", 1, "")];
    document.section("sweep")?.list_choice("schemes", "schemes", None, &options).map(drop)
}

fn delays(document: &Document) -> Result<(), ConfigError> {
    document.section("sweep")?.list_duration("delays", "delays", None, required().positive()).map(drop)
}

fn flows(document: &Document) -> Result<(), ConfigError> {
    for mut flow in document.tables("flow")? {
        flow.u32("depth", "queue depth", required())?;
    }
    Ok(())
}

fn several(document: &Document) -> Result<(), ConfigError> {
    document.top().u32("config_version", "version", default(1))?;
    document.section("part")?.optional_u32("layers", "layers", optional())?;
    flows(document)?;
    let ftl = document.section("ftl")?;
    ftl.refuse("window", "ftl.gc is not fifo")?;
    ftl.section("wear")?.u64("limit", "limit", default(3))?;
    Ok(())
}

fn conflict(document: &Document) -> Result<(), ConfigError> {
    let mut part = document.section("part")?;
    let layers = part.u32("layers", "layers", default(1))?;
    let word_lines = part.u32("word-lines", "word lines", default(64))?;
    if layers > word_lines {
        return Err(part.conflict(&["word-lines", "layers"], "more layers than word lines"));
    }
    Ok(())
}

fn invalid(document: &Document) -> Result<(), ConfigError> {
    let mut flow = document.section("flow")?;
    let trace = flow.string("trace", "trace file", Some("a.csv"))?;
    Err(flow.invalid("trace", format!("a file that can be read: {trace}: no such file")))
}

fn bad_default(document: &Document) -> Result<(), ConfigError> {
    document.section("part")?.bytes("page", "page", default(Bytes(0)).positive()).map(drop)
}

#[rustfmt::skip]
const CASES: &[(&str, Read, &str)] = &[
    // Durations.
    ("[part]\nread = \"80us\"", duration, "accepted"),
    ("[part]\nread = \"1.5 ms\"", duration, "accepted"),
    ("[part]\nread = 80", duration, r#"x.toml:2: part.read: seen 80; expected a duration (give a unit, such as "80us")"#),
    ("[part]\nread = 0.5", duration, r#"x.toml:2: part.read: seen 0.5; expected a duration (give a unit, such as "80us")"#),
    ("[part]\nread = \"80\"", duration, r#"x.toml:2: part.read: seen "80"; expected a duration (give a unit, such as "80us")"#),
    ("[part]\nread = \"\"", duration, r#"x.toml:2: part.read: seen ""; expected a duration (such as "80us")"#),
    ("[part]\nread = \"fast\"", duration, r#"x.toml:2: part.read: seen "fast"; expected a duration (such as "80us")"#),
    ("[part]\nread = true", duration, "x.toml:2: part.read: seen true; expected a duration"),
    ("[part]\nread = \"-3us\"", duration, r#"x.toml:2: part.read: seen "-3us"; expected a duration that is not negative"#),
    ("[part]\nread = \"3 parsec\"", duration, r#"x.toml:2: part.read: seen "3 parsec"; expected a duration in ns, us, ms, s, min, h, d, w or y"#),
    ("[part]\nread = \"3MS\"", duration, r#"x.toml:2: part.read: seen "3MS"; expected a duration in ns, us, ms, s, min, h, d, w or y (did you mean "ms"?)"#),
    ("[part]\nread = \"0.5ns\"", duration, r#"x.toml:2: part.read: seen "0.5ns"; expected a duration that is a whole number of nanoseconds"#),
    ("[part]\nread = \"0us\"", duration, r#"x.toml:2: part.read: seen "0us"; expected a duration greater than 0ns"#),
    ("[part]\nread = \"101d\"", duration, r#"x.toml:2: part.read: seen "101d"; expected a duration greater than 0ns and at most 8640000s"#),
    ("[part]\nread = \"999999999d\"", duration, r#"x.toml:2: part.read: seen "999999999d"; expected a duration that fits into 64 bits"#),
    ("[part]\nread = \"1111111111111111111111111111111111111111111s\"", duration, r#"x.toml:2: part.read: seen "1111111111111111111111111111111111111111111s"; expected a duration with fewer digits"#),
    ("[part]\nread = \"2ms\"", narrow, r#"x.toml:2: part.read: seen "2ms"; expected a duration from 1us to 1ms"#),
    ("[part]\nread = 2024-01-01", duration, "x.toml:2: part.read: seen a date; expected a duration"),
    ("[part]\nread = [\"1us\"]", duration, "x.toml:2: part.read: seen [\"1us\"]; expected a duration"),
    ("[part.read]\nlsb = \"1us\"", duration, "x.toml:1: part.read: seen a table; expected a duration"),
    ("[[part.read]]\n", duration, "x.toml:1: part.read: seen an array of tables; expected a duration"),
    ("\n\n[part]\n", duration, "x.toml:3: part.read: missing key; expected a duration greater than 0ns"),
    ("", duration, "x.toml: part.read: missing key; expected a duration greater than 0ns"),
    // Sizes.
    ("[part]\npage = \"4352B\"", bytes, "accepted"),
    ("[part]\npage = 4096", bytes, r#"x.toml:2: part.page: seen 4096; expected a size (give a unit, such as "16KiB")"#),
    ("[part]\npage = \"4KB\"", bytes, r#"x.toml:2: part.page: seen "4KB"; expected a size in B, KiB, MiB, GiB, TiB, kB, MB, GB or TB (did you mean "kB"?)"#),
    ("[part]\npage = \"0.3KiB\"", bytes, r#"x.toml:2: part.page: seen "0.3KiB"; expected a size that is a whole number of bytes"#),
    ("", bad_default, "x.toml: part.page: seen 0B (the default); expected a size greater than 0B"),
    // Rates.
    ("[part]\nbus = \"1.2GT/s\"", rate, "accepted"),
    ("[part]\nbus = 400", rate, r#"x.toml:2: part.bus: seen 400; expected a transfer rate (give a unit, such as "400MT/s")"#),
    ("[part]\nbus = \"400MB/s\"", rate, r#"x.toml:2: part.bus: seen "400MB/s"; expected a transfer rate in T/s, kT/s, MT/s or GT/s"#),
    ("[part]\nbus = \"0MT/s\"", rate, r#"x.toml:2: part.bus: seen "0MT/s"; expected a transfer rate greater than 0T/s"#),
    ("[part]\npulse = \"6.25mA\"", current, "accepted"),
    ("[part]\npulse = 25", current, r#"x.toml:2: part.pulse: seen 25; expected a current (give a unit, such as "25mA")"#),
    ("[part]\npulse = \"25ma\"", current, r#"x.toml:2: part.pulse: seen "25ma"; expected a current in uA, mA or A (did you mean "mA"?)"#),
    ("[part]\npulse = \"0.1uA\"", current, r#"x.toml:2: part.pulse: seen "0.1uA"; expected a current that is a whole number of microamperes"#),
    ("[part]\npulse = \"2A\"", current, r#"x.toml:2: part.pulse: seen "2A"; expected a current of at most 1A"#),
    ("[part]\nvcc = \"0V\"", voltage, r#"x.toml:2: part.vcc: seen "0V"; expected a voltage greater than 0mV"#),
    ("[part]\nvcc = \"3.3\"", voltage, r#"x.toml:2: part.vcc: seen "3.3"; expected a voltage (give a unit, such as "3.3V")"#),
    ("[part]\nbus = \"12.5pJ/bit\"", energy_per_bit, "accepted"),
    ("[part]\nbus = \"5pJ\"", energy_per_bit, r#"x.toml:2: part.bus: seen "5pJ"; expected an energy per bit in fJ/bit, pJ/bit or nJ/bit"#),
    ("[part]\nbudget = \"10W\"", limit, "accepted"),
    ("[part]\nbudget = \"3000mA\"", limit, "accepted"),
    ("[part]\nbudget = 10", limit, r#"x.toml:2: part.budget: seen 10; expected a power or a current (give a unit, such as "10W" or "3A")"#),
    ("[part]\nbudget = \"-1W\"", limit, r#"x.toml:2: part.budget: seen "-1W"; expected a power that is not negative"#),
    ("[flow]\nrate = \"200kIOPS\"", per_second, "accepted"),
    ("[flow]\nrate = 1500", per_second, r#"x.toml:2: flow.rate: seen 1500; expected a number per second (give a unit, such as "1500/s" or "200kIOPS")"#),
    ("[flow]\nrate = \"1500\"", per_second, r#"x.toml:2: flow.rate: seen "1500"; expected a number per second (give a unit, such as "1500/s" or "200kIOPS")"#),
    ("[flow]\nrate = \"5G/s\"", per_second, r#"x.toml:2: flow.rate: seen "5G/s"; expected a number per second in /s, k/s, M/s, IOPS, kIOPS or MIOPS"#),
    ("[flow]\nrate = \"-5/s\"", per_second, r#"x.toml:2: flow.rate: seen "-5/s"; expected a number per second that is not negative"#),
    ("[flow]\nrate = \"0/s\"", per_second, r#"x.toml:2: flow.rate: seen "0/s"; expected a number per second greater than 0/s"#),
    // Plain numbers.
    ("[part]\nplanes = 0", count, "x.toml:2: part.planes: seen 0; expected a whole number of at least 1"),
    ("[part]\nplanes = -1", count, "x.toml:2: part.planes: seen -1; expected a whole number that is not negative"),
    ("[part]\nplanes = 4294967296", count, "x.toml:2: part.planes: seen 4294967296; expected a whole number of at most 4294967295"),
    ("[part]\nplanes = 99999999999999999999999999999999999999999", count, r#"x.toml:2: part.planes: seen "99999999999999999999999999999999999999999"; expected a number that fits into 64 bits"#),
    ("[part]\nplanes = 1e3", count, "x.toml:2: part.planes: seen 1000.0; expected a whole number (write 1000)"),
    ("[part]\nplanes = 1.5", count, "x.toml:2: part.planes: seen 1.5; expected a whole number"),
    ("[part]\nplanes = \"two\"", count, r#"x.toml:2: part.planes: seen "two"; expected a whole number"#),
    ("[part]\nsd = nan", number, "x.toml:2: part.sd: seen NaN; expected a number"),
    ("[part]\nsd = 10", number, "x.toml:2: part.sd: seen 10; expected a number of at most 9.5"),
    ("[ftl]\nop = \"30%\"", fraction, "accepted"),
    ("[ftl]\nop = 30", fraction, "x.toml:2: ftl.op: seen 30; expected a fraction of at most 1"),
    ("[ftl]\nop = -0.1", fraction, "x.toml:2: ftl.op: seen -0.1; expected a fraction that is not negative"),
    ("[ftl]\nop = \"lots\"", fraction, r#"x.toml:2: ftl.op: seen "lots"; expected a fraction (such as 0.3 or "30%")"#),
    ("[ftl]\naudit = 1", flag, "x.toml:2: ftl.audit: seen 1; expected true or false"),
    ("[ftl]\nname = 7", text, "x.toml:2: ftl.name: seen 7; expected a text (put it in quotes)"),
    // Choices and lists.
    ("[ftl]\ngc = \"gredy\"", gc, r#"x.toml:2: ftl.gc: seen "gredy"; expected one of greedy, d-choices, fifo, cost-benefit, imposed (did you mean "greedy"?)"#),
    ("[ftl]\ngc = \"best\"", gc, r#"x.toml:2: ftl.gc: seen "best"; expected one of greedy, d-choices, fifo, cost-benefit, imposed"#),
    ("[ftl]\ngc = 3", gc, "x.toml:2: ftl.gc: seen 3; expected one of greedy, d-choices, fifo, cost-benefit, imposed"),
    ("[ftl]", gc, "x.toml:1: ftl.gc: missing key; expected one of greedy, d-choices, fifo, cost-benefit, imposed"),
    ("[sweep]\nschemes = \"ips\"", schemes, r#"x.toml:2: sweep.schemes: seen "ips"; expected a list (write ["ips"])"#),
    ("[sweep]\nschemes = [\"ips\", \"ipd\"]", schemes, r#"x.toml:2: sweep.schemes: seen "ipd"; expected one of ips, ipc (did you mean "ips"?)"#),
    ("[sweep]", schemes, "x.toml:1: sweep.schemes: missing key; expected a list, each entry one of ips, ipc"),
    ("[sweep]\ndelays = [\"1us\", 7]", delays, r#"x.toml:2: sweep.delays: seen 7; expected a duration (give a unit, such as "80us")"#),
    ("[sweep]", delays, "x.toml:1: sweep.delays: missing key; expected a list, each entry a duration greater than 0ns"),
    // Unknown keys and sections.
    ("config_versoin = 1", several, r#"x.toml:1: config_versoin: unknown key; expected one of config_version, part, flow, ftl (did you mean "config_version"?)"#),
    ("[prat]\nlayers = 3", several, r#"x.toml:1: prat: unknown section; expected one of config_version, part, flow, ftl (did you mean "part"?)"#),
    ("[part]\nlayres = 3", several, r#"x.toml:2: part.layres: unknown key; expected layers (did you mean "layers"?)"#),
    ("[part]\nlimit = 3", several, r#"x.toml:2: part.limit: unknown key; expected layers ("limit" belongs in [ftl.wear])"#),
    ("[part]\nconfig_version = 3", several, r#"x.toml:2: part.config_version: unknown key; expected layers ("config_version" belongs above the first section)"#),
    ("[part]\n\"a\\nb\" = 3", several, r#"x.toml:2: part."a\nb": unknown key; expected layers"#),
    ("[ftl.wear]\nlimit = 3\nb = 1\na = 1", several, "x.toml:3: ftl.wear.b: unknown key; expected limit"),
    ("[[flow]]\ndepth = 1\n[[flow]]\ndepth = 2\ndept = 3", several, r#"x.toml:5: flow.1.dept: unknown key; expected depth (did you mean "depth"?)"#),
    ("[[flow]]\ndepth = 1\n\n[[flow]]\n", flows, "x.toml:4: flow.1.depth: missing key; expected a whole number"),
    ("[ftl]\nwindow = 3", several, "x.toml:2: ftl.window: does not apply; ftl.gc is not fifo"),
    // Shapes.
    ("part = 3", several, "x.toml:1: part: seen 3; expected a table"),
    ("[[part]]\n", several, "x.toml:1: part: seen an array of tables; expected a table"),
    ("[flow]\ndepth = 3", several, "x.toml:1: flow: seen a table; expected an array of tables (write [[flow]])"),
    ("flow = 3", several, "x.toml:1: flow: seen 3; expected an array of tables (write [[flow]])"),
    // Keys against each other.
    ("[part]\nlayers = 90", conflict, "x.toml:2: part.word-lines = 64 and part.layers = 90: more layers than word lines"),
    ("[flow]\n", invalid, r#"x.toml:1: flow.trace: seen a.csv (the default); expected a file that can be read: a.csv: no such file"#),
    ("[flow]\ntrace = \"b\"", invalid, r#"x.toml:2: flow.trace: seen "b"; expected a file that can be read: b: no such file"#),
    // Text that is not TOML.
    ("a = 1\nfoo = = 3\n", several, r#"x.toml:2: seen "foo = = 3"; expected TOML: extra `=`, expected nothing"#),
    ("[part]\nread = 80us", duration, r#"x.toml:2: seen "read = 80us"; expected TOML: string values must be quoted, expected literal string"#),
    ("[part]\nread = \"80us", duration, r#"x.toml:2: seen "read = \"80us"; expected TOML: invalid basic string, expected `"`"#),
    ("[part]\nread = 1\nread = 2\n", duration, r#"x.toml:3: seen "read = 2"; expected TOML: duplicate key"#),
    (
        "part = \"a\"\npart.read = 1\n",
        duration,
        "x.toml:2: seen \"part.read = 1\"; expected TOML: cannot extend value of type string with a dotted key; what \
         has keys of its own is a table: [part], with a preset and the keys",
    ),
    ("just words", duration, r#"x.toml:1: seen "just words"; expected TOML: key with no value, expected `=`"#),
];

#[test]
fn every_mistake_gets_its_message() {
    let wrong: Vec<String> = CASES
        .iter()
        .filter_map(|(text, read, expected)| {
            let seen = message(text, *read);
            (seen != *expected).then(|| format!("{text:?}\n   seen {seen}\nwanted {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bytes_that_are_not_text_are_refused_with_their_line() {
    let error = Document::from_bytes(b"a = 1\nb = \"\xff\"", "x.toml").unwrap_err();
    assert_eq!(error.to_string(), "x.toml:2: seen bytes that are not UTF-8; expected a text file");
}

#[test]
fn overrides_get_messages_too() {
    let file = Document::from_toml("[[flow]]\ndepth = 1\n[ftl]\nop = 0.1", "x.toml").unwrap();
    let with = |key: &str, text: &str| Document::set(key, text).and_then(|set| set.over(file.clone()));
    let cases = [
        (with("flow.1.depth", "3").map(drop), "--set: flow.1: seen entry 1; expected an entry from 0 to 0"),
        (with("flow.0", "3").map(drop), "--set: flow.0: seen 3; expected a table"),
        (
            with("ftl..op", "3").map(drop),
            r#"--set: seen "ftl..op"; expected a key such as ftl.gc or flow.0.depth"#,
        ),
        (
            with("ftl.op", "much").and_then(|d| fraction(&d)),
            r#"--set: ftl.op: seen "much"; expected a fraction (such as 0.3 or "30%")"#,
        ),
        (
            with("ftl.opp", "3").and_then(|d| fraction(&d).and(d.section("ftl")?.finish())),
            r#"--set: ftl.opp: unknown key; expected op (did you mean "op"?)"#,
        ),
        (
            Document::set("flow.0.depth", "1").and_then(|d| flows(&d)),
            "--set: flow: seen a table; expected an array of tables (no file or preset has entries to override)",
        ),
    ];
    for (result, expected) in cases {
        assert_eq!(result.unwrap_err().to_string(), expected);
    }
}

#[test]
fn the_parts_of_an_error_are_there_for_programs() {
    let error = Document::from_toml("[ftl]\ngc = \"gredy\"", "x.toml").and_then(|d| gc(&d)).unwrap_err();
    assert_eq!(error.problem(), Problem::Value);
    assert_eq!((error.file(), error.line(), error.key()), (Some("x.toml"), Some(2), "ftl.gc"));
    assert_eq!((error.seen(), error.hint()), ("\"gredy\"", Some("did you mean \"greedy\"?")));
    assert_eq!(error.expected(), "one of greedy, d-choices, fifo, cost-benefit, imposed");
}
