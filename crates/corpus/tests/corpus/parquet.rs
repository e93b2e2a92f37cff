//! Parquet: whole numbers beside nulls, columns, several row groups, what is no table.

use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use pilote_corpus::Source;
use pilote_spec::{Digest, Duplicates, FaultCode, Inputs, Location};

use crate::folder::{Folder, error, fault, ids, items, texts};

/// Identifier, text and score of a row.
type TableRow<'a> = (Option<i64>, Option<&'a str>, f64);

/// A table with these row groups.
fn table(groups: &[Vec<TableRow<'_>>]) -> Vec<u8> {
    let schema = "message rows {
        optional int64 id; optional binary text (UTF8); required double score;
        optional binary raw; repeated int64 many;
    }";
    let properties = WriterProperties::builder().set_compression(parquet::basic::Compression::SNAPPY).build();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for rows in groups {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let ids: Vec<i64> = rows.iter().filter_map(|row| row.0).collect();
        let levels: Vec<i16> = rows.iter().map(|row| i16::from(row.0.is_some())).collect();
        column.typed::<Int64Type>().write_batch(&ids, Some(&levels), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let texts: Vec<ByteArray> = rows.iter().filter_map(|row| row.1.map(ByteArray::from)).collect();
        let levels: Vec<i16> = rows.iter().map(|row| i16::from(row.1.is_some())).collect();
        column.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let scores: Vec<f64> = rows.iter().map(|row| row.2).collect();
        column.typed::<DoubleType>().write_batch(&scores, None, None).unwrap();
        column.close().unwrap();
        let none = vec![0; rows.len()];
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&[], Some(&none), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&[], Some(&none), Some(&none)).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

fn source(folder: &Folder, (id, text): (&str, &str), columns: &[&str]) -> Source {
    let inputs = Inputs::Parquet {
        parquet: "data/rows.parquet".into(),
        id: id.to_owned(),
        text: text.to_owned(),
        columns: columns.iter().map(|name| ((*name).to_owned(), (*name).to_owned())).collect(),
    };
    Source::new(folder.root(), &inputs, &folder.limits, folder.duplicates)
}

const BEYOND: i64 = 9_007_199_254_740_993;

// Fault row: whole numbers beside a null and beyond 2^53 are exact identifiers, and the row with the null is refused.
#[test]
fn whole_numbers_beside_nulls_are_exact_identifiers() {
    let rows =
        vec![(Some(BEYOND), Some("one"), 0.5), (None, Some("two"), 1.0), (Some(BEYOND - 1), None, f64::NAN)];
    let folder = Folder::with(&[("rows.parquet", &table(&[rows]))]);
    let source = source(&folder, ("id", "text"), &["score", "id"]);
    let items = items(&source);
    assert_eq!(ids(&items), ["9007199254740993", "-", "9007199254740992"]);
    let null = (FaultCode::BadId, "`id` is null, neither a string nor a whole number");
    assert_eq!(fault(&items[1]), null);
    assert_eq!(fault(&items[2]), (FaultCode::BadRecord, "`text` is null, not a string"));
    let columns = &items[0].columns;
    assert_eq!((columns["score"].as_str(), columns["id"].as_str()), ("0.5", "9007199254740993"));
    assert_eq!(items[0].location, Location::Row { row: 1, path: None });
    let object = "{\"id\":9007199254740993,\"text\":\"one\",\"score\":0.5}";
    assert_eq!((items[0].digest, items[0].bytes), (Some(Digest::of(object.as_bytes())), object.len() as u64));
    assert_eq!(pilote_corpus::read(&source, &items[0]).unwrap(), "one");
}

#[test]
fn rows_of_several_groups_are_read_again_in_any_order() {
    let names: Vec<String> = (0..2500).map(|n| format!("text {n}")).collect();
    let groups: Vec<Vec<_>> = (0..5)
        .map(|group| {
            (group * 500..group * 500 + 500)
                .map(|n: usize| (Some(i64::try_from(n).unwrap()), Some(names[n].as_str()), 0.0))
                .collect()
        })
        .collect();
    let folder = Folder::with(&[("rows.parquet", &table(&groups))]);
    let source = source(&folder, ("id", "text"), &[]);
    let items = items(&source);
    assert_eq!(items.len(), 2500);
    for part in [&items[..700], &items[700..1400], &items[1400..], &items[300..600]] {
        let expected: Vec<_> = part.iter().map(|item| format!("text {}", item.position)).collect();
        assert_eq!(texts(&source, part), expected);
    }
    assert_eq!(pilote_corpus::read(&source, &items[2]).unwrap(), "text 2");
}

#[test]
fn text_can_be_the_identifier_and_stands_in_messages_by_its_row() {
    let rows = vec![(Some(1), Some("a"), 0.0), (Some(2), Some("b"), 0.0), (Some(3), Some("a"), 0.0)];
    let mut folder = Folder::with(&[("rows.parquet", &table(&[rows]))]);
    folder.duplicates = Duplicates::Refuse;
    let source = source(&folder, ("text", "text"), &[]);
    assert_eq!(fault(&items(&source)[2]), (FaultCode::DuplicateId, "first on row 1"));
}

// Fault row: floating point numbers are no type of an identifier.
#[test]
fn columns_of_other_types_are_refused_with_what_they_hold() {
    let folder = Folder::with(&[("rows.parquet", &table(&[vec![(Some(1), Some("t"), 0.0)]]))]);
    let said = |fields, columns: &[&str]| error(&source(&folder, fields, columns)).to_string();
    let head = "the header of `data/rows.parquet` cannot be used: ";
    let tail = "; correct the file, or `inputs` in config/pilote.json";
    assert_eq!(
        said(("score", "text"), &[]),
        format!(
            "{head}the column `score` holds floating point numbers; an identifier is text or whole numbers{tail}"
        )
    );
    let text = said(("id", "raw"), &[]);
    assert!(
        text.contains("`raw` holds bytes that are not marked as UTF-8; a text is a UTF-8 string"),
        "{text}"
    );
    let many = said(("id", "text"), &["many"]);
    assert!(many.contains("`many` holds a list; only single values are passed through"), "{many}");
    let none = said(("name", "text"), &[]);
    assert!(none.contains("there is no column `name`; the columns are `id`, `text`, `score`"), "{none}");
}

#[test]
fn what_is_no_whole_table_is_told_as_such() {
    let bytes = table(&[vec![(Some(1), Some("t"), 0.0)]]);
    let said = |bytes: &[u8]| {
        let folder = Folder::with(&[("rows.parquet", bytes)]);
        error(&source(&folder, ("id", "text"), &[]))
    };
    let no_table = said(b"id,text\n1,t\n").to_string();
    assert!(
        no_table.contains("are a file without the mark of Parquet, and a Parquet file was declared"),
        "{no_table}"
    );
    let cut = said(&bytes[..bytes.len() - 10]);
    assert_eq!(cut.code(), "inputs-damaged");
    assert!(cut.to_string().starts_with("`data/rows.parquet` cannot be read as Parquet at row 1: "), "{cut}");
    let folder = Folder::rows(&bytes);
    let as_lines = error(&folder.jsonl()).to_string();
    assert!(
        as_lines.contains("are a Parquet file, and a file with one JSON object a line was declared"),
        "{as_lines}"
    );
}

#[test]
fn a_row_that_changed_since_the_index_is_told_as_changed() {
    let folder = Folder::with(&[("rows.parquet", &table(&[vec![(Some(1), Some("one"), 0.0)]]))]);
    let items = items(&source(&folder, ("id", "text"), &[]));
    folder.write("rows.parquet", &table(&[vec![(Some(1), Some("two"), 0.0)]]));
    let error = pilote_corpus::read(&source(&folder, ("id", "text"), &[]), &items[0]).unwrap_err();
    assert!(matches!(error, pilote_corpus::ReadError::Changed { .. }), "{error}");
}
