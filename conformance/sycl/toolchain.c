/* Lets a stock run-time compiler find the one file that it looks for outside of itself.
 *
 * The compiler inside libsycl-jit.so keeps its files in itself and asks for them below "/sycl-jit-toolchain". When it links
 * for a CUDA device it asks for the library of SPIR-V builtins below "/lib/clang" instead, by an absolute path that no
 * option changes, although it carries that file, too. `cargo xtask sycl` takes the file out and names the folder it put it
 * into by UR_SYCL_TOOLCHAIN; preloaded, this library opens the file there. Every other path, and every path while the
 * variable is not set, is opened as it is. It must never be linked into anything: it only exists for tests that may not
 * write into the system's /lib.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static const char prefix[] = "/lib/clang/";

/* The path to open: `path` itself, or the one below the toolchain's folder, written to `place`. */
static const char *redirected(const char *path, char *place, size_t size) {
    const char *root = getenv("UR_SYCL_TOOLCHAIN");
    if (root == NULL || path == NULL || strncmp(path, prefix, sizeof prefix - 1) != 0) {
        return path;
    }
    const int length = snprintf(place, size, "%s%s", root, path);
    return length > 0 && (size_t)length < size ? place : path;
}

typedef int opener(const char *, int, ...);

static int open_by(const char *name, const char *path, int flags, mode_t mode) {
    char place[4096];
    opener *next = (opener *)dlsym(RTLD_NEXT, name);
    return next(redirected(path, place, sizeof place), flags, mode);
}

static int takes_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = takes_mode(flags) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_by("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = takes_mode(flags) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_by("open64", path, flags, mode);
}
