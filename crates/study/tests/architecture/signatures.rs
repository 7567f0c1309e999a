//! Check for tuple arguments, whose parts have no names.

use super::source::Source;
use syn::visit::Visit;
use syn::{FnArg, GenericArgument, PathArguments, Signature, Type};

/// Functions of a crate, tests excluded, that take a tuple: file, line and name.
pub fn with_tuples(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    for module in &source.modules {
        let mut tuples = Tuples { file: &module.file, found: &mut found };
        module.items.iter().for_each(|item| tuples.visit_item(item));
    }
    found
}

struct Tuples<'a> {
    file: &'a str,
    found: &'a mut Vec<String>,
}

impl<'ast> Visit<'ast> for Tuples<'_> {
    fn visit_signature(&mut self, of: &'ast Signature) {
        let tuple = |arg: &FnArg| matches!(arg, FnArg::Typed(arg) if is_tuple(&arg.ty));
        if of.inputs.iter().any(tuple) {
            self.found.push(format!("{}:{}: {}", self.file, of.ident.span().start().line, of.ident));
        }
    }
}

/// Whether the type is a tuple, or a reference or option of one. A list of pairs is a list.
fn is_tuple(of: &Type) -> bool {
    match of {
        Type::Tuple(tuple) => !tuple.elems.is_empty(),
        Type::Reference(to) => is_tuple(&to.elem),
        Type::Path(path) => path.path.segments.iter().any(|segment| match &segment.arguments {
            PathArguments::AngleBracketed(of) if segment.ident == "Option" => {
                of.args.iter().any(|of| matches!(of, GenericArgument::Type(of) if is_tuple(of)))
            }
            _ => false,
        }),
        _ => false,
    }
}
