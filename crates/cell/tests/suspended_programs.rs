//! Tests of suspended programs against Zambelli et al. 2021: the flow of Figure 5 on 50 word lines of 2,048 cells.

use interpulse_cell::jobs;
use serde_json::{Value, json};

const WORD_LINES: usize = 50;

fn measure(seed: u64, more: &Value) -> Vec<Value> {
    let mut request = json!({
        "seed": seed, "preset": "a4-tlc", "page_type": "lower", "word_lines": WORD_LINES, "cells": 2048,
    });
    for (key, value) in more.as_object().expect("fields") {
        request[key] = value.clone();
    }
    let result = jobs::run("suspend", &request).expect("it is legal");
    result["word_lines"].as_array().expect("word lines").clone()
}

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("{key} in {of}"))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn tpgm(seed: u64) -> f64 {
    mean(&measure(seed, &json!({})).iter().map(|w| number(w, "own_us")).collect::<Vec<_>>())
}

fn under(seed: u64, tpgm: f64, delay1: f64, delay2: f64) -> Vec<Value> {
    measure(seed, &json!({"tpgm_us": tpgm, "delay1": delay1, "delay2": delay2}))
}

fn entries(rows: &[Value], tpgm: f64) -> Vec<f64> {
    let all = rows.iter().flat_map(|w| w["teps_us"].as_array().expect("times"));
    all.map(|t| t.as_f64().expect("a time") / tpgm).collect()
}

/// t_PGM differs between word lines by about a loop, and hardly between programs of one word line (Figure 3a).
#[test]
fn program_times_vary_between_word_lines_and_are_permanent() {
    let (once, again) = (measure(1, &json!({})), measure(1, &json!({"page_type": "upper"})));
    let loops: Vec<f64> = once.iter().map(|w| number(w, "loops")).collect();
    let sd = (loops.iter().map(|l| (l - mean(&loops)).powi(2)).sum::<f64>() / 49.0).sqrt();
    assert!((15.0..=17.0).contains(&mean(&loops)) && (0.5..=1.5).contains(&sd), "{loops:?}");
    let same = once.iter().zip(&again).filter(|(a, b)| a["loops"] == b["loops"]).count();
    let within_one =
        once.iter().zip(&again).all(|(a, b)| (number(a, "loops") - number(b, "loops")).abs() <= 1.0);
    assert!(same >= 35 && within_one, "{same} of 50 take the same number of loops again");
}

/// Mean t_EPS is 3 to 4 % of t_PGM, larger where Delay2 is low (Section 4.2), and no stop waits longer than a loop and the entry.
#[test]
fn times_to_enter() {
    let tpgm = tpgm(1);
    let (mut all, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new());
    for first in 1..=9 {
        for then in 1..=10 {
            let of = entries(&under(1, tpgm, f64::from(first) / 10.0, f64::from(then) / 10.0), tpgm);
            all.extend(&of);
            match then {
                1..=3 => low.push(mean(&of)),
                8..=10 => high.push(mean(&of)),
                _ => {}
            }
        }
    }
    assert!((0.03..0.04).contains(&mean(&all)), "{}", mean(&all));
    assert!(all.iter().all(|&t| t <= 130.0 / tpgm), "{all:?}");
    assert!(mean(&low) > mean(&high), "{} against {}", mean(&low), mean(&high));
}

/// Both delays above 60 %: one suspension of every word line that still runs (Section 4.1). At 10 % and 10 %: 8 to 11 at most.
#[test]
fn numbers_of_suspensions() {
    let tpgm = tpgm(2);
    for (first, then) in [(0.7, 0.7), (0.7, 1.0), (0.9, 0.7), (1.0, 0.7), (1.0, 1.0)] {
        let rows = under(2, tpgm, first, then);
        for row in &rows {
            assert_eq!(
                row["suspends"],
                json!(u32::from(row["running_at_delay1"] == true)),
                "{first} {then}: {row}"
            );
        }
        assert!(rows.iter().any(|row| row["suspends"] == 1), "{first} {then}");
    }
    let most = under(2, tpgm, 0.1, 0.1).iter().map(|row| number(row, "suspends")).fold(0.0, f64::max);
    assert!((8.0..=11.0).contains(&most), "{most}");
}

/// Under host polling the program time more than doubles at 100 % and 100 % (Section 4.3); ready/busy is exact.
#[test]
fn polling_decides_the_program_time_seen_by_the_host() {
    let tpgm = tpgm(3);
    let noted = |poll: &str| {
        let rows = measure(
            3,
            &json!({"tpgm_us": tpgm, "delay1": 1.0, "delay2": 1.0, "poll": poll, "cells": 16_384}),
        );
        let running = rows.into_iter().filter(|row| row["running_at_delay1"] == true);
        running.map(|row| number(&row, "tpgms_us") / tpgm).collect::<Vec<_>>()
    };
    let (host, device) = (noted("host"), noted("device"));
    assert!(!host.is_empty() && host.iter().all(|&t| t > 2.0), "{host:?}");
    assert!(device.iter().all(|&t| t < 1.3), "{device:?}");
}

/// Suspensions do not change error rates: within four standard deviations of the counts (Figure 9a).
#[test]
fn suspended_word_lines_have_the_errors_of_others() {
    let big = |more: Value| {
        let mut request =
            json!({"seed": 4, "preset": "a4-tlc", "page_type": "upper", "word_lines": 50, "cells": 65_536});
        more.as_object().expect("fields").iter().for_each(|(k, v)| request[k] = v.clone());
        let result = jobs::run("suspend", &request).expect("it is legal");
        result["word_lines"]
            .as_array()
            .expect("word lines")
            .iter()
            .map(|w| number(w, "errors_default"))
            .sum::<f64>()
    };
    let before = big(json!({}));
    let after = big(json!({"tpgm_us": 2000.0, "delay1": 0.1, "delay2": 0.1}));
    assert!(before > 100.0 && (after - before).abs() < 4.9 * (before + after).sqrt(), "{before} and {after}");
}

#[test]
fn errors_name_the_field() {
    let error = |more: Value| {
        let mut request =
            json!({"seed": 1, "preset": "a4-tlc", "page_type": "lower", "word_lines": 1, "cells": 2048});
        more.as_object().expect("fields").iter().for_each(|(k, v)| request[k] = v.clone());
        jobs::run("suspend", &request).expect_err("it is wrong").to_string()
    };
    for (more, part) in [
        (json!({"cells": 3}), "cells = 3: from 64"),
        (json!({"word_lines": 0}), "word_lines = 0: from 1"),
        (json!({"page_type": "middle"}), "lower, center or upper"),
        (json!({"poll": "both"}), "host or device"),
        (json!({"delay1": 0.1}), "delay1, delay2 and tpgm_us"),
        (json!({"delay1": -1.0, "delay2": 0.1, "tpgm_us": 2000.0}), "delay1 = -1"),
        (json!({"scheme": "sometimes"}), "loop-boundary"),
        (json!({"preset": "b4"}), "a4-tlc"),
        (json!({"set": [["cell.ispp.stp", "3"]]}), "cell.ispp.stp"),
        (json!({"celsl": 1}), "celsl"),
    ] {
        let message = error(more);
        assert!(message.contains(part), "'{message}' lacks '{part}'");
    }
    assert!(jobs::run("suspended", &json!({})).expect_err("unknown").to_string().contains("suspend"));
}
