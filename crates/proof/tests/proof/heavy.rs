//! The report in a real browser, held to an accessibility checker; run by `cargo xtask test --all`.

use std::path::Path;
use std::process::{Command, Stdio};

use pilote_proof::{collect, report};
use pilote_spec::WorkReason;
use pilote_text::{Lang, Texts};

use crate::support::{Fixture, Plan, expected, pilot, refused};

/// Widths of a desktop's and of a phone's window, in pixels.
const WIDTHS: [u32; 2] = [1_280, 390];

/// Colour schemes by the number that Chromium gives them.
const SCHEMES: [(&str, u8); 2] = [("dark", 0), ("light", 1)];

/// What the checker has to say of a page, as JSON: an empty list when nothing is wrong.
#[expect(clippy::disallowed_methods, reason = "xtask says where the checker lies")]
fn violations(html: &str, folder: &Path, width: u32, scheme: u8) -> String {
    let axe = std::env::var_os("PILOTE_PEERS_AXE")
        .expect("run by `cargo xtask test --all`, which fetches the checker");
    let axe = std::fs::read_to_string(axe).unwrap();
    // The page forbids every script, so the checker comes with a copy of it that does not.
    let (before, policy) = html.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let after = policy.split_once('>').unwrap().1;
    let run = "document.querySelectorAll('details').forEach(it => it.open = true);\
        axe.run(document, { resultTypes: ['violations'] }).then(found => {\
          const said = document.createElement('pre'); said.id = 'said';\
          said.textContent = JSON.stringify(found.violations.map(it => [it.id, it.nodes.map(node => node.html)]));\
          document.body.append(said); });";
    let page = format!(
        "{before}{}",
        after.replace("</body>", &format!("<script>{axe}</script><script>{run}</script></body>"))
    );
    let path = folder.join("page.html");
    std::fs::write(&path, page).unwrap();
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--virtual-time-budget=30000",
        ])
        .arg(format!("--window-size={width},900"))
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .args(["--dump-dom", &format!("file://{}", path.display())])
        .stderr(Stdio::null())
        .output()
        .expect("Chromium is needed (Debian: apt install chromium)");
    let dom = String::from_utf8(output.stdout).unwrap();
    let said = dom.split_once("<pre id=\"said\">").expect("the checker ended").1;
    said.split_once("</pre>").unwrap().0.to_owned()
}

#[test]
#[ignore = "needs Chromium and an accessibility checker: cargo xtask test --all"]
fn every_page_passes_an_accessibility_checker_in_each_language_wide_and_narrow_light_and_dark() {
    let holding = pilot();
    let failing = Fixture::new(&Plan::default(), |item| {
        Some(if item.position.0 % 2 == 0 { refused(WorkReason::Ambiguous) } else { expected(item) })
    });
    let folder = tempfile::tempdir().unwrap();
    for fixture in [&holding, &failing] {
        collect(&fixture.trial).unwrap();
        for lang in Lang::ALL {
            let html = report(&fixture.trial, Some(&fixture.project), None, &Texts::new(lang)).unwrap();
            for (width, (name, scheme)) in
                WIDTHS.into_iter().flat_map(|width| SCHEMES.map(|scheme| (width, scheme)))
            {
                let said = violations(&html, folder.path(), width, scheme);
                assert_eq!(said, "[]", "{lang:?} {width} {name}");
            }
        }
    }
}

#[test]
#[ignore = "needs Chromium and an accessibility checker: cargo xtask test --all"]
fn the_checker_finds_what_is_wrong() {
    let fixture = pilot();
    collect(&fixture.trial).unwrap();
    let html = report(&fixture.trial, None, None, &Texts::new(Lang::En)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let said =
        violations(&html.replace("<html lang=\"en\">", "<html>"), folder.path(), WIDTHS[0], SCHEMES[1].1);
    assert!(said.contains("html-has-lang"), "{said}");
}
