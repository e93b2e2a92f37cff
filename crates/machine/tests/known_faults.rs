//! Failures that were seen elsewhere, row by row: what recognises each, in words of programs or in a replayed machine.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use pilote_machine::causes::{codes, recognise, rung_of, rung_of_step};
use pilote_machine::verdict::RungCode;

const TABLE: &str = include_str!("data/machine-faults.tsv");
const REPLAYED: &str = include_str!("machines.rs");
const TYPED: &str = include_str!("../../cli/tests/check.rs");

/// What covers a row.
enum By {
    /// These words give this cause.
    Words(&'static str, &'static str),
    /// A replayed machine or a typed command: the test of this name.
    Test(&'static str),
}
use By::{Test, Words};

const COVERED: [(&str, By); 28] = [
    (
        "driver older than wheel runtime",
        Words("The NVIDIA driver on your system is too old (found version 10010).", "driver-too-old"),
    ),
    ("arch not in wheel", Test("an_architecture_that_the_wheel_lacks_fails_although_a_card_is_available")),
    ("uvm module/device", Test("a_missing_uvm_node_is_told_from_one_that_the_container_does_not_let_in")),
    ("visible devices changed too late", Test("what_does_not_travel_is_named_with_its_place")),
    (
        "fabric manager version mismatch",
        Test("a_fabric_manager_of_another_version_or_that_is_not_ready_is_named"),
    ),
    (
        "forward compat on consumer card",
        Words(
            "Error 804: forward compatibility was attempted on non supported HW",
            "compat-on-consumer-card",
        ),
    ),
    (
        "runtime major mismatch",
        Words("ImportError: libcudart.so.13: cannot open shared object file", "runtime-major"),
    ),
    (
        "mixed CUDA majors in env",
        Test("two_majors_of_cuda_side_by_side_and_other_versions_than_declared_are_named"),
    ),
    ("silent CPU fallback", Test("a_wheel_for_the_processor_names_the_python_that_pip_looked_for")),
    ("CUDA wheel on AMD card", Test("cards_of_amd_are_read_from_either_shape_of_its_listing")),
    ("wrong agent picked", Test("cards_of_amd_are_read_from_either_shape_of_its_listing")),
    (
        "device permission",
        Test("groups_are_compared_by_number_and_an_invalid_argument_is_no_matter_of_groups"),
    ),
    ("errno confused", Words("Unable to open /dev/kfd read-write: Invalid argument", "node-refused")),
    (
        "toolkit missing",
        Words("could not select device driver \"\" with capabilities: [[gpu]]", "toolkit-missing"),
    ),
    ("GPU lost mid-run", Words("Failed to initialize NVML: Unknown Error", "container-lost-card")),
    ("unattended upgrade", Test("a_library_upgraded_under_a_loaded_module_is_named_with_both_versions")),
    ("conflicting module", Test("nouveau_and_a_module_that_is_not_loaded_are_told_apart")),
    ("shm too small", Test("shared_memory_at_the_default_of_containers_fails_where_cards_are_asked_for")),
    ("MIG expectation", Test("identifiers_and_slices_in_the_variable_are_understood")),
    (
        "MIG UUID parsing",
        Words("ValueError: invalid literal for int() with base 10: 'MIG-c8b5'", "mig-number"),
    ),
    ("wrong interpreter", Test("another_pip_than_the_interpreters_own_is_noted")),
    (
        "build isolation",
        Words(
            "Getting requirements to build wheel did not run\nModuleNotFoundError: No module named 'torch'",
            "build-isolation",
        ),
    ),
    (
        "PTX newer than driver",
        Words("the provided PTX was compiled with an unsupported toolchain", "ptx-too-new"),
    ),
    ("hardware", Words("NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.", "card-lost")),
    ("memory held elsewhere", Test("memory_that_others_hold_is_told_with_their_numbers")),
    (
        "driver capability missing",
        Test("rendering_asks_for_libraries_that_a_container_mounts_only_when_told"),
    ),
    ("engine needs display", Words("Unable to open a display", "needs-display")),
    ("declared vs measured count", Test("fewer_cards_than_declared_ordered_or_on_the_bus_are_counted")),
];

#[test]
fn every_row_of_the_table_is_recognised() {
    let rows: Vec<&str> = TABLE.lines().skip(1).map(|line| line.split('\t').next().unwrap()).collect();
    let known: Vec<&str> = COVERED.iter().map(|(row, _)| *row).collect();
    assert_eq!(rows, known);
    for (row, by) in &COVERED {
        match by {
            Words(words, cause) => assert_eq!(recognise(words), Some(*cause), "{row}"),
            Test(name) => {
                let start = format!("fn {name}()");
                assert!(
                    REPLAYED.contains(&start) || TYPED.contains(&start),
                    "{row}: no test is named {name}"
                );
            }
        }
    }
}

#[test]
fn every_cause_and_step_has_the_rung_that_looks_at_it() {
    // A cause of the wheel begins below the engine; what is not told apart begins where it was seen.
    let begins = [
        ("cpu-wheel", RungCode::Wheel),
        ("uvm", RungCode::Nodes),
        ("fabric-manager", RungCode::Fabric),
        ("architecture-missing", RungCode::Capability),
        ("disk-full", RungCode::System),
        ("gated-model", RungCode::Model),
        ("port-taken", RungCode::Engine),
    ];
    for (cause, rung) in begins {
        assert!(codes().contains(&cause), "{cause}");
        assert_eq!(rung_of(cause), rung, "{cause}");
    }
    assert!(codes().into_iter().all(|cause| rung_of(cause) <= RungCode::Engine));
    assert_eq!(rung_of_step("load model"), RungCode::Model);
    assert_eq!(rung_of_step("greeting"), RungCode::Engine);
    assert_eq!(rung_of_step("compute"), RungCode::Items);
}
