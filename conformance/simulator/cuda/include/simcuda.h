/* Control of libsimcuda.so, the simulated CUDA driver, for tests.
 *
 * The library exports the CUDA driver API and, beside it, these functions. None of them counts as a native call, all
 * may be called at any time from any thread, and callbacks run on the calling thread before the function returns.
 *
 * The environment, read by the first cuInit:
 *   SIMCUDA_DEVICES  number of devices, 0 to 64 (2); with 0 cuInit answers CUDA_ERROR_NO_DEVICE
 *   SIMCUDA_MEMORY   bytes of memory of each device, with K, M or G behind (4G)
 *   SIMCUDA_CC       compute capability (9.0)
 *   SIMCUDA_DELAY    SEED:MICROS: every command of a stream is delayed pseudo-randomly, up to MICROS
 *   SIMCUDA_THRESHOLDS  obey, keep or return (obey), as simcudaSetThresholds
 *   SIMCUDA_QUERIES  order or streams (order): whether a cuEventQuery that answers "done" orders what is submitted after
 *                    it, as cuStreamQuery does; compute-sanitizer counts the stream's alone
 *   SIMCUDA_GRAPHS   start of the sequence by which launches of graphs pick among the nodes that are ready (1); 0 picks
 *                    the one that was added first. Nodes run on several threads either way
 *   SIMCUDA_POOLS    all or none (all): whether devices have memory pools
 *   CUDA_DEVICE_MAX_CONNECTIONS  hardware channels of a device that its streams share, as for the real driver; without it each
 *                    stream has one of its own
 *   SIMCUDA_FAULTS   NAME:NTH:ERROR[:COUNT];...  as simcudaInjectFault
 *   SIMCUDA_REPORT   a file (appended to) or "stderr": reports and leaks are written there at exit
 */
#ifndef SIMCUDA_H
#define SIMCUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls of one exported function since the last reset, by its exact exported name ("cuMemAlloc_v2"). */
uint64_t simcudaCallCount(const char *name);
/* Calls of all functions since the last reset. */
uint64_t simcudaCallCountTotal(void);
/* How often calls of this thread found work unfinished that they waited for; never reset. */
uint64_t simcudaThreadWaits(void);
void simcudaResetCallCounts(void);
/* Every function called since the last reset with its count, sorted by name. */
typedef void (*simcuda_count_callback)(const char *name, uint64_t count, void *data);
void simcudaCallCounts(simcuda_count_callback callback, void *data);

/* The nth next call of name (1 is the very next) and the count - 1 after it answer error and do nothing else; a count
 * of 0 goes on until cleared. Several faults of one function count independently of each other.
 * 0 on success, 1 when no function of that name is exported. */
int simcudaInjectFault(const char *name, uint64_t nth, int error, uint64_t count);
/* Every call of name takes at least so long; 0 ends it. Returns as simcudaInjectFault. */
int simcudaInjectDelay(const char *name, uint64_t micros);
/* Calls of name that begin from now on wait before they do anything, until they are released or faults are cleared; they are
 * counted when they begin. Return as simcudaInjectFault. */
int simcudaHoldCalls(const char *name);
/* As simcudaHoldCalls, but the calls do their work and wait before they return. */
int simcudaHoldReturns(const char *name);
int simcudaReleaseCalls(const char *name);
/* From now on all work on the device answers CUDA_ERROR_DEVICE_UNAVAILABLE (46), and kernels that run there end.
 * 0 on success, 1 when there is no such device. */
int simcudaLoseDevice(int ordinal);
/* Ends all injected faults and delays, lets held calls go on, makes lost devices usable again and thresholds what the environment says. */
void simcudaClearFaults(void);

/* What the release thresholds of pools mean: 0 what they say, 1 nothing, pools keep everything until they are trimmed, 2
 * nothing, pools give back at once whatever nobody uses. The last two are what some releases of AMD's runtime do.
 * 0 on success, 1 for another number. */
int simcudaSetThresholds(int meaning);

/* Stops every stream before its next command; what runs, runs on. While held nothing that is submitted completes, so
 * that "work is in flight" is certain, without sleeping. Synchronising while held waits for the release. */
void simcudaHoldWork(void);
void simcudaReleaseWork(void);

/* Misuse that the real driver lets pass or merely answers with an error. Kinds:
 *   context           no current context, or a destroyed one, where one is needed
 *   host-function     a native call inside a host function or stream callback
 *   use-after-free    memory used after its free
 *   use-before-alloc  stream-ordered memory used by work not ordered after its allocation
 *   unordered-free    memory freed by work not ordered after its allocation or its use
 *   early-pool-destroy  a pool of host memory destroyed before its frees were waited for, which crashes the real driver
 *   plain-free        pool memory freed by cuMemFree, after which the real driver's account of the pool is wrong
 *   double-free       memory freed twice
 *   invalid-pointer   not a pointer that the call takes, or an access outside of its allocation
 *   destroyed-handle  a handle of a destroyed object
 *   invalid-handle    a handle of another kind, or none at all
 *   external          an import of another API destroyed while it is in use, or signalled against its rules
 *   peer-access       memory touched by a device that has no access to it
 *   kernel-fault      a kernel failed; the text says where in the PTX
 *   leak              a context destroyed with its objects still alive
 *   internal          a defect of libsimcuda itself
 */
typedef void (*simcuda_report_callback)(const char *kind, const char *text, void *data);
uint64_t simcudaReportCount(void);
void simcudaReports(simcuda_report_callback callback, void *data);
void simcudaClearReports(void);

/* Objects alive now, all together and by kind. Kinds: context, primary context retain, stream, event, module, library,
 * linker, memory pool, graph, executable graph, physical memory, address reservation, device memory, host memory,
 * registered host memory, managed memory, pool memory, graph memory, mapped memory,
 * mapped external memory, external memory, external semaphore. */
uint64_t simcudaLeakCount(void);
void simcudaLeaks(simcuda_count_callback callback, void *data);

/* The other API whose memory and semaphores are imported (cuImportExternalMemory, cuImportExternalSemaphore). Each of the
 * first two answers a new file descriptor, the caller's, which other processes may use too, or -1. The memory is a file
 * that the caller maps. Waits take a binary semaphore's signal away; values are a timeline's. Signal and wait answer 0, 1
 * for a descriptor of something else, and a wait 2 when its time is over. */
int simcudaForeignMemory(uint64_t size, int ordinal);
int simcudaForeignSemaphore(int timeline);
int simcudaForeignSignal(int descriptor, uint64_t value);
int simcudaForeignWait(int descriptor, uint64_t value, uint64_t milliseconds);

/* Threads that streams have started so far. */
uint64_t simcudaThreadCount(void);
/* Contexts that exist now, primary ones included. */
uint64_t simcudaContextCount(void);

#ifdef __cplusplus
}
#endif

#endif
