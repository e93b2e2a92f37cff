//! The project's own checks over the working copy.

use xtask::repo::Repo;
use xtask::tidy::tree::Tree;
use xtask::tidy::{Finding, edges, examples, links, sources, tree, wording};

#[expect(clippy::unwrap_used, reason = "a test that cannot read the tree has nothing to say")]
fn tree() -> Tree {
    Tree::read(&Repo::here()).unwrap()
}

#[track_caller]
fn assert_none(findings: &[Finding]) {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}

#[test]
fn crates_use_only_what_the_architecture_page_allows() {
    assert_none(&edges::check(&Repo::here().metadata().unwrap(), &tree()));
}

#[test]
fn sources_can_be_read_in_one_go() {
    assert_none(&sources::lengths(&tree()));
}

#[test]
fn functions_fit_a_screen() {
    assert_none(&sources::functions(&tree()));
}

#[test]
fn every_source_says_what_it_is_about() {
    assert_none(&sources::module_docs(&tree()));
}

#[test]
fn nothing_unwraps_outside_of_tests() {
    assert_none(&sources::unwraps(&tree()));
}

#[test]
fn comments_are_neither_rare_nor_everywhere() {
    assert_none(&sources::comment_share(&tree()));
}

#[test]
fn links_in_documents_lead_somewhere() {
    assert_none(&links::links(&tree()));
}

#[test]
fn paths_that_documents_name_exist() {
    assert_none(&links::named_paths(&tree()));
}

#[test]
fn every_document_can_be_found_from_another() {
    assert_none(&links::orphans(&tree()));
}

#[test]
fn no_file_holds_a_path_of_one_machine() {
    assert_none(&wording::machine_paths(&tree()));
}

#[test]
fn no_file_names_an_unknown_host() {
    assert_none(&wording::hosts(&tree()));
}

#[test]
fn the_glossary_gives_every_word_in_three_languages() {
    assert_none(&wording::glossary(&tree()));
}

#[test]
fn whatever_a_source_names_is_tracked() {
    assert_none(&tree::needed_files(&tree()));
}

#[test]
fn the_examples_are_whole_and_their_inputs_unchanged() {
    assert_none(&examples::inputs(&tree()));
}

#[test]
fn the_examples_carry_the_schema_as_it_is_generated() {
    assert_none(&examples::schemas(&tree()));
}
