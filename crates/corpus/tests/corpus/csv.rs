//! Comma-separated values: quotes, headers, line ends, identifiers as exact text.

use std::fmt::Write as _;

use pilote_spec::{Digest, Encoding, ExactJson, FaultCode, Location};

use crate::folder::{Folder, all, csv, error, fault, ids, items, texts};

fn of(bytes: impl AsRef<[u8]>) -> Folder {
    Folder::with(&[("rows.csv", bytes.as_ref())])
}

/// Position of the item's fault with code and detail.
fn faults(folder: &Folder) -> Vec<String> {
    items(&csv(folder, ','))
        .iter()
        .map(|item| match &item.fault {
            Some(fault) => format!("{:?}: {}", fault.code, fault.detail),
            None => "-".to_owned(),
        })
        .collect()
}

// Fault row: 5,000 rows, each with a line end, a comma and a doubled quote inside of quotes; texts equal to the byte.
#[test]
fn quoted_line_ends_commas_and_quotes_are_text_in_every_row() {
    let text = |n: usize| format!("first, line {n}\r\nsecond \"line\"\n\n\"");
    let mut rows = String::from("id,text\r\n");
    for n in 0..5000 {
        write!(rows, "{n},\"{}\"\r\n", text(n).replace('"', "\"\"")).unwrap();
    }
    let folder = of(&rows);
    let source = csv(&folder, ',');
    let (items, notes) = all(&source);
    assert_eq!((items.len(), notes.blank_lines), (5000, 0));
    assert!(items.iter().all(|item| item.fault.is_none()));
    assert_eq!(texts(&source, &items), (0..5000).map(text).collect::<Vec<_>>());
    let Location::Line { line, offset, bytes, path: None } = &items[2].location else { panic!("a line") };
    assert_eq!(*line, 10, "each row has four line feeds");
    let at = usize::try_from(*offset).unwrap();
    let stored = &rows.as_bytes()[at..at + usize::try_from(*bytes).unwrap()];
    assert_eq!(items[2].digest, Some(Digest::of(stored)));
}

#[test]
fn identifiers_are_the_exact_text_of_their_field() {
    let folder = of("text,id\na,0007\nb,9007199254740993\nc, 7\nd,1.0\ne,\"x\"\n");
    assert_eq!(ids(&items(&csv(&folder, ','))), ["0007", "9007199254740993", " 7", "1.0", "x"]);
}

#[test]
fn columns_are_passed_through_as_texts() {
    let mut folder = of("id,text,n,s\na,t,9007199254740993,\"say \"\"é\"\"\"\nb,t,,\n");
    folder.columns = [("number", "n"), ("said", "s")].map(|(a, b)| (a.to_owned(), b.to_owned())).into();
    let items = items(&csv(&folder, ','));
    assert_eq!(items[0].columns["number"].as_str(), "\"9007199254740993\"");
    assert_eq!(items[0].columns["said"], ExactJson::of_text("say \"é\""));
    assert_eq!(items[1].columns["number"].as_str(), "\"\"");
}

#[test]
fn other_delimiters_marks_and_encodings_are_read() {
    let folder = of("\u{feff}id\ttext\na\t\"b\tc\"\n");
    let source = csv(&folder, '\t');
    let (items, notes) = all(&source);
    assert_eq!((texts(&source, &items), notes.bom_removed), (vec!["b\tc".to_owned()], 1));
    let sixteen: Vec<u8> =
        "\u{feff}id;text\r\na;\"ж\r\n\"\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let folder = of(sixteen);
    let source = csv(&folder, ';');
    let items = crate::folder::items(&source);
    assert_eq!(texts(&source, &items), ["ж\r\n"]);
    let mut folder = of(b"id,text\na,caf\xe9\n");
    folder.encoding = Encoding::Windows1252;
    let source = csv(&folder, ',');
    let items = crate::folder::items(&source);
    assert_eq!(texts(&source, &items), ["café"]);
}

#[test]
fn a_row_that_the_grammar_does_not_allow_is_refused_alone() {
    let folder = of("id,text\na,t\nb\nc,t,x\n\nd,t\"u\"\n\"e\"f,t\n,t\ng,\n\"h\",\"a\0b\"\ni,t\n");
    assert_eq!(
        faults(&folder),
        [
            "-",
            "BadRecord: 1 fields, and the header has 2",
            "BadRecord: 3 fields, and the header has 2",
            "BadRecord: a quote stands inside field 2, which does not begin with one",
            "BadRecord: something follows the closing quote of field 1",
            "BadId: `id` is empty",
            "Empty: nothing but white space",
            "Nul: character 1 of the text",
            "-",
        ]
    );
    let (_, notes) = all(&csv(&folder, ','));
    assert_eq!(notes.events(), [("blank-lines", "1".to_owned())]);
    let wrong = of(b"id,text\na,\xff\n");
    assert_eq!(faults(&wrong), ["Encoding: no UTF-8 at byte 2"]);
}

#[test]
fn a_quote_that_is_never_closed_stops_the_launch_and_names_its_row() {
    let folder = of("id,text\na,t\nb,\"never\nc,t\nd,t\n");
    let error = error(&csv(&folder, ','));
    assert_eq!(error.code(), "inputs-quote-open");
    assert_eq!(
        error.to_string(),
        "`data/rows.csv`: a quote that is opened in the row on line 3 is not closed at the end of the file, so every \
         row behind it is in doubt; correct the row"
    );
}

#[test]
fn a_header_that_does_not_fit_says_which_column() {
    let said = |bytes: &str| error(&csv(&of(bytes), ',')).to_string();
    let tail = "; correct the file, or `inputs` in config/pilote.json";
    let of_file = "the header of `data/rows.csv` cannot be used: ";
    assert_eq!(said(""), format!("{of_file}the file is empty{tail}"));
    assert_eq!(
        said("name,text\n"),
        format!("{of_file}there is no column `id`; the columns are `name`, `text`{tail}")
    );
    assert_eq!(said("id,text,id\n"), format!("{of_file}columns 1 and 3 are both named `id`{tail}"));
    assert_eq!(
        said("id,te\"xt\n"),
        format!("{of_file}a quote stands inside field 2, which does not begin with one{tail}")
    );
    let mut folder = of("id,text\na,t\n");
    folder.columns = [("x".to_owned(), "language".to_owned())].into();
    assert!(error(&csv(&folder, ',')).to_string().contains("there is no column `language`"));
}

#[test]
fn a_row_beyond_the_limit_is_refused_and_the_next_one_is_read() {
    let mut folder = of(format!("id,text\na,\"{}\n\"\nb,t\n", "x".repeat(300_000)));
    folder.limits.bytes = 100;
    let items = items(&csv(&folder, ','));
    assert_eq!(fault(&items[0]), (FaultCode::TooLarge, "300005 bytes, limit 100"));
    assert_eq!((ids(&items), &items[1].fault), (vec!["-", "b"], &None));
}

#[test]
fn two_rows_under_one_identifier_are_named_by_the_line_on_which_each_begins() {
    let folder = of("id,text\na,\"1\n2\n3\"\na,4\n");
    let error = error(&csv(&folder, ',')).to_string();
    assert!(error.contains("`a` stands twice in `data/rows.csv`: on line 2 and on line 5"), "{error}");
}
