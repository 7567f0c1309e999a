//! File dependencies of a crate: every path of every item, in `use` declarations and macros too, resolved to the
//! defining file.
//!
//! Declarations (`mod x;`, a row of a registry) and re-exports (`pub use x::Y;`) do not count. Methods are not
//! resolved: the type of the receiver is a path elsewhere in the file.

use crate::architecture::source::Source;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};

/// Longest chain of imports: some names, such as that of a crate, lead to themselves.
const LONGEST: usize = 16;

/// For each (user, used) pair of files, line and path of the first use.
pub type Arrows = BTreeMap<(String, String), (usize, String)>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// An item of this module.
    Defined(usize),
    /// The module itself.
    Module(usize),
}

/// Dependencies between the files of a crate.
pub fn of(source: &Source) -> Arrows {
    let mut arrows = Arrows::new();
    for (id, module) in source.modules.iter().enumerate() {
        let mut found = Vec::new();
        let imports = module.imports.iter().map(|(_, import)| (import, false));
        for (import, everything) in imports.chain(module.globs.iter().map(|import| (import, true))) {
            let target = match source.resolve(id, &import.path, 0) {
                // A glob import uses the module itself.
                Some(Target::Module(of)) if everything => Some(Target::Defined(of)),
                other => other,
            };
            if !(import.handed_on
                && matches!(target, Some(Target::Defined(of)) if source.above(of).any(|m| m == id)))
            {
                found.push((import.line, import.path.clone(), target));
            }
        }
        for item in &module.items {
            let mut paths = Paths::default();
            paths.visit_item(item);
            let named = paths.all.into_iter().map(|(line, path)| (line, source.resolve(id, &path, 0), path));
            let by_name = paths.macros.into_iter().map(|(line, name)| {
                (line, source.macros.get(&name).map(|&of| Target::Defined(of)), vec![name])
            });
            // A macro that declares modules names them.
            let declared = |of: usize| {
                matches!(item, syn::Item::Macro(_)) && source.above(of).any(|m| module.by_macro.contains(&m))
            };
            for (line, target, path) in named.chain(by_name) {
                if !matches!(target, Some(Target::Defined(of)) if declared(of)) {
                    found.push((line, path, target));
                }
            }
        }
        for (line, path, target) in found {
            if let Some(Target::Defined(of)) = target
                && source.modules[of].file != module.file
            {
                let arrow = (module.file.clone(), source.modules[of].file.clone());
                let first = arrows.entry(arrow).or_insert_with(|| (line, path.join("::")));
                if line < first.0 {
                    *first = (line, path.join("::"));
                }
            }
        }
    }
    arrows
}

impl Source {
    /// A module and its ancestors, innermost first.
    fn above(&self, module: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(module), |&m| self.modules[m].parent)
    }

    /// Target of a path in module `from`; `None` outside the crate.
    fn resolve(&self, from: usize, path: &[String], depth: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        if depth > LONGEST {
            return None;
        }
        let mut at = match first.as_str() {
            "crate" | "$crate" => Target::Module(0),
            "self" => Target::Module(from),
            "super" => Target::Module(self.modules[from].parent?),
            name => self.look_up(from, name, !rest.is_empty(), depth)?,
        };
        for (k, name) in rest.iter().enumerate() {
            // Segments after a type are its items.
            let Target::Module(module) = at else { return Some(at) };
            at = match name.as_str() {
                "super" => Target::Module(self.modules[module].parent?),
                name => self.look_up(module, name, k + 1 < rest.len(), depth)?,
            };
        }
        Some(at)
    }

    /// Resolves `name` in `module`; modules first if more of the path follows.
    fn look_up(&self, module: usize, name: &str, more: bool, depth: usize) -> Option<Target> {
        let of = &self.modules[module];
        let defined = of.defines.contains(name).then_some(Target::Defined(module));
        let child = of.children.get(name).map(|&child| Target::Module(child));
        let here = if more { child.or(defined) } else { defined.or(child) };
        let imported = || {
            let mut all = of.imports.iter().filter(|(known_as, _)| known_as == name);
            all.find_map(|(_, import)| self.resolve(module, &import.path, depth + 1))
        };
        let globbed = || {
            of.globs.iter().find_map(|glob| match self.resolve(module, &glob.path, depth + 1)? {
                Target::Module(other) if other != module => self.look_up(other, name, more, depth + 1),
                _ => None,
            })
        };
        here.or_else(imported).or_else(globbed)
    }
}

/// Collects every path of an item, with its line.
#[derive(Default)]
struct Paths {
    all: Vec<(usize, Vec<String>)>,
    macros: Vec<(usize, String)>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
            let line = path.segments.first().map_or(0, |s| s.ident.span().start().line);
            self.all.push((line, segments));
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, of: &'ast syn::Macro) {
        let name = &of.path.segments.last().expect("a macro has a name").ident;
        self.macros.push((name.span().start().line, name.to_string()));
        self.tokens(&of.tokens);
    }

    /// Documentation and derives name no dependency.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

impl Paths {
    /// Paths in macro tokens: names joined by `::`, and single names.
    fn tokens(&mut self, tokens: &TokenStream) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let is = |at: usize, c: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == c);
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.tokens(&group.stream()),
                TokenTree::Ident(first) if at == 0 || !is(at - 1, '.') => {
                    let mut path = vec![first.to_string()];
                    while is(at + 1, ':')
                        && is(at + 2, ':')
                        && let Some(TokenTree::Ident(next)) = tokens.get(at + 3)
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    self.all.push((first.span().start().line, path));
                }
                _ => {}
            }
            at += 1;
        }
    }
}
