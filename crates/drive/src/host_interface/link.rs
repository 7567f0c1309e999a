//! Host link kinds. A kind is one file in `link/`, with its keys, and one registry line.

use interpulse_engine::{Duration, SimTime};
use interpulse_settings::registry;

pub use pcie::Pcie;
pub use sata::Sata;

registry! {
    $ /// What a drive is connected by.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LinkSpec, each_link {
        "pcie" => pcie::Pcie(it): "PCIe, with the queue entries of NVMe: two directions at the same time";
        "sata" => sata::Sata(it): "SATA with native command queuing: one direction at a time";
    }
}

/// A kind of link.
trait Link {
    /// What moves over it, and how fast.
    fn protocol(&self) -> Protocol;
}

/// What moves over a link, in bytes at its rate: whatever surrounds data takes its share of the time.
struct Protocol {
    /// Bytes a second, of data and of what stands for everything else.
    rate: f64,
    /// What asks for a command.
    submission: u64,
    /// What says that a command is complete.
    completion: u64,
    /// What data moves in.
    frame: Frame,
    /// Whether both directions share the line.
    half_duplex: bool,
}

/// Of each frame: most data, a power of two, and the bytes that it adds to data that arrive and to data that leave.
struct Frame {
    data: u64,
    arriving: u64,
    leaving: u64,
}

/// Of a link whose rate has them in it: longer than any request.
const NO_FRAMES: Frame = Frame { data: 1 << 62, arriving: 0, leaving: 0 };

impl LinkSpec {
    /// Bytes of data a second of long reads.
    pub fn payload_rate(&self) -> f64 {
        let Protocol { rate, frame, .. } = self.protocol();
        rate * frame.data as f64 / (frame.data + frame.leaving) as f64
    }

    fn protocol(&self) -> Protocol {
        each_link!(self, it => it.protocol())
    }
}

/// Both directions, each one transfer after the other.
#[derive(Clone, Debug)]
pub struct Directions {
    free_at: [SimTime; 2],
    /// The one of `free_at` that counts for what leaves: the same as for what arrives, where both share the line.
    out: usize,
    /// Femtoseconds per byte, so that rounding happens once per transfer (the fastest link takes some 9 ps for a byte).
    fs_per_byte: u64,
    /// log2 of the data of a frame, and the femtoseconds that each adds to what arrives and to what leaves.
    frame_shift: u32,
    fs_arriving: u64,
    fs_leaving: u64,
    /// Of a command on its way in.
    command: Duration,
    completion: u64,
    /// Of a completion without data.
    completed: Duration,
    /// Bytes of data that left last, and how long they took: most loads ask for one size.
    left: (u64, Duration),
}

impl Directions {
    /// Idle directions of a link.
    pub fn new(spec: &LinkSpec) -> Directions {
        let Protocol { rate, submission, completion, frame, half_duplex } = spec.protocol();
        let fs_per_byte = libm::round(1e15 / rate) as u64;
        let mut directions = Directions {
            free_at: [SimTime::ZERO; 2],
            out: usize::from(!half_duplex),
            fs_per_byte,
            frame_shift: frame.data.ilog2(),
            fs_arriving: frame.arriving * fs_per_byte,
            fs_leaving: frame.leaving * fs_per_byte,
            command: Duration::ZERO,
            completion,
            completed: Duration::ZERO,
            left: (0, Duration::ZERO),
        };
        directions.command = directions.time(0, submission, 0);
        directions.completed = directions.time(0, completion, 0);
        directions.left.1 = directions.completed;
        directions
    }

    /// Time that `data` bytes take, with so many of other things around them, and so many femtoseconds in each frame.
    #[inline]
    fn time(&self, data: u64, around: u64, each: u64) -> Duration {
        let frames = (data + (1 << self.frame_shift) - 1) >> self.frame_shift;
        let fs = (data + around) * self.fs_per_byte + frames * each;
        Duration::from_ns(fs.div_ceil(1_000_000))
    }

    /// A command moves in as soon as what was asked for before has moved; returns when it has arrived.
    #[inline]
    pub fn command(&mut self, now: SimTime) -> SimTime {
        self.send(0, now, self.command)
    }

    /// Data of a write moves in; returns when it has arrived.
    #[inline]
    pub fn data_in(&mut self, now: SimTime, bytes: u64) -> SimTime {
        self.send(0, now, self.time(bytes, 0, self.fs_arriving))
    }

    /// Data, if any, and a completion move out; returns when they have arrived.
    pub fn out(&mut self, now: SimTime, bytes: u64) -> SimTime {
        let time = self.time_out(bytes);
        self.send(self.out, now, time)
    }

    /// How long data, if any, and a completion take to move out.
    #[inline]
    pub fn time_out(&mut self, bytes: u64) -> Duration {
        if bytes == 0 {
            return self.completed;
        }
        if bytes != self.left.0 {
            self.left = (bytes, self.time(bytes, self.completion, self.fs_leaving));
        }
        self.left.1
    }

    /// Whether both directions share the line: then what moves out waits for what moves in.
    #[inline]
    pub fn is_shared(&self) -> bool {
        self.out == 0
    }

    #[inline]
    fn send(&mut self, direction: usize, now: SimTime, time: Duration) -> SimTime {
        let free_at = &mut self.free_at[direction];
        *free_at = (*free_at).max(now) + time;
        *free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEN3_X4: LinkSpec = LinkSpec::Pcie(Pcie { generation: 3, lanes: 4, max_payload: 256 });
    const GEN3_SATA: LinkSpec = LinkSpec::Sata(Sata { generation: 3, handshake: Duration::from_ns(600) });

    #[test]
    fn gen3_x4_moves_about_3_4_gb_per_second() {
        // 8 GT/s x 4 / 8 x 128/130 = 3.938 GB/s raw; 256 of 280 bytes payload; 3 % flow control.
        assert!((GEN3_X4.payload_rate() / 3.4925e9 - 1.0).abs() < 1e-3, "{}", GEN3_X4.payload_rate());
        let link = Directions::new(&GEN3_X4);
        assert_eq!(link.time(4096, 0, link.fs_leaving), Duration::from_ns(1173), "4096 B x 286.33 ps");
    }

    #[test]
    fn transfers_follow_one_another_in_each_direction() {
        let mut link = Directions::new(&GEN3_X4);
        // 4096 B: 1173 ns in; with a completion of 16 B, 1178 ns out.
        assert_eq!(link.data_in(SimTime(10), 4096), SimTime(1183));
        assert_eq!(link.data_in(SimTime(20), 4096), SimTime(2356));
        assert_eq!(link.out(SimTime(20), 4096), SimTime(1198));
        assert_eq!(link.data_in(SimTime(5000), 4096), SimTime(6173));
    }

    #[test]
    fn a_line_that_both_directions_share_carries_one_at_a_time() {
        let mut link = Directions::new(&GEN3_SATA);
        let arrived = link.data_in(SimTime(0), 4096);
        let alone = Directions::new(&GEN3_SATA).out(SimTime(0), 4096);
        assert_eq!(link.out(SimTime(0), 4096), arrived + Duration::from_ns(alone.0));
    }

    #[test]
    fn sata_6_gbit_carries_what_its_drives_print() {
        let mut link = Directions::new(&GEN3_SATA);
        let mut now = SimTime(0);
        for _ in 0..100 {
            now = link.command(now);
            now = link.out(now, 4096);
        }
        let iops = 100e9 / now.0 as f64;
        assert!((97e3..100e3).contains(&iops), "{iops}");
        assert!((555e6..575e6).contains(&GEN3_SATA.payload_rate()), "{}", GEN3_SATA.payload_rate());
        // 128 KiB in 16 frames, and not one more for what surrounds them.
        let mut idle = Directions::new(&GEN3_SATA);
        let fs = 16 * idle.fs_arriving + 131_072 * idle.fs_per_byte;
        let arrived = idle.data_in(SimTime(0), 131_072);
        assert_eq!(arrived.0, fs.div_ceil(1_000_000));
        let written = 131_072e9 / arrived.0 as f64;
        assert!((535e6..550e6).contains(&written), "{written}");
    }
}
