//! Free memory of this process: the least of machine memory, address space (`ulimit -v`) and control groups (the
//! limits of a container).

use std::fs;
use std::path::Path;

/// Address space of threads, report and interpreter besides the maps, in bytes. Allocator arenas do not count: the
/// allocator works without them.
const BESIDE_MAPS: u64 = 48 << 20;

/// Free memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FreeMemory {
    /// Bytes.
    pub bytes: u64,
    /// Limiting source, appended to the figure in messages; empty for the machine.
    pub by: &'static str,
}

/// The least of all known limits.
pub fn free() -> Option<FreeMemory> {
    let root = Path::new("/");
    [machine(root), address_space(root), control_groups(root)].into_iter().flatten().min()
}

/// Machine memory available without swapping.
fn machine(root: &Path) -> Option<FreeMemory> {
    let bytes = field(&root.join("proc/meminfo"), "MemAvailable:")?.checked_mul(1024)?;
    Some(FreeMemory { bytes, by: "" })
}

/// Remaining address space below the limit of this process.
fn address_space(root: &Path) -> Option<FreeMemory> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a local rlimit.
    if unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } != 0
        || limit.rlim_cur == libc::RLIM_INFINITY
    {
        return None;
    }
    let used = field(&root.join("proc/self/status"), "VmSize:")?.checked_mul(1024)?;
    let bytes = limit.rlim_cur.saturating_sub(used).saturating_sub(BESIDE_MAPS);
    Some(FreeMemory { bytes, by: " within the limit of this process's address space (ulimit -v)" })
}

/// Remaining memory of the control group of this process and its ancestors, in either version.
fn control_groups(root: &Path) -> Option<FreeMemory> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let left = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let (mounts, files): (&[&str], _) = match controllers {
            "" => (&["sys/fs/cgroup", "sys/fs/cgroup/unified"], &V2),
            _ if controllers.split(',').any(|name| name == "memory") => (&["sys/fs/cgroup/memory"], &V1),
            _ => return None,
        };
        // A container may see its group at the root of the mount, whatever its kernel path: test every ancestor that
        // exists.
        let groups = Path::new(path.trim_start_matches('/')).ancestors();
        groups
            .flat_map(|group| mounts.iter().map(move |m| Path::new(m).join(group)))
            .filter_map(|group| files.left(&root.join(group)))
            .min()
    });
    left.min().map(|bytes| FreeMemory { bytes, by: " within the memory limit of this control group" })
}

/// File names of one control group version.
struct Files {
    limit: &'static str,
    used: &'static str,
    /// In `memory.stat`: reclaimable file pages.
    cache: &'static str,
}

const V1: Files =
    Files { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", cache: "total_inactive_file" };
const V2: Files = Files { limit: "memory.max", used: "memory.current", cache: "inactive_file" };

impl Files {
    /// Remaining bytes of one group; `None` without a limit.
    fn left(&self, group: &Path) -> Option<u64> {
        let number = |name| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
        let (limit, used) = (number(self.limit)?, number(self.used)?);
        let cache = field(&group.join("memory.stat"), self.cache).unwrap_or(0);
        Some(limit.saturating_sub(used.saturating_sub(cache)))
    }
}

/// Number after `name` at the start of a line.
fn field(path: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next() == Some(name)).then(|| words.next()?.parse().ok())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with these files.
    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        root
    }

    fn left(files: &[(&str, &str)]) -> Option<u64> {
        control_groups(root(files).path()).map(|free| free.bytes)
    }

    #[test]
    fn a_container_of_version_2_has_what_its_limit_leaves_and_its_file_cache() {
        let of = |limit| {
            [
                ("proc/self/cgroup", "0::/\n"),
                ("sys/fs/cgroup/memory.max", limit),
                ("sys/fs/cgroup/memory.current", "700\n"),
                ("sys/fs/cgroup/memory.stat", "anon 1\ninactive_file 300\n"),
            ]
        };
        assert_eq!(left(&of("1000\n")), Some(600));
        assert_eq!(left(&of("max\n")), None);
        assert_eq!(left(&of("300\n")), Some(0), "above the limit, it is not less than nothing");
    }

    #[test]
    fn the_tightest_group_on_the_way_up_counts() {
        let files = [
            ("proc/self/cgroup", "0::/user/job\n"),
            ("sys/fs/cgroup/user/memory.max", "1000"),
            ("sys/fs/cgroup/user/memory.current", "900"),
            ("sys/fs/cgroup/user/job/memory.max", "500"),
            ("sys/fs/cgroup/user/job/memory.current", "100"),
        ];
        assert_eq!(left(&files), Some(100));
    }

    #[test]
    fn version_1_is_found_beside_version_2_and_from_inside_a_container() {
        let groups = "4:cpu,memory:/docker/0123\n3:cpu:/elsewhere\n0::/\n";
        let limits = |folder: &str| {
            [
                ("proc/self/cgroup".to_string(), groups),
                (format!("sys/fs/cgroup/memory{folder}/memory.limit_in_bytes"), "1000\n"),
                (format!("sys/fs/cgroup/memory{folder}/memory.usage_in_bytes"), "800\n"),
                (format!("sys/fs/cgroup/memory{folder}/memory.stat"), "total_inactive_file 50\n"),
            ]
        };
        for folder in ["/docker/0123", ""] {
            let files = limits(folder);
            let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
            assert_eq!(left(&files), Some(250), "{folder}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_no_limit() {
        assert_eq!(left(&[]), None);
        assert_eq!(left(&[("proc/self/cgroup", "nonsense\n0::\n4:memory:/x\n")]), None);
        assert_eq!(machine(root(&[("proc/meminfo", "MemFree: 7 kB\n")]).path()), None);
    }

    #[test]
    fn the_machine_says_what_it_has_without_swapping() {
        let root = root(&[("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   7 kB\n")]);
        assert_eq!(machine(root.path()), Some(FreeMemory { bytes: 7 * 1024, by: "" }));
    }
}
