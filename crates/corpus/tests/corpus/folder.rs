//! A project in a temporary directory, and what a scan of it gives.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pilote_corpus::{CorpusError, Notes, Source, scan};
use pilote_spec::{Duplicates, Encoding, FaultCode, Inputs, Item, Limits, Paths};

pub(crate) struct Folder {
    root: tempfile::TempDir,
    pub(crate) encoding: Encoding,
    pub(crate) limits: Limits,
    pub(crate) duplicates: Duplicates,
    /// Fields that are passed through, by the name that they bear there.
    pub(crate) columns: BTreeMap<String, String>,
}

impl Folder {
    /// A folder with these files below `data`.
    pub(crate) fn with(files: &[(&str, &[u8])]) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("data")).unwrap();
        let folder = Self {
            root,
            encoding: Encoding::Utf8,
            limits: Limits::default(),
            duplicates: Duplicates::Stop,
            columns: BTreeMap::new(),
        };
        for (name, bytes) in files {
            folder.write(name, bytes);
        }
        folder
    }

    /// A folder whose only input is a file of rows.
    pub(crate) fn rows(bytes: impl AsRef<[u8]>) -> Self {
        Self::with(&[("rows.jsonl", bytes.as_ref())])
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// A path below `data`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join("data").join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn directory(&self) -> Source {
        let inputs = Inputs::Directory { directory: "data".to_owned(), encoding: self.encoding };
        Source::new(self.root(), &inputs, &self.limits, self.duplicates)
    }

    pub(crate) fn jsonl(&self) -> Source {
        self.jsonl_at("data/rows.jsonl".into())
    }

    pub(crate) fn jsonl_at(&self, paths: Paths) -> Source {
        let inputs = Inputs::Jsonl {
            jsonl: paths,
            id: "id".to_owned(),
            text: "text".to_owned(),
            columns: self.columns.clone(),
            encoding: self.encoding,
        };
        Source::new(self.root(), &inputs, &self.limits, self.duplicates)
    }
}

/// The declaration of rows in a CSV file at `data/rows.csv`.
pub(crate) fn csv(folder: &Folder, delimiter: char) -> Source {
    let inputs = Inputs::Csv {
        csv: "data/rows.csv".into(),
        id: "id".to_owned(),
        text: "text".to_owned(),
        columns: folder.columns.clone(),
        delimiter,
        encoding: folder.encoding,
    };
    Source::new(folder.root(), &inputs, &folder.limits, folder.duplicates)
}

/// Texts of all items, read again in an order that is not theirs.
pub(crate) fn texts(source: &Source, items: &[Item]) -> Vec<String> {
    pilote_corpus::prepare(source, items).unwrap();
    let mut texts = vec![String::new(); items.len()];
    let step = items.len() / 2 + 1;
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|at| (at % step.max(1), *at));
    for at in order {
        texts[at] = pilote_corpus::read(source, &items[at]).unwrap();
    }
    texts
}

/// All items and the notes.
pub(crate) fn all(source: &Source) -> (Vec<Item>, Notes) {
    let mut scan = scan(source).unwrap();
    let items = scan.by_ref().collect::<Result<Vec<_>, _>>().unwrap();
    let positions: Vec<_> = items.iter().map(|item| item.position.0).collect();
    assert_eq!(positions, (0..items.len() as u64).collect::<Vec<_>>(), "positions are consecutive from 0");
    (items, scan.notes().clone())
}

/// The items alone.
pub(crate) fn items(source: &Source) -> Vec<Item> {
    all(source).0
}

/// The error that ends a scan.
pub(crate) fn error(source: &Source) -> CorpusError {
    match scan(source) {
        Err(error) => error,
        Ok(scan) => scan.filter_map(Result::err).next().expect("the scan ends with an error"),
    }
}

/// The identifier, or `-`.
pub(crate) fn id(item: &Item) -> &str {
    item.id.as_ref().map_or("-", |id| id.as_str())
}

/// Identifiers, in order.
pub(crate) fn ids(items: &[Item]) -> Vec<&str> {
    items.iter().map(id).collect()
}

/// Code and detail of an item's fault.
pub(crate) fn fault(item: &Item) -> (FaultCode, &str) {
    let fault = item.fault.as_ref().unwrap_or_else(|| panic!("{} has no fault", id(item)));
    (fault.code, &fault.detail)
}

/// The only item of a directory with this one file.
pub(crate) fn only(name: &str, bytes: &[u8], encoding: Encoding) -> Item {
    let mut folder = Folder::with(&[(name, bytes)]);
    folder.encoding = encoding;
    let mut items = items(&folder.directory());
    assert_eq!(items.len(), 1);
    items.remove(0)
}

/// The text of the only file of a directory.
pub(crate) fn text(name: &str, bytes: &[u8], encoding: Encoding) -> String {
    let mut folder = Folder::with(&[(name, bytes)]);
    folder.encoding = encoding;
    let source = folder.directory();
    let items = items(&source);
    assert_eq!(items[0].fault, None);
    let text = pilote_corpus::read(&source, &items[0]).unwrap();
    assert_eq!(items[0].chars, text.chars().count() as u64, "the index counts the characters that are read");
    text
}
