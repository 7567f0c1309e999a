//! Readers of quantities: durations, sizes, rates, numbers.

use super::Section;
use crate::declaration::{Key, Need, example};
use crate::error::{ConfigError, Problem};
use crate::origin::Place;
use crate::spec::Spec;
use crate::tree::{Leaf, join};
use crate::value::Value;
use crate::value_types::{self, Refusal, ValueType};
use interpulse_engine::{Bytes, Current, Duration, EnergyPerBit, Limit, Power, Voltage};

/// Declares the readers of one kind: required or defaulted, optional, and a list.
macro_rules! readers {
    ($($kind:ident: $type:ty, $one:ident, $optional:ident, $list:ident, $doc:literal;)+) => {$(
        #[doc = concat!("Reads ", $doc, ". Fails if it is missing without a default, malformed or out of range.")]
        pub fn $one(&mut self, key: &str, doc: &'static str, spec: Spec<$type>) -> Result<$type, ConfigError> {
            self.required(&value_types::$kind, key, doc, spec)
        }

        #[doc = concat!("Reads ", $doc, " that may be left out.")]
        pub fn $optional(
            &mut self,
            key: &str,
            doc: &'static str,
            spec: Spec<$type>,
        ) -> Result<Option<$type>, ConfigError> {
            self.optional(&value_types::$kind, key, doc, spec)
        }

        #[doc = concat!("Reads a list, each entry ", $doc, " that `each` accepts; required if `default` is `None`.")]
        pub fn $list(
            &mut self,
            key: &str,
            doc: &'static str,
            default: Option<&[$type]>,
            each: Spec<$type>,
        ) -> Result<Vec<$type>, ConfigError> {
            self.list(&value_types::$kind, key, doc, default, each)
        }
    )+};
}

impl Section {
    readers! {
        DURATION: Duration, duration, optional_duration, list_duration, "a duration such as `\"3.5ms\"` (at most 100 days unless the spec says otherwise)";
        BYTES: Bytes, bytes, optional_bytes, list_bytes, "a size such as `\"16KiB\"` or `\"512MB\"`";
        AMOUNT: f64, amount, optional_amount, list_amount, "a size that need not be whole bytes, such as a mean of `\"11.61KiB\"`, in bytes";
        RATE: u64, rate, optional_rate, list_rate, "a bus rate such as `\"400MT/s\"`, in transfers per second";
        PER_SECOND: f64, per_second, optional_per_second, list_per_second, "a number per second such as `\"1500/s\"` or `\"200kIOPS\"`";
        CURRENT: Current, current, optional_current, list_current, "a current such as `\"25mA\"`";
        VOLTAGE: Voltage, voltage, optional_voltage, list_voltage, "a voltage such as `\"3.3V\"`";
        POWER: Power, power, optional_power, list_power, "a power such as `\"1.5W\"`";
        ENERGY_PER_BIT: EnergyPerBit, energy_per_bit, optional_energy_per_bit, list_energy_per_bit, "an energy per bit such as `\"5pJ/bit\"`";
        LIMIT: Limit, limit, optional_limit, list_limit, "a power such as `\"10W\"` or a current such as `\"3A\"`";
        U64: u64, u64, optional_u64, list_u64, "a whole number";
        U32: u32, u32, optional_u32, list_u32, "a whole number below 2^32";
        F64: f64, f64, optional_f64, list_f64, "a finite number";
        FRACTION: f64, fraction, optional_fraction, list_fraction, "a fraction such as `0.3` or `\"30%\"` (at most 1 unless the spec says otherwise)";
        BOOL: bool, bool, optional_bool, list_bool, "`true` or `false`";
    }

    /// Reads a whole number below 2^32, or a list of them; empty if left out without a default.
    pub fn one_or_more_u32(
        &mut self,
        key: &str,
        doc: &'static str,
        each: Spec<u32>,
    ) -> Result<Vec<u32>, ConfigError> {
        self.some(&value_types::U32, key, doc, each)
    }

    /// Reads a duration, or a list of them; empty if left out without a default.
    pub fn one_or_more_durations(
        &mut self,
        key: &str,
        doc: &'static str,
        each: Spec<Duration>,
    ) -> Result<Vec<Duration>, ConfigError> {
        self.some(&value_types::DURATION, key, doc, each)
    }

    fn some<T: Clone + PartialOrd>(
        &mut self,
        kind: &ValueType<T>,
        key: &str,
        doc: &'static str,
        each: Spec<T>,
    ) -> Result<Vec<T>, ConfigError> {
        let declared = || some_of(Key::of(kind, &each, doc));
        let (values, listed) = match self.ask(key, kind.noun, declared)? {
            Some(Leaf { value: Value::List(items), origin }) => {
                (self.parse_list(kind, key, &items, &each, origin.place())?, true)
            }
            Some(leaf) => (vec![self.parse(kind, key, &leaf.value, &each, leaf.origin.place())?], false),
            None => (each.default.clone().into_iter().collect(), false),
        };
        match &values[..] {
            many if listed => self.record_list(kind, key, doc, many),
            one => self.record(kind, key, doc, one.first(), true),
        }
        Ok(values)
    }

    pub(super) fn required<T: Clone + PartialOrd>(
        &mut self,
        kind: &ValueType<T>,
        key: &str,
        doc: &'static str,
        spec: Spec<T>,
    ) -> Result<T, ConfigError> {
        let value = match (self.find(kind, key, &spec, || Key::of(kind, &spec, doc))?, &spec.default) {
            (Some(value), _) => value,
            (None, Some(value)) => {
                let place = Place { line: None, ..self.place.clone() };
                let seen = format!("{} (the default)", (kind.display)(value));
                self.check_range(kind, key, value, &spec, seen, place)?;
                value.clone()
            }
            (None, None) => {
                let typical = spec.typical.as_ref().map(kind.display);
                self.miss(key, doc, typical, || format!("{}{}", kind.noun, spec.words(kind.display)))?;
                example(kind, &spec)
            }
        };
        self.record(kind, key, doc, Some(&value), true);
        Ok(value)
    }

    pub(super) fn optional<T: Clone + PartialOrd>(
        &mut self,
        kind: &ValueType<T>,
        key: &str,
        doc: &'static str,
        spec: Spec<T>,
    ) -> Result<Option<T>, ConfigError> {
        let value = self.find(kind, key, &spec, || Key::of(kind, &spec, doc).optional())?;
        self.record(kind, key, doc, value.as_ref(), true);
        Ok(value)
    }

    pub(super) fn list<T: Clone + PartialOrd>(
        &mut self,
        kind: &ValueType<T>,
        key: &str,
        doc: &'static str,
        default: Option<&[T]>,
        each: Spec<T>,
    ) -> Result<Vec<T>, ConfigError> {
        let shown = |values: &[T]| values.iter().map(kind.display).collect::<Vec<_>>().join(", ");
        let declared = || Key::of(kind, &each, doc).listing(default.map(shown));
        let values = match (self.ask(key, "a list", declared)?, default) {
            (Some(Leaf { value: Value::List(items), origin }), _) => {
                self.parse_list(kind, key, &items, &each, origin.place())?
            }
            (Some(leaf), _) => return Err(self.not_a_list(key, &leaf.value, leaf.origin.place())),
            (None, Some(default)) => default.to_vec(),
            (None, None) => {
                let expected = || format!("a list, each entry {}{}", kind.noun, each.words(kind.display));
                self.miss(key, doc, None, expected)?;
                vec![example(kind, &each)]
            }
        };
        self.record_list(kind, key, doc, &values);
        Ok(values)
    }

    fn record_list<T>(&self, kind: &ValueType<T>, key: &str, doc: &'static str, values: &[T]) {
        let canonical = values.iter().map(kind.canonical).collect::<Vec<_>>().join(",");
        let display = values.iter().map(kind.display).collect::<Vec<_>>().join(", ");
        self.write(key, doc, canonical, kind.unit, format!("[{display}]"), true);
    }

    /// The checked value of `key`, if it is written.
    pub(super) fn find<T: Clone + PartialOrd>(
        &self,
        kind: &ValueType<T>,
        key: &str,
        spec: &Spec<T>,
        declared: impl FnOnce() -> Key,
    ) -> Result<Option<T>, ConfigError> {
        match self.ask(key, kind.noun, declared)? {
            Some(leaf) => self.parse(kind, key, &leaf.value, spec, leaf.origin.place()).map(Some),
            None => Ok(None),
        }
    }

    fn parse_list<T: Clone + PartialOrd>(
        &self,
        kind: &ValueType<T>,
        key: &str,
        items: &[Value],
        each: &Spec<T>,
        place: Place,
    ) -> Result<Vec<T>, ConfigError> {
        items.iter().map(|item| self.parse(kind, key, item, each, place.clone())).collect()
    }

    pub(super) fn parse<T: Clone + PartialOrd>(
        &self,
        kind: &ValueType<T>,
        key: &str,
        value: &Value,
        spec: &Spec<T>,
        place: Place,
    ) -> Result<T, ConfigError> {
        let parsed = (kind.parse)(value).map_err(|Refusal { expected, hint }| {
            let expected = expected.unwrap_or_else(|| kind.noun.to_string());
            let path = join(&self.path, key);
            ConfigError::new(Problem::Value, place.clone(), path, value.describe(), expected).hinting(hint)
        })?;
        self.check_range(kind, key, &parsed, spec, value.describe(), place)?;
        Ok(parsed)
    }

    fn check_range<T: Clone + PartialOrd>(
        &self,
        kind: &ValueType<T>,
        key: &str,
        value: &T,
        spec: &Spec<T>,
        seen: String,
        place: Place,
    ) -> Result<(), ConfigError> {
        let range = Spec { max: spec.max.clone().or_else(|| kind.ceiling.clone()), ..spec.clone() };
        if range.admits(value) {
            return Ok(());
        }
        // The reader's own ceiling is only worth mentioning to who ran into it.
        let words = if spec.admits(value) { range.words(kind.display) } else { spec.words(kind.display) };
        let expected = format!("{}{words}", kind.noun);
        Err(ConfigError::new(Problem::Value, place, join(&self.path, key), seen, expected))
    }
}

/// The key of one value or a list of them, which may be left out.
fn some_of(key: Key) -> Key {
    let list = true;
    match key.need {
        Need::Required => Key { list, ..key.optional() },
        _ => Key { list, ..key },
    }
}
