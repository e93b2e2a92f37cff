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

    /// A server that speaks S3 as the public one does, ended with the value.
    struct Moto {
        child: std::process::Child,
        address: String,
    }

    impl Moto {
        #[expect(clippy::disallowed_methods, reason = "xtask says which Python has the server")]
        fn start() -> Self {
            use std::io::{BufRead as _, Read as _, Write as _};
            let python =
                std::env::var("PILOTE_PEERS_PYTHON").expect("cargo xtask test --all says which Python");
            let mut child = std::process::Command::new(python)
                .args(["-c", "import sys; from moto.server import main; sys.exit(main(['-H', '127.0.0.1', '-p', '0']))"])
                .stderr(std::process::Stdio::piped())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap();
            let said = std::io::BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
            let place =
                said.filter_map(|line| Some(line.split_once("http://")?.1.to_owned())).next().unwrap();
            let host = place.split_whitespace().next().unwrap().to_owned();
            let mut stream = std::net::TcpStream::connect(&host).unwrap();
            let request =
                "PUT /backup HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            Self { child, address: format!("http://{host}/backup/trials") }
        }
    }

    impl Drop for Moto {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    #[test]
    #[ignore = "needs a server from a package"]
    fn a_copy_in_a_server_that_speaks_s3_is_made_and_read_again() {
        let moto = Moto::start();
        let access =
            pilote_ledger::Access::from_variables(|name| name.contains("KEY").then(|| "x".to_owned()));
        let place = pilote_ledger::Bucket::open(&moto.address, &access).unwrap();
        let fixture = pilot();
        collect(&fixture.trial).unwrap();
        // More than one piece of an object.
        std::fs::write(fixture.path("large.bin"), vec![7; 20 << 20]).unwrap();
        for archive in [false, true] {
            let destination = pilote_proof::Destination::Bucket(place.clone());
            let export = Export { archive, ..Export::new(&fixture.trial, destination, Stamp(1)) };
            let exported = export_as(&export, &mut |_, _| {}).unwrap();
            assert!(exported.verification.whole, "{:#?}", exported.verification.findings);
            let name = exported.copy.file_name().unwrap().to_str().unwrap().to_owned();
            let at = place.within(&name);
            let read = pilote_proof::verify_bucket(&at, &pilote_proof::Thoroughness::default()).unwrap();
            assert!(read.whole, "{name}: {:#?}", read.findings);
            assert!(export_as(&export, &mut |_, _| {}).unwrap().already, "{name}");
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
