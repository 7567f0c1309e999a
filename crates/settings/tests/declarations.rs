//! Declarations: conditional keys, the list of all keys, the hash of the state, and random values.

use interpulse_engine::{Duration, Streams};
use interpulse_settings::{ConfigError, Document, Key, Need, Row, Section, default, optional, required};
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq)]
enum Victims {
    Greedy,
    DChoices { d: u32 },
    Windowed { size: u32, of: u32 },
}

fn d_choices(s: &mut Section) -> Result<Victims, ConfigError> {
    Ok(Victims::DChoices { d: s.u32("gc-choices", "blocks drawn", default(10).within(1..=1024))? })
}

fn windowed(s: &mut Section) -> Result<Victims, ConfigError> {
    let size = s.u32("gc-window", "blocks looked at", required().within(2..=64))?;
    let of = s.u32("gc-choices", "blocks drawn of the window", default(2).within(1..=64))?;
    if of > size {
        return Err(s.conflict(&["gc-choices", "gc-window"], "more are drawn than there are"));
    }
    Ok(Victims::Windowed { size, of })
}

const VICTIMS: &[Row<Victims>] = &[
    Row { name: "greedy", doc: "the emptiest", read: |_| Ok(Victims::Greedy) },
    Row { name: "d-choices", doc: "the emptiest of some", read: d_choices },
    Row { name: "windowed", doc: "the emptiest of the oldest", read: windowed },
];

type Ftl = (Victims, Option<(Duration, Option<u32>)>, u32);

fn read(document: &Document) -> Result<Ftl, ConfigError> {
    let mut f = document.section("ftl")?;
    let victims = f.shaping_state().policy("gc", "which block is emptied", Some("greedy"), VICTIMS)?;
    let on = f.bool("hot", "hot data is separated", default(false))?;
    let hot = f.when(on, "hot = true", |f| {
        let range = default(Duration::from_ms(5)).within(Duration::from_us(1)..=Duration::from_ms(1000));
        let within = f.duration("hot-within", "hot is younger", range)?;
        Ok((within, f.section("lists")?.optional_u32("most", "most of them", optional().at_least(1))?))
    })?;
    let depth = f.u32("gc-depth", "programs at a time", default(2).within(1..=1024))?;
    Ok((victims, hot, depth))
}

fn seen(text: &str) -> String {
    let all = |document: &Document| read(document).and_then(|ftl| document.finish().map(|()| ftl));
    match Document::from_toml(text, "x.toml").and_then(|document| all(&document)) {
        Ok(ftl) => format!("{ftl:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_policy_reads_its_own_keys_and_those_of_others_are_refused() {
    for (text, expected) in [
        ("", "(Greedy, None, 2)"),
        ("[ftl]\ngc = \"d-choices\"\ngc-choices = 3", "(DChoices { d: 3 }, None, 2)"),
        ("[ftl]\ngc = \"windowed\"\ngc-window = 3", "(Windowed { size: 3, of: 2 }, None, 2)"),
        (
            "[ftl]\ngc = \"windowed\"",
            "x.toml:1: ftl.gc-window: missing key; expected a whole number from 2 to 64",
        ),
        (
            "[ftl]\ngc = \"windowed\"\ngc-window = 3\ngc-choices = 4",
            "x.toml:4: ftl.gc-choices = 4 and ftl.gc-window = 3: more are drawn than there are",
        ),
        (
            "[ftl]\ngc-choices = 3",
            "x.toml:2: ftl.gc-choices: does not apply; it belongs to gc = \"d-choices\" or gc = \"windowed\"",
        ),
        (
            "[ftl]\ngc = \"d-choices\"\ngc-window = 3",
            "x.toml:3: ftl.gc-window: does not apply; it belongs to gc = \"windowed\"",
        ),
        (
            "[ftl]\ngc = \"gredy\"",
            "x.toml:2: ftl.gc: seen \"gredy\"; expected one of greedy, d-choices, windowed (did you mean \"greedy\"?)",
        ),
        ("[ftl]\nhot = true\nhot-within = \"1ms\"", "(Greedy, Some((Duration(1000000), None)), 2)"),
        ("[ftl]\nhot = true\n[ftl.lists]\nmost = 7", "(Greedy, Some((Duration(5000000), Some(7))), 2)"),
        ("[ftl]\nhot-within = \"1ms\"", "x.toml:2: ftl.hot-within: does not apply; it belongs to hot = true"),
        ("[ftl.lists]\nmost = 7", "x.toml:1: ftl.lists: does not apply; it belongs to hot = true"),
    ] {
        assert_eq!(seen(text), expected, "{text}");
    }
}

fn keys() -> Vec<Key> {
    let document = Document::empty().declaring();
    read(&document).expect("declaring reads everything");
    document.keys().expect("every way can be read without values")
}

#[test]
fn every_key_is_declared_whatever_is_chosen() {
    let shown: Vec<String> = keys()
        .iter()
        .map(|key| {
            format!(
                "{} | {} {} | {:?} | {}",
                key.path,
                key.noun,
                key.range,
                key.need,
                key.belongs_to.join(", ")
            )
        })
        .collect();
    let value = |text: &str| format!("{:?}", Need::Default(text.into()));
    let expected = [
        format!("ftl.gc | a text  | {} | ", value("greedy")),
        format!("ftl.gc-choices | a whole number from 1 to 1024 | {} | gc = \"d-choices\"", value("10")),
        "ftl.gc-window | a whole number from 2 to 64 | Required | gc = \"windowed\"".to_string(),
        format!("ftl.gc-choices | a whole number from 1 to 64 | {} | gc = \"windowed\"", value("2")),
        format!("ftl.hot | true or false  | {} | ", value("false")),
        format!("ftl.hot-within | a duration from 1us to 1s | {} | hot = true", value("5ms")),
        "ftl.lists.most | a whole number of at least 1 | Optional | hot = true".to_string(),
        format!("ftl.gc-depth | a whole number from 1 to 1024 | {} | ", value("2")),
    ];
    assert_eq!(shown, expected);
    let keys = keys();
    let names: Vec<&str> = keys[0].choices.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["greedy", "d-choices", "windowed"]);
}

#[test]
fn a_variant_that_cannot_be_declared_is_reported() {
    let document = Document::empty().declaring();
    let mut s = document.section("ftl").unwrap();
    let read = |s: &mut Section| {
        s.u32("first", "", default(1))?;
        Err::<(), _>(s.invalid("first", "something else"))
    };
    assert_eq!(s.when(false, "nothing", read).unwrap(), None);
    assert!(document.keys().unwrap_err().to_string().contains("ftl.first"));
}

#[test]
fn the_state_is_hashed_from_the_keys_that_shape_it_and_those_of_their_policies() {
    let hash = |text: &str| {
        let document = Document::from_toml(text, "x.toml").unwrap();
        read(&document).unwrap();
        document.resolution().state_hash()
    };
    let plain = hash("");
    assert_eq!(plain, hash("[ftl]\ngc-depth = 7\nhot = true"));
    assert_ne!(plain, hash("[ftl]\ngc = \"d-choices\""));
    assert_ne!(hash("[ftl]\ngc = \"d-choices\""), hash("[ftl]\ngc = \"d-choices\"\ngc-choices = 3"));
    let shaping: Vec<String> = keys().into_iter().filter(|k| k.shapes_state).map(|k| k.path).collect();
    assert_eq!(shaping, ["ftl.gc", "ftl.gc-choices", "ftl.gc-window", "ftl.gc-choices"]);
}

#[test]
fn whatever_is_declared_can_be_drawn() {
    let mut rng = Streams::new(7).stream("test.draw", 0);
    let (mut drawn, mut worlds) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..300 {
        let mut rng = Streams::new(rng.next_u64()).stream("test.draw", 0);
        let (sender, receiver) = std::sync::mpsc::channel();
        let document = Document::empty().with_random_values(move |key| {
            sender.send(key.path.clone()).unwrap();
            key.random_value(&mut rng)
        });
        match read(&document) {
            Ok((victims, hot, depth)) => {
                worlds.insert((format!("{victims:?}").split(' ').next().unwrap().to_string(), hot.is_some()));
                assert!((1..=1024).contains(&depth));
            }
            Err(error) => assert!(error.to_string().contains("more are drawn than there are"), "{error}"),
        }
        drawn.extend(receiver.try_iter());
    }
    assert_eq!(drawn, keys().into_iter().map(|key| key.path).collect());
    assert_eq!(worlds.len(), 6, "{worlds:?}");
}
