// A CUDA device names its architecture, and it is the one of its compute capability.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/device_architecture.hpp>

#include <algorithm>
#include <map>

using check::syclex::arch_category;
using check::syclex::architecture;

PROGRAM("device_architecture") {
    const std::map<std::string, architecture> named{
        {"7.0", architecture::nvidia_gpu_sm_70}, {"7.5", architecture::nvidia_gpu_sm_75}, {"8.0", architecture::nvidia_gpu_sm_80},
        {"8.6", architecture::nvidia_gpu_sm_86}, {"8.9", architecture::nvidia_gpu_sm_89}, {"9.0", architecture::nvidia_gpu_sm_90}};
    for (auto device : sycl::device::get_devices(sycl::info::device_type::gpu)) {
        const auto capability = device.get_info<sycl::info::device::backend_version>();
        const auto is = device.get_info<check::syclex::info::device::architecture>();
        check::that(is != architecture::unknown, "the architecture of compute capability " + capability + " is unknown");
        if (const auto should = named.find(capability); should != named.end()) {
            check::that(is == should->second, "the architecture is none of compute capability " + capability);
        }
        check::that(device.ext_oneapi_architecture_is(is), "a device is not of the architecture that it names");
        check::that(device.ext_oneapi_architecture_is(arch_category::nvidia_gpu), "a device is no NVIDIA GPU");
        check::that(!device.ext_oneapi_architecture_is(arch_category::amd_gpu) &&
                        !device.ext_oneapi_architecture_is(arch_category::intel_gpu),
                    "a device is of two makers");
        check::that(!device.ext_oneapi_architecture_is(architecture::nvidia_gpu_sm_53), "a device is of an older architecture, too");
    }
}
