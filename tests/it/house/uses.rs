//! What a source file uses, read from its syntax: every `use`, every path in code, in attributes and in macros.
//!
//! Code under `#[cfg(test)]` does not count. It is not part of the service, and Cargo lets tests depend on what depends
//! on them.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, ItemMod, ItemUse, Macro, Meta, Path, UseTree};

/// A path from its root: `["crate", "ledger", "Ledger"]` in this crate, `["redis", "cmd"]` elsewhere.
pub type Absolute = Vec<String>;

/// Something used, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    pub line: usize,
    pub path: Absolute,
    /// Whether it is written with a name that a `use` of the same file brought in; that `use` counts already.
    pub by_name: bool,
}

/// A parsed file.
pub struct Source {
    file: File,
    /// Path of the file's own module, from `crate`.
    module: Absolute,
    /// Names that its `use` items bring in.
    aliases: BTreeMap<String, Absolute>,
    /// Modules in their own files that are compiled only for tests.
    pub tests: Vec<TestModule>,
}

impl Source {
    pub fn parse(module: Absolute, text: &str) -> Result<Self, syn::Error> {
        let mut file = syn::parse_file(text)?;
        let modules = file.items.iter().filter_map(|item| match item {
            Item::Mod(module) if module.content.is_none() && is_test(&module.attrs) => Some(TestModule::of(module)),
            _ => None,
        });
        let tests = modules.collect();
        file.items.retain(|item| !is_test(attributes(item)));
        let mut names = Aliases {
            module: module.clone(),
            found: BTreeMap::new(),
        };
        names.visit_file(&file);
        let aliases = names.found;
        Ok(Self {
            file,
            module,
            aliases,
            tests,
        })
    }

    /// What a name stands for after `use`.
    pub fn alias(&self, name: &str) -> Option<&Absolute> {
        self.aliases.get(name)
    }

    /// All that it uses. `modules`: every module there is, so that a path that begins with a child is known as one.
    pub fn uses(&self, modules: &BTreeSet<Absolute>) -> Vec<Used> {
        let mut reader = Reader {
            source: self,
            modules,
            module: self.module.clone(),
            found: Vec::new(),
        };
        reader.visit_file(&self.file);
        reader.found
    }
}

/// A module in its own file that is compiled only for tests.
#[derive(Debug, PartialEq, Eq)]
pub enum TestModule {
    /// `#[path = "…"]`: beside the file that declares it.
    Beside(String),
    /// In the folder of the module that declares it.
    Within(String),
}

impl TestModule {
    fn of(module: &ItemMod) -> Self {
        let path = module.attrs.iter().find_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("path") => literal(&pair.value),
            _ => None,
        });
        path.map_or_else(|| Self::Within(module.ident.to_string()), Self::Beside)
    }
}

fn literal(value: &syn::Expr) -> Option<String> {
    match value {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let words = list.tokens.to_string();
            let mut words = words.split(|c: char| !c.is_ascii_alphanumeric());
            words.any(|word| word == "test") && !list.tokens.to_string().contains("not")
        }
        _ => false,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The leaves of a `use`: the name that each brings in, its path and its line.
fn leaves(tree: &UseTree, before: &[String], found: &mut Vec<(Option<String>, usize, Absolute)>) {
    let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &with(&path.ident), found),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, before, found)),
        UseTree::Name(name) => {
            let path = if name.ident == "self" {
                before.to_vec()
            } else {
                with(&name.ident)
            };
            let line = name.ident.span().start().line;
            found.push((path.last().cloned(), line, path));
        }
        UseTree::Rename(rename) => {
            let path = if rename.ident == "self" {
                before.to_vec()
            } else {
                with(&rename.ident)
            };
            let line = rename.ident.span().start().line;
            found.push((Some(rename.rename.to_string()), line, path));
        }
        UseTree::Glob(glob) => {
            let line = glob.star_token.spans[0].start().line;
            found.push((None, line, before.to_vec()));
        }
    }
}

/// The path from its root, if its first word gives the root.
fn rooted(path: &[String], module: &[String]) -> Option<Absolute> {
    match path.first()?.as_str() {
        "crate" => Some(path.to_vec()),
        "self" => Some([module, &path[1..]].concat()),
        "super" => {
            let ups = path.iter().take_while(|word| *word == "super").count();
            let stem = module.len().saturating_sub(ups).max(1);
            Some([&module[..stem], &path[ups..]].concat())
        }
        _ => None,
    }
}

/// The first reading: the names that `use` items bring in.
struct Aliases {
    module: Absolute,
    found: BTreeMap<String, Absolute>,
}

impl<'ast> Visit<'ast> for Aliases {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut found = Vec::new();
        leaves(&item.tree, &[], &mut found);
        for (name, _, path) in found {
            let path = rooted(&path, &self.module).unwrap_or(path);
            // `use redis;` brings in no new name.
            if let Some(name) = name.filter(|name| path.first() != Some(name)) {
                self.found.insert(name, path);
            }
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(&item.attrs) {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }
}

/// The second reading: all that is used.
struct Reader<'a> {
    source: &'a Source,
    modules: &'a BTreeSet<Absolute>,
    /// Path of the module that is being read; inline modules have their own.
    module: Absolute,
    found: Vec<Used>,
}

impl Reader<'_> {
    fn record(&mut self, line: usize, path: &[String]) {
        let (first, rest) = (&path[0], &path[1..]);
        let child = [&self.module[..], std::slice::from_ref(first)].concat();
        let alias = self.source.alias(first).filter(|_| !rest.is_empty());
        let (path, by_name) = match (rooted(path, &self.module), alias) {
            (Some(path), _) => (path, false),
            (None, _) if self.modules.contains(&child) => ([&child[..], rest].concat(), false),
            (None, Some(stands_for)) => ([&stands_for[..], rest].concat(), true),
            (None, None) => (path.to_vec(), false),
        };
        self.found.push(Used { line, path, by_name });
    }

    /// A path in code. A single word came from a `use`, which counts already.
    fn used(&mut self, line: usize, path: &[String]) {
        if path.len() > 1 {
            self.record(line, path);
        }
    }

    /// The paths in what is not parsed: arguments of macros and of attributes.
    fn scan(&mut self, tokens: TokenStream, with_texts: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Group(group) => self.scan(group.stream(), with_texts),
                TokenTree::Literal(text) if with_texts => {
                    let line = text.span().start().line;
                    if let Ok(path) = syn::parse_str::<Path>(text.to_string().trim_matches('"')) {
                        self.used(line, &words(&path));
                    }
                }
                TokenTree::Ident(first) => {
                    let line = first.span().start().line;
                    let mut path = vec![first.to_string()];
                    while is_colon(at) && is_colon(at + 1) {
                        let Some(TokenTree::Ident(word)) = tokens.get(at + 2) else {
                            break;
                        };
                        path.push(word.to_string());
                        at += 3;
                    }
                    self.used(line, &path);
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

fn words(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if is_test(&item.attrs) {
            return;
        }
        let mut found = Vec::new();
        leaves(&item.tree, &[], &mut found);
        for (_, line, path) in found {
            self.record(line, &path);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(&item.attrs) {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !is_test(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let line = path.segments.first().map_or(0, |first| first.ident.span().start().line);
        self.used(line, &words(path));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast Macro) {
        self.visit_path(&called.path);
        self.scan(called.tokens.clone(), false);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.visit_path(&list.path);
            self.scan(list.tokens.clone(), true);
        }
    }
}
