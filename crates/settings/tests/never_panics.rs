//! Robustness: no generated, near-TOML or corpus text makes the reader panic.

use interpulse_settings::fuzz_config;
use proptest::prelude::*;

#[test]
fn the_corpus_is_read_without_a_panic() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    let mut count = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        fuzz_config(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 10, "only {count} files in {corpus}");
}

#[test]
fn deep_nesting_is_refused_not_recursed_into() {
    let dotted = vec!["a"; 70].join(".");
    let mut nested = String::from("x = ");
    for _ in 0..70 {
        nested.push_str(&format!("{{ {dotted} = "));
    }
    nested.push('1');
    nested.push_str(&"}".repeat(70));
    fuzz_config(nested.as_bytes());
    fuzz_config(format!("x = {}1{}", "[".repeat(70), "]".repeat(70)).as_bytes());
    fuzz_config(format!("x = {}", "[".repeat(100_000)).as_bytes());
    fuzz_config(format!("[{}]", "a.".repeat(100_000)).as_bytes());
    fuzz_config(format!("{} = 1", vec!["a"; 20].join(".")).as_bytes());
}

/// Lines out of which something close to a configuration can be put together.
fn line() -> impl Strategy<Value = String> {
    let key = "[a-c]{1,2}|skip|value|source|0|1|\"\"|\"\\\\n\"|a\\.b";
    let value = prop_oneof![
        "-?[0-9]{1,40}(\\.[0-9]{1,40})?(e-?[0-9]{1,4})?",
        "\"-?[0-9.]{0,12} ?(ns|us|ms|s|h|d|B|KiB|TiB|MT/s|/s|kIOPS|%|)\"",
        Just("[]".to_string()),
        Just("[1, \"2us\", [3]]".to_string()),
        Just("{ value = \"3us\", source = \"x\" }".to_string()),
        Just("{ a = 1 }".to_string()),
        Just("[{ a = 1 }, { b = 2 }]".to_string()),
        Just("inf".to_string()),
        Just("1979-05-27".to_string()),
        Just("\"greedy\"".to_string()),
        ".{0,8}",
    ];
    prop_oneof![
        4 => (key, value).prop_map(|(key, value)| format!("{key} = {value}")),
        1 => key.prop_map(|key| format!("[{key}]")),
        1 => key.prop_map(|key| format!("[[{key}]]")),
    ]
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz_config(&bytes);
    }

    #[test]
    fn anything_like_a_configuration(lines in prop::collection::vec(line(), 0..12)) {
        fuzz_config(lines.join("\n").as_bytes());
    }
}
