//! Layers and origins: the upper layer wins, and every value keeps its origin.

use interpulse_engine::{Bytes, Duration};
use interpulse_settings::{ConfigError, Document, Origin, PresetKind, default, optional, required};

const PRESET: &str = r#"
[part]
read = { value = "80us", source = "A, Table 2" }
planes = { value = 2, source = "A, Table 1" }
erase = "5ms"
[[flow]]
depth = 1
[[flow]]
depth = 2
"#;

fn preset() -> Document {
    Document::preset(PRESET, PresetKind::Part, "a").unwrap()
}

fn origins(document: &Document) -> Result<Vec<String>, ConfigError> {
    let mut part = document.section("part")?;
    part.duration("read", "sensing time", required())?;
    part.u32("planes", "planes", required())?;
    part.duration("erase", "erase time", required())?;
    part.u32("layers", "layers", default(1))?;
    part.optional_bytes("page", "page size", optional())?;
    for mut flow in document.tables("flow")? {
        flow.u32("depth", "queue depth", required())?;
    }
    document.finish()?;
    let resolution = document.resolution();
    Ok(resolution.entries().iter().map(|e| format!("{} = {} [{}]", e.path, e.display, e.origin)).collect())
}

#[test]
fn the_upper_layer_wins_leaf_by_leaf() {
    let file = Document::from_toml("[part]\n\nread = \"90us\"\npage = \"16KiB\"\n", "x.toml").unwrap();
    let set = Document::set("part.planes", "4").unwrap();
    let document = set.over(file.over(preset()).unwrap()).unwrap();
    assert_eq!(
        origins(&document).unwrap(),
        [
            "part.read = 90us [x.toml:3]",
            "part.planes = 4 [--set]",
            "part.erase = 5ms [part preset a]",
            "part.layers = 1 [default]",
            "part.page = 16KiB [x.toml:4]",
            "flow.0.depth = 1 [part preset a]",
            "flow.1.depth = 2 [part preset a]",
        ]
    );
}

#[test]
fn arrays_of_tables_are_replaced_whole_except_by_set() {
    let file = Document::from_toml("[[flow]]\ndepth = 9\n", "x.toml").unwrap();
    let replaced = origins(&file.over(preset()).unwrap()).unwrap();
    assert_eq!(&replaced[5..], ["flow.0.depth = 9 [x.toml:2]"]);

    let both = Document::set("flow.1.depth", "8").unwrap().over(Document::set("flow.0.depth", "7").unwrap());
    let set = origins(&both.unwrap().over(preset()).unwrap()).unwrap();
    assert_eq!(&set[5..], ["flow.0.depth = 7 [--set]", "flow.1.depth = 8 [--set]"]);
}

#[test]
fn citations_stay_with_their_values() {
    let document = preset();
    origins(&document).unwrap();
    let resolution = document.resolution();
    assert_eq!(resolution.entry("part.read").unwrap().origin.to_string(), "part preset a (A, Table 2)");
    assert_eq!(resolution.entry("part.planes").unwrap().origin.source(), Some("A, Table 1"));
    assert_eq!(document.uncited(), ["flow.0.depth", "flow.1.depth", "part.erase"]);
    let cited = "[part]\nread = { value = \"1us\", source = \"my bench\" }\n";
    let file = Document::from_toml(cited, "x.toml").unwrap();
    file.section("part").unwrap().duration("read", "sensing time", required()).unwrap();
    let origin = file.resolution().entry("part.read").unwrap().origin.clone();
    assert_eq!(origin, Origin::File { file: "x.toml".into(), line: 2, source: Some("my bench".into()) });
}

#[test]
fn the_text_of_a_set_is_a_toml_value_or_a_string() {
    let set = |text: &str| Document::set("a.b", text).unwrap().section("a").unwrap();
    assert_eq!(set("1_000").u64("b", "", required()).unwrap(), 1000);
    assert_eq!(set("90us").duration("b", "", required()).unwrap(), Duration::from_us(90));
    assert_eq!(set("\"90us\"").duration("b", "", required()).unwrap(), Duration::from_us(90));
    assert_eq!(set("16KiB").bytes("b", "", required()).unwrap(), Bytes::kib(16));
    assert_eq!(set("1.2GT/s").rate("b", "", required()).unwrap(), 1_200_000_000);
    assert_eq!(set("1.5kIOPS").per_second("b", "", required()).unwrap(), 1500.0);
    assert_eq!(set("30%").fraction("b", "", required()).unwrap(), 0.3);
    assert_eq!(set("0.3").fraction("b", "", required()).unwrap(), 0.3);
    assert!(set("true").bool("b", "", required()).unwrap());
    assert_eq!(set("imposed").string("b", "", None).unwrap(), "imposed");
    assert_eq!(set("[1, 2]").list_u64("b", "", None, required()).unwrap(), [1, 2]);
    assert_eq!(set("").string("b", "", None).unwrap(), "");
    assert_eq!(set("18446744073709551615").u64("b", "", required()).unwrap(), u64::MAX);
}

#[test]
fn one_value_or_a_list_of_them() {
    let read = |text: &str| {
        let document = Document::from_toml(text, "x.toml")?;
        let mut section = document.section("a")?;
        let values = (
            section.one_or_more_u32("b", "", optional())?,
            section.one_or_more_durations("c", "", default(Duration(7)))?,
        );
        document.finish().map(|()| values)
    };
    assert_eq!(read("[a]\nb = 3\n").unwrap(), (vec![3], vec![Duration(7)]));
    assert_eq!(read("[a]\nb = [3, 1]\nc = [\"1us\"]\n").unwrap(), (vec![3, 1], vec![Duration::from_us(1)]));
    assert_eq!(read("[a]\nb = []\nc = \"2us\"\n").unwrap(), (vec![], vec![Duration::from_us(2)]));
    assert_eq!(read("").unwrap(), (vec![], vec![Duration(7)]));
    assert!(read("[a]\nb = [3, \"x\"]\n").unwrap_err().to_string().contains("a.b: seen \"x\""));
}

#[test]
fn the_hash_knows_values_only() {
    let hash = |text: &str, file: &str| {
        let document = Document::from_toml(text, file).unwrap();
        let mut run = document.section("run").unwrap();
        run.duration("time", "length", default(Duration::from_us(80))).unwrap();
        run.optional_u64("seed", "seed", optional()).unwrap();
        run.u64("threads", "threads", default(1)).unwrap();
        run.label("title", "title").unwrap();
        document.finish().unwrap();
        document.resolution().hash(&["run.threads"])
    };
    let plain = hash("", "a");
    assert_eq!(plain.len(), 32);
    assert_eq!(plain, hash("[run]\ntime = \"0.08ms\"\ntitle = \"x\"\nthreads = 8", "b"));
    assert_ne!(plain, hash("[run]\ntime = \"81us\"", "a"));
    assert_ne!(plain, hash("[run]\nseed = 0", "a"));
    // Golden: a change here makes every recorded hash and snapshot key stale.
    assert_eq!(plain, "2883b22050b05a8e21bb619a3f1a4fe3");
}

#[test]
fn a_sub_hash_covers_chosen_sections_and_prefixes_end_at_dots() {
    let document = Document::empty();
    let mut run = document.section("run").unwrap();
    run.u64("out", "", default(1)).unwrap();
    run.u64("output", "", default(2)).unwrap();
    let all = document.resolution();
    assert_ne!(all.hash(&[]), all.hash(&["run.out"]));
    assert_ne!(all.hash(&["run.out"]), all.hash(&["run.out", "run.output"]));
    assert_eq!(all.hash(&["run"]), Document::empty().resolution().hash(&[]));
    assert_eq!(all.state_hash(), all.hash(&["run"]), "no key shapes the state");
    run.shaping_state().u64("output", "", default(2)).unwrap();
    assert_eq!(document.resolution().state_hash(), all.hash(&["run.out"]));
}

#[test]
fn two_readers_may_share_a_section() {
    let document = Document::from_toml("[run]\na = 1\nb = 2", "x.toml").unwrap();
    document.section("run").unwrap().u64("a", "", required()).unwrap();
    assert!(document.finish().is_err());
    document.section("run").unwrap().u64("b", "", required()).unwrap();
    document.finish().unwrap();
    assert!(document.has("run.a") && !document.has("run.c") && !document.has("run.a.b"));
}

#[test]
fn a_document_can_be_moved_below_a_section() {
    let document = Document::from_toml("read = \"1us\"", "x.toml").unwrap().under("part");
    assert_eq!(document.leaves(), ["part.read"]);
}
