//! The folder among files that are damaged, foreign, old or in the way.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::driver::{PtxTarget, SpirvTarget};
use crate::program::spirv::{BuildOptions, Request};

fn key(number: u32) -> Key {
    let target = SpirvTarget::Ptx(PtxTarget { sm: number, version: (8, 0) });
    let options = BuildOptions::default();
    let none = &[];
    Key::of(
        &Request {
            sources: none,
            target,
            max_threads: 1,
            options: &options,
            global_offset: false,
            allows_imports: false,
        },
        "",
    )
}

fn product(size: usize) -> Product {
    Product { image: vec![b'x'; size], log: "said".to_owned() }
}

struct Temporary {
    _guard: tempfile::TempDir,
    folder: Folder,
}

fn temporary(limit_bytes: u64) -> Temporary {
    let guard = tempfile::tempdir().unwrap();
    let folder = Folder::new(guard.path().to_path_buf(), limit_bytes);
    Temporary { _guard: guard, folder }
}

fn names(folder: &Folder) -> usize {
    fs::read_dir(&folder.path).unwrap().count()
}

#[test]
fn what_is_stored_is_loaded_under_its_own_key_alone() {
    let it = temporary(1 << 20);
    assert_eq!(it.folder.load(&key(1)), None);
    it.folder.store(&key(1), &product(10));
    assert_eq!(it.folder.load(&key(1)), Some(product(10)));
    assert_eq!(it.folder.load(&key(2)), None);
    it.folder.store(&key(1), &product(20));
    assert_eq!(it.folder.load(&key(1)), Some(product(20)));
    assert_eq!(names(&it.folder), 1, "nothing unfinished is left");
    let mode = fs::metadata(it.folder.file(&key(1))).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_damaged_file_is_missing_and_made_anew() {
    let it = temporary(1 << 20);
    it.folder.store(&key(1), &product(100));
    let path = it.folder.file(&key(1));
    let mut bytes = fs::read(&path).unwrap();
    bytes[90] ^= 4;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(it.folder.load(&key(1)), None);
    assert!(!path.exists());
    it.folder.store(&key(1), &product(100));
    assert_eq!(it.folder.load(&key(1)), Some(product(100)));
}

#[test]
fn files_that_others_can_write_links_and_pipes_are_not_read() {
    let it = temporary(1 << 20);
    it.folder.store(&key(1), &product(100));
    let path = it.folder.file(&key(1));
    for mode in [0o620, 0o602, 0o666] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(it.folder.load(&key(1)), None, "{mode:o}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(it.folder.load(&key(1)), Some(product(100)));
    symlink(&path, it.folder.file(&key(2))).unwrap();
    assert_eq!(it.folder.load(&key(2)), None, "a link");
    fs::create_dir(it.folder.file(&key(3))).unwrap();
    assert_eq!(it.folder.load(&key(3)), None, "a folder");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        it.folder.file(&key(4)),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert_eq!(it.folder.load(&key(4)), None, "a pipe");
}

#[test]
fn another_users_file_is_not_read() {
    let it = temporary(1 << 20);
    it.folder.store(&key(1), &product(100));
    if std::os::unix::fs::chown(it.folder.file(&key(1)), Some(65534), None).is_err() {
        println!("skipped: only root can give a file away");
        return;
    }
    assert_eq!(it.folder.load(&key(1)), None);
}

#[test]
fn the_files_that_were_not_used_for_longest_go() {
    // Each file is larger than a sixteenth of the limit, so every store looks at all of them.
    let it = temporary(10_000);
    let size = entry::write(&product(2000)).len() as u64;
    let day = Duration::from_secs(24 * 60 * 60);
    for number in 1..=4 {
        it.folder.store(&key(number), &product(2000));
        let file = OpenOptions::new().write(true).open(it.folder.file(&key(number))).unwrap();
        file.set_modified(SystemTime::now() - day * (10 - number)).unwrap();
    }
    assert_eq!(4 * size, 4 * 2052);
    // The oldest is used and so becomes the newest.
    assert!(it.folder.load(&key(1)).is_some());
    it.folder.store(&key(5), &product(2000));
    let left: Vec<u32> = (1..=5).filter(|number| it.folder.file(&key(*number)).exists()).collect();
    assert_eq!(left, [1, 3, 4, 5].as_slice(), "8208 bytes are below seven eighths of the limit");
}

#[test]
fn what_is_larger_than_the_limit_is_not_kept_and_what_was_begun_long_ago_goes() {
    let it = temporary(1000);
    it.folder.store(&key(1), &product(2000));
    assert_eq!(names(&it.folder), 0);
    let old = it.folder.path.join("x.1.0.tmp");
    let new = it.folder.path.join("y.1.0.tmp");
    fs::write(&old, b"").unwrap();
    fs::write(&new, b"").unwrap();
    let day = Duration::from_secs(24 * 60 * 60);
    OpenOptions::new().write(true).open(&old).unwrap().set_modified(SystemTime::now() - day).unwrap();
    it.folder.store(&key(2), &product(500));
    assert!(!old.exists() && new.exists());
}

#[test]
fn a_folder_that_takes_no_file_is_given_up_after_one_try() {
    let it = temporary(1 << 20);
    let gone = Folder::new(it.folder.path.join("gone"), 1 << 20);
    gone.store(&key(1), &product(10));
    assert!(gone.full.load(Ordering::Relaxed));
    fs::create_dir(&gone.path).unwrap();
    gone.store(&key(1), &product(10));
    assert_eq!(names(&gone), 0);
    assert_eq!(gone.load(&key(1)), None);
}

#[test]
fn what_a_process_of_the_same_number_left_unfinished_is_in_nobodys_way() {
    // Another container's process, or one that was killed and started again.
    let it = temporary(1 << 20);
    for number in 0..1000 {
        let left = format!("{}.{}.{number}.{UNFINISHED}", key(1), std::process::id());
        fs::write(it.folder.path.join(left), b"").unwrap();
    }
    it.folder.store(&key(1), &product(10));
    assert_eq!(it.folder.load(&key(1)), Some(product(10)));
    assert!(!it.folder.full.load(Ordering::Relaxed), "the folder is not given up");
}

#[test]
fn threads_that_store_and_load_one_key_see_whole_results() {
    let it = temporary(1 << 20);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..200).for_each(|_| it.folder.store(&key(1), &product(3000))));
            scope.spawn(|| {
                for _ in 0..200 {
                    assert!(it.folder.load(&key(1)).is_none_or(|found| found == product(3000)));
                }
            });
        }
    });
    assert_eq!(it.folder.load(&key(1)), Some(product(3000)));
    assert_eq!(names(&it.folder), 1);
}
