//! Stored messages to text.

use pilote_spec::{Encoding, FaultCode};

use crate::folder::{Folder, all, fault, only, text};

fn message(lines: &[&str]) -> Vec<u8> {
    lines.join("\r\n").into_bytes()
}

fn refused(bytes: &[u8], encoding: Encoding) -> (FaultCode, String) {
    let item = only("a.eml", bytes, encoding);
    let (code, detail) = fault(&item);
    (code, detail.to_owned())
}

#[test]
fn subject_sender_date_and_words_are_read() {
    let bytes = message(&[
        "From: =?UTF-8?Q?Ren=C3=A9e?= <renee@example.org>",
        "To: shop@example.org",
        "Subject: =?ISO-2022-JP?B?GyRCQEE1YT1xGyhC?= et =?windows-1252?Q?d=E9lai?=",
        "Date: Mon, 30 Nov 2026 19:00:00 +0100",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: quoted-printable",
        "",
        "Bonjour, o=C3=B9 est ma com=",
        "mande ?",
    ]);
    assert_eq!(
        text("a.eml", &bytes, Encoding::Utf8),
        "Subject: 請求書 et délai\nFrom: Renée <renee@example.org>\nDate: 2026-11-30T19:00:00+01:00\n\n\
         Bonjour, où est ma commande ?"
    );
}

#[test]
fn the_plain_part_is_preferred_and_attachments_are_counted() {
    let bytes = message(&[
        "From: a@example.org",
        "Subject: report",
        "MIME-Version: 1.0",
        "Content-Type: multipart/mixed; boundary=outer",
        "",
        "--outer",
        "Content-Type: multipart/alternative; boundary=inner",
        "",
        "--inner",
        "Content-Type: text/plain; charset=shift_jis",
        "Content-Transfer-Encoding: base64",
        "",
        "k/qWe4zq",
        "--inner",
        "Content-Type: text/html; charset=utf-8",
        "",
        "<p>in HTML</p>",
        "--inner--",
        "--outer",
        "Content-Type: application/pdf",
        "Content-Disposition: attachment; filename=a.pdf",
        "Content-Transfer-Encoding: base64",
        "",
        "JVBERi0=",
        "--outer--",
        "",
    ]);
    assert_eq!(text("a.eml", &bytes, Encoding::Utf8), "Subject: report\nFrom: a@example.org\n\n日本語");
    let notes = all(&Folder::with(&[("a.eml", &bytes)]).directory()).1;
    assert_eq!(notes.events(), [("attachments-ignored", "1".to_owned())]);
}

#[test]
fn a_body_in_html_is_converted() {
    let bytes = message(&[
        "From: a@example.org",
        "Subject: s",
        "Content-Type: text/html; charset=windows-1252",
        "Content-Transfer-Encoding: quoted-printable",
        "",
        "<style>no</style><p>d=E9j=E0</p><p>vu</p>",
    ]);
    assert_eq!(text("a.eml", &bytes, Encoding::Utf8), "Subject: s\nFrom: a@example.org\n\ndéjà\n\nvu");
}

#[test]
fn what_names_no_charset_is_in_the_declared_encoding() {
    let stored =
        encoding_rs::SHIFT_JIS.encode("From: a@example.org\nSubject: 請求書\n\n日本語\n").0.into_owned();
    assert_eq!(
        text("a.eml", &stored, Encoding::ShiftJis),
        "Subject: 請求書\nFrom: a@example.org\n\n日本語\n"
    );
    assert_eq!(refused(&stored, Encoding::Utf8), (FaultCode::Encoding, "no UTF-8 at byte 29".to_owned()));
}

#[test]
fn damaged_words_are_refused_and_never_mended() {
    let of = |lines: &[&str], body: &[u8]| {
        let mut bytes = message(&[&["From: a@example.org", "Subject: s"], lines, &["", ""]].concat());
        bytes.extend_from_slice(body);
        refused(&bytes, Encoding::Utf8)
    };
    let encoding = |detail: &str| (FaultCode::Encoding, detail.to_owned());
    assert_eq!(
        of(&["Content-Type: text/plain; charset=utf-8"], b"caf\xe9"),
        encoding("no UTF-8 in the part at byte 79")
    );
    assert_eq!(of(&[], b"caf\xe9"), encoding("no UTF-8 in the part at byte 38"));
    assert_eq!(
        of(&["Content-Type: text/plain; charset=klingon"], b"words"),
        encoding("a part names a charset that is not known")
    );
    let bytes = message(&["From: a@example.org", "Subject: =?utf-8?Q?caf=E9?=", "", "words"]);
    assert_eq!(refused(&bytes, Encoding::Utf8), encoding("the header `Subject` cannot be decoded"));
}

#[test]
fn a_message_without_words_is_empty_and_one_without_headers_is_none() {
    let empty = message(&["From: a@example.org", "Date: Mon, 30 Nov 2026 19:00:00 +0100", "", "  "]);
    assert_eq!(refused(&empty, Encoding::Utf8), (FaultCode::Empty, "no subject and no text".to_owned()));
    let none = b"just some words, and no header at all\n";
    assert_eq!(
        refused(none, Encoding::Utf8),
        (FaultCode::UnsupportedKind, "mail-without-headers".to_owned())
    );
}
