//! Does the store keep what is written, and refuse files that it must not use?

use interpulse_serve::protocol::Extent;
use interpulse_serve::store::{Store, StoreError};

const MIB: u64 = 1 << 20;

fn read(store: &Store, offset: u64, length: u32) -> Vec<u8> {
    let mut out = Vec::new();
    store.read_to(offset, length, &mut out).unwrap();
    out
}

fn keeps_and_deallocates(store: &Store) {
    assert_eq!(read(store, 0, 4096), [0; 4096]);
    store.write(MIB, &[7; 8192]).unwrap();
    store.write(2 * MIB, &[8; 4096]).unwrap();
    let hole = |bytes: u64| Extent { bytes: bytes as u32, flags: 3 };
    let data = |bytes: u64| Extent { bytes: bytes as u32, flags: 0 };
    let all = [hole(MIB), data(8192), hole(MIB - 8192), data(4096), hole(2 * MIB - 4096)];
    assert_eq!(store.extents(0, 4 << 20, false).unwrap(), all);
    assert_eq!(store.extents(MIB + 4096, 1 << 20, true).unwrap(), [data(4096)]);
    store.deallocate(MIB, 4096).unwrap();
    assert_eq!(read(store, MIB, 8192), [[0; 4096], [7; 4096]].concat());
    store.write_zeroes(MIB + 4096, 512, false).unwrap();
    store.write_zeroes(2 * MIB, 4096, true).unwrap();
    assert_eq!(read(store, MIB + 4096, 1024), [[0; 512], [7; 512]].concat());
    assert_eq!(read(store, 2 * MIB, 4096), [0; 4096]);
    // Allocated zeroes are no hole.
    let allocated = store.extents(2 * MIB, 4096, false).unwrap();
    assert_eq!(allocated.iter().map(|extent| u64::from(extent.bytes)).sum::<u64>(), 4096);
    store.flush().unwrap();
}

#[test]
fn a_file_and_memory_keep_the_same() {
    keeps_and_deallocates(&Store::in_memory(4 * MIB).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    keeps_and_deallocates(&Store::open(&path, 4 * MIB).unwrap());
    let again = Store::open(&path, 4 * MIB).unwrap();
    assert_eq!(read(&again, MIB + 4608, 512), [7; 512]);
}

#[test]
fn a_file_in_use_of_another_size_or_kind_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let first = Store::open(&path, MIB).unwrap();
    assert!(matches!(Store::open(&path, MIB), Err(StoreError::Locked { .. })));
    drop(first);
    let Err(error) = Store::open(&path, 2 * MIB) else { panic!("it has another size") };
    let expected = format!("{}: seen 1048576 bytes; expected 2097152 bytes", path.display());
    assert!(error.to_string().starts_with(&expected), "{error}");
    assert_eq!(std::fs::metadata(&path).unwrap().len(), MIB, "a refused file stays as it is");
    assert!(matches!(Store::open(folder.path(), MIB), Err(StoreError::Kind { seen: "a folder", .. })));
    assert!(matches!(
        Store::open("/dev/null".as_ref(), MIB),
        Err(StoreError::Kind { seen: "a special file", .. })
    ));
    assert!(matches!(Store::open(&folder.path().join("no/data"), MIB), Err(StoreError::Open { .. })));
}

#[test]
fn extents_are_never_empty_while_another_client_deallocates() {
    let store = Store::in_memory(MIB).unwrap();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            for _ in 0..20_000 {
                store.write(4096, &[1; 4096]).unwrap();
                store.deallocate(4096, 4096).unwrap();
            }
        });
        while !other.is_finished() {
            let found = store.extents(0, MIB as u32, false).unwrap();
            assert!(found.iter().all(|extent| extent.bytes > 0), "{found:?}");
            assert_eq!(found.iter().map(|extent| u64::from(extent.bytes)).sum::<u64>(), MIB);
        }
    });
}
