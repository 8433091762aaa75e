//! How one name is made from another: enumerators from functions, Rust names from C names.

/// Words that the case rule would split in the middle.
const JOINED: [(&str, &str); 2] = [("2_D", "_2D"), ("P2_P", "P2P")];

/// `urEnqueueUSMFill2D` becomes `enqueue_usm_fill_2d`.
pub fn snake(function: &str) -> String {
    let name: Vec<char> = function.strip_prefix("ur").unwrap_or(function).chars().collect();
    let mut out = String::new();
    for (i, &c) in name.iter().enumerate() {
        let boundary = i > 0 && c.is_ascii_uppercase() && {
            let after_word = !name[i - 1].is_ascii_uppercase();
            let before_word = name.get(i + 1).is_some_and(char::is_ascii_lowercase);
            after_word || before_word
        };
        if boundary {
            out.push('_');
        }
        out.push(c);
    }
    for (split, joined) in JOINED {
        out = out.replace(split, joined);
    }
    out.to_ascii_lowercase()
}

/// The enumerator of `ur_function_t` that stands for a function.
pub fn function_enumerator(function: &str) -> String {
    format!("UR_FUNCTION_{}", snake(function).to_ascii_uppercase())
}

/// The structure of pointers to a function's arguments.
pub fn params_struct(function: &str) -> String {
    format!("ur_{}_params_t", snake(function))
}

/// The enumerator of `ur_structure_type_t` that tags a structure.
pub fn structure_enumerator(name: &str) -> String {
    let core = name.strip_prefix("ur_").unwrap_or(name);
    let core = core.strip_suffix("_t").unwrap_or(core);
    format!("UR_STRUCTURE_TYPE_{}", core.to_ascii_uppercase())
}

/// `ur_queue_flag_t` becomes `UR_QUEUE_FLAG_`: what each enumerator of the type begins with.
pub fn enumerator_prefix(name: &str) -> String {
    name.strip_suffix('t').unwrap_or(name).to_ascii_uppercase()
}

/// The enumerator of no meaning that makes C's type 32 bits wide.
pub fn widening_enumerator(name: &str) -> String {
    format!("{}FORCE_UINT32", enumerator_prefix(name))
}

/// Whether an enumeration is a set of flags.
pub fn is_flag_enum(name: &str) -> bool {
    name.ends_with("_flag_t")
}

/// `ur_queue_flag_t` becomes `ur_queue_flags_t`.
pub fn flags_typedef(name: &str) -> String {
    format!("{}s_t", name.strip_suffix("_t").unwrap_or(name))
}

/// `ur_queue_flag_t` becomes `UR_QUEUE_FLAGS_MASK`.
pub fn flags_mask(name: &str) -> String {
    format!("{}S_MASK", name.strip_suffix("_t").unwrap_or(name).to_ascii_uppercase())
}

/// The pointer type of a function: `urContextCreate` becomes `ur_pfnContextCreate_t`.
pub fn pfn_type(function: &str) -> String {
    format!("ur_pfn{}_t", function.strip_prefix("ur").unwrap_or(function))
}

/// The function that fills extension tables by name.
pub const EXTENSION_GETTER: &str = "urGetExtensionProcAddrTableExt";

/// The symbol version of the project's own functions in the loader.
pub const EXTENSION_VERSION: &str = "LIBUR_EXT_0.1";

/// How the name of each of the project's own functions ends.
pub const EXTENSION_SUFFIX: &str = "Ext";

/// What the name of each type of a file with an extension table begins with.
pub const EXTENSION_TYPE: &str = "ur_ext_";

/// What `ur_api.h` defines if it has the numbers that the project's own functions need of the vendor's enumerations.
pub const EXTENSION_MARK: &str = "UR_API_HAS_EXT_VALUES";

/// The type of an extension table: `timeline` becomes `ur_timeline_ext_dditable_t`.
pub fn extension_table(name: &str) -> String {
    format!("ur_{name}_ext_dditable_t")
}

/// The field of an extension table in the table of them: `timeline` becomes `TimelineExt`.
pub fn extension_field(name: &str) -> String {
    format!("{}{EXTENSION_SUFFIX}", camel(name))
}

/// The function that fills a table: the table in field `Context` comes from `urGetContextProcAddrTable`.
pub fn getter(field: &str) -> String {
    format!("urGet{field}ProcAddrTable")
}

/// `v2026_1`: the module of a release's own.
pub fn release_module(release: &str) -> String {
    format!("v{}", release.replace('.', "_"))
}

/// `R2026_1`: a release as a value.
pub fn release_variant(release: &str) -> String {
    format!("R{}", release.replace('.', "_"))
}

/// What the engine calls the object behind a handle: `ur_usm_pool_handle_t` is a `UsmPool`.
pub fn engine_object(handle: &str) -> String {
    let core = handle.strip_prefix("ur_").unwrap_or(handle);
    camel(core.strip_suffix("_handle_t").unwrap_or(core))
}

/// `usm_pool` becomes `UsmPool`.
fn camel(words: &str) -> String {
    let word = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    words.split('_').filter(|part| !part.is_empty()).map(word).collect()
}

/// An enumerator without its enumeration's prefix, as a Rust constant.
pub fn constant(enumeration: &str, enumerator: &str) -> String {
    let prefix = enumerator_prefix(enumeration);
    let short = enumerator.strip_prefix(&prefix).unwrap_or(enumerator);
    if short.starts_with(|c: char| c.is_ascii_digit()) { format!("_{short}") } else { short.to_owned() }
}

/// A C identifier that Rust also accepts.
pub fn rust_ident(name: &str) -> String {
    const KEYWORDS: [&str; 37] = [
        "abstract", "as", "async", "await", "become", "box", "crate", "dyn", "final", "fn", "gen", "impl", "in", "let",
        "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "self", "super", "trait",
        "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "yield", "Self",
    ];
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_names_become_snake_case() {
        assert_eq!(snake("urContextCreate"), "context_create");
        assert_eq!(snake("urProgramCreateWithIL"), "program_create_with_il");
        assert_eq!(snake("urUSMHostAlloc"), "usm_host_alloc");
        assert_eq!(snake("urEnqueueUSMFill2D"), "enqueue_usm_fill_2d");
        assert_eq!(snake("urUsmP2PPeerAccessGetInfoExp"), "usm_p2p_peer_access_get_info_exp");
    }

    #[test]
    fn constants_lose_the_prefix_and_never_begin_with_a_digit() {
        assert_eq!(constant("ur_result_t", "UR_RESULT_SUCCESS"), "SUCCESS");
        assert_eq!(constant("ur_x_info_t", "UR_X_INFO_2D_BLOCKS"), "_2D_BLOCKS");
    }

    #[test]
    fn an_extension_table_is_named_after_its_extension() {
        assert_eq!(extension_table("timeline"), "ur_timeline_ext_dditable_t");
        assert_eq!(extension_field("host_symbols"), "HostSymbolsExt");
    }

    #[test]
    fn words_that_rust_reserves_get_an_underscore() {
        assert_eq!(rust_ident("type"), "type_");
        assert_eq!(rust_ident("hQueue"), "hQueue");
    }

    #[test]
    fn flag_sets_have_a_typedef_and_a_mask() {
        assert!(is_flag_enum("ur_queue_flag_t"));
        assert_eq!(flags_typedef("ur_queue_flag_t"), "ur_queue_flags_t");
        assert_eq!(flags_mask("ur_queue_flag_t"), "UR_QUEUE_FLAGS_MASK");
    }
}
