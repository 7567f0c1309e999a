//! Messages for configuration errors that need the whole drive; those of single values are tested in `settings` and
//! `flash::parts`, those of the command line in `python/tests`.

use interpulse_settings::Need;
use interpulse_study::config::{PlanRequest, read_cases};

const BASE: &str = "drive = \"a4-mini\"\n[run]\nrequests = 10\n[[flow]]\ndepth = 4\nread = 0.5\n";

fn message(text: &str, sets: &[(&str, &str)]) -> String {
    let sets = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let request = PlanRequest { text: text.into(), path: "x.toml".into(), sets, ..PlanRequest::default() };
    read_cases(&request).err().map_or_else(|| "no mistake was found".to_string(), |e| e.to_string())
}

#[test]
fn each_mistake_names_the_key_and_what_is_legal() {
    for (sets, expected) in [
        (
            &[("ftl.multi-plane", "2")][..],
            "--set: ftl.multi-plane = 2 and part.planes = 1: 2 planes together do not divide the 1 planes of a die",
        ),
        (
            &[("ftl.gc-soft", "90%")],
            "--set: ftl.gc-soft = 0.9 and ftl.over-provisioning = 0.3 and ftl.gc-threshold-base = spare: a lane has 22.2 \
             spare blocks; keeping 20 free (gc-soft) and 2 open leaves garbage collection nothing to work with",
        ),
        (
            &[("ftl.gc-hard", "20%")],
            "--set: ftl.gc-hard = 0.2 and ftl.gc-soft = 0.1: gc-hard must not be larger than gc-soft",
        ),
        (
            &[("part.command-bus", "separate"), ("schedule.channel-order", "data-first")],
            "--set: part.command-bus = separate: \"separate\" and schedule.channel-order do not go together: commands and \
             data do not wait for the same pins",
        ),
        (
            &[("schedule.multi-plane-programs", "true"), ("part.cache.program", "die")],
            "--set: schedule.multi-plane-programs = true: true and part.cache.program do not go together: data loaded ahead \
             is that of one program, which may have to wait for others",
        ),
        (
            &[("schedule.multi-plane-programs", "true"), ("ftl.gc", "imposed"), ("ftl.imposed-waf", "2.4")],
            "--set: schedule.multi-plane-programs = true and ftl.gc = imposed: the programs of imposed write amplification \
             have no address that planes could share",
        ),
        (
            &[("ftl.copyback", "true"), ("ftl.gc", "imposed"), ("ftl.imposed-waf", "2.4")],
            "--set: ftl.copyback = true and ftl.gc = imposed: imposed write amplification moves no pages that a die could copy",
        ),
        (
            &[("ftl.copyback-limit", "2")],
            "--set: ftl.copyback-limit: does not apply; it belongs to copyback = true",
        ),
        (
            &[("part.sub-blocks", "2")],
            "--set: part.sub-blocks = 2 and part.layers = 85: 2 sub-blocks of whole layers do not divide 85 layers",
        ),
        (
            &[("errors.table", "cai-tlc"), ("errors.reclaim-reads", "100"), ("part.sub-blocks", "5")],
            "--set: errors.reclaim-reads = 100 and part.sub-blocks = 5 and part.sub-block-disturb = 0: rewrites of the 5 \
             sub-blocks of a block, each with the disturb of 51 reads, would cause one another: at least 2040",
        ),
        (
            &[
                ("part.program-mode", "two-step"),
                ("part.two-step.loops", "2"),
                ("part.two-step.pulse", "20us"),
                ("part.two-step.verify", "20us"),
                ("part.two-step.first-pages", "4"),
                ("part.two-step.second-pages", "3"),
            ],
            "--set: part.two-step.first-pages = 4: a word line has 3 pages",
        ),
        (
            &[("cache.size", "64KiB")],
            "--set: cache.size = 64KiB: 64KiB holds 16 units of 4KiB; programs of 12 units on this drive need at least \
             96KiB",
        ),
        (
            &[("ftl.gc", "imposed")],
            "drive preset a4-mini:17: ftl.imposed-waf: missing key; expected a number from 1 to 100",
        ),
        (
            &[("ftl.gc", "imposed"), ("ftl.imposed-waf", "2.4"), ("precondition.fill", "50%")],
            "--set: precondition.fill = 0.5 and ftl.gc = imposed: gc = \"imposed\" keeps every unit where preconditioning \
             put it, so fill must be 100%",
        ),
        (
            &[("ftl.gc", "imposed"), ("ftl.imposed-waf", "2.4"), ("precondition.out-of-date", "30%")],
            "--set: precondition.out-of-date = 0.3 and ftl.gc = imposed: gc = \"imposed\" writes no unit twice before a run, \
             so out-of-date must be 0%",
        ),
        (
            &[("run.warmup", "1s"), ("run.warmup-requests", "5")],
            "--set: run.warmup = 1s and run.warmup-requests = 5: the window begins after a time or after so many requests: \
             give one of the two",
        ),
        (
            &[("part.page-size", "6KiB")],
            "--set: part.page-size: seen \"6KiB\"; expected a multiple of 4KiB, the unit of the mapping",
        ),
        (
            &[("flow.0.stop", "1ms"), ("flow.0.start", "2ms")],
            "--set: flow.0.stop = 1ms and flow.0.start = 2ms: a flow must stop after it starts",
        ),
        (
            &[("flow.0.trim", "70%")],
            "--set: flow.0.trim = 0.7 and flow.0.read = 0.5: reads and trims together exceed all requests",
        ),
        (&[("config_version", "2")], "--set: config_version: seen 2; expected 1, the one this program reads"),
        (
            &[("host.command-timeout", "0ms")],
            "--set: host.command-timeout: seen \"0ms\"; expected a duration greater than 0ns",
        ),
        (
            &[("link.max-payload", "100")],
            "--set: link.max-payload: seen 100; expected a whole number from 128 to 4096",
        ),
        (
            &[("link.max-payload", "1000")],
            "--set: link.max-payload: seen 1000; expected 128, 256, 512, 1024, 2048 or 4096, the sizes that PCIe has",
        ),
        (
            &[("run.time", "2ms"), ("power-loss.at", "2ms")],
            "--set: power-loss.at = 2ms and run.time = 2ms: the run is over after 2ms: give an earlier \
             time, or run.time more",
        ),
        (
            &[("run.time", "2ms"), ("run.warmup", "1ms"), ("flow.0.start", "5ms")],
            "--set: flow.0.start = 5ms and run.warmup = 1ms and run.time = 2ms: the run is over after 3ms: give an earlier \
             time, or run.time more",
        ),
        (
            &[("flow.0.name", "\"a\\nb\"")],
            "--set: flow.0.name: seen \"a\\nb\"; expected a name of 1 to 60 characters without line breaks and control \
             characters",
        ),
        (
            &[("flow.0.pacing", "open"), ("flow.0.rates", "1/s"), ("flow.0.depth", "")],
            "--set: flow.0.depth: does not apply; it belongs to pacing = \"closed\"",
        ),
        (
            &[("power-loss.ta", "1ms")],
            "--set: power-loss.at: missing key; expected a duration of at most 8640000s (\"ta\" is written: was it meant?)",
        ),
        (
            &[("flow.0.name", "  ")],
            "--set: flow.0.name: seen \"\"; expected a name of 1 to 60 characters without line breaks and control characters",
        ),
        (&[("link.lanes", "3")], "--set: link.lanes: seen 3; expected 1, 2, 4, 8 or 16"),
        (
            &[("part.independent-plane-reads", "true"), ("schedule.multi-plane-reads", "true")],
            "--set: part.independent-plane-reads = true: schedule.multi-plane-reads does not go together with it: sensing \
             together is what independent planes make needless: each starts at once",
        ),
        (
            &[("part.independent-plane-reads", "true"), ("power.trace", "true")],
            "--set: part.independent-plane-reads = true: power.trace does not go together with it: the trace follows one \
             current of a die at a time",
        ),
        (
            &[("flow.0.pacing", "open")],
            "x.toml:5: flow.0.depth: does not apply; it belongs to pacing = \"closed\"",
        ),
    ] {
        assert_eq!(message(BASE, sets), expected);
    }
}

#[test]
fn a_run_must_end() {
    let text = "drive = \"a4-mini\"\n[[flow]]\nname = \"a\"\n";
    assert!(
        message(text, &[]).contains("nothing ends this run: flow `a` makes requests for ever"),
        "{}",
        message(text, &[])
    );
}

#[test]
fn a_run_must_have_work() {
    let text = "drive = \"a4-mini\"\n[run]\nrequests = 1\n";
    assert!(message(text, &[]).contains("at least one [[flow]] table"), "{}", message(text, &[]));
}

#[test]
fn mistakes_in_a_case_name_the_case() {
    let text = format!("{BASE}[[case]]\nname = \"one\"\nset = [\"ftl.gc=gredy\"]\n");
    assert!(
        message(&text, &[]).starts_with("x.toml:9: case \"one\": ftl.gc: seen "),
        "{}",
        message(&text, &[])
    );
    let text = format!("{BASE}[[case]]\nname = \"one\"\n[[case]]\nname = \"one\"\n");
    assert!(message(&text, &[]).contains("a name no other case has"));
    let text = format!("{BASE}[[case]]\nname = \"one\"\nset = [\"ftl.gc\"]\n");
    assert!(message(&text, &[]).contains("overrides of the form \"key=value\""));
}

/// Overrides of cases by a case, and repeated overrides, are refused.
#[test]
fn a_case_overrides_anything_but_the_cases_and_each_key_once() {
    for (case, expected) in [
        (
            "name = \"one\"\nset = [\"case.0.name=two\"]",
            "x.toml:9: case.0.set: seen [\"case.0.name=two\"]; expected overrides of anything but the cases; one is of \
             case.0.name",
        ),
        (
            "name = \"one\"\nset = [\"seed=1\", \"seed=2\"]",
            "x.toml:9: case.0.set: seen [\"seed=1\", \"seed=2\"]; expected one override of each key; there are two of seed",
        ),
        (
            "name = \"a\\u001b[31mb\"",
            "x.toml:8: case.0.name: seen \"a\\u{1b}[31mb\"; expected a name of 1 to 60 characters without line breaks and \
             control characters",
        ),
        (
            "name = \"\"",
            "x.toml:8: case.0.name: seen \"\"; expected a name of 1 to 60 characters without line breaks and control \
             characters",
        ),
    ] {
        assert_eq!(message(&format!("{BASE}[[case]]\n{case}\n"), &[]), expected);
    }
}

/// A documented key may not apply or not fit, but is never unknown.
#[test]
fn no_key_on_record_is_ever_unknown() {
    let (keys, mut refused) = (interpulse_study::config::keys(), 0);
    for drive in ["a4-mini", "fast12-slc"] {
        for flow in ["read = 0.5\n", "trace = \"t\"\n", "twin = \"msr-prxy-0\"\n"] {
            let text = format!("drive = \"{drive}\"\n[run]\nrequests = 10\n[[flow]]\n{flow}");
            for key in &keys {
                let path = key.path.replace(".N.", ".0.");
                let value = match &key.need {
                    Need::Default(value) => value.as_str(),
                    _ => key.choices.first().map_or("1", |(name, _)| name),
                };
                let message = message(&text, &[(&path, value)]);
                assert!(!message.contains(": unknown "), "{drive}, {path}: {message}");
                refused += u32::from(message.contains("does not apply; it belongs to "));
            }
        }
    }
    assert!(refused > 200, "{refused}");
}

#[test]
fn an_ascii_trace_names_its_unit_and_type_code() {
    let base = "drive = \"a4-mini\"\n[[flow]]\ntrace = \"t\"\nformat = \"ascii\"\n";
    let legal = format!("{base}time-unit = \"us\"\nwrites-are = 1\n");
    assert_eq!(message(&legal, &[]), "no mistake was found");
    assert_eq!(
        message(&legal, &[("flow.0.writes-are", "2")]),
        "--set: flow.0.writes-are: seen 2; expected a whole number from 0 to 1"
    );
    assert!(message(base, &[]).contains("flow.0.writes-are: missing key"), "{}", message(base, &[]));
}

const TWIN: &str = "drive = \"a4-mini\"\n[[flow]]\ntwin = \"msr-prxy-0\"\nrequests = 20000\n";

#[test]
fn a_twin_ends_by_itself_and_refuses_what_its_row_says() {
    assert_eq!(message(TWIN, &[]), "no mistake was found");
    for (sets, expected) in [
        (
            &[("flow.0.read", "0.5")][..],
            "--set: flow.0.read: does not apply; it belongs to a flow made up from distributions, without `trace`, `twin` and \
             `zones` or a flow with `zones`",
        ),
        (
            &[("flow.0.trace", "t.csv")],
            "--set: flow.0.trace: does not apply; it belongs to a flow that replays a `trace`",
        ),
        (
            &[("flow.0.twin", "msr-prxy-1")],
            "--set: flow.0.twin: seen \"msr-prxy-1\"; expected one of msr-hm-0, ",
        ),
        (
            &[("flow.0.twin", "none.toml")],
            "--set: flow.0.twin: seen \"none.toml\"; expected a file with a row; twin row none.toml: cannot be opened: ",
        ),
        (&[("flow.0.requests", "20")], "twin row msr-prxy-0:"),
        (&[("flow.0.depth", "20")], "--set: flow.0.depth: does not apply; it belongs to pacing = \"closed\""),
    ] {
        let seen = message(TWIN, sets);
        assert!(seen.starts_with(expected), "{seen}");
    }
}

#[test]
fn a_row_lies_beside_its_configuration_and_enters_the_hash() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let row = |gap: &str| {
        format!(
            "[twin]\nrequests = 5000\nwrite-share = \"50%\"\nread-size = \"8KiB\"\nwrite-size = \"12KiB\"\n\
             rewritten-share = \"80%\"\nmean-gap = \"{gap}\"\nsquared-variation = 4\n"
        )
    };
    let hash = |text: &str| {
        std::fs::write(folder.path().join("row.toml"), text).expect("a file");
        let request = PlanRequest {
            text: TWIN.replace("msr-prxy-0", "row.toml"),
            path: folder.path().join("x.toml").to_string_lossy().into_owned(),
            ..PlanRequest::default()
        };
        read_cases(&request).map(|cases| cases[0].config_hash()).map_err(|e| e.to_string())
    };
    let first = hash(&row("1ms"));
    assert!(first.is_ok(), "{first:?}");
    assert_eq!(first, hash(&format!("# The same.\n{}", row("1000us"))));
    assert_ne!(first, hash(&row("2ms")));
    let wrong = hash(&row("2mins")).expect_err("no such unit");
    assert!(
        wrong.contains("row.toml:7: twin.mean-gap: seen \"2mins\"; expected a duration in ns, us"),
        "{wrong}"
    );
}

/// Messages for a broken error table.
#[test]
fn mistakes_about_errors_name_the_key_and_what_is_legal() {
    let cai = ("errors.table", "cai-tlc");
    for (sets, expected) in [
        (
            &[("errors.table", "cai")][..],
            "--set: errors.table: seen \"cai\"; expected one of ideal, cai-tlc, tlc-3d, or FILE.toml",
        ),
        (
            &[("errors.table", "nowhere.toml")],
            "--set: errors.table: seen \"nowhere.toml\"; expected a file with an error table; error table nowhere.toml: \
             cannot be opened: No such file or directory (os error 2)",
        ),
        (
            &[("errors.initial-age", "9d")],
            "--set: errors.initial-age: does not apply; it belongs to an errors.table other than \"ideal\"",
        ),
        (
            &[("ecc.capability", "9")],
            "--set: ecc.capability: does not apply; it belongs to an errors.table other than \"ideal\"",
        ),
        (
            &[cai, ("errors.initial-age", "400d")],
            "--set: errors.initial-age = 34560000s and errors.temperature-c = 40 and errors.table = cai-tlc: this age at 40 \
             degrees is worth 9600 h at the table's 40, which ends at 8760 h",
        ),
        (
            &[cai, ("precondition.cycles", "2001")],
            "--set: precondition.cycles = 2001 and errors.table = cai-tlc: the error table ends at 2000 cycles",
        ),
        (
            &[cai, ("errors.reprograms", "1")],
            "--set: errors.reprograms: seen 1; expected at most 0, where the table ends",
        ),
        (
            &[cai, ("ecc.codeword", "3KiB")],
            "--set: ecc.codeword: seen \"3KiB\"; expected a power of two from 128B to 4KiB",
        ),
        (
            &[cai, ("ecc.max-latency", "3us")],
            "--set: ecc.max-latency = 3us and ecc.latency = 4us: no decode is shorter than one without errors",
        ),
        (
            &[cai, ("ecc.max-retries", "0"), ("ecc.retry", "pipelined")],
            "--set: ecc.retry: does not apply; it belongs to max-retries of at least 1",
        ),
        (
            &[cai, ("ecc.retry-reset", "5us")],
            "--set: ecc.retry-reset: does not apply; it belongs to retry = \"pipelined\"",
        ),
        (
            &[cai, ("ecc.retry-prediction", "1us")],
            "--set: ecc.retry-prediction: does not apply; it belongs to retry = \"on-die\"",
        ),
        (
            &[cai, ("ecc.retry", "on-die"), ("ecc.max-retries", "0")],
            "--set: ecc.retry: does not apply; it belongs to max-retries of at least 1",
        ),
        (
            &[("ecc.retry", "on-die")],
            "--set: ecc.retry: does not apply; it belongs to an errors.table other than \"ideal\"",
        ),
        (
            &[cai, ("ecc.retry", "on-die"), ("ecc.retry-on-die", "0")],
            "--set: ecc.retry-on-die: seen 0; expected a whole number from 1 to 8",
        ),
        (
            &[
                cai,
                ("ecc.soft-sensings", "[2]"),
                ("ecc.soft-capability", "[80]"),
                ("ecc.soft-latency", "[\"9us\"]"),
            ],
            "--set: ecc.soft-capability: seen [80]; expected more in each stage than before it; hard decoding corrects 80",
        ),
        (
            &[cai, ("ftl.gc", "imposed"), ("ftl.imposed-waf", "2.4"), ("errors.refresh-after", "9d")],
            "--set: errors.refresh-after = 777600s and ftl.gc = imposed: imposed write amplification has no victims and no \
             erases, so no block can be rewritten",
        ),
    ] {
        assert_eq!(message(BASE, sets), expected);
    }
}

/// A table path is relative to the configuration; errors name the line.
#[test]
fn a_broken_table_names_file_line_and_key() {
    let folder = std::env::temp_dir().join(format!("interpulse-table-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let good = interpulse_flash::errors::presets::table("cai-tlc").unwrap().to_toml();
    let config = folder.join("x.toml");
    let text = BASE.replace("[run]", "[errors]\ntable = \"t.toml\"\n[run]");
    let read = |table: &str| {
        std::fs::write(folder.join("t.toml"), table).unwrap();
        let path = config.display().to_string();
        let request = PlanRequest { text: text.clone(), path, ..PlanRequest::default() };
        read_cases(&request).map(|cases| cases[0].config_hash()).map_err(|e| e.to_string())
    };
    let file = folder.join("t.toml").display().to_string();
    let hash = read(&good).unwrap();
    assert_ne!(
        hash,
        read(&good.replace("4.357e-5", "5.357e-5")).unwrap(),
        "the content decides about the hash"
    );
    assert_eq!(
        read(&good.replace("cycles = [0, 2000]", "cycles = [2000, 0]")).unwrap_err(),
        format!(
            "{file}:5: error-table.cycles: seen [2000, 0]; expected at least one number of cycles, each larger than the one \
             before"
        )
    );
    assert_eq!(
        read(&good.replace("spread-ln-sd", "spread")).unwrap_err(),
        format!(
            "{file}:11: error-table.spread: unknown key; expected one of title, source, temperature-c, cycles, retention-h, \
             reprograms, layer-fraction, page-types, attempts, rber, spread-ln-sd"
        )
    );
    let missing = read(&good.replace("4.357e-5, ", "")).unwrap_err();
    assert!(
        missing.starts_with(&format!("{file}:12: error-table.rber: seen ["))
            && missing.contains(", ...]; expected 2 cycles x 5 "),
        "{missing}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A table for three bits per cell does not suit two.
#[test]
fn a_table_has_the_page_types_of_the_part() {
    let text = BASE.replace("a4-mini", "fast12-mlc").replace("[run]", "[errors]\ntable = \"cai-tlc\"\n[run]");
    assert_eq!(
        message(&text, &[]),
        "x.toml:3: errors.table: seen \"cai-tlc\"; expected a table of 2 page types, as part.bits-per-cell asks; this has 3"
    );
}

/// A zoned drive with a flow that writes its zones.
const ZONED: &str =
    "drive = \"a4-mini\"\n[ftl]\nfamily = \"zoned\"\n[run]\nrequests = 10\n[[flow]]\nzones = \"append\"\n";

#[test]
fn a_zoned_drive_refuses_what_zones_do_not_go_together_with() {
    assert_eq!(message(ZONED, &[]), "no mistake was found");
    for (sets, expected) in [
        (&[("ftl.gc", "greedy")][..], "--set: ftl.gc: does not apply; it belongs to family = \"page\""),
        (
            &[("ftl.zone-width", "3")],
            "zones of 3 lanes do not divide the 8 lanes of the drive; legal: 1, 2, 4, 8",
        ),
        (&[("ftl.zone-rows", "4096")], "do not fit the"),
        (&[("ftl.max-open", "15")], "an open zone is active: give a max-active that is at least max-open"),
        (&[("ftl.max-active", "900")], "programs of 12 units on this drive need at least"),
        (&[("ftl.zrwa-size", "64KiB")], "ftl.zrwa-granularity: missing key"),
        (&[("ftl.zrwa-size", "64KiB"), ("ftl.zrwa-granularity", "24KiB")], "a divisor of zrwa-size = 64KiB"),
        (
            &[("ftl.zrwa-size", "6KiB"), ("ftl.zrwa-granularity", "2KiB")],
            "a whole number of the drive's logical blocks",
        ),
        (
            &[("ftl.zrwa-size", "64KiB"), ("ftl.zrwa-granularity", "16KiB"), ("ftl.zrwa-zones", "15")],
            "at most ftl.max-active = 14 have one",
        ),
        (
            &[("ftl.zrwa-size", "64MiB"), ("ftl.zrwa-granularity", "64MiB"), ("cache.size", "1GiB")],
            "is larger than a zone of",
        ),
        (&[("flow.0.zones", "zrwa")], "zones without ftl.zrwa-size have no random write area"),
        (&[("cache.acknowledge", "when-programmed")], "waits in the cache for its neighbours in the zone"),
        (&[("cache.size", "0B")], "waits in the cache for its neighbours in the zone"),
        (
            &[
                ("power-loss.at", "1us"),
                ("cache.protected", "false"),
                ("ftl.zrwa-size", "64KiB"),
                ("ftl.zrwa-granularity", "16KiB"),
            ],
            "a random write area is memory that survives a loss of power",
        ),
        (&[("precondition.overwrite", "uniform")], "a zone is written once, in order, until it is reset"),
        (&[("array.level", "raid0"), ("array.drives", "2")], "a zone only at its write pointer"),
        (&[("flow.0.block-size", "512B")], "multiples of 4KiB, the logical block of a zoned drive"),
        (&[("flow.0.address", "uniform")], "flow.0.address: does not apply; it belongs to a flow made up"),
        (&[("flow.0.open-zones", "60000")], "flow.0.open-zones: seen 60000; expected at most the "),
        (&[("ftl.family", "page")], "a drive with ftl.family = \"zoned\"; this one has no zones"),
    ] {
        let found = message(ZONED, sets);
        assert!(found.contains(expected), "{sets:?}\n{found}");
    }
    let found = message(BASE, &[("ftl.zone-width", "2")]);
    assert!(found.contains("ftl.zone-width: does not apply; it belongs to family = \"zoned\""), "{found}");
}

#[test]
fn a_distribution_of_delays_has_ascending_points_up_to_1() {
    for (sets, expected) in [
        (
            &[("host.delay-shares", "[0.5, 1.0]"), ("host.delays", "[\"0us\", \"9us\"]")][..],
            "no mistake was found",
        ),
        (
            &[("host.delay-shares", "[0.9, 0.5]"), ("host.delays", "[\"1us\", \"9us\"]")],
            "host.delay-shares: seen [0.9, 0.5]; expected shares in ascending order",
        ),
        (
            &[("host.delay-shares", "[0.5]"), ("host.delays", "[\"1us\"]")],
            "host.delay-shares: seen [0.5]; expected 1 as the last share",
        ),
        (&[("host.delay-shares", "[1.5]"), ("host.delays", "[\"1us\"]")], "host.delay-shares: seen"),
        (&[("host.delay-shares", "[1.0]")], "host.delays: "),
        (&[("host.delays", "[\"1us\"]")], "as many times as delay-shares has shares: 0"),
        (
            &[("host.delay-shares", "[0.5, 1.0]"), ("host.delays", "[\"9us\", \"1us\"]")],
            "expected times in ascending order",
        ),
        (&[("host.delay-shares", "[1.0]"), ("host.delays", "[\"1s\"]")], "host.delays: seen"),
    ] {
        let found = message(BASE, sets);
        assert!(found.contains(expected), "{sets:?}\n{found}");
    }
}

/// A drive with log blocks.
const LOG_BLOCKS: &str = "drive = \"a4-mini\"\n[ftl]\nfamily = \"log-block\"\nlog-blocks = 2\n[run]\nrequests = 10\n[[flow]]\nread = 0.0\n";

#[test]
fn a_drive_with_log_blocks_refuses_what_they_do_not_go_together_with() {
    assert_eq!(message(LOG_BLOCKS, &[]), "no mistake was found");
    for (sets, expected) in [
        (&[("ftl.gc", "greedy")][..], "--set: ftl.gc: does not apply; it belongs to family = \"page\""),
        (&[("ftl.mapping", "cached")], "ftl.mapping: does not apply; it belongs to family = \"page\""),
        (&[("ftl.slc-cache.kind", "static")], "ftl.slc-cache: does not apply"),
        (&[("ftl.placement", "fdp")], "ftl.placement: does not apply; it belongs to family = \"page\""),
        (&[("ftl.zone-rows", "2")], "ftl.zone-rows: does not apply; it belongs to family = \"zoned\""),
        (&[("ftl.log-blocks", "0")], "ftl.log-blocks: seen 0; expected"),
        (&[("ftl.log-blocks", "65536")], "data blocks and 65538 for log blocks and merges do not fit"),
        (&[("ftl.log-block-association", "sector")], "ftl.log-block-association: seen \"sector\"; expected"),
        (&[("power-loss.at", "1us")], "the map of log blocks is not rebuilt after a loss of power"),
        (&[("faults.erase-failure", "1%")], "blocks and dies that fail are not followed in merges"),
        (&[("cache.acknowledge", "when-programmed")], "waits in the cache for others of its log block"),
        (&[("cache.size", "0B")], "waits in the cache for others of its log block"),
        (&[("read-cache.size", "1MiB")], "a read cache is not followed over log blocks"),
        (
            &[("firmware.mapping-time", "1us")],
            "firmware cores by task are followed in the page-mapped family alone",
        ),
        (&[("precondition.overwrite", "uniform")], "a state without merges has every unit in its data block"),
        (&[("precondition.out-of-date", "10%")], "a state without merges has every unit in its data block"),
        (
            &[("array.level", "raid0"), ("array.drives", "2")],
            "GC windows of an array are those of the page-mapped family",
        ),
        (
            &[("errors.table", "cai-tlc"), ("errors.refresh-after", "1s")],
            "blocks are not rewritten for their age or reads",
        ),
        (&[("flow.0.zones", "append")], "this one has no zones"),
    ] {
        let found = message(LOG_BLOCKS, sets);
        assert!(found.contains(expected), "{sets:?}\n{found}");
    }
    for (table, expected) in [
        ("[[format]]\nat = \"1us\"\n", "a format erases blocks of the page-mapped family alone"),
        ("[[namespace]]\n[[namespace]]\n", "log blocks belong to a whole drive"),
    ] {
        let found = message(&format!("{LOG_BLOCKS}{table}"), &[]);
        assert!(found.contains(expected), "{table}\n{found}");
    }
    let found = message(BASE, &[("ftl.log-blocks", "2")]);
    assert!(
        found.contains("ftl.log-blocks: does not apply; it belongs to family = \"log-block\""),
        "{found}"
    );
}
