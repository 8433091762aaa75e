//! What names a result in the disk cache: a hash of everything that the result depends on.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::driver::{AmdgcnTarget, PtxTarget, SpirvTarget};
use crate::program::spirv::Request;

/// Changes when a kept result means something else than before.
const FORMAT: u64 = 5;

/// A result's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key([u8; 32]);

impl Key {
    /// The key of a request to the library that `library` names.
    #[must_use]
    pub fn of(request: &Request<'_>, library: &str) -> Self {
        let mut fields = Fields(Sha256::new());
        fields.number(FORMAT);
        fields.bytes(ur_spirv::VERSION.as_bytes());
        fields.bytes(library.as_bytes());
        let (target, options) = (&request.target, request.options);
        match target {
            SpirvTarget::Ptx(PtxTarget { sm, version }) => {
                [0, *sm, version.0, version.1].into_iter().for_each(|number| fields.number(number.into()));
            }
            SpirvTarget::Amdgcn(AmdgcnTarget { architecture, wave_size }) => {
                [1, *wave_size].into_iter().for_each(|number| fields.number(number.into()));
                fields.bytes(architecture.as_bytes());
            }
        }
        [request.max_threads]
            .into_iter()
            .chain([options.line_info, request.global_offset, request.allows_imports].map(u32::from))
            .for_each(|number| fields.number(number.into()));
        fields.number(options.compiler.len() as u64);
        options.compiler.iter().for_each(|word| fields.bytes(word.as_bytes()));
        for source in request.sources {
            fields.bytes(&source.bytes);
            fields.number(source.constants.len() as u64);
            for (id, value) in &source.constants {
                fields.number((*id).into());
                fields.bytes(value);
            }
        }
        Self(fields.0.finalize().into())
    }

    /// A number that is spread evenly over keys.
    #[must_use]
    pub fn spread(&self) -> u64 {
        self.0.first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Fields one behind the other; each says how long it is, so that no two lists of fields hash the same bytes.
struct Fields(Sha256);

impl Fields {
    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use super::*;
    use crate::program::spirv::{BuildOptions, Source};

    fn source(bytes: &[u8], constants: &[(u32, &[u8])]) -> Source {
        let constants: BTreeMap<u32, Vec<u8>> = constants.iter().map(|(id, value)| (*id, value.to_vec())).collect();
        Source { bytes: bytes.into(), constants }
    }

    #[test]
    fn whatever_a_result_depends_on_changes_its_key() {
        let target = PtxTarget { sm: 90, version: (8, 4) };
        let plain = BuildOptions::default();
        let unoptimised = BuildOptions { compiler: vec!["-opt=0".to_owned()], ..BuildOptions::default() };
        let lines = BuildOptions { line_info: true, ..BuildOptions::default() };
        // The loader's words are not part of what is kept.
        let loader = BuildOptions { loader: vec!["-O3".to_owned()], ..BuildOptions::default() };
        let one = [source(b"ab", &[])];
        let sets = [
            vec![source(b"a", &[]), source(b"b", &[])],
            vec![source(b"b", &[]), source(b"a", &[])],
            vec![source(b"ab", &[(1, b"x")])],
            vec![source(b"ab", &[(1, b"y")])],
            vec![source(b"ab", &[(2, b"x")])],
            vec![source(b"abc", &[])],
        ];
        let request = |sources, target: PtxTarget, options, max_threads, global_offset| Request {
            sources,
            target: SpirvTarget::Ptx(target),
            max_threads,
            options,
            global_offset,
            allows_imports: false,
        };
        let amdgcn = |architecture: &str, wave_size| Request {
            target: SpirvTarget::Amdgcn(AmdgcnTarget { architecture: architecture.to_owned(), wave_size }),
            ..request(&one, target, &plain, 1024, false)
        };
        let key = |request: Request<'_>| Key::of(&request, "nvvm 1");
        let mut keys = vec![
            key(request(&one, target, &plain, 1024, false)),
            key(request(&one, PtxTarget { sm: 80, ..target }, &plain, 1024, false)),
            key(request(&one, PtxTarget { version: (8, 5), ..target }, &plain, 1024, false)),
            key(request(&one, target, &unoptimised, 1024, false)),
            key(request(&one, target, &lines, 1024, false)),
            key(request(&one, target, &plain, 512, false)),
            key(request(&one, target, &plain, 1024, true)),
            key(Request { allows_imports: true, ..request(&one, target, &plain, 1024, false) }),
            Key::of(&request(&one, target, &plain, 1024, false), "nvvm 2"),
            key(amdgcn("gfx90a", 64)),
            key(amdgcn("gfx90a:xnack+", 64)),
            key(amdgcn("gfx1030", 32)),
            key(amdgcn("gfx1030", 64)),
        ];
        keys.extend(sets.iter().map(|set| key(request(set, target, &plain, 1024, false))));
        let distinct: HashSet<Key> = keys.iter().copied().collect();
        assert_eq!(distinct.len(), keys.len());
        assert_eq!(key(request(&one, target, &loader, 1024, false)), keys[0]);
        assert_eq!(keys[0].to_string().len(), 64);
    }
}
