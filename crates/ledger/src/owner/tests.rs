use std::os::unix::fs::symlink;

use super::*;

fn here() -> Owner {
    Owner::of_this_process(Nonce(7)).unwrap()
}

#[test]
fn this_process_is_alive() {
    let owner = here();
    assert_eq!(ProcessLiveness::new(owner.clone()).standing(&owner), Standing::Alive);
}

#[test]
fn a_process_number_used_by_another_process_is_a_dead_owner() {
    let mut owner = here();
    owner.started += 1;
    let standing = ProcessLiveness::new(here()).standing(&owner);
    assert!(matches!(&standing, Standing::Dead(why) if why.contains("another process")), "{standing:?}");
}

#[test]
fn a_process_that_is_gone_is_dead() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let mut owner = here();
    owner.pid = child.id();
    child.wait().unwrap();
    let standing = ProcessLiveness::new(here()).standing(&owner);
    assert!(matches!(standing, Standing::Dead(_)), "{standing:?}");
}

#[test]
fn an_owner_from_before_the_machine_was_started_anew_is_dead() {
    let mut owner = here();
    owner.boot = "another".to_owned();
    let standing = ProcessLiveness::new(here()).standing(&owner);
    assert!(matches!(standing, Standing::Dead(_)), "{standing:?}");
}

#[test]
fn an_owner_on_another_machine_or_in_another_container_is_unknown() {
    let mut elsewhere = here();
    elsewhere.boot = "another".to_owned();
    elsewhere.host = "other@0123".to_owned();
    let mut contained = here();
    contained.pid_namespace += 1;
    for owner in [elsewhere, contained] {
        let standing = ProcessLiveness::new(here()).standing(&owner);
        assert!(matches!(standing, Standing::Unknown(_)), "{standing:?}");
    }
}

#[test]
fn the_start_time_is_found_behind_a_name_with_brackets_and_blanks() {
    let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
    assert_eq!(start_time(&format!("17 (a ) b (c)) {}", fields.join(" "))), Some(22));
    assert_eq!(start_time("17 (cut short) S 1 2"), None);
}

#[test]
fn a_zombie_is_dead_since_it_writes_no_more() {
    let proc = tempfile::tempdir().unwrap();
    let owner = here();
    std::fs::create_dir(proc.path().join(owner.pid.to_string())).unwrap();
    let fields: Vec<String> = (4..=52).map(|_| owner.started.to_string()).collect();
    let stat = format!("{} (pilote) Z {}", owner.pid, fields.join(" "));
    std::fs::write(proc.path().join(owner.pid.to_string()).join("stat"), stat).unwrap();
    let liveness = ProcessLiveness { observer: owner.clone(), proc: proc.path().to_owned() };
    assert_eq!(liveness.standing(&owner), Standing::Dead(format!("process {} has ended", owner.pid)));
}

#[test]
fn the_identity_of_a_machine_is_not_written_down_as_it_is() {
    let root = tempfile::tempdir().unwrap();
    let proc = root.path().join("proc");
    std::fs::create_dir_all(proc.join("sys/kernel/random")).unwrap();
    std::fs::create_dir_all(proc.join("self/ns")).unwrap();
    std::fs::write(proc.join("sys/kernel/hostname"), "box\n").unwrap();
    std::fs::write(proc.join("sys/kernel/random/boot_id"), "b-1\n").unwrap();
    let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
    std::fs::write(proc.join("self/stat"), format!("9 (x) {}", fields.join(" "))).unwrap();
    symlink("pid:[42]", proc.join("self/ns/pid")).unwrap();
    let identity = root.path().join("machine-id");
    std::fs::write(&identity, "secret\n").unwrap();
    let owner = Owner::of_process(Nonce(1), &proc, &identity, 9).unwrap();
    assert!(owner.host.starts_with("box@") && !owner.host.contains("secret"), "{}", owner.host);
    assert_eq!((owner.boot.as_str(), owner.started, owner.pid_namespace), ("b-1", 22, 42));
}

#[test]
fn a_nonce_is_written_as_hexadecimal_digits_and_read_back() {
    let nonce = Nonce(0xfeed);
    assert_eq!(serde_json::to_string(&nonce).unwrap(), "\"0000000000000000000000000000feed\"");
    assert_eq!(nonce.to_string().parse(), Ok(nonce));
    assert!(serde_json::from_str::<Nonce>("\"x\"").is_err());
}
