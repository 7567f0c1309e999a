//! Fuzz test of the configuration reader: random values for real keys, alone and together.

use interpulse_study::config::{PlanRequest, fuzz_plan, read_cases};
use interpulse_study::plan::resolve;
use proptest::prelude::*;

const BASE: &str = "drive = \"a4-mini\"\n[run]\nrequests = 10\n[[flow]]\ndepth = 4\nread = 0.5\n";

/// Every key of the base configuration.
fn keys() -> Vec<String> {
    let request = PlanRequest { text: BASE.into(), path: "base".into(), ..PlanRequest::default() };
    let plan = resolve(&request).expect("the base is legal");
    let entries = plan.entries();
    entries.iter().map(|e| e.key.replace("flow[0]", "flow.0")).collect()
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        (0i64..70_000).prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|x| x.to_string()),
        (0u64..u64::MAX).prop_map(|n| format!("{n}ns")),
        (0u64..1_000_000).prop_map(|n| format!("{n}us")),
        (0u64..1 << 40).prop_map(|n| format!("{n}KiB")),
        (0u32..4000).prop_map(|n| format!("{n}MT/s")),
        (0u32..300).prop_map(|n| format!("{n}%")),
        prop::sample::select(vec![
            "true", "[]", "[1,2]", "{}", "greedy", "imposed", "fifo", "cwdp", "none", "ideal", "", "-1us"
        ])
        .prop_map(str::to_string),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("PROPTEST_CASES").ok().and_then(|v| v.parse().ok()).unwrap_or(600), ..ProptestConfig::default() })]

    #[test]
    fn any_values_of_real_keys_are_read_or_refused(
        sets in prop::collection::vec((any::<prop::sample::Index>(), value()), 1..5),
    ) {
        let keys = keys();
        let sets = sets.into_iter().map(|(i, v)| (keys[i.index(keys.len())].clone(), v)).collect();
        let request = PlanRequest { text: BASE.into(), path: "base".into(), sets, ..PlanRequest::default() };
        if let Err(error) = read_cases(&request) {
            prop_assert!(error.0.contains("expected") || error.0.len() > 20, "{}", error.0);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[ -~\n]{0,200}") {
        fuzz_plan(text.as_bytes());
        fuzz_plan(format!("{BASE}{text}").as_bytes());
    }
}
