//! Writes LLVM's text for AMD's devices: `amdgcn WAVE_SIZE FOLDER FILE.spv…` makes `FOLDER/FILE.ll` of each module.

use std::path::Path;

use ur_spirv::{Options, parse, translate};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [wave_size, folder, files @ ..] = &arguments[..] else {
        panic!("amdgcn WAVE_SIZE FOLDER FILE.spv…");
    };
    let options = Options::for_amdgcn(wave_size.parse().expect("32 or 64"));
    for file in files {
        let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        match parse(&bytes).and_then(|module| translate(&module, &options)) {
            Ok(made) => {
                let name = Path::new(file).with_extension("ll");
                let to = Path::new(folder).join(name.file_name().expect("a file has a name"));
                std::fs::write(&to, made.text).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
            }
            Err(error) => eprintln!("{file}: {error}"),
        }
    }
}
