//! Several files as one corpus: lists, directories, patterns; duplicates across all of them, many identifiers.

use pilote_spec::{Duplicates, FaultCode, Inputs, Location, Paths};

use crate::compressed::gzip;
use crate::folder::{Folder, all, error, fault, ids, items, texts};

fn row(id: &str) -> String {
    format!("{{\"id\":\"{id}\",\"text\":\"text of {id}\"}}\n")
}

fn three() -> Folder {
    Folder::with(&[
        ("b.jsonl", row("b1").as_bytes()),
        ("a/2.jsonl.gz", &gzip((row("a21") + &row("a22")).as_bytes())),
        ("a/10.ndjson", row("a10").as_bytes()),
        ("a/_SUCCESS", b""),
        ("a/notes.txt", b"words"),
    ])
}

fn several(paths: &[&str]) -> Paths {
    Paths::Several(paths.iter().map(|path| (*path).to_owned()).collect())
}

#[test]
fn a_directory_is_its_files_of_the_format_in_the_order_of_their_paths() {
    let folder = three();
    let source = folder.jsonl_at("data".into());
    let (items, notes) = all(&source);
    assert_eq!(ids(&items), ["a10", "a21", "a22", "b1"]);
    assert_eq!(notes.events(), [("skipped-files", "2".to_owned())]);
    let Location::Line { path, line: 2, .. } = &items[2].location else { panic!("a line") };
    assert_eq!(path.as_deref(), Some("data/a/2.jsonl.gz"));
    assert_eq!(texts(&source, &items)[1], "text of a21");
}

#[test]
fn a_list_keeps_its_order_and_a_pattern_has_the_order_of_paths() {
    let folder = three();
    let listed = folder.jsonl_at(several(&["data/b.jsonl", "data/a"]));
    assert_eq!(ids(&items(&listed)), ["b1", "a10", "a21", "a22"]);
    let ids_of = |pattern: &str| {
        let items = items(&folder.jsonl_at(pattern.into()));
        ids(&items).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(ids_of("data/*/*.jsonl.gz"), ["a21", "a22"]);
    assert_eq!(ids_of("data/**/*.*json*"), ["a10", "a21", "a22", "b1"]);
    assert_eq!(ids_of("data/?.jsonl"), ["b1"]);
}

#[test]
fn a_name_that_finds_nothing_or_twice_the_same_is_told() {
    let folder = three();
    let said = |paths: Paths| error(&folder.jsonl_at(paths)).to_string();
    assert!(
        said(several(&["data/b.jsonl", "data/c.jsonl"]))
            .starts_with("the inputs `data/c.jsonl` are not there")
    );
    assert!(
        said("data/*.csv".into())
            .starts_with("the inputs `data/*.csv` hold no file that ends in jsonl, ndjson")
    );
    assert_eq!(
        said(several(&["data/a", "data/a/10.ndjson"])),
        "`data/a/10.ndjson` is named twice by `inputs` in config/pilote.json; take one of the paths out"
    );
}

// Fault row: a later item under an earlier one's identifier is told with both places, also across files.
#[test]
fn duplicates_across_files_are_named_with_both_files() {
    let mut folder = Folder::with(&[
        ("a.jsonl", (row("x") + &row("y")).as_bytes()),
        ("b.jsonl", (row("z") + &row("y")).as_bytes()),
    ]);
    let source = |folder: &Folder| folder.jsonl_at(several(&["data/a.jsonl", "data/b.jsonl"]));
    let said = error(&source(&folder)).to_string();
    assert!(
        said.starts_with(
            "the identifier `y` stands twice: on line 2 of `data/a.jsonl` and on line 2 of `data/b.jsonl`; give each"
        ),
        "{said}"
    );
    folder.duplicates = Duplicates::Refuse;
    let items = items(&source(&folder));
    assert_eq!(fault(&items[3]), (FaultCode::DuplicateId, "first on line 2 of `data/a.jsonl`"));
}

#[test]
fn a_corpus_of_many_identifiers_is_judged_as_one_of_few() {
    let name = |n: usize| if n % 500 == 499 { format!("Doc-{}", n - 499) } else { format!("doc-{n}") };
    let mut rows: String = (0..5000).map(|n| row(&name(n))).collect();
    rows.push_str(&row("doc-4321"));
    rows.push_str(&row("doc-7"));
    let mut folder = Folder::rows(rows);
    let few = |folder: &Folder| folder.jsonl().with_identifiers_in_memory(100);
    let (at_once, later) = (error(&folder.jsonl()).to_string(), error(&few(&folder)).to_string());
    assert!(at_once.contains("`doc-4321` stands twice in `data/rows.jsonl`: on line 4322 and on line 5001"));
    assert_eq!(later, at_once, "the first duplicate in input order is named");
    folder.duplicates = Duplicates::Refuse;
    let (at_once, later) = (all(&folder.jsonl()), all(&few(&folder)));
    assert_eq!(later.0, at_once.0, "the same items are refused, with the same words");
    assert_eq!(later.1, at_once.1, "and the same pairs are noted");
    assert_eq!(later.1.confusable, 10);
}

#[test]
fn identifiers_that_are_all_the_same_take_no_memory_each() {
    let mut folder = Folder::rows(row("same").repeat(3000));
    folder.duplicates = Duplicates::Refuse;
    let items = items(&folder.jsonl().with_identifiers_in_memory(0));
    assert_eq!(items.iter().filter(|item| item.fault.is_none()).count(), 1);
}

// Requests as the OpenAI Batch interface takes them: the identifier and the body as its exact JSON.
#[test]
fn batch_requests_are_read_with_their_body_as_it_stands() {
    let folder = Folder::with(&[(
        "requests.jsonl",
        b"{\"custom_id\":\"r-1\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":{\"model\": \"m\", \
          \"seed\":9007199254740993}}\n{\"custom_id\":\"r-2\",\"body\":\"x\"}\n{\"body\":{}}\n",
    )]);
    let inputs = Inputs::OpenAiBatch {
        openai_batch: "data/requests.jsonl".into(),
        columns: [("url".to_owned(), "url".to_owned())].into(),
    };
    let source = pilote_corpus::Source::new(folder.root(), &inputs, &folder.limits, folder.duplicates);
    let items = items(&source);
    let text = pilote_corpus::read(&source, &items[0]).unwrap();
    assert_eq!(text, "{\"model\": \"m\", \"seed\":9007199254740993}");
    assert_eq!(items[0].columns["url"].as_str(), "\"/v1/chat/completions\"");
    assert_eq!(fault(&items[1]), (FaultCode::BadRecord, "`body` is a string, not an object"));
    assert_eq!(fault(&items[2]), (FaultCode::BadId, "no field `custom_id`"));
}

#[test]
fn a_sample_has_short_usual_and_long_items_and_is_the_same_for_the_same_seed() {
    // Lengths from 8 to some thousand characters, most of them in the middle, and a row that is no work.
    let rows: String = (0_usize..4000)
        .map(|n| {
            let length = if n.is_multiple_of(50) { 3000 } else { 30 + (n * n) % 400 };
            format!("{{\"id\":{n},\"text\":\"{}\"}}\n", "w".repeat(length))
        })
        .collect();
    let folder = Folder::rows(rows + "{\"id\":\"empty\",\"text\":\"\"}\n");
    let drawn = |seed| pilote_corpus::sample(&folder.jsonl(), 12, seed).unwrap();
    let sample = drawn(7);
    assert_eq!((sample.items.len(), sample.faulty), (12, 1));
    assert!(sample.items.is_sorted_by_key(|item| item.position));
    let shares: Vec<_> = sample.shares.iter().map(|share| (share.group, share.sample)).collect();
    use pilote_corpus::LengthGroup::{NearLimit, Short, Usual};
    assert_eq!(shares, [(Short, 4), (Usual, 4), (NearLimit, 4)]);
    assert_eq!(sample.shares.iter().map(|share| share.corpus).sum::<u64>(), 4000);
    for share in &sample.shares {
        let within = |item: &&pilote_spec::Item| (share.from..=share.to).contains(&item.chars);
        assert_eq!(sample.items.iter().filter(within).count() as u64, share.sample, "{share:?}");
    }
    assert_eq!(drawn(7), sample);
    assert_ne!(drawn(8).items, sample.items);
}
