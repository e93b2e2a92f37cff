//! What takes minutes, or needs the public validators, which `cargo xtask test --all` installs.

mod heavy {
    use pilote_proof::{Export, collect, export_as};
    use pilote_spec::Stamp;

    use crate::support::{Fixture, Plan, expected, pilot};

    /// Asks the public validators about a copy.
    #[expect(clippy::disallowed_methods, reason = "xtask says which Python has the validators")]
    fn validate(copy: &std::path::Path) -> String {
        let python = std::env::var("PILOTE_PEERS_PYTHON").expect("cargo xtask test --all says which Python");
        let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/validators.py");
        let output = std::process::Command::new(python).arg(script).arg(copy).output().unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{said}");
        said
    }

    #[test]
    #[ignore = "needs bagit and rocrate-validator"]
    fn every_kind_of_export_passes_the_public_validators() {
        let whole = pilot();
        collect(&whole.trial).unwrap();
        let stopped =
            Fixture::new(&Plan { sealed: 1, ended: Some("interrupted"), ..Plan::default() }, |item| {
                (item.position.0 < 7).then(|| expected(item))
            });
        for fixture in [whole, stopped] {
            for (with_inputs, sha512) in [(false, false), (true, true)] {
                let elsewhere = fixture.elsewhere().join(format!("{with_inputs}"));
                let export = Export {
                    with_inputs,
                    sha512,
                    report: Some("<!doctype html><title>A report</title>"),
                    ..Export::new(&fixture.trial, &elsewhere, Stamp(1_796_062_600_000))
                };
                let said = validate(&export_as(&export, &mut |_, _| {}).unwrap().copy);
                assert!(said.contains("is valid"), "{said}");
            }
        }
    }

    #[test]
    #[ignore = "two minutes of work"]
    fn every_single_byte_of_a_copy_that_is_flipped_is_found() {
        crate::damage::flip_each(1);
    }

    #[test]
    #[ignore = "two minutes of work"]
    fn every_single_byte_of_an_archive_that_is_flipped_is_found() {
        crate::archive::flip_each(1);
    }
}
