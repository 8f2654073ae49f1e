//! A crate's files as the compiler sees them, and which file refers to which.
//!
//! What flows in is the text of a crate's `lib.rs` and of every module below it that is not for
//! tests. What flows out is a [`Crate`]: its files, the arrows between them, and the files that
//! hold inherent `impl` blocks of each type. A name counts as a reference to the file that defines
//! it, whichever `use` it came through. Calls of methods are not seen, because the type of a
//! receiver is not known here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// The number of `use` declarations through which a name is followed.
const LONGEST_CHAIN: usize = 16;

/// The files of a crate and the arrows between them.
pub struct Crate {
    /// Each file's path below `src/`.
    pub files: Vec<String>,
    /// The arrows from a file to a file that it refers to, as positions in `files`.
    pub arrows: BTreeSet<(usize, usize)>,
    /// The files with inherent `impl` blocks of each type. A type is given by its name and the file
    /// that defines it, because two types of a crate may have the same name.
    pub owners: BTreeMap<(String, Option<usize>), BTreeSet<usize>>,
}

/// A module's path from the crate's root.
type ModulePath = Vec<String>;

/// A name that a `use` declaration brings in, and the whole path that it stands for.
struct Import {
    /// The name. `None` stands for `*`.
    name: Option<String>,
    path: Vec<String>,
}

#[derive(Default)]
struct Module {
    file: usize,
    defined: BTreeSet<String>,
    imports: Vec<Import>,
    /// Every path that the module's code spells out.
    mentioned: BTreeSet<Vec<String>>,
}

impl Crate {
    /// Reads the crate whose `lib.rs` is in `src`.
    ///
    /// # Panics
    ///
    /// Panics when a file cannot be read or is not Rust.
    pub fn read(src: &Path) -> Crate {
        let mut reader = Reader { src: src.to_owned(), ..Reader::default() };
        reader.file(&src.join("lib.rs"), Vec::new());
        let mut arrows = BTreeSet::new();
        for (path, module) in &reader.modules {
            let imported = module.imports.iter().map(|import| (&import.path, import.name.is_none()));
            let mentioned = module.mentioned.iter().map(|path| (path, false));
            for (mentioned, is_glob) in imported.chain(mentioned) {
                let target = reader.resolve(path, mentioned, (is_glob, false), LONGEST_CHAIN);
                arrows.extend(target.filter(|to| *to != module.file).map(|to| (module.file, to)));
            }
        }
        let mut owners: BTreeMap<_, BTreeSet<usize>> = BTreeMap::new();
        for (module, of) in &reader.impls {
            let name = of.last().cloned().unwrap_or_default();
            let file = reader.modules[module].file;
            owners.entry((name, reader.defining_file(module, of))).or_default().insert(file);
        }
        Crate { files: reader.files, arrows, owners }
    }

    /// Returns the circles: the largest sets of at least two files of which each can be reached
    /// from each. An arrow given as `without` is ignored.
    pub fn circles(&self, without: Option<(usize, usize)>) -> Vec<BTreeSet<usize>> {
        let mut next = vec![Vec::new(); self.files.len()];
        for arrow in self.arrows.iter().filter(|arrow| Some(**arrow) != without) {
            next[arrow.0].push(arrow.1);
        }
        let reached: Vec<BTreeSet<usize>> = (0..next.len())
            .map(|start| {
                let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
                while let Some(at) = open.pop() {
                    open.extend(next[at].iter().copied().filter(|to| seen.insert(*to)));
                }
                seen
            })
            .collect();
        let mut circles = BTreeSet::new();
        for file in 0..next.len() {
            let circle: BTreeSet<usize> =
                reached[file].iter().copied().filter(|other| reached[*other].contains(&file)).collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        let mut circles: Vec<_> = circles.into_iter().collect();
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }
}

#[derive(Default)]
struct Reader {
    src: PathBuf,
    files: Vec<String>,
    modules: BTreeMap<ModulePath, Module>,
    /// The inherent `impl` blocks: the module, and the type's path as it is written there.
    impls: Vec<(ModulePath, Vec<String>)>,
}

impl Reader {
    fn file(&mut self, path: &Path, module: ModulePath) {
        let text =
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.strip_prefix(&self.src).expect("a file below src/");
        self.files.push(name.to_string_lossy().into_owned());
        let children = if matches!(path.file_name().and_then(|name| name.to_str()), Some("mod.rs" | "lib.rs"))
        {
            path.parent().expect("a folder").to_owned()
        } else {
            path.with_extension("")
        };
        self.items(&parsed.items, self.files.len() - 1, &children, module);
    }

    fn items(&mut self, items: &[syn::Item], file: usize, folder: &Path, at: ModulePath) {
        let mut module = Module { file, ..Module::default() };
        for item in items.iter().filter(|item| !is_for_tests(attributes(item))) {
            match item {
                syn::Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let path = [at.as_slice(), std::slice::from_ref(&name)].concat();
                    match &child.content {
                        Some((_, items)) => self.items(items, file, &folder.join(&name), path),
                        None => self.file(&module_file(folder, &name), path),
                    }
                    continue;
                }
                syn::Item::Use(used) => import(&used.tree, &mut Vec::new(), &mut module.imports),
                syn::Item::Impl(block) if block.trait_.is_none() => {
                    if let syn::Type::Path(of) = &*block.self_ty {
                        let names = of.path.segments.iter().map(|segment| segment.ident.to_string());
                        self.impls.push((at.clone(), names.collect()));
                    }
                }
                _ => {}
            }
            module.defined.extend(defined(item));
            Mentions(&mut module.mentioned).visit_item(item);
        }
        self.modules.insert(at, module);
    }

    /// Returns the file that defines a type, whose path is given as it is written in a module.
    fn defining_file(&self, module: &[String], path: &[String]) -> Option<usize> {
        let at = self.modules.get(module)?;
        if let [name] = path
            && at.defined.contains(name)
        {
            return Some(at.file);
        }
        self.resolve(module, path, (false, false), LONGEST_CHAIN).or_else(|| {
            at.imports.iter().filter(|import| import.name.is_none()).find_map(|import| {
                let whole = [import.path.as_slice(), path].concat();
                self.resolve(module, &whole, (false, true), LONGEST_CHAIN)
            })
        })
    }

    /// Returns the file that defines what `path` names, as written in the module `from`. `None`
    /// means that another crate defines it. The parts of `how` say whether the path stands before
    /// `*`, and whether a name counts only where it is defined, because it may come in by any of
    /// several `*`.
    fn resolve(&self, from: &[String], path: &[String], how: (bool, bool), chain: usize) -> Option<usize> {
        let mut at: ModulePath = from.to_vec();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop();
            }
            name => return self.relative(from, name, path, how, chain),
        }
        rest = &rest[1..];
        while let Some("super") = rest.first().map(String::as_str) {
            at.pop();
            rest = &rest[1..];
        }
        self.descend(at, rest, how, chain)
    }

    /// Resolves a path whose first name is neither `crate` nor `self` nor `super`, but a child
    /// module or a name that was imported.
    fn relative(
        &self,
        from: &[String],
        name: &str,
        path: &[String],
        how: (bool, bool),
        chain: usize,
    ) -> Option<usize> {
        let child = [from, &[name.to_owned()]].concat();
        if self.modules.contains_key(&child) {
            return self.descend(child, &path[1..], how, chain);
        }
        let import =
            self.modules.get(from)?.imports.iter().find(|import| import.name.as_deref() == Some(name))?;
        // A `use` may name a crate, so that the import's path is the path itself. There is nothing
        // to follow then.
        let whole = [import.path.as_slice(), &path[1..]].concat();
        if chain == 0 || whole == path { None } else { self.resolve(from, &whole, how, chain - 1) }
    }

    fn descend(
        &self,
        mut at: ModulePath,
        mut rest: &[String],
        how: (bool, bool),
        chain: usize,
    ) -> Option<usize> {
        let (is_glob, only_defined) = how;
        while let Some(name) = rest.first() {
            at.push(name.clone());
            if !self.modules.contains_key(&at) {
                at.pop();
                break;
            }
            rest = &rest[1..];
        }
        let module = self.modules.get(&at)?;
        let Some(name) = rest.first() else {
            // The module itself is named. The path refers to its file only if the module's names
            // come in by `*` or the path was not followed through a `use`. Code that goes on
            // through the module's name spells a longer path elsewhere.
            return Some(module.file).filter(|_| is_glob || chain == LONGEST_CHAIN);
        };
        if module.defined.contains(name) || chain == 0 {
            return Some(module.file);
        }
        let named = module.imports.iter().find(|import| import.name.as_ref() == Some(name));
        if let Some(import) = named {
            let whole = [import.path.as_slice(), &rest[1..]].concat();
            return self.resolve(&at, &whole, how, chain - 1);
        }
        let globs = module.imports.iter().filter(|import| import.name.is_none());
        globs
            .filter_map(|import| {
                let whole = [import.path.as_slice(), rest].concat();
                self.resolve(&at, &whole, (is_glob, true), chain - 1)
            })
            .find(|file| *file != module.file)
            .or((!only_defined).then_some(module.file))
    }
}

/// Returns the file of a module that is declared in a file whose children are in `folder`.
fn module_file(folder: &Path, name: &str) -> PathBuf {
    let flat = folder.join(format!("{name}.rs"));
    if flat.exists() { flat } else { folder.join(name).join("mod.rs") }
}

fn import(tree: &syn::UseTree, path: &mut Vec<String>, imports: &mut Vec<Import>) {
    match tree {
        syn::UseTree::Path(step) => {
            path.push(step.ident.to_string());
            import(&step.tree, path, imports);
            path.pop();
        }
        syn::UseTree::Name(last) if last.ident == "self" => {
            imports.push(Import { name: path.last().cloned(), path: path.clone() });
        }
        syn::UseTree::Name(last) => {
            let name = last.ident.to_string();
            let path = [path.as_slice(), std::slice::from_ref(&name)].concat();
            imports.push(Import { name: Some(name), path });
        }
        syn::UseTree::Rename(last) => {
            let path = [path.as_slice(), &[last.ident.to_string()]].concat();
            imports.push(Import { name: Some(last.rename.to_string()), path });
        }
        syn::UseTree::Glob(_) => imports.push(Import { name: None, path: path.clone() }),
        syn::UseTree::Group(group) => {
            group.items.iter().for_each(|tree| import(tree, path, imports));
        }
    }
}

/// Returns the name that an item defines in its module.
fn defined(item: &syn::Item) -> Option<String> {
    let name = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Reports whether an item is compiled for tests only.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
    })
}

/// A visitor that collects the paths of more than one name that code spells out, also in the
/// arguments of macros.
struct Mentions<'a>(&'a mut BTreeSet<Vec<String>>);

impl<'a> Visit<'a> for Mentions<'_> {
    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.segments.len() > 1 && path.leading_colon.is_none() {
            self.0.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, used: &'a syn::ItemUse) {
        // A declaration inside a function is a mention. A declaration of the module is also among
        // the imports, which say the same.
        let mut imports = Vec::new();
        import(&used.tree, &mut Vec::new(), &mut imports);
        self.0.extend(imports.into_iter().map(|import| import.path));
    }

    fn visit_macro(&mut self, called: &'a syn::Macro) {
        let arguments = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(arguments) = called.parse_body_with(arguments) {
            arguments.iter().for_each(|argument| Mentions(self.0).visit_expr(argument));
        }
        visit::visit_macro(self, called);
    }

    fn visit_visibility(&mut self, _: &'a syn::Visibility) {
        // `pub(in crate::x)` is no use of `x`.
    }
}
