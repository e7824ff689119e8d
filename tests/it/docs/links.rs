//! Relative links and anchors of the documentation, and the paths of documents that other files name.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::{files_below, top};

/// Documents outside `docs/`.
const OUTSIDE: [&str; 5] = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "clients/python/README.md",
    "clients/typescript/README.md",
];

/// Files outside the documentation that name documents: folder and extension.
const NAMING: [(&str, &str); 14] = [
    ("src", "rs"),
    ("crates", "rs"),
    ("tests/it", "rs"),
    ("benches", "rs"),
    ("lua", "lua"),
    ("scripts", "sh"),
    ("deploy", "service"),
    ("deploy", "sh"),
    ("deploy", "yaml"),
    ("deploy", "yml"),
    ("config", "toml"),
    ("migrations", "sql"),
    ("clients/python/src", "py"),
    ("clients/typescript/src", "ts"),
];

/// A link as it stands in a document.
#[derive(Debug, PartialEq)]
struct Link {
    /// Counted from 1.
    line: usize,
    target: String,
}

/// Lines outside fenced code, with their numbers from 1.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => lines.push((index + 1, line)),
            _ => {}
        }
    }
    lines
}

/// A line without the parts between backticks.
fn without_code(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let closed = parts.len() % 2 == 1;
    let kept = |index: usize| index.is_multiple_of(2) || (!closed && index + 1 == parts.len());
    let text = parts.iter().enumerate().filter(|(index, _)| kept(*index));
    text.map(|(_, part)| *part).collect::<Vec<_>>().join("`")
}

/// Links to other places of the project; links to other sites are left out.
fn links(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (line, text) in prose(text) {
        let text = without_code(text);
        for (open, close) in [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"'), ("href=\"", '"')] {
            for rest in text.split(open).skip(1) {
                let target = rest.split(close).next().unwrap_or_default().trim();
                let elsewhere = target.contains("://") || target.starts_with("mailto:");
                if !elsewhere {
                    let target = target.to_owned();
                    found.push(Link { line, target });
                }
            }
        }
    }
    found
}

/// GitHub's anchor of a heading: lower case, spaces to hyphens, other punctuation dropped.
fn slug(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
    let text = text_of(heading).to_lowercase();
    text.chars()
        .filter(kept)
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

/// A heading as a reader sees it: a link is its text alone.
fn text_of(heading: &str) -> String {
    let mut text = String::new();
    let mut rest = heading.trim();
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(&before.replacen('[', "", 1));
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text + rest
}

/// The anchors of a document. The second heading with the same text has `-1` at its end, and so on.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut found = Vec::new();
    for (_, line) in prose(text) {
        let hashes = line.chars().take_while(|letter| *letter == '#').count();
        if !(1..=6).contains(&hashes) || !line[hashes..].starts_with(' ') {
            continue;
        }
        let slug = slug(&line[hashes..]);
        let count = seen.entry(slug.clone()).or_default();
        found.push(if *count == 0 { slug } else { format!("{slug}-{count}") });
        *count += 1;
    }
    found
}

/// A path without `.` and `..`; `None` when it leads out of the project.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => parts.pop().then_some(())?,
            Component::Normal(name) => parts.push(name),
            _ => {}
        }
    }
    Some(parts)
}

/// Broken links of the document at `path`, a path below `root`.
fn broken(root: &Path, path: &Path, text: &str) -> Vec<String> {
    let wrong = |link: Link| {
        let (file, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
        let report = |what: &str| Some(format!("{}:{}: `{}` {what}", path.display(), link.line, link.target));
        let folder = path.parent().unwrap_or(Path::new(""));
        let target = if file.is_empty() {
            path.to_path_buf()
        } else {
            folder.join(file)
        };
        let Some(target) = plain(&target).map(|target| root.join(target)) else {
            return report("leads out of the project");
        };
        if file.is_empty() {
            let found = anchors(text).iter().any(|found| found == anchor);
            return if found { None } else { report("has no such heading") };
        }
        if !target.exists() {
            return report("leads to no file");
        }
        if anchor.is_empty() {
            return None;
        }
        let there = fs::read_to_string(&target)
            .map(|text| anchors(&text))
            .unwrap_or_default();
        let found = there.iter().any(|found| found == anchor);
        if found { None } else { report("has no such heading") }
    };
    links(text).into_iter().filter_map(wrong).collect()
}

/// Folders in which the documentation names files.
const FOLDERS: [&str; 10] = [
    "docs/",
    "src/",
    "crates/",
    "lua/",
    "tests/",
    "benches/",
    "scripts/",
    "config/",
    "migrations/",
    "clients/",
];

/// Files that a text names by their paths: words that begin with a folder and end with an extension.
fn files_named(text: &str) -> Vec<&str> {
    let path_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    let words = text.split(|letter: char| !path_letter(letter));
    let words = words.map(|word| word.trim_end_matches('.'));
    let named = |word: &&str| FOLDERS.iter().any(|folder| word.starts_with(folder));
    words
        .filter(named)
        .filter(|word| Path::new(word).extension().is_some())
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut documents: Vec<PathBuf> = OUTSIDE.iter().map(|name| top().join(name)).collect();
    documents.extend(files_below(&top().join("docs"), "md"));
    let mut found = Vec::new();
    let mut count = 0;
    for document in documents {
        let text = fs::read_to_string(&document).expect("a document");
        let path = document.strip_prefix(top()).expect("below the top");
        count += links(&text).len();
        found.extend(broken(top(), path, &text));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(count > 100, "{count} links were found");
}

#[test]
fn every_file_that_the_documentation_names_exists() {
    let mut documents: Vec<PathBuf> = OUTSIDE.iter().map(|name| top().join(name)).collect();
    documents.extend(files_below(&top().join("docs"), "md"));
    let mut sources = vec![top().join("Makefile"), top().join("Cargo.toml")];
    for (folder, extension) in NAMING {
        let folder = top().join(folder);
        if folder.is_dir() {
            sources.extend(files_below(&folder, extension));
        }
    }
    // This file makes up documents.
    sources.retain(|file| !file.ends_with("tests/it/docs/links.rs"));
    let mut missing = Vec::new();
    for (file, of_docs) in documents
        .iter()
        .map(|file| (file, false))
        .chain(sources.iter().map(|file| (file, true)))
    {
        let text = fs::read_to_string(file).expect("a file");
        let named = files_named(&text).into_iter();
        let named = named.filter(|name| !of_docs || name.starts_with("docs/"));
        let gone = named.filter(|name| !top().join(name).exists());
        missing.extend(gone.map(|name| format!("{} names {name}", file.display())));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn a_broken_link_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    fs::create_dir_all(root.join("docs/how-to")).expect("a folder");
    fs::write(root.join("docs/there.md"), "# Some words\n").expect("a document");
    let at = Path::new("docs/how-to/page.md");
    let text = "# A page\n\
                [right](../there.md) [right](../there.md#some-words) [right](#a-page) [other site](https://x.example/y)\n\
                [no file](../gone.md)\n\
                [no heading](../there.md#other-words)\n\
                [no heading here](#b-page)\n\
                <img src=\"gone.svg\">\n\
                [out](../../../x.md)\n";
    let found = broken(root, at, text);
    let expected = [
        "docs/how-to/page.md:3: `../gone.md` leads to no file",
        "docs/how-to/page.md:4: `../there.md#other-words` has no such heading",
        "docs/how-to/page.md:5: `#b-page` has no such heading",
        "docs/how-to/page.md:6: `gone.svg` leads to no file",
        "docs/how-to/page.md:7: `../../../x.md` leads out of the project",
    ];
    assert_eq!(found, expected);
}

#[test]
fn code_holds_no_links_and_no_headings() {
    let text = "a `[x](gone.md)` b\n```sh\n# no heading\n[x](gone.md)\n```\n~~~\n[y](gone.md)\n~~~\n";
    assert_eq!(links(text), []);
    assert_eq!(anchors(text), [""; 0]);
}

#[test]
fn anchors_are_those_of_github() {
    let text = "# Keys, roles & `codes`\n## A [link](x.md) here\n## Same\n## Same\n### Größe_x-y\n";
    let expected = ["keys-roles--codes", "a-link-here", "same", "same-1", "größe_x-y"];
    assert_eq!(anchors(text), expected);
}

#[test]
fn a_file_is_known_by_its_path() {
    let text = "See `docs/a/b.md`, Part. (src/c.rs) and lua/d.lua. No path: docs/decisions/0001, a/src/e.rs, src/f.";
    assert_eq!(files_named(text), ["docs/a/b.md", "src/c.rs", "lua/d.lua"]);
}
