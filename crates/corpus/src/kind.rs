//! What kind of file an input is, by its first bytes and its extension.

/// How a file becomes text, or why it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The bytes are the text.
    Text,
    /// No known extension: text if it plainly is text.
    Undeclared,
    /// HTML.
    Page,
    /// A message as mail programs store it.
    Mail,
    /// Not read as text. The name goes into the fault's detail and is listed in docs/formats/index.md.
    Unsupported(&'static str),
}

/// First bytes, their offset, and the kind they tell. Longer signatures stand before shorter ones.
const SIGNATURES: &[(usize, &[u8], &str)] = &[
    (0, b"%PDF-", "pdf"),
    (0, b"{\\rtf", "rtf"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old-office"),
    (0, b"\x89PNG\r\n\x1a\n", "image"),
    (0, b"\xff\xd8\xff", "image"),
    (0, b"GIF87a", "image"),
    (0, b"GIF89a", "image"),
    (0, b"II*\0", "image"),
    (0, b"MM\0*", "image"),
    (8, b"WEBP", "image"),
    (4, b"ftypheic", "image"),
    (4, b"ftypavif", "image"),
    (4, b"ftyp", "audio-video"),
    (0, b"RIFF", "audio-video"),
    (0, b"OggS", "audio-video"),
    (0, b"fLaC", "audio-video"),
    (0, b"ID3", "audio-video"),
    (0, b"\x1aE\xdf\xa3", "audio-video"),
    (0, b"\x7fELF", "program"),
    (0, b"\xcf\xfa\xed\xfe", "program"),
    (0, b"\xca\xfe\xba\xbe", "program"),
    (0, b"\0asm", "program"),
    (0, b"\x1f\x8b", "archive"),
    (0, b"BZh", "archive"),
    (0, b"\xfd7zXZ\0", "archive"),
    (0, b"(\xb5/\xfd", "archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "archive"),
    (0, b"Rar!\x1a\x07", "archive"),
    (257, b"ustar", "archive"),
    (0, b"SQLite format 3\0", "database"),
    (0, b"PAR1", "table"),
];

/// Extensions that are never read as text, whatever the bytes are.
const EXTENSIONS: &[(&str, &[&str])] = &[
    ("pdf", &["pdf"]),
    ("rtf", &["rtf"]),
    ("word", &["docx", "docm", "odt"]),
    ("spreadsheet", &["xlsx", "xlsm", "ods"]),
    ("slides", &["pptx", "pptm", "odp"]),
    ("old-office", &["doc", "xls", "ppt", "msg"]),
    ("book", &["epub", "mobi", "azw3"]),
    ("image", &["png", "jpg", "jpeg", "gif", "webp", "tif", "tiff", "bmp", "heic", "avif", "ico", "psd"]),
    ("audio-video", &["mp3", "mp4", "m4a", "wav", "flac", "ogg", "mov", "avi", "mkv", "webm"]),
    ("program", &["exe", "dll", "so", "dylib", "class", "wasm", "o", "pyc"]),
    ("archive", &["zip", "gz", "tgz", "bz2", "xz", "zst", "7z", "rar", "tar", "jar"]),
    ("database", &["sqlite", "sqlite3"]),
    ("table", &["parquet", "arrow", "feather"]),
];

/// The kind of a file, from its bytes first: an extension may lie, a signature seldom does.
pub(crate) fn kind(name: &str, bytes: &[u8]) -> Kind {
    let extension = extension(name);
    if let Some(kind) = signature(&extension, bytes) {
        return Kind::Unsupported(kind);
    }
    match extension.as_str() {
        "txt" | "text" | "md" | "markdown" => Kind::Text,
        "html" | "htm" | "xhtml" => Kind::Page,
        "eml" => Kind::Mail,
        other => by_extension(other).map_or(Kind::Undeclared, Kind::Unsupported),
    }
}

/// The extension in lower case, empty where there is none; a leading dot makes a hidden name, no extension.
fn extension(name: &str) -> String {
    let base = name.rsplit('/').next().unwrap_or(name);
    match base.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension.to_lowercase(),
        _ => String::new(),
    }
}

fn by_extension(extension: &str) -> Option<&'static str> {
    EXTENSIONS.iter().find(|(_, known)| known.contains(&extension)).map(|(kind, _)| *kind)
}

fn signature(extension: &str, bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        // Office documents and books are archives; the extension says which, as a person would.
        return by_extension(extension).or(Some("archive"));
    }
    if bytes.starts_with(b"MZ") && bytes.contains(&0) {
        return Some("program");
    }
    if bytes.starts_with(b"BM") && bytes.contains(&0) {
        return Some("image");
    }
    let found = SIGNATURES.iter().find(|(at, magic, _)| bytes.get(*at..*at + magic.len()) == Some(*magic))?;
    // A text may begin with the letters of a signature ("RIFF", "ID3", "BZh"); a binary file soon shows a byte that
    // no text holds.
    let letters = found.1.iter().all(u8::is_ascii_graphic) && !matches!(found.2, "pdf" | "rtf");
    (!letters || bytes.iter().take(4096).any(|byte| is_control(*byte))).then_some(found.2)
}

/// Whether bytes without a telling name are plainly no text: a control character that no text file holds. UTF-16
/// has zero bytes and is told by its mark before.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    encoding_rs::Encoding::for_bom(bytes).is_none() && bytes.iter().any(|byte| is_control(*byte))
}

/// Logs hold bells, backspaces and escapes, and texts of old systems end with 0x1a.
fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, 0x07..=0x0d | 0x1a | 0x1b) || byte == 0x7f
}
