//! Copies in one archive: made, verified without being unpacked, and archives that mean harm.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use pilote_proof::{Export, Exported, Grade, collect, export_as, verify};
use pilote_spec::Stamp;

use crate::support::{Fixture, NAME, Plan, contents, expected, pilot, vector};

fn archived(fixture: &Fixture) -> Exported {
    let elsewhere = fixture.elsewhere();
    let export = Export { archive: true, sha512: true, ..Export::new(&fixture.trial, &elsewhere, Stamp(1)) };
    export_as(&export, &mut |_, _| {}).unwrap()
}

fn errors(place: &Path) -> Vec<&'static str> {
    let verification = verify(place).unwrap();
    let errors = verification.findings.iter().filter(|finding| finding.grade == Grade::Error);
    assert!(verification.whole == (verification.errors == 0));
    errors.map(|finding| finding.code.code()).collect()
}

#[test]
fn an_archive_is_one_file_that_is_verified_without_being_unpacked() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let exported = archived(&fixture);
    assert_eq!(exported.copy, fixture.elsewhere().join(format!("{NAME}.tar.zst")));
    assert!(exported.verification.holds, "{:#?}", exported.verification);
    let names: Vec<String> = contents(&fixture.elsewhere()).into_keys().collect();
    assert_eq!(names, [format!("{NAME}.tar.zst"), format!("{NAME}.tar.zst.verification.json")]);
    let verification = verify(&exported.copy).unwrap();
    assert!(verification.whole && verification.holds);
    assert_eq!(verification.balance.unwrap().accepted, 11);
    assert_eq!(verification.files, exported.files + 4, "payload and the four listed tag files");
    // Exported again, it is read again and not made again.
    let before = std::fs::read(&exported.copy).unwrap();
    assert!(archived(&fixture).already);
    assert!(std::fs::read(&exported.copy).unwrap() == before);
}

#[test]
fn payloads_are_found_again_in_an_archive_of_several_frames() {
    let plan = Plan { example: "embeddings", rows: 4_000, ..Plan::default() };
    let fixture = Fixture::new(&plan, |item| Some(pilote_spec::Outcome::Accepted(vector(item))));
    let copy = archived(&fixture).copy;
    let bytes = std::fs::read(&copy).unwrap();
    let frames = bytes.windows(4).filter(|window| *window == [0x28, 0xb5, 0x2f, 0xfd]).count();
    assert!(frames > 2, "{frames} frames of {} bytes", bytes.len());
    let verification = verify(&copy).unwrap();
    assert!(verification.whole, "{:#?}", verification.findings);
    assert_eq!(verification.balance.unwrap().accepted, 4_000);
}

#[test]
fn any_program_that_knows_the_formats_unpacks_it_to_a_copy_that_is_whole() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let copy = archived(&fixture).copy;
    let there = fixture.elsewhere().join("unpacked");
    unpack(&copy, &there);
    let verification = verify(&there.join(NAME)).unwrap();
    // The verdict lies beside the archive and is not in it.
    let codes: Vec<_> = verification.findings.iter().map(|finding| finding.code.code()).collect();
    assert_eq!(codes, ["verdict-wrong"]);
    assert!(there.join(NAME).join("manifest-sha512.txt").is_file());
}

fn unpack(archive: &Path, to: &Path) {
    let file = zstd::stream::read::Decoder::new(std::fs::File::open(archive).unwrap()).unwrap();
    tar::Archive::new(file).unpack(to).unwrap();
}

/// What one entry of a hostile archive is to be.
enum Odd {
    Named(&'static str),
    Link(tar::EntryType),
    Twice,
}

/// An archive with the same entries as `archive`, and an odd one.
fn with_odd(archive: &Path, to: &Path, odd: &Odd) {
    let reader = zstd::stream::read::Decoder::new(std::fs::File::open(archive).unwrap()).unwrap();
    let mut writer =
        tar::Builder::new(zstd::stream::write::Encoder::new(std::fs::File::create(to).unwrap(), 1).unwrap());
    for (number, entry) in tar::Archive::new(reader).entries().unwrap().enumerate() {
        let mut entry = entry.unwrap();
        let mut header = entry.header().clone();
        let path = entry.path().unwrap().into_owned();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
        if number == 3 {
            if let Odd::Named(name) = odd {
                // As somebody writes it who does not care what a library allows.
                let field = &mut header.as_old_mut().name;
                field.fill(0);
                field[..name.len()].copy_from_slice(name.as_bytes());
                header.set_cksum();
                writer.append(&header, bytes.as_slice()).unwrap();
                continue;
            }
            if let Odd::Link(kind) = odd {
                header.set_entry_type(*kind);
                header.set_size(0);
                header.set_link_name("/etc/passwd").unwrap();
                header.set_cksum();
                writer.append(&header, std::io::empty()).unwrap();
                continue;
            }
            writer.append_data(&mut header, &path, bytes.as_slice()).unwrap();
        }
        writer.append_data(&mut header, &path, bytes.as_slice()).unwrap();
    }
    writer.into_inner().unwrap().finish().unwrap();
}

#[test]
fn entries_that_climb_out_links_and_twins_are_refused_and_nothing_is_written() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let copy = archived(&fixture).copy;
    let hostile = fixture.elsewhere().join("hostile.tar.zst");
    let before = contents(fixture.project.parent().unwrap()).len();
    for (odd, code) in [
        (Odd::Named("../../evil.txt"), "path-outside"),
        (Odd::Named("/etc/evil"), "path-outside"),
        (Odd::Named("a/../../evil"), "path-outside"),
        (Odd::Named("C:\\evil"), "path-outside"),
        (Odd::Named("a\\..\\..\\evil"), "path-outside"),
        (Odd::Link(tar::EntryType::Symlink), "not-plain"),
        (Odd::Link(tar::EntryType::Link), "not-plain"),
        (Odd::Link(tar::EntryType::Fifo), "not-plain"),
        (Odd::Link(tar::EntryType::Char), "not-plain"),
        (Odd::Twice, "entry-repeated"),
    ] {
        with_odd(&copy, &hostile, &odd);
        let found = errors(&hostile);
        assert!(found.contains(&code), "{found:?}");
    }
    assert_eq!(contents(fixture.project.parent().unwrap()).len(), before + 1, "only the archive itself");
}

#[test]
fn every_entry_renamed_outward_in_turn_is_found() {
    let fixture = small();
    let copy = archived(&fixture).copy;
    let bytes = zstd::stream::decode_all(std::fs::File::open(&copy).unwrap()).unwrap();
    let mut archive = tar::Archive::new(bytes.as_slice());
    let headers: Vec<usize> = archive
        .entries()
        .unwrap()
        .map(|entry| usize::try_from(entry.unwrap().raw_header_position()).unwrap())
        .collect();
    let renamed = fixture.elsewhere().join("renamed.tar.zst");
    for at in headers {
        let mut changed = bytes.clone();
        let mut header = tar::Header::from_byte_slice(&bytes[at..at + 512]).clone();
        let field = &mut header.as_old_mut().name;
        let name = *field;
        field[..3].copy_from_slice(b"../");
        field[3..].copy_from_slice(&name[..97]);
        header.set_cksum();
        changed[at..at + 512].copy_from_slice(header.as_bytes());
        std::fs::write(&renamed, zstd::stream::encode_all(changed.as_slice(), 1).unwrap()).unwrap();
        assert!(errors(&renamed).contains(&"path-outside"));
    }
}

/// A trial as small as one can be.
pub(crate) fn small() -> Fixture {
    let plan = Plan { rows: 2, part_items: 2, ..Plan::default() };
    let fixture = Fixture::new(&plan, |item| Some(expected(item)));
    collect(&fixture.trial).unwrap();
    fixture
}

#[test]
fn flipped_bytes_all_over_an_archive_are_found() {
    flip_each(11);
}

/// Flips every `step`-th byte of an archive in turn; with 1 it is every byte, which `heavy` does.
pub(crate) fn flip_each(step: usize) {
    let fixture = small();
    let copy = archived(&fixture).copy;
    let whole = std::fs::read(&copy).unwrap();
    assert!(verify(&copy).unwrap().whole);
    let plain = zstd::stream::decode_all(whole.as_slice()).unwrap();
    let spoilt = fixture.elsewhere().join("spoilt.tar.zst");
    for at in (0..whole.len()).step_by(step) {
        let mut changed = whole.clone();
        changed[at] ^= 1 << (at % 8);
        std::fs::write(&spoilt, &changed).unwrap();
        // A bit that the format leaves unused changes nothing that is read.
        let same = || zstd::stream::decode_all(changed.as_slice()).is_ok_and(|read| read == plain);
        assert!(!verify(&spoilt).unwrap().whole || same(), "byte {at} of {}", whole.len());
    }
    for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&spoilt, &whole[..cut]).unwrap();
        assert!(!verify(&spoilt).unwrap().whole, "cut at {cut}");
    }
}

#[test]
fn an_archive_that_expands_beyond_its_bound_is_read_no_further() {
    let dir = tempfile::tempdir().unwrap();
    let path: PathBuf = dir.path().join("bomb.tar.zst");
    let mut encoder = zstd::stream::write::Encoder::new(std::fs::File::create(&path).unwrap(), 19).unwrap();
    let mut header = tar::Header::new_gnu();
    header.set_path("bag/data/zeros").unwrap();
    header.set_size(2 << 30);
    header.set_cksum();
    encoder.write_all(header.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..512 {
        encoder.write_all(&zeros).unwrap();
    }
    encoder.finish().unwrap();
    let verification = verify(&path).unwrap();
    let finding = &verification.findings[0];
    assert_eq!(finding.code.code(), "expands-too-much", "{:?}", verification.findings);
    assert!(finding.detail.contains("expands to more than"), "{}", finding.detail);
}

#[test]
fn an_archive_of_one_long_frame_is_compared_and_its_balance_is_said_not_to_be_counted() {
    use pilote_proof::{Check, Why};
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let copy = archived(&fixture).copy;
    let plain = zstd::stream::decode_all(std::fs::File::open(&copy).unwrap()).unwrap();
    // A file of seventy megabytes beside, so that one frame is too long to be held.
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(70 << 20);
    header.set_cksum();
    builder
        .append_data(
            &mut header,
            format!("{NAME}/data/long"),
            std::io::Read::take(std::io::repeat(b'x'), 70 << 20),
        )
        .unwrap();
    let long = [builder.into_inner().unwrap()[..512 + (70 << 20)].to_vec(), plain].concat();
    let other = fixture.elsewhere().join("other.tar.zst");
    std::fs::write(&other, zstd::stream::encode_all(long.as_slice(), 1).unwrap()).unwrap();
    let verification = verify(&other).unwrap();
    assert!(
        verification.unchecked.iter().any(|left| (left.check, left.why) == (Check::Balance, Why::OneStream))
    );
    assert!(!verification.whole && verification.balance.is_none());
}
