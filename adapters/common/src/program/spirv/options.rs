//! What the words of build options mean to the way from SPIR-V to PTX, and which are the native loader's.

/// Build options, sorted by who reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// Options of libnvvm.
    pub compiler: Vec<String>,
    /// Whether lines of the source are written.
    pub line_info: bool,
    /// Words for the native loader, which compiles the PTX.
    pub loader: Vec<String>,
    /// Words that change nothing here, for the log.
    pub ignored: Vec<String>,
}

impl BuildOptions {
    /// Reads the words of `urProgramBuild`'s options.
    #[must_use]
    pub fn parse(words: &[String]) -> Self {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-O0" | "-cl-opt-disable" => {
                    options.compile_with("-opt=0");
                    options.loader.push(word.clone());
                }
                // libnvvm knows none and all.
                "-O1" | "-O2" | "-O3" => options.loader.push(word.clone()),
                // Lines need nothing of the optimiser; a debugger's variables are not written.
                "-g" | "-lineinfo" | "--generate-line-info" => {
                    options.line_info = true;
                    options.loader.push("-lineinfo".to_owned());
                }
                "-cl-fast-relaxed-math" => {
                    ["-ftz=1", "-prec-div=0", "-prec-sqrt=0"].into_iter().for_each(|word| options.compile_with(word));
                }
                "-cl-denorms-are-zero" => options.compile_with("-ftz=1"),
                // They allow what is done anyway, or promise what nobody relies on.
                "-cl-mad-enable"
                | "-cl-fp32-correctly-rounded-divide-sqrt"
                | "-cl-no-signed-zeros"
                | "-cl-unsafe-math-optimizations"
                | "-cl-finite-math-only"
                | "-cl-uniform-work-group-size"
                | "-cl-no-subgroup-ifp" => {}
                "-maxrregcount" | "--maxrregcount" => {
                    options.loader.push(word.clone());
                    options.loader.extend(words.next().cloned());
                }
                other if other.starts_with("-maxrregcount=") || other.starts_with("--maxrregcount=") => {
                    options.loader.push(word.clone());
                }
                _ => options.ignored.push(word.clone()),
            }
        }
        options
    }

    fn compile_with(&mut self, word: &str) {
        if !self.compiler.iter().any(|known| known == word) {
            self.compiler.push(word.to_owned());
        }
    }

    /// The remark on words that mean nothing, if there are some.
    #[must_use]
    pub fn remark(&self) -> String {
        if self.ignored.is_empty() {
            return String::new();
        }
        format!("ignored build options, which mean nothing to the SPIR-V compiler: {}\n", self.ignored.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> BuildOptions {
        BuildOptions::parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn words_go_to_who_reads_them() {
        let options = parsed("-O0 -g --maxrregcount=64 -cl-fast-relaxed-math -cl-denorms-are-zero -I x -cl-mad-enable");
        assert_eq!(options.compiler, ["-opt=0", "-ftz=1", "-prec-div=0", "-prec-sqrt=0"]);
        assert!(options.line_info);
        assert_eq!(options.loader, ["-O0", "-lineinfo", "--maxrregcount=64"]);
        assert_eq!(options.ignored, ["-I", "x"]);
        assert!(options.remark().contains("-I x"));
        assert_eq!(parsed("-maxrregcount 32").loader, ["-maxrregcount", "32"]);
        assert_eq!(parsed("-O3").compiler, Vec::<String>::new());
        assert_eq!(parsed(""), BuildOptions::default());
        assert_eq!(parsed("").remark(), "");
    }
}
