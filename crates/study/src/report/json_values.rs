//! JSON values of latencies and counters.

use interpulse_engine::{CounterInfo, Latencies, LatencyHistogram};
use serde_json::{Map, Value, json};

/// Reported percentiles with their names.
pub(super) const PERCENTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999), ("p99.999", 0.99999)];

/// Removes the null entries of an object.
pub fn without_nulls(mut object: Value) -> Value {
    object.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
    object
}

/// Nanoseconds in microseconds.
pub fn us(ns: f64) -> Value {
    json!(ns / 1e3)
}

/// Summary of a histogram.
pub fn latency(h: &LatencyHistogram) -> Value {
    let mut o = Map::new();
    o.insert("count".into(), json!(h.count()));
    if let (Some(mean), Some(max)) = (h.mean_ns(), h.max()) {
        o.insert("mean".into(), us(mean));
        for (name, p) in PERCENTILES {
            let value = h.percentile(p).expect("the histogram is not empty");
            o.insert(name.into(), us(value.as_ns() as f64));
        }
        o.insert("max".into(), us(max.as_ns() as f64));
    }
    Value::Object(o)
}

/// Summaries by kind of request.
pub fn latencies(l: &Latencies) -> Value {
    json!({ "read": latency(&l.read), "write": latency(&l.write), "all": latency(&l.all()) })
}

/// Non-empty buckets: upper bound and count.
pub fn histograms(l: &Latencies) -> Value {
    let buckets = |h: &LatencyHistogram| {
        h.buckets().map(|(_, end, count)| json!([us(end as f64), count])).collect::<Value>()
    };
    json!({ "read": buckets(&l.read), "write": buckets(&l.write) })
}

/// Counters by name.
pub fn group(counts: impl Iterator<Item = (CounterInfo, impl Into<Value>)>) -> Value {
    Value::Object(counts.map(|(info, n)| (info.name.to_string(), n.into())).collect())
}

/// Adds the entries that are not null.
pub(super) fn extend(o: &mut Value, entries: Value) {
    if let (Value::Object(o), Value::Object(entries)) = (o, without_nulls(entries)) {
        o.extend(entries);
    }
}
