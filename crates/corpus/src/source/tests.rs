use super::*;

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_holds_more_than_it_announced_is_let_go_of_at_the_limit() {
    // The kernel's files announce no length and hold text all the same, as a file that grows while it is read.
    let mut file = File::open("/proc/self/status").unwrap();
    assert_eq!(file.metadata().unwrap().len(), 0);
    let stored = stored(&mut file, 10).unwrap();
    assert!(stored.bytes > 10);
    assert!(stored.kept.is_none());
}
