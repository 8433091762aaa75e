/* Control of libhip_on_cuda.so, the HIP runtime API over the CUDA driver API, for tests.
 *
 * The library exports the HIP API and, beside it, these functions. None of them counts as a call, and all may be called
 * at any time from any thread unless said otherwise.
 *
 * The environment, read by the first call of HIP:
 *   UR_CUDA_LIBRARY  the CUDA driver to open (libcuda.so.1)
 * and by others:
 *   HIP_ON_CUDA_REGISTERED=apart  hipHostGetDevicePointer of registered memory answers another address than the host's
 */
#ifndef HIP_ON_CUDA_H
#define HIP_ON_CUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls of one function of HIP since the last reset, by its exported name ("hipMalloc"). */
uint64_t hiponcudaCallCount(const char *name);
/* Every function called since the last reset with its count, by name; the callback runs on the calling thread. */
typedef void (*hiponcuda_count_callback)(const char *name, uint64_t count, void *data);
void hiponcudaCallCounts(hiponcuda_count_callback callback, void *data);
void hiponcudaResetCallCounts(void);

/* The nth next call of name (1 is the very next) and the count - 1 after it answer error and do nothing else; a count
 * of 0 goes on until cleared. 0 on success, 1 when no function of that name is exported. hipGetErrorName and
 * hipGetErrorString answer text and never fail. */
int hiponcudaInjectFault(const char *name, uint64_t nth, int error, uint64_t count);
void hiponcudaClearFaults(void);

/* Registers a kernel of compiled host code for hipGetFuncBySymbol, in the place of what HIP's compiler generates: the
 * address of its host function, an image as text (PTX), and the kernel's name there. The image is loaded on each device
 * that the symbol is asked for on. 0 on success, 1 for null. */
int hiponcudaRegisterFunction(const void *symbol, const char *image, const char *name);
/* Forgets all of them and unloads what was loaded; nothing of it may be in use. */
void hiponcudaForgetFunctions(void);

/* Gives back the CUDA contexts that the library retains, as it does at exit; the next call of HIP that needs one
 * retains it again. For tests that count what is alive in the driver. No call of HIP may be running. */
void hiponcudaReleaseContexts(void);

/* Why no CUDA driver could be opened, null while there is one. Without one, calls of HIP answer
 * hipErrorInsufficientDriver. */
const char *hiponcudaOpenError(void);

#ifdef __cplusplus
}
#endif

#endif
