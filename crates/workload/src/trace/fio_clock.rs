//! Clock of an fio log: whether its times, which fio writes in us, can be in ns, as conversions of blktrace leave them.

use super::columns::is_blank;
use super::format::Format;
use super::input::Input;
use super::lines::{Framing, Lines, Raw};
use super::problem::TraceProblem;
use interpulse_engine::Duration;

/// Rows that are examined.
const ROWS: u64 = 65_536;
/// fio adds and opens its files within this many us; in ns no file is opened so soon.
const OPENED_US: u64 = 1_000;
/// Gaps from which the smallest one is telling.
const GAPS: u64 = 8;
/// Requests per second below which the smallest gap is examined, with fewer and with at least [`GAPS`] gaps.
const SLOW: (f64, f64) = (200.0, 1_000.0);
/// fio submits requests of a batch, and requests that hit a cache, within fewer us.
const APART_US: u64 = 100;

#[derive(Default)]
struct Clock {
    first_us: u64,
    latest_us: u64,
    rows: u64,
    least_gap_us: Option<u64>,
}

impl Clock {
    fn count(&mut self, us: u64) {
        if self.rows == 0 {
            self.first_us = us;
        } else {
            let gap_us = us.saturating_sub(self.latest_us);
            self.least_gap_us = Some(self.least_gap_us.map_or(gap_us, |least| least.min(gap_us)));
        }
        self.rows += 1;
        self.latest_us = self.latest_us.max(us);
    }

    /// Reason for which these times are hardly in us.
    fn doubt(&self) -> Option<String> {
        let least_us = self.least_gap_us?;
        let span_us = (self.latest_us - self.first_us) as f64;
        let gaps = self.rows - 1;
        let rate = gaps as f64 / (span_us * 1e-6);
        let slow = if gaps < GAPS { SLOW.0 } else { SLOW.1 };
        (least_us >= APART_US && rate < slow).then(|| {
            let least = Duration(least_us.saturating_mul(1_000));
            format!(
                "{rate:.3} requests per second, none closer than {least} to another, and in ns {:.0}",
                rate * 1e3
            )
        })
    }
}

/// Reason for which the times of the log are hardly in us; `None` for plausible times.
pub(super) fn doubt(input: &Input) -> Result<Option<String>, TraceProblem> {
    let mut lines = Lines::new(input.open()?);
    let mut clock = Clock::default();
    // The pass over all rows reports faults.
    while clock.rows < ROWS
        && let Ok(Some(raw)) = lines.next_row(Framing::Lines)
    {
        let Ok(Raw::Line(line)) = raw else { continue };
        let mut columns = line.split_ascii_whitespace();
        let (Some(Ok(us)), _, Some(action)) =
            (columns.next().map(str::parse::<u64>), columns.next(), columns.next())
        else {
            continue;
        };
        match action {
            _ if is_blank(line) => {}
            "add" | "open" if (1..OPENED_US).contains(&us) => return Ok(None),
            _ if matches!(Format::Fio.parse(Raw::Line(line)), Ok(Some(_))) => clock.count(us),
            _ => {}
        }
    }
    Ok(clock.doubt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubted(text: &str) -> bool {
        doubt(&Input::memory("log", text.as_bytes())).unwrap().is_some()
    }

    fn every(gap: u64, rows: u64, head: &str) -> String {
        let row = |k: u64| format!("{} /dev/x read 0 4096\n", 5000 + k * gap);
        format!("fio version 3 iolog\n{head}") + &(0..rows).map(row).collect::<String>()
    }

    #[test]
    fn times_in_ns_are_doubted_and_times_in_us_are_not() {
        // 10,000 and 100,000 requests per second in ns.
        assert!(doubted(&every(100_000, 4, "")));
        assert!(doubted(&every(100_000, 100, "0 /dev/x add\n0 /dev/x open\n")));
        assert!(doubted(&every(10_000, 100, "103000 /dev/x add\n110000 /dev/x open\n")));
        // A file that is opened after 103 us was opened by fio.
        assert!(!doubted(&every(1_000_000, 3, "103 /dev/x add\n110 /dev/x open\n")));
        assert!(!doubted(&every(10_000, 100, "2 /dev/x add\n872 /dev/x open\n")));
        // 10,000 requests per second in us.
        assert!(!doubted(&every(100, 100, "")));
        // Slow, in batches.
        assert!(!doubted(
            &(every(50_000, 20, "") + "2000000 /dev/x write 0 512\n2000003 /dev/x write 512 512\n")
        ));
        assert!(!doubted(&every(1, 1, "")) && !doubted("") && !doubted("x y z\n"));
    }
}
