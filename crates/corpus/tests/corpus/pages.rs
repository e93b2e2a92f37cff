//! HTML to text.

use pilote_spec::{Encoding, FaultCode};

use crate::folder::{Folder, all, fault, only, text};

fn page(html: &str) -> String {
    text("a.html", html.as_bytes(), Encoding::Utf8)
}

#[test]
fn a_page_becomes_what_its_reader_sees() {
    let html = "<!doctype html><html><head><title>Facture &amp; d&eacute;lai</title>\
                <style>p { color: red }</style><script>if (a < b) { alert('<p>no</p>') }</script></head>\
                <body><!-- hidden --><h1>Bonjour</h1>\n<p>Une   <b>ligne</b>\n coup&#233;e.</p>\
                <ul><li>un</li><li>deux</ul><table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>\
                a<br>b<noscript><p>no</p></noscript><template><p>no</p></template> fin</body></html>";
    assert_eq!(page(html), "Facture & délai\n\nBonjour\n\nUne ligne coupée.\n\nun\ndeux\n1 2\n3\na\nb fin");
}

#[test]
fn scripts_and_styles_never_become_text() {
    for html in [
        "<p>yes<script>var x = '<b>no</b>';</script>",
        "<p>yes<SCRIPT type=module>no</SCRIPT >",
        "<p>yes<style>no",
        "<p>yes<script><!-- no <script> no </script> --></script>",
        "<template>no<template>no</template>no</template><p>yes",
        "<iframe>no</iframe>yes",
        "yes<!-- no -->",
        "yes<p title='no'></p>",
    ] {
        assert_eq!(page(html), "yes", "{html}");
    }
}

#[test]
fn preformatted_text_keeps_its_lines() {
    assert_eq!(page("<p>a</p><pre>x\n  y</pre><p>b  c"), "a\n\nx\n  y\n\nb c");
}

#[test]
fn a_page_without_visible_text_is_empty() {
    let item = only("a.htm", b"<html><script>no</script><p> </p></html>", Encoding::Utf8);
    assert_eq!(fault(&item), (FaultCode::Empty, "nothing but white space"));
}

#[test]
fn a_page_names_its_own_charset() {
    let stored = |html: &str| encoding_rs::SHIFT_JIS.encode(html).0.into_owned();
    for head in [
        "<meta charset=\"Shift_JIS\">",
        "<META http-equiv=Content-Type content='text/html; charset=shift_jis'>",
        "<?xml version=\"1.0\" encoding=\"Shift_JIS\"?>",
    ] {
        let html = format!("{head}<p>請求書です。</p>");
        assert_eq!(text("a.html", &stored(&html), Encoding::Utf8), "請求書です。", "{head}");
        let folder = Folder::with(&[("a.html", &stored(&html))]);
        assert_eq!(all(&folder.directory()).1.events(), [("page-charset", "1".to_owned())]);
    }
    let jis = b"<meta charset=iso-2022-jp><p>\x1b$BF|K\\\x1b(B</p>";
    assert_eq!(text("a.html", jis, Encoding::Utf8), "日本", "ASCII bytes do not hide what the page says");
}

#[test]
fn a_page_that_was_stored_anew_is_read_as_it_is_stored() {
    let html = "<meta charset=windows-1252><p>été 日本</p>";
    assert_eq!(text("a.html", html.as_bytes(), Encoding::Utf8), "été 日本");
    let stored = encoding_rs::SHIFT_JIS.encode("<meta charset=utf-8><p>請求書</p>").0.into_owned();
    assert_eq!(text("a.html", &stored, Encoding::ShiftJis), "請求書");
}

#[test]
fn a_page_that_is_text_under_neither_charset_is_refused() {
    let item = only("a.html", b"<meta charset=euc-jp><p>\xff\xfe\xfd", Encoding::Utf8);
    assert_eq!(fault(&item), (FaultCode::Encoding, "no EUC-JP at byte 24"));
    let item = only("a.html", b"<p>\xe9", Encoding::Utf8);
    assert_eq!(fault(&item), (FaultCode::Encoding, "no UTF-8 at byte 3"));
}

#[test]
fn a_hundred_thousand_open_tags_are_read_without_a_tree() {
    assert_eq!(page(&format!("{}deep", "<div>".repeat(100_000))), "deep");
}
