//! What both headers share: banner, guards, comments and type expressions.

use std::fmt::Write;

use crate::emit::wrap;
use crate::model::{Model, Param, Release};
use crate::output::{Comment, Output};

/// The folder of a release's headers: the newest release has the plain name.
pub fn folder(model: &Model, release: &Release) -> String {
    if release.name == model.newest().name {
        "loader/include/unified-runtime".to_owned()
    } else {
        format!("loader/include-{}/unified-runtime", release.name)
    }
}

/// A header: purpose, guard, includes, and the declarations as C linkage.
pub fn header(path: &str, purpose: &str, includes: &[&str], declarations: &str) -> Output {
    let file = path.rsplit('/').next().unwrap_or(path);
    let guard = format!("UNIFIED_RUNTIME_{}_INCLUDED", file.replace('.', "_").to_ascii_uppercase());
    let mut out = String::from("/*\n");
    for line in wrap(purpose, 108) {
        let _ = writeln!(out, " * {line}");
    }
    let _ = write!(out, " */\n#ifndef {guard}\n#define {guard}\n\n");
    for include in includes {
        let _ = writeln!(out, "#include {include}");
    }
    out.push_str("\n#if defined(__cplusplus)\nextern \"C\" {\n#endif\n\n");
    out.push_str(declarations);
    let _ = write!(out, "#if defined(__cplusplus)\n}} /* extern \"C\" */\n#endif\n\n#endif /* {guard} */\n");
    Output::new(path, Comment::Stars, out)
}

/// A documentation comment.
pub fn doc(indent: &str, text: &str) -> String {
    let mut out = String::new();
    for line in wrap(text, 104 - indent.len()) {
        // A backslash at a line's end would continue the comment.
        let _ = writeln!(out, "{indent}/// {}", line.trim_end_matches('\\'));
    }
    out
}

/// A heading within a header.
pub fn section(title: &str) -> String {
    format!("/* ---- {title} ---- */\n\n")
}

/// A parameter list, one per line, each with its tags and documentation.
pub fn params(params: &[Param]) -> String {
    if params.is_empty() {
        return "(void)".to_owned();
    }
    let mut out = String::from("(\n");
    for (index, param) in params.iter().enumerate() {
        let comma = if index + 1 < params.len() { "," } else { "" };
        let tags: String = param.tags.iter().map(|tag| format!("[{tag}]")).collect();
        let space = if tags.is_empty() || param.doc.is_empty() { "" } else { " " };
        out.push_str(&doc("    ", &format!("{tags}{space}{}", param.doc)));
        let _ = writeln!(out, "    {}{comma}", param.ty.declare(&param.name));
    }
    out.push(')');
    out
}

/// A parameter list in one line.
pub fn plain_params(params: &[Param]) -> String {
    if params.is_empty() {
        return "(void)".to_owned();
    }
    let list: Vec<String> = params.iter().map(|param| param.ty.declare(&param.name)).collect();
    format!("({})", list.join(", "))
}
