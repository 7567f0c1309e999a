//! Recording options of a case.

use interpulse_engine::{Duration, Op};
use serde_json::Value;

/// Recording options of a case. Times are relative to the window start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordSpec {
    /// Request log: one request in this many, in the order of completion, starting with the first.
    pub requests: Option<u64>,
    /// fio latency log: one request in this many.
    pub fio: Option<u64>,
    /// Time series with intervals of this length.
    pub series: Option<Duration>,
    /// Timeline: intervals in order, without overlap.
    pub timeline: Vec<[Duration; 2]>,
    /// Number of slowest requests, of one kind or of all.
    pub slowest: Option<(usize, Option<Op>)>,
    /// The run ends with the last interval of the timeline.
    pub only_timeline: bool,
}

impl RecordSpec {
    /// Reads a JSON object with `requests` and `fio` (one in n), `series` (ns), `timeline` (a list of `[from, to]`
    /// in ns), `slowest` (a number), `kind` (`read` or `write`) and `only_timeline`, all optional. Err is the
    /// message.
    pub fn from_json(text: &str) -> Result<RecordSpec, String> {
        let asked: Value = serde_json::from_str(text).map_err(|e| format!("{text:?} is not JSON: {e}"))?;
        let mut spec = RecordSpec::default();
        for (key, value) in asked.as_object().ok_or_else(|| format!("{text} is not an object"))? {
            let wrong = || format!("record.{key} = {value}");
            let number = || value.as_u64().filter(|&n| n > 0).ok_or_else(wrong);
            match key.as_str() {
                "requests" => spec.requests = Some(number()?),
                "fio" => spec.fio = Some(number()?),
                "series" => spec.series = Some(Duration::from_ns(number()?)),
                "timeline" => spec.timeline = intervals(value).ok_or_else(wrong)?,
                "slowest" => spec.slowest = Some((number()? as usize, None)),
                "kind" => {}
                "only_timeline" => spec.only_timeline = value.as_bool().ok_or_else(wrong)?,
                _ => return Err(format!("there is no record.{key}")),
            }
        }
        let kind = match asked.get("kind").map(Value::as_str) {
            None => None,
            Some(Some("read")) => Some(Op::Read),
            Some(Some("write")) => Some(Op::Write),
            Some(_) => return Err(format!("record.kind = {}", asked["kind"])),
        };
        if let Some((_, op)) = &mut spec.slowest {
            *op = kind;
        }
        Ok(spec)
    }
}

/// Intervals in order without overlap.
fn intervals(value: &Value) -> Option<Vec<[Duration; 2]>> {
    let pair = |of: &Value| {
        let [from, to] = of.as_array()?.as_slice() else { return None };
        let (from, to) = (from.as_u64()?, to.as_u64()?);
        (from < to).then_some([Duration::from_ns(from), Duration::from_ns(to)])
    };
    let all: Vec<[Duration; 2]> = value.as_array()?.iter().map(pair).collect::<Option<_>>()?;
    all.windows(2).all(|two| two[0][1] < two[1][0]).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_read_or_refused() {
        let text =
            r#"{"requests": 2, "series": 1000, "timeline": [[0, 5], [7, 9]], "slowest": 3, "kind": "write"}"#;
        let expected = RecordSpec {
            requests: Some(2),
            series: Some(Duration::from_ns(1000)),
            timeline: vec![[Duration(0), Duration(5)], [Duration(7), Duration(9)]],
            slowest: Some((3, Some(Op::Write))),
            ..RecordSpec::default()
        };
        assert_eq!(RecordSpec::from_json(text), Ok(expected));
        for wrong in [
            "[]",
            "{",
            r#"{"requests": 0}"#,
            r#"{"fio": -1}"#,
            r#"{"timeline": [[5, 5]]}"#,
            r#"{"timeline": [[0, 5], [5, 9]]}"#,
            r#"{"slowest": 3, "kind": "trim"}"#,
            r#"{"other": 1}"#,
        ] {
            assert!(RecordSpec::from_json(wrong).is_err(), "{wrong}");
        }
    }
}
