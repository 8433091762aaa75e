//! `ONEAPI_DEVICE_SELECTOR`: its grammar, and which devices a value selects. Pure: it reads no environment, calls no
//! adapter and holds no handle, so that the loader, the tools and the tests share one reading of the variable.
//!
//! A value is a list of terms separated by `;`. A term is `backend:devices`; a leading `!` makes it discard what it
//! matches instead of accepting it. `devices` is a list separated by `,` of `*`, a device type, or a root device's number,
//! where a number (or `*`) may be followed by `.sub` and `.sub.sub` to expose sub-devices. Without an accepting term,
//! `*:*` is understood. Case does not matter.

use std::fmt;

/// A backend that a term can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The variants are the names.
pub enum Backend {
    Cuda,
    Hip,
    LevelZero,
    NativeCpu,
    Offload,
    OpenCl,
}

impl Backend {
    /// Every backend, in the order of their names.
    pub const ALL: [Backend; 6] =
        [Backend::Cuda, Backend::Hip, Backend::LevelZero, Backend::NativeCpu, Backend::Offload, Backend::OpenCl];

    /// The name as a selector spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Cuda => "cuda",
            Backend::Hip => "hip",
            Backend::LevelZero => "level_zero",
            Backend::NativeCpu => "native_cpu",
            Backend::Offload => "offload",
            Backend::OpenCl => "opencl",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|b| text.eq_ignore_ascii_case(b.name()))
    }
}

/// The kind of a device, as far as a term can tell kinds apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `gpu`
    Gpu,
    /// `cpu`
    Cpu,
    /// `fpga`
    Fpga,
    /// Any other accelerator; `acc` matches it and `fpga` too.
    Accelerator,
    /// A device whose kind could not be learned: only `*` and numbers match it.
    Unknown,
}

/// A device as a term sees it: its place in the tree of devices, and the kind of its root device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Number of the root device within its backend, then of the sub-device within that one, and so on.
    pub path: Vec<u32>,
    /// Kind of the root device.
    pub kind: Kind,
}

/// A parsed selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    accepts: Vec<Term>,
    discards: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    backend: Option<Backend>,
    devices: Vec<Pattern>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    root: Root,
    /// What follows the dots: at most [`Selector::MAX_DEPTH`] - 1 parts.
    sub: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Any,
    Gpu,
    Cpu,
    Fpga,
    Accelerator,
    Number(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Any,
    Number(u32),
}

/// Why a selector could not be read: the term at fault and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectorError {
    /// The term as the user wrote it.
    pub term: String,
    /// What is wrong with it.
    pub problem: String,
    /// How to write it.
    pub remedy: &'static str,
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ONEAPI_DEVICE_SELECTOR: term `{}`: {}; {}", self.term, self.problem, self.remedy)
    }
}

impl std::error::Error for SelectorError {}

impl Default for Selector {
    /// What an unset variable means: every root device of every backend.
    fn default() -> Self {
        Selector { accepts: vec![Term { backend: None, devices: vec![Pattern::EVERY_ROOT] }], discards: Vec::new() }
    }
}

impl Selector {
    /// Root devices, their sub-devices, and the sub-devices of those.
    pub const MAX_DEPTH: usize = 3;

    /// Reads the value of the variable. An empty value means the same as none.
    pub fn parse(value: &str) -> Result<Self, SelectorError> {
        let mut accepts = Vec::new();
        let mut discards = Vec::new();
        let body = value.trim();
        let body = body.strip_suffix(';').unwrap_or(body);
        if body.is_empty() {
            return Ok(Self::default());
        }
        for text in body.split(';').map(str::trim) {
            match text.strip_prefix('!') {
                Some(rest) => discards.push(Term::parse(text, rest.trim_start())?),
                None => accepts.push(Term::parse(text, text)?),
            }
        }
        if accepts.is_empty() {
            accepts = Self::default().accepts;
        }
        Ok(Selector { accepts, discards })
    }

    /// Whether an adapter of `backend`, whose devices are of `kinds` only (none given: of any), could expose a device.
    /// Numbers cannot be judged before the devices are known, so a number accepts, and never discards, a whole adapter.
    pub fn admits(&self, backend: Backend, kinds: &[Kind]) -> bool {
        let every_kind = [Kind::Gpu, Kind::Cpu, Kind::Fpga, Kind::Accelerator, Kind::Unknown];
        let kinds = if kinds.is_empty() { &every_kind[..] } else { kinds };
        kinds.iter().any(|&kind| {
            let accepted = patterns(&self.accepts, backend).any(|p| p.root.could_match(kind));
            let discarded = patterns(&self.discards, backend).any(|p| p.discards_every(kind));
            accepted && !discarded
        })
    }

    /// How many levels of the device tree the terms for `backend` speak of: 1 is root devices alone.
    pub fn depth(&self, backend: Backend) -> usize {
        patterns(&self.accepts, backend).map(Pattern::depth).max().unwrap_or(1)
    }

    /// Whether a term for `backend` names a root device by its number.
    pub fn uses_numbers(&self, backend: Backend) -> bool {
        patterns(&self.accepts, backend)
            .chain(patterns(&self.discards, backend))
            .any(|p| matches!(p.root, Root::Number(_)))
    }

    /// The positions in `nodes` that the selector exposes, each once, in the order of the accepting terms and, within
    /// one, in the order of `nodes`. Terms for every backend (`*:…`) come before those that name one, wherever they
    /// stand, as in the stock loader, which sorts its terms. A discarded device takes its sub-devices with it.
    pub fn select(&self, backend: Backend, nodes: &[Node]) -> Vec<usize> {
        let mut selected = Vec::new();
        let of = |named: bool| patterns(self.accepts.iter().filter(move |t| t.backend.is_some() == named), backend);
        for accept in of(false).chain(of(true)) {
            for (position, node) in nodes.iter().enumerate() {
                if node.path.len() == accept.depth()
                    && accept.matches(node)
                    && !selected.contains(&position)
                    && !patterns(&self.discards, backend).any(|d| d.matches(node))
                {
                    selected.push(position);
                }
            }
        }
        selected
    }
}

fn patterns<'a>(terms: impl IntoIterator<Item = &'a Term>, backend: Backend) -> impl Iterator<Item = &'a Pattern> {
    terms.into_iter().filter(move |t| t.backend.is_none_or(|b| b == backend)).flat_map(|t| &t.devices)
}

impl Term {
    /// `whole` is the term as written, for messages; `text` the same without its `!`.
    fn parse(whole: &str, text: &str) -> Result<Self, SelectorError> {
        let fail = |problem: String, remedy| SelectorError { term: whole.to_owned(), problem, remedy };
        let Some((backend, devices)) = text.split_once(':') else {
            return Err(fail("it has no `:`".into(), "write `backend:devices`, for example `cuda:*`"));
        };
        let backend = match backend.trim() {
            "*" => None,
            "" => return Err(fail("the backend is missing".into(), "write `*:` for every backend")),
            name => Some(Backend::parse(name).ok_or_else(|| {
                fail(
                    format!("`{name}` is not a backend"),
                    "use level_zero, opencl, cuda, hip, native_cpu, offload or *",
                )
            })?),
        };
        if devices.contains(':') {
            return Err(fail(
                "it has more than one `:`".into(),
                "separate terms with `;` and devices with `,`, for example `cuda:0,1;opencl:cpu`",
            ));
        }
        if devices.trim().is_empty() {
            return Err(fail("the devices are missing".into(), "write `*` for every device, for example `cuda:*`"));
        }
        let devices = devices
            .split(',')
            .map(|device| {
                Pattern::parse(device.trim()).ok_or_else(|| {
                    fail(
                        format!("`{}` names no device", device.trim()),
                        "use *, gpu, cpu, fpga, acc, a number as in `0`, or a sub-device as in `0.1`, `0.*` or `*.*`",
                    )
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Term { backend, devices })
    }
}

impl Pattern {
    const EVERY_ROOT: Pattern = Pattern { root: Root::Any, sub: Vec::new() };

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let root = Root::parse(parts.next()?)?;
        let mut sub = Vec::new();
        let mut wild = root == Root::Any;
        for text in parts {
            let part = if text == "*" { Part::Any } else { Part::Number(number(text)?) };
            // `*.1` would be the second sub-device of whichever device: the grammar has no such thing.
            if wild && part != Part::Any {
                return None;
            }
            wild = part == Part::Any;
            sub.push(part);
        }
        let named = matches!(root, Root::Gpu | Root::Cpu | Root::Fpga | Root::Accelerator);
        if sub.len() >= Selector::MAX_DEPTH || (named && !sub.is_empty()) {
            return None;
        }
        Some(Pattern { root, sub })
    }

    fn depth(&self) -> usize {
        1 + self.sub.len()
    }

    /// Whether `node` is what the pattern names, or lies below it.
    fn matches(&self, node: &Node) -> bool {
        let Some((&root, below)) = node.path.split_first() else { return false };
        below.len() >= self.sub.len()
            && match self.root {
                Root::Number(number) => number == root,
                other => other.could_match(node.kind),
            }
            && self.sub.iter().zip(below).all(|(part, &number)| match part {
                Part::Any => true,
                Part::Number(n) => *n == number,
            })
    }

    fn discards_every(&self, kind: Kind) -> bool {
        self.sub.is_empty() && !matches!(self.root, Root::Number(_)) && self.root.could_match(kind)
    }
}

impl Root {
    fn parse(text: &str) -> Option<Self> {
        let named = [
            ("*", Root::Any),
            ("gpu", Root::Gpu),
            ("cpu", Root::Cpu),
            ("fpga", Root::Fpga),
            ("acc", Root::Accelerator),
        ];
        match named.into_iter().find(|(name, _)| text.eq_ignore_ascii_case(name)) {
            Some((_, root)) => Some(root),
            None => number(text).map(Root::Number),
        }
    }

    fn could_match(self, kind: Kind) -> bool {
        match self {
            Root::Any | Root::Number(_) => true,
            Root::Gpu => kind == Kind::Gpu,
            Root::Cpu => kind == Kind::Cpu,
            Root::Fpga => kind == Kind::Fpga,
            Root::Accelerator => matches!(kind, Kind::Accelerator | Kind::Fpga),
        }
    }
}

/// A decimal number without a sign; `str::parse` alone would take `+1`.
fn number(text: &str) -> Option<u32> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(number: u32, kind: Kind) -> Node {
        Node { path: vec![number], kind }
    }

    /// Two GPUs, the first with two sub-devices of which the first has two of its own, and a CPU.
    fn machine() -> Vec<Node> {
        let gpu = |path: &[u32]| Node { path: path.to_vec(), kind: Kind::Gpu };
        vec![
            root(0, Kind::Gpu),
            root(1, Kind::Gpu),
            root(2, Kind::Cpu),
            gpu(&[0, 0]),
            gpu(&[0, 1]),
            gpu(&[0, 0, 0]),
            gpu(&[0, 0, 1]),
        ]
    }

    fn selected(value: &str, backend: Backend) -> Vec<String> {
        let nodes = machine();
        Selector::parse(value)
            .unwrap()
            .select(backend, &nodes)
            .into_iter()
            .map(|i| nodes[i].path.iter().map(u32::to_string).collect::<Vec<_>>().join("."))
            .collect()
    }

    #[test]
    fn terms_select_the_devices_they_name_in_their_order() {
        let cases: &[(&str, &[&str])] = &[
            ("", &["0", "1", "2"]),
            ("*:*", &["0", "1", "2"]),
            ("cuda:*", &["0", "1", "2"]),
            ("CUDA:GPU", &["0", "1"]),
            ("cuda:cpu", &["2"]),
            ("*:gpu", &["0", "1"]),
            ("opencl:*", &[]),
            ("opencl:*;cuda:1", &["1"]),
            ("cuda:1,0", &["1", "0"]),
            ("cuda:1,*", &["1", "0", "2"]),
            ("cuda:1;cuda:0", &["1", "0"]),
            ("*:1;cuda:0", &["1", "0"]),
            ("cuda:0;*:1", &["1", "0"]),
            ("cuda:1;*:*", &["0", "1", "2"]),
            ("cuda:0.1;*:1", &["1", "0.1"]),
            ("cuda:7", &[]),
            ("cuda:fpga", &[]),
            ("cuda:0.1", &["0.1"]),
            ("cuda:0.*", &["0.0", "0.1"]),
            ("cuda:*.*", &["0.0", "0.1"]),
            ("cuda:0.0.1", &["0.0.1"]),
            ("cuda:0.0.*", &["0.0.0", "0.0.1"]),
            ("cuda:*.*.*", &["0.0.0", "0.0.1"]),
            ("cuda:0,0.1", &["0", "0.1"]),
            (" cuda : gpu , 2 ; ", &["0", "1", "2"]),
            ("cuda:*;", &["0", "1", "2"]),
        ];
        for (value, expected) in cases {
            assert_eq!(selected(value, Backend::Cuda), *expected, "{value}");
        }
    }

    #[test]
    fn discarding_terms_win_wherever_they_stand_and_alone_imply_everything_else() {
        let cases: &[(&str, &[&str])] = &[
            ("!cuda:cpu", &["0", "1"]),
            ("!opencl:*", &["0", "1", "2"]),
            ("!*:gpu", &["2"]),
            ("!cuda:*", &[]),
            ("cuda:*;!cuda:0", &["1", "2"]),
            ("!cuda:0;cuda:*", &["1", "2"]),
            ("! cuda:1", &["0", "2"]),
            ("cuda:*.*;!cuda:0.0", &["0.1"]),
            ("cuda:*.*;!cuda:0", &[]),
            ("cuda:*;!cuda:0.0", &["0", "1", "2"]),
            ("cuda:*.*.*;!cuda:0.0.1", &["0.0.0"]),
        ];
        for (value, expected) in cases {
            assert_eq!(selected(value, Backend::Cuda), *expected, "{value}");
        }
    }

    #[test]
    fn acc_means_every_accelerator_and_fpga_only_that_kind() {
        let nodes = [root(0, Kind::Fpga), root(1, Kind::Accelerator), root(2, Kind::Unknown)];
        let select = |value: &str| Selector::parse(value).unwrap().select(Backend::OpenCl, &nodes);
        assert_eq!(select("opencl:acc"), [0, 1]);
        assert_eq!(select("opencl:fpga"), [0]);
        assert_eq!(select("opencl:*"), [0, 1, 2]);
        assert_eq!(select("opencl:2"), [2]);
    }

    #[test]
    fn a_malformed_term_is_named_with_its_remedy() {
        let cases = [
            ("cuda", "cuda", "no `:`"),
            ("gpu", "gpu", "no `:`"),
            (":gpu", ":gpu", "backend is missing"),
            ("cuda:", "cuda:", "devices are missing"),
            ("cuda:*;;hip:*", "", "no `:`"),
            ("opencl:*;cude:gpu", "cude:gpu", "`cude` is not a backend"),
            ("level_zero:gpu:0", "level_zero:gpu:0", "more than one `:`"),
            ("cuda:gpus", "cuda:gpus", "`gpus` names no device"),
            ("cuda:0,", "cuda:0,", "`` names no device"),
            ("cuda:-1", "cuda:-1", "`-1` names no device"),
            ("cuda:+1", "cuda:+1", "`+1` names no device"),
            ("cuda:4294967296", "cuda:4294967296", "names no device"),
            ("cuda:*.1", "cuda:*.1", "`*.1` names no device"),
            ("cuda:0.*.1", "cuda:0.*.1", "names no device"),
            ("cuda:0.", "cuda:0.", "`0.` names no device"),
            ("cuda:.0", "cuda:.0", "`.0` names no device"),
            ("cuda:0.0.0.0", "cuda:0.0.0.0", "names no device"),
            ("cuda:gpu.0", "cuda:gpu.0", "names no device"),
            ("!cuda", "!cuda", "no `:`"),
            ("cuda:*;!!hip:*", "!!hip:*", "`!hip` is not a backend"),
        ];
        for (value, term, problem) in cases {
            let error = Selector::parse(value).expect_err(value);
            assert_eq!(error.term, term, "{value}");
            assert!(error.problem.contains(problem), "{value}: {error}");
            assert!(error.to_string().starts_with("ONEAPI_DEVICE_SELECTOR: term `"), "{error}");
            assert!(error.to_string().contains(error.remedy), "{error}");
        }
    }

    #[test]
    fn an_adapter_is_admitted_only_if_a_device_of_it_could_be_selected() {
        let gpu = &[Kind::Gpu][..];
        let any = &[][..];
        let cases = [
            ("", Backend::Cuda, gpu, true),
            ("opencl:*", Backend::Cuda, gpu, false),
            ("cuda:cpu", Backend::Cuda, gpu, false),
            ("*:cpu", Backend::Cuda, gpu, false),
            ("*:cpu", Backend::OpenCl, any, true),
            ("cuda:3", Backend::Cuda, gpu, true),
            ("cuda:0.1", Backend::Cuda, gpu, true),
            ("!cuda:*", Backend::Cuda, gpu, false),
            ("!cuda:gpu", Backend::Cuda, gpu, false),
            ("!opencl:gpu", Backend::OpenCl, any, true),
            ("!cuda:0", Backend::Cuda, gpu, true),
            ("!cuda:*.*", Backend::Cuda, gpu, true),
            ("!*:*", Backend::Hip, gpu, false),
        ];
        for (value, backend, kinds, expected) in cases {
            assert_eq!(Selector::parse(value).unwrap().admits(backend, kinds), expected, "{value} {backend:?}");
        }
    }

    #[test]
    fn the_tree_is_walked_only_as_deep_as_accepting_terms_reach() {
        let depth = |value: &str| Selector::parse(value).unwrap().depth(Backend::Cuda);
        assert_eq!(depth("cuda:*"), 1);
        assert_eq!(depth("opencl:*.*.*"), 1);
        assert_eq!(depth("cuda:0,1.*"), 2);
        assert_eq!(depth("cuda:0.0.0"), 3);
        assert_eq!(depth("cuda:*;!cuda:0.0"), 1);
        assert!(Selector::parse("!cuda:1").unwrap().uses_numbers(Backend::Cuda));
        assert!(!Selector::parse("cuda:gpu;opencl:1").unwrap().uses_numbers(Backend::Cuda));
    }
}
