//! Modules of a crate as declared in its source files, without test code.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use syn::visit::Visit;
use syn::{Attribute, Item, ItemUse, UseTree};

/// Root files of a crate.
const ROOTS: [&str; 2] = ["lib", "main"];

/// Import of a module.
pub struct Import {
    /// Path segments.
    pub path: Vec<String>,
    /// Re-export (`pub use`).
    pub handed_on: bool,
    /// Line of the `use`.
    pub line: usize,
}

/// One module.
#[derive(Default)]
pub struct Module {
    /// File, relative to the source folder of the crate.
    pub file: String,
    /// Parent module.
    pub parent: Option<usize>,
    /// Child modules.
    pub children: HashMap<String, usize>,
    /// Child modules declared by a macro, such as the rows of a registry.
    pub by_macro: HashSet<usize>,
    /// Types, functions, constants and macros of the module.
    pub defines: HashSet<String>,
    /// Imports by local name.
    pub imports: Vec<(String, Import)>,
    /// Glob imports.
    pub globs: Vec<Import>,
    /// Items except `use` and modules.
    pub items: Vec<Item>,
}

/// Modules of a crate; the first is its root.
pub struct Source {
    /// All modules.
    pub modules: Vec<Module>,
    /// Macros, visible by name after their definition: name and module.
    pub macros: HashMap<String, usize>,
}

impl Source {
    /// Reads the crate in `folder`.
    pub fn read(folder: &Path) -> Source {
        let source = folder.join("src");
        let files = ROOTS.map(|name| format!("{name}.rs"));
        let root = files.iter().find(|name| source.join(name).exists()).expect("a crate's root");
        let mut crate_ = Source { modules: Vec::new(), macros: HashMap::new() };
        crate_.add_file(&source, Path::new(root), &source, None);
        crate_
    }

    /// Adds the module in `file`, whose children have their files in `folder`.
    fn add_file(&mut self, source: &Path, file: &Path, folder: &Path, parent: Option<usize>) -> usize {
        let text =
            fs::read_to_string(source.join(file)).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        self.add(source, file, folder, parent, parsed.items)
    }

    fn add(
        &mut self,
        source: &Path,
        file: &Path,
        folder: &Path,
        parent: Option<usize>,
        items: Vec<Item>,
    ) -> usize {
        let id = self.modules.len();
        let shown = file.display().to_string();
        self.modules.push(Module { file: shown, parent, ..Module::default() });
        let mut for_tests = HashSet::new();
        for item in items {
            if attributes(&item).iter().any(is_for_tests) {
                if let Item::Mod(of) = &item {
                    for_tests.insert(of.ident.to_string());
                }
                continue;
            }
            match item {
                Item::Mod(of) => {
                    let name = of.ident.to_string();
                    let below = folder.join(&name);
                    let child = match of.content {
                        Some((_, items)) => self.add(source, file, &below, Some(id), items),
                        None => self.add_named(source, folder, &name, id),
                    };
                    self.modules[id].children.insert(name, child);
                }
                Item::Use(of) => {
                    let handed_on = !matches!(of.vis, syn::Visibility::Inherited);
                    let line = of.use_token.span.start().line;
                    self.import(id, &of.tree, &mut Vec::new(), handed_on, line);
                }
                item => {
                    if let Item::Macro(of) = &item {
                        if let Some(name) = &of.ident {
                            self.macros.insert(name.to_string(), id);
                        }
                        defined_in(&of.mac.tokens, &mut self.modules[id].defines);
                    }
                    self.modules[id].defines.extend(name_of(&item));
                    let mut inside = Uses(Vec::new());
                    inside.visit_item(&item);
                    for (tree, line) in inside.0 {
                        self.import(id, tree, &mut Vec::new(), false, line);
                    }
                    self.modules[id].items.push(item);
                }
            }
        }
        // An undeclared file is declared by a macro.
        let mut undeclared: Vec<String> = modules_in(folder).collect();
        undeclared.retain(|name| !for_tests.contains(name) && !self.modules[id].children.contains_key(name));
        undeclared.retain(|name| parent.is_some() || !ROOTS.contains(&name.as_str()));
        for name in undeclared {
            let child = self.add_named(source, folder, &name, id);
            self.modules[id].by_macro.insert(child);
        }
        id
    }

    /// Adds the module `name` of `parent`, whose children have their files in `folder`.
    fn add_named(&mut self, source: &Path, folder: &Path, name: &str, parent: usize) -> usize {
        let below = folder.join(name);
        let own = [below.with_extension("rs"), below.join("mod.rs")];
        let own = own.iter().find(|path| path.exists()).expect("a module's file");
        let own = own.strip_prefix(source).expect("below the source folder");
        let child = self.add_file(source, own, &below, Some(parent));
        self.modules[parent].children.insert(name.to_string(), child);
        child
    }

    fn import(&mut self, id: usize, tree: &UseTree, so_far: &mut Vec<String>, handed_on: bool, line: usize) {
        let (name, known_as) = match tree {
            UseTree::Path(path) => {
                so_far.push(path.ident.to_string());
                self.import(id, &path.tree, so_far, handed_on, line);
                so_far.pop();
                return;
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import(id, tree, so_far, handed_on, line));
                return;
            }
            UseTree::Glob(_) => {
                self.modules[id].globs.push(Import { path: so_far.clone(), handed_on, line });
                return;
            }
            UseTree::Name(name) => (name.ident.to_string(), name.ident.to_string()),
            UseTree::Rename(to) => (to.ident.to_string(), to.rename.to_string()),
        };
        let mut path = so_far.clone();
        let known_as = match name.as_str() {
            "self" if known_as == "self" => path.last().expect("the module itself").clone(),
            _ => known_as,
        };
        if name != "self" {
            path.push(name);
        }
        self.modules[id].imports.push((known_as, Import { path, handed_on, line }));
    }
}

/// `use` declarations inside functions count for the module.
struct Uses<'ast>(Vec<(&'ast UseTree, usize)>);

impl<'ast> Visit<'ast> for Uses<'ast> {
    fn visit_item_use(&mut self, of: &'ast ItemUse) {
        self.0.push((&of.tree, of.use_token.span.start().line));
    }
}

/// Names of the modules whose files lie in `folder`.
fn modules_in(folder: &Path) -> impl Iterator<Item = String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let modules =
        files.filter(|path| path.extension().is_some_and(|x| x == "rs") || path.join("mod.rs").exists());
    let names = modules.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned());
    names.filter(|name| name != "mod")
}

/// Adds the items in macro tokens: names after item keywords.
fn defined_in(tokens: &TokenStream, names: &mut HashSet<String>) {
    let mut before = String::new();
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(name) => {
                if ["const", "enum", "fn", "static", "struct", "trait", "type", "union"]
                    .contains(&before.as_str())
                {
                    names.insert(name.to_string());
                }
                before = name.to_string();
            }
            TokenTree::Group(group) => {
                defined_in(&group.stream(), names);
                before.clear();
            }
            _ => before.clear(),
        }
    }
}

fn is_for_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(of) => &of.attrs,
        Item::Enum(of) => &of.attrs,
        Item::Fn(of) => &of.attrs,
        Item::Impl(of) => &of.attrs,
        Item::Macro(of) => &of.attrs,
        Item::Mod(of) => &of.attrs,
        Item::Static(of) => &of.attrs,
        Item::Struct(of) => &of.attrs,
        Item::Trait(of) => &of.attrs,
        Item::Type(of) => &of.attrs,
        Item::Union(of) => &of.attrs,
        Item::Use(of) => &of.attrs,
        _ => &[],
    }
}

fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(of) => of.ident.to_string(),
        Item::Enum(of) => of.ident.to_string(),
        Item::Fn(of) => of.sig.ident.to_string(),
        Item::Macro(of) => return of.ident.as_ref().map(ToString::to_string),
        Item::Static(of) => of.ident.to_string(),
        Item::Struct(of) => of.ident.to_string(),
        Item::Trait(of) => of.ident.to_string(),
        Item::Type(of) => of.ident.to_string(),
        Item::Union(of) => of.ident.to_string(),
        _ => return None,
    })
}
