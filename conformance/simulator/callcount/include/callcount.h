/* callcount: a CUDA driver library that counts the calls it passes on.
 *
 * Open libcallcount.so where libcuda.so.1 would be opened, with UR_CALLCOUNT_LIBRARY naming the library to count
 * (libcuda.so.1 without it). It exports what that library exports; dlsym fails for what it lacks. When the library cannot
 * be opened, a line on stderr says why and nothing but the functions below is exported.
 *
 * The functions below do not count and may be called at any time from any thread. */
#ifndef CALLCOUNT_H
#define CALLCOUNT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls of all symbols together since load or reset. */
uint64_t callcountTotal(void);
/* Calls of one symbol, by its exported name, such as "cuMemAlloc_v2"; 0 for a name that is not counted. */
uint64_t callcountOf(const char *name);
/* Sets every count to 0. */
void callcountReset(void);
/* Each symbol that was called, sorted by name; the callback runs on this thread before the function returns. */
void callcountEach(void (*callback)(const char *name, uint64_t count, void *data), void *data);
/* How many of the counted symbols the real library has. */
uint64_t callcountSymbols(void);
/* The name under which the real library was opened; NULL if that failed. */
const char *callcountLibrary(void);

#ifdef __cplusplus
}
#endif

#endif
