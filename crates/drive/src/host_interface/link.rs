//! Host link kinds: one file in `link/`, with its keys, and one registry line for each.

use interpulse_engine::{Bytes, Duration, SimTime};
use interpulse_settings::registry;

pub use pcie::Pcie;
pub use sata::Sata;
pub use ufs::Ufs;

registry! {
    $ /// What a drive is connected by.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LinkSpec, each_link {
        "pcie" => pcie::Pcie(it): "PCIe, with the queue entries of NVMe: two directions at the same time";
        "sata" => sata::Sata(it): "SATA with native command queuing: one direction at a time";
        "ufs" => ufs::Ufs(it): "UFS over UniPro and M-PHY: two directions at the same time";
    }
}

/// Kind of link.
trait Link {
    fn protocol(&self) -> Protocol;
}

/// Byte counts and rate of a link; protocol overhead is expressed in bytes.
struct Protocol {
    /// Bytes per second, of data and overhead.
    rate: f64,
    submission: u64,
    completion: u64,
    /// Framing of data.
    frame: Frame,
    /// Whether both directions share the line.
    half_duplex: bool,
}

/// Frame: most data, a power of two, and overhead bytes on arriving and leaving data.
struct Frame {
    data: u64,
    arriving: u64,
    leaving: u64,
}

/// Frame of a link whose rate includes framing: longer than any request.
const NO_FRAMES: Frame = Frame { data: 1 << 62, arriving: 0, leaving: 0 };

impl LinkSpec {
    /// Data bytes per second of long reads.
    pub fn payload_rate(&self) -> f64 {
        let Protocol { rate, frame, .. } = self.protocol();
        rate * frame.data as f64 / (frame.data + frame.leaving) as f64
    }

    /// Seconds that commands, data and completions occupy the direction to the drive and that to the host; both are the
    /// whole time of a line that is shared. The last frame of a request counts in proportion.
    pub fn occupancy(&self, requests: u64, read: Bytes, written: Bytes) -> [f64; 2] {
        let Protocol { rate, submission, completion, frame, half_duplex } = self.protocol();
        let framed = |bytes: Bytes, overhead: u64| {
            bytes.get() as f64 * (frame.data + overhead) as f64 / frame.data as f64
        };
        let arriving = requests as f64 * submission as f64 + framed(written, frame.arriving);
        let leaving = requests as f64 * completion as f64 + framed(read, frame.leaving);
        let of = |bytes: f64| bytes / rate;
        if half_duplex { [of(arriving + leaving); 2] } else { [of(arriving), of(leaving)] }
    }

    fn protocol(&self) -> Protocol {
        each_link!(self, it => it.protocol())
    }
}

/// Both directions of a link; each serves one transfer at a time.
#[derive(Clone, Debug)]
pub struct Directions {
    free_at: [SimTime; 2],
    /// Index in `free_at` of the outgoing direction: the incoming one, if both share the line.
    out: usize,
    /// Femtoseconds per byte, so that rounding happens once per transfer (the fastest link takes some 9 ps for a byte).
    fs_per_byte: u64,
    /// log2 of the data of a frame, and its overhead in femtoseconds for arriving and leaving data.
    frame_shift: u32,
    fs_arriving: u64,
    fs_leaving: u64,
    command: Duration,
    completion: u64,
    completed: Duration,
    /// Size and time of the last outgoing data: most loads use one size.
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

    /// Transfer time of `data` bytes with `around` bytes of overhead and `each` femtoseconds per frame.
    #[inline]
    fn time(&self, data: u64, around: u64, each: u64) -> Duration {
        let frames = (data + (1 << self.frame_shift) - 1) >> self.frame_shift;
        let fs = (data + around) * self.fs_per_byte + frames * each;
        Duration::from_ns(fs.div_ceil(1_000_000))
    }

    /// Transfers a command after earlier transfers; returns its arrival.
    #[inline]
    pub fn command(&mut self, now: SimTime) -> SimTime {
        self.send(0, now, self.command)
    }

    /// Transfers write data to the drive; returns its arrival.
    #[inline]
    pub fn data_in(&mut self, now: SimTime, bytes: u64) -> SimTime {
        self.send(0, now, self.time(bytes, 0, self.fs_arriving))
    }

    /// Transfers data, if any, and a completion to the host; returns their arrival.
    pub fn out(&mut self, now: SimTime, bytes: u64) -> SimTime {
        let time = self.time_out(bytes);
        self.send(self.out, now, time)
    }

    /// Transfer time of data, if any, and a completion to the host.
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

    /// Whether both directions share the line, so that outgoing transfers wait for incoming ones.
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
    const HS_G4: LinkSpec = LinkSpec::Ufs(Ufs { gear: 4, lanes: 2, max_data: Bytes(4096) });
    const GEN3_SATA: LinkSpec = LinkSpec::Sata(Sata { generation: 3, handshake: Duration::from_ns(600) });

    #[test]
    fn gen3_x4_moves_about_3_4_gb_per_second() {
        // 8 GT/s x 4 / 8 x 128/130 = 3.938 GB/s raw; 256 of 280 bytes payload; 3 % flow control.
        assert!((GEN3_X4.payload_rate() / 3.4925e9 - 1.0).abs() < 1e-3, "{}", GEN3_X4.payload_rate());
        let link = Directions::new(&GEN3_X4);
        assert_eq!(link.time(4096, 0, link.fs_leaving), Duration::from_ns(1173), "4096 B x 286.33 ps");
    }

    #[test]
    fn ufs_4_0_carries_what_its_gear_allows() {
        // 23.3216 Gbit/s x 2 lanes / 10 x 272/280 = 4.531 GB/s, and 32 of 32,800 bytes are the header of a UPIU.
        let gear = |gear, lanes| LinkSpec::Ufs(Ufs { gear, lanes, max_data: Bytes::kib(32) });
        assert!((gear(5, 2).payload_rate() / 4.5266e9 - 1.0).abs() < 1e-4, "{}", gear(5, 2).payload_rate());
        assert!((gear(4, 1).payload_rate() / gear(5, 2).payload_rate() - 0.25).abs() < 1e-9);
        // A command of 32 bytes takes 7.06 ns, 4 KiB and their header 911.1 ns: whole nanoseconds, rounded up.
        let mut link = Directions::new(&gear(5, 2));
        assert_eq!(link.command(SimTime(0)), SimTime(8));
        assert_eq!(link.data_in(SimTime(8), 4096), SimTime(8 + 912));
        // Data to the host does not wait for the other direction: 4096 + 32 + 32 bytes.
        assert_eq!(link.out(SimTime(0), 4096), SimTime(919));
        // Three UPIUs of 32 KiB and one of 4 KiB have four headers.
        let (at, each) = (link.data_in(SimTime(10_000), 102_400), 102_400.0 + 4.0 * 32.0);
        assert_eq!(at.since(SimTime(10_000)).as_ns(), (each / 4.531054_f64).ceil() as u64);
    }

    #[test]
    fn occupancy_is_the_time_of_the_transfers() {
        for spec in [GEN3_X4, GEN3_SATA, HS_G4] {
            let mut link = Directions::new(&spec);
            let (mut to_drive, mut to_host) = (0, 0);
            for _ in 0..100 {
                let idle = |link: &Directions| SimTime(link.free_at.iter().map(|at| at.0).max().unwrap());
                let at = idle(&link);
                to_drive += link.command(at).since(at).as_ns();
                let at = idle(&link);
                to_drive += link.data_in(at, 8192).since(at).as_ns();
                let at = idle(&link);
                to_host += link.out(at, 4096).since(at).as_ns();
            }
            let both = if link.is_shared() { [to_drive + to_host; 2] } else { [to_drive, to_host] };
            let of = spec.occupancy(100, Bytes(409_600), Bytes(819_200));
            for (ns, seconds) in both.into_iter().zip(of) {
                assert!((seconds * 1e9 / ns as f64 - 1.0).abs() < 0.02, "{ns} ns, {seconds} s");
            }
        }
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
        // 128 KiB in 16 frames, and no additional frame for the overhead.
        let mut idle = Directions::new(&GEN3_SATA);
        let fs = 16 * idle.fs_arriving + 131_072 * idle.fs_per_byte;
        let arrived = idle.data_in(SimTime(0), 131_072);
        assert_eq!(arrived.0, fs.div_ceil(1_000_000));
        let written = 131_072e9 / arrived.0 as f64;
        assert!((535e6..550e6).contains(&written), "{written}");
    }
}
