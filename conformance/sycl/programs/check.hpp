// What every program here is made of: one function that runs and judges it, comparisons that say what differed, and the
// run-time compiler with the options that a CUDA device needs. It must not hide a SYCL call that a program is about.
//
// A program prints "ok NAME", or "skipped NAME: reason" where the machine lacks what it is about, or "NAME: what went wrong",
// and ends with 0, 77 or 1. Before that it prints "mapped: PATH" for each loader and adapter that the process has opened, so
// that whoever runs it knows what it ran on.
#ifndef UR_SYCL_CHECK_HPP
#define UR_SYCL_CHECK_HPP

#include <sycl/sycl.hpp>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace check {

namespace syclex = sycl::ext::oneapi::experimental;

// Ends a program that this machine cannot run.
struct skipped : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void that(bool holds, const std::string &otherwise) {
    if (!holds) {
        throw std::runtime_error(otherwise);
    }
}

template <typename A, typename B> void same(const A &is, const B &should, const std::string &what) {
    if (!(is == should)) {
        std::ostringstream text;
        text << what << " is " << is << ", not " << should;
        throw std::runtime_error(text.str());
    }
}

// Compares element by element with `should(i)` and names the first that differs.
template <typename T, typename F> void each(const T *values, std::size_t count, F should, const std::string &what) {
    for (std::size_t i = 0; i < count; i++) {
        if (!(values[i] == should(i))) {
            std::ostringstream text;
            text << what << "[" << i << "] is " << +values[i] << ", not " << +should(i);
            throw std::runtime_error(text.str());
        }
    }
}

// The code of the exception that `work` must throw; `code_of` of what throws nothing is a failure.
template <typename F> std::error_code code_of(F work, const std::string &what) {
    try {
        work();
    } catch (const sycl::exception &error) {
        return error.code();
    }
    throw std::runtime_error(what + " threw no sycl::exception");
}

// The options of a build for CUDA: where libdevice is (without UR_SYCL_CUDA the compiler looks for a CUDA toolkit itself), and
// no removal of unused arguments, after which the compiler of 2026.2.0 crashes in its PTX back end. UR_SYCL_PCH names a folder
// for what the compiler makes of <sycl/sycl.hpp>: reading that takes most of a program's time.
inline std::vector<std::string> options() {
    std::vector<std::string> list{"-fno-sycl-dead-args-optimization"};
    if (const char *cuda = std::getenv("UR_SYCL_CUDA")) {
        list.push_back(std::string("--cuda-path=") + cuda);
    }
    if (const char *folder = std::getenv("UR_SYCL_PCH")) {
        list.push_back(std::string("--persistent-auto-pch=") + folder);
    }
    return list;
}

using bundle = sycl::kernel_bundle<sycl::bundle_state::executable>;

// Compiles SYCL source for all devices of a context. `log` keeps what the compiler said.
inline bundle compile(const sycl::context &context, const std::string &source, std::string *log = nullptr) {
    std::string own;
    static const std::string prelude = "#include <sycl/sycl.hpp>\n"
                                       "namespace syclex = sycl::ext::oneapi::experimental;\n"
                                       "namespace this_item = sycl::ext::oneapi::this_work_item;\n"
                                       "#define KERNEL(...) extern \"C\" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((__VA_ARGS__)) void\n";
    auto from = syclex::create_kernel_bundle_from_source(context, syclex::source_language::sycl, prelude + source);
    return syclex::build(from, syclex::properties{syclex::build_options{options()},
                                                  syclex::save_log{log == nullptr ? &own : log}});
}

inline sycl::kernel kernel(const sycl::queue &queue, const std::string &source, const std::string &name) {
    return compile(queue.get_context(), source).ext_oneapi_get_kernel(name);
}

// An allocation that is freed at the end of its scope.
template <typename T> struct memory {
    T *data;
    std::size_t count;
    sycl::context context;

    memory(std::size_t elements, const sycl::queue &queue, sycl::usm::alloc kind)
        : data(sycl::malloc<T>(elements, queue, kind)), count(elements), context(queue.get_context()) {
        that(data != nullptr, "no memory for " + std::to_string(elements) + " elements");
    }
    memory(const memory &) = delete;
    memory &operator=(const memory &) = delete;
    ~memory() { sycl::free(data, context); }
    T &operator[](std::size_t index) { return data[index]; }
};

template <typename T> std::vector<T> numbers(std::size_t count, T first = 0) {
    std::vector<T> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

inline void print_mapped() {
    std::ifstream maps{"/proc/self/maps"};
    std::set<std::string> paths;
    for (std::string line; std::getline(maps, line);) {
        const auto path = line.find('/');
        if (path != std::string::npos && line.find("/libur_") != std::string::npos) {
            paths.insert(line.substr(path));
        }
    }
    for (const auto &path : paths) {
        std::cout << "mapped: " << path << "\n";
    }
}

// Runs a program and prints how it went.
inline int program(const char *name, void (*body)()) {
    try {
        body();
        print_mapped();
        std::cout << "ok " << name << std::endl;
        return 0;
    } catch (const skipped &reason) {
        std::cout << "skipped " << name << ": " << reason.what() << std::endl;
        return 77;
    } catch (const std::exception &error) {
        std::cout << name << ": " << error.what() << std::endl;
        return 1;
    }
}

} // namespace check

// Begins the body of a program.
#define PROGRAM(name)                                                                                                          \
    static void body();                                                                                                        \
    int main() { return check::program(name, body); }                                                                         \
    static void body()

#endif
