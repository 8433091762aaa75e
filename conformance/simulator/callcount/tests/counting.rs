//! The promises of callcount, over a small library that `cc` builds: every call counts and passes through unchanged, and
//! what the real library lacks is missing. The library reads its environment at load, so each test runs a client of its
//! own process.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The library to count: two plain functions, one with arguments on the stack, and the lookup function.
const FAKE: &str = r#"
#include <string.h>
int cuInit(unsigned flags) { return flags == 0 ? 0 : 1; }
int cuDeviceGetCount(int *count) { *count = 3; return 0; }
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned shared,
                   void *stream, void **arguments, void **extra) {
    return (int)((long)f + a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * g + 7 * shared + (long)stream + (long)arguments +
                 (long)extra);
}
static int cuUncounted(void) { return 77; }
int cuGetProcAddress_v2(const char *name, void **place, int version, unsigned long flags, int *status) {
    (void)version, (void)flags;
    if (status) *status = 0;
    *place = 0;
    if (!strcmp(name, "cuInit")) *place = (void *)cuInit;
    if (!strcmp(name, "cuUncounted")) *place = (void *)cuUncounted;
    return *place ? 0 : 500;
}
"#;

/// Opens a library and does what its arguments say, printing an answer a line.
const CLIENT: &str = r#"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <pthread.h>
static void *library;
static void each(const char *name, uint64_t count, void *data) { printf("%s=%lu%s\n", name, (unsigned long)count, (char *)data); }
static void *many(void *unused) {
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(library, "cuInit");
    for (int i = 0; i < 100000; i++) init(0);
    return unused;
}
int main(int argc, char **argv) {
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) { printf("%s\n", dlerror()); return 1; }
    for (int i = 2; i < argc; i++) {
        const char *command = argv[i];
        if (!strcmp(command, "has")) {
            dlerror();
            void *found = dlsym(library, argv[++i]);
            const char *error = dlerror();
            printf("%s\n", found ? "found" : error && strstr(error, "undefined symbol") ? "undefined" : "null");
        } else if (!strcmp(command, "init")) {
            printf("%d\n", ((int (*)(unsigned))dlsym(library, "cuInit"))((unsigned)(argv[++i][0] - '0')));
        } else if (!strcmp(command, "count")) {
            int count = 0;
            int result = ((int (*)(int *))dlsym(library, "cuDeviceGetCount"))(&count);
            printf("%d %d\n", result, count);
        } else if (!strcmp(command, "launch")) {
            int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
                dlsym(library, "cuLaunchKernel");
            printf("%d\n", launch((void *)1000, 1, 2, 3, 4, 5, 6, 7, (void *)10000, (void *)20000, (void *)30000));
        } else if (!strcmp(command, "proc")) {
            void *place = 0;
            int (*get)(const char *, void **, int, unsigned long, int *) = dlsym(library, "cuGetProcAddress_v2");
            const char *name = argv[++i];
            int result = get(name, &place, 12000, 0, 0);
            if (!place) printf("%d null\n", result);
            else printf("%d %s %d\n", result, place == dlsym(library, name) ? "ours" : "its own", ((int (*)(unsigned))place)(0));
        } else if (!strcmp(command, "of")) {
            printf("%lu\n", (unsigned long)((uint64_t (*)(const char *))dlsym(library, "callcountOf"))(argv[++i]));
        } else if (!strcmp(command, "total")) {
            printf("%lu\n", (unsigned long)((uint64_t (*)(void))dlsym(library, "callcountTotal"))());
        } else if (!strcmp(command, "symbols")) {
            printf("%lu\n", (unsigned long)((uint64_t (*)(void))dlsym(library, "callcountSymbols"))());
        } else if (!strcmp(command, "library")) {
            const char *name = ((const char *(*)(void))dlsym(library, "callcountLibrary"))();
            printf("%s\n", name ? name : "null");
        } else if (!strcmp(command, "reset")) {
            ((void (*)(void))dlsym(library, "callcountReset"))();
        } else if (!strcmp(command, "each")) {
            ((void (*)(void (*)(const char *, uint64_t, void *), void *))dlsym(library, "callcountEach"))(each, "!");
        } else if (!strcmp(command, "threads")) {
            pthread_t threads[4];
            for (int t = 0; t < 4; t++) pthread_create(&threads[t], 0, many, 0);
            for (int t = 0; t < 4; t++) pthread_join(threads[t], 0);
        } else return 2;
    }
    return 0;
}
"#;

/// The library and a client, built by `cc`.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Bench { folder: tempfile::tempdir().expect("a temporary folder") };
        bench.compile("fake.c", FAKE, &["-shared", "-fPIC"], "libfake.so");
        bench.compile("client.c", CLIENT, &[], "client");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn compile(&self, source: &str, text: &str, options: &[&str], out: &str) {
        std::fs::write(self.path(source), text).expect("the folder can be written");
        let mut command = Command::new("cc");
        command.args(options).arg(self.path(source)).arg("-o").arg(self.path(out)).args(["-ldl", "-lpthread"]);
        assert!(command.status().expect("cc runs").success(), "{source} compiles");
    }

    /// Runs the client over callcount over `real`; its lines, and what went to stderr.
    fn run_over(&self, real: &Path, commands: &[&str]) -> (Vec<String>, String) {
        let output = Command::new(self.path("client"))
            .arg(callcount())
            .args(commands)
            .env("UR_CALLCOUNT_LIBRARY", real)
            .output()
            .expect("the client runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{:?}: {}{}", output.status, text(&output.stdout), text(&output.stderr));
        (text(&output.stdout).lines().map(str::to_owned).collect(), text(&output.stderr))
    }

    fn run(&self, commands: &[&str]) -> Vec<String> {
        let (lines, errors) = self.run_over(&self.path("libfake.so"), commands);
        assert_eq!(errors, "", "nothing is said when all is well");
        lines
    }
}

/// The shared object, which cargo puts beside the tests.
fn callcount() -> PathBuf {
    let test = std::env::current_exe().expect("the test knows its file");
    let path = test.parent().expect("it lies in a folder").join("libcallcount.so");
    assert!(path.exists(), "{} is built with the tests", path.display());
    path
}

#[test]
fn every_call_counts_for_its_symbol_and_for_the_total() {
    let lines =
        Bench::new().run(&["init", "0", "init", "0", "count", "of", "cuInit", "of", "cuDeviceGetCount", "total"]);
    assert_eq!(lines, ["0", "0", "0 3", "2", "1", "3"]);
}

#[test]
fn answers_and_arguments_pass_through_registers_and_stack() {
    let launched = 1000 + 1 + 4 + 9 + 16 + 25 + 36 + 49 + 10000 + 20000 + 30000;
    assert_eq!(Bench::new().run(&["init", "5", "launch"]), ["1".to_owned(), launched.to_string()]);
}

#[test]
fn a_symbol_that_the_real_library_lacks_is_missing() {
    let lines = Bench::new().run(&["has", "cuInit", "has", "cuMemAlloc_v2", "has", "cuGetProcAddress", "symbols"]);
    assert_eq!(lines, ["found", "undefined", "undefined", "4"]);
}

#[test]
fn addresses_from_the_driver_lead_through_the_counter() {
    let lines =
        Bench::new().run(&["proc", "cuInit", "of", "cuInit", "proc", "cuUncounted", "proc", "cuNothing", "total"]);
    assert_eq!(lines, ["0 ours 0", "1", "0 its own 77", "500 null", "4"]);
}

#[test]
fn reset_starts_over_and_each_lists_what_was_called() {
    let lines = Bench::new().run(&["init", "0", "reset", "total", "count", "init", "0", "count", "each"]);
    assert_eq!(lines, ["0", "0", "0 3", "0", "0 3", "cuDeviceGetCount=2!", "cuInit=1!"]);
}

#[test]
fn no_call_of_any_thread_is_lost() {
    assert_eq!(Bench::new().run(&["threads", "of", "cuInit", "of", "no such symbol"]), ["400000", "0"]);
}

#[test]
fn the_real_library_is_named_and_a_missing_one_is_said_on_stderr() {
    let bench = Bench::new();
    let fake = bench.path("libfake.so");
    assert_eq!(bench.run(&["library"]), [fake.display().to_string()]);
    let (lines, errors) = bench.run_over(Path::new("/nowhere/libcuda.so.1"), &["has", "cuInit", "library", "total"]);
    assert_eq!(lines, ["undefined", "null", "0"]);
    assert!(errors.contains("UR_CALLCOUNT_LIBRARY") && errors.contains("/nowhere/libcuda.so.1"), "{errors}");
}

#[test]
fn counting_itself_is_refused_rather_than_endless() {
    let (lines, _) = Bench::new().run_over(&callcount(), &["has", "cuInit", "symbols"]);
    assert_eq!(lines, ["undefined", "0"]);
}
