//! The service lock.

use bylaw_contract::ErrorCode;
use bylaw_library::{DataDirectory, LibraryError, LockHolder, ServiceLock};

fn holder(address: Option<&str>) -> LockHolder {
    LockHolder { pid: 4711, address: address.map(str::to_owned) }
}

#[test]
fn a_second_holder_is_refused_and_told_who_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let directory = DataDirectory::new(folder.path().join("not/there yet"));
    assert_eq!(ServiceLock::holder(&directory), None);
    let lock = ServiceLock::acquire(&directory, &holder(None)).unwrap();
    let refused = |expected: &str| {
        let error = ServiceLock::acquire(&directory, &holder(None)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::DataDirectoryLocked);
        let folder = directory.root().display();
        assert_eq!(
            error.to_string(),
            format!("data directory {folder} is in use by {expected}; stop that process or choose another with --data")
        );
    };
    refused("process 4711");
    lock.announce(&holder(Some("127.0.0.1:8024"))).unwrap();
    assert_eq!(ServiceLock::holder(&directory), Some(holder(Some("127.0.0.1:8024"))));
    refused("the service at http://127.0.0.1:8024 (process 4711)");
    // A shorter text leaves nothing of the longer one behind.
    lock.announce(&holder(None)).unwrap();
    assert_eq!(ServiceLock::holder(&directory), Some(holder(None)));
    drop(lock);
    assert_eq!(ServiceLock::holder(&directory), None);
    ServiceLock::acquire(&directory, &holder(None)).unwrap();
}

#[test]
fn what_a_killed_process_wrote_does_not_hold_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let directory = DataDirectory::new(folder.path());
    for left_behind in [r#"{"pid":1,"address":"127.0.0.1:8024"}"#, "", "{", &"x".repeat(4096)] {
        std::fs::write(directory.lock(), left_behind).unwrap();
        assert_eq!(ServiceLock::holder(&directory), None, "{left_behind}");
        let lock = ServiceLock::acquire(&directory, &holder(None)).unwrap();
        assert_eq!(ServiceLock::holder(&directory).map(|holder| holder.address), Some(None));
        drop(lock);
    }
}

#[test]
fn a_data_directory_that_cannot_be_made_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let check = |root: std::path::PathBuf, problem: &str| {
        let error = ServiceLock::acquire(&DataDirectory::new(&root), &holder(None)).unwrap_err();
        assert!(matches!(error, LibraryError::DataDirectory { .. }), "{error:?}");
        assert_eq!(error.code(), ErrorCode::DataDirectoryUnusable);
        let message = error.to_string();
        assert!(message.starts_with(&format!("data directory {} cannot be used: ", root.display())), "{message}");
        assert!(message.contains(problem) && message.ends_with("choose another with --data"), "{message}");
    };
    check(file.clone(), "it, or a folder above it, is a file");
    check(file.join("below"), "it, or a folder above it, is a file");
    #[cfg(target_os = "linux")]
    check("/proc/bylaw".into(), "");
}
