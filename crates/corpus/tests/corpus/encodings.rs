//! Declared encodings, byte order marks, and bytes that are no text.

use pilote_spec::{Encoding, FaultCode};

use crate::folder::{Folder, all, fault, only, text};

#[test]
fn every_declared_encoding_is_read() {
    assert_eq!(text("a.txt", "日本語 café".as_bytes(), Encoding::Utf8), "日本語 café");
    assert_eq!(text("a.txt", b"\x93\xfa\x96{\x8c\xea \xb1\x83\\", Encoding::ShiftJis), "日本語 ｱソ");
    assert_eq!(text("a.txt", b"\xc6\xfc\xcb\xdc\xb8\xec", Encoding::EucJp), "日本語");
    assert_eq!(text("a.txt", b"caf\xe9 \x80 \x93q\x94", Encoding::Windows1252), "café € \u{201c}q\u{201d}");
}

#[test]
fn a_byte_order_mark_outranks_the_declaration_and_is_counted() {
    let mut little = vec![0xff, 0xfe];
    let mut big = vec![0xfe, 0xff];
    for unit in "été 🦀".encode_utf16() {
        little.extend(unit.to_le_bytes());
        big.extend(unit.to_be_bytes());
    }
    for encoding in [Encoding::Utf8, Encoding::ShiftJis, Encoding::EucJp, Encoding::Windows1252] {
        assert_eq!(text("a.txt", &little, encoding), "été 🦀");
        assert_eq!(text("a", &big, encoding), "été 🦀");
        assert_eq!(text("a.md", b"\xef\xbb\xbf\xc3\xa9", encoding), "é");
    }
    let folder = Folder::with(&[("a.txt", &little), ("b.txt", b"\xef\xbb\xbfb"), ("c.txt", b"c")]);
    assert_eq!(all(&folder.directory()).1.events(), [("bom-removed", "2".to_owned())]);
}

#[test]
fn a_wrong_encoding_is_refused_with_the_offset_of_the_first_wrong_byte() {
    let refused = |bytes: &[u8], encoding| {
        let item = only("a.txt", bytes, encoding);
        let (code, detail) = fault(&item);
        assert_eq!(code, FaultCode::Encoding);
        assert!(item.digest.is_some());
        detail.to_owned()
    };
    assert_eq!(refused(b"caf\xe9 au lait", Encoding::Utf8), "no UTF-8 at byte 3");
    assert_eq!(refused(b"\x93\xfa\x96{", Encoding::Utf8), "no UTF-8 at byte 0");
    assert_eq!(refused(b"ok \xed\xa0\x80", Encoding::Utf8), "no UTF-8 at byte 3");
    assert_eq!(refused(b"cut \xe6\x97", Encoding::Utf8), "no UTF-8 at byte 4");
    assert_eq!(refused(b"\x93\xfa\xa0", Encoding::ShiftJis), "no Shift_JIS at byte 2");
    assert_eq!(refused(b"abc\x93", Encoding::ShiftJis), "no Shift_JIS at byte 3");
    assert_eq!(refused(b"\xc6\xfc\xffx", Encoding::EucJp), "no EUC-JP at byte 2");
    assert_eq!(refused(b"ab\x81", Encoding::Windows1252), "no windows-1252 at byte 2");
    assert_eq!(refused(b"\xff\xfea\0\0\xd8b\0", Encoding::Utf8), "no UTF-16LE at byte 4");
    assert_eq!(refused(b"\xfe\xff\0a\0", Encoding::Utf8), "no UTF-16BE at byte 4");
}

#[test]
fn a_text_is_never_mended_with_replacement_characters() {
    for encoding in [Encoding::Utf8, Encoding::ShiftJis, Encoding::EucJp] {
        for byte in 0x80..=0xff_u8 {
            let item = only("a.txt", &[b'a', byte], encoding);
            if item.fault.is_none() {
                assert!(!text("a.txt", &[b'a', byte], encoding).contains('\u{fffd}'));
            }
        }
    }
}

#[test]
fn utf_16_without_a_mark_is_refused() {
    let item = only("a.txt", b"a\0b\0", Encoding::Utf8);
    assert_eq!(fault(&item), (FaultCode::Nul, "character 1 of the text"));
}
