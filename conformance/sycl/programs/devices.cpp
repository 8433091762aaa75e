// A stock runtime that ships no CUDA adapter lists the devices that ours finds, with properties it can plan by.
#include "check.hpp"

PROGRAM("devices") {
    const auto devices = sycl::device::get_devices(sycl::info::device_type::gpu);
    check::that(!devices.empty(), "no GPU is listed");
    for (const auto &device : devices) {
        const auto name = device.get_info<sycl::info::device::name>();
        check::that(device.get_backend() == sycl::backend::ext_oneapi_cuda, name + " is of another backend than CUDA");
        check::that(device.is_gpu() && !device.is_cpu(), name + " is no GPU");
        check::that(device.has(sycl::aspect::usm_device_allocations), name + " has no device allocations");
        check::that(device.has(sycl::aspect::fp64), name + " has no fp64");
        check::that(device.get_info<sycl::info::device::max_compute_units>() > 0, name + " has no compute units");
        check::that(device.get_info<sycl::info::device::max_work_group_size>() >= 256, name + " has tiny work-groups");
        check::that(device.get_info<sycl::info::device::local_mem_size>() >= 16384, name + " has little local memory");
        check::that(device.get_info<sycl::info::device::global_mem_size>() >= (std::uint64_t{1} << 28),
                    name + " has little memory");
        const auto sizes = device.get_info<sycl::info::device::sub_group_sizes>();
        check::same(sizes.size(), 1u, "the number of sub-group sizes of " + name);
        check::same(sizes[0], 32u, "the sub-group size of " + name);
        const auto items = device.get_info<sycl::info::device::max_work_item_sizes<3>>();
        check::that(items[2] >= 256 && items[1] >= 256 && items[0] >= 32, name + " has tiny work-items");
        check::that(device.get_platform().get_info<sycl::info::platform::name>().find("CUDA") != std::string::npos,
                    "the platform of " + name + " is not called after CUDA");
        check::that(!device.get_info<sycl::info::device::driver_version>().empty(), name + " has no driver version");
        check::that(!device.get_info<sycl::info::device::version>().empty(), name + " has no version");
    }
    check::same(sycl::device(sycl::gpu_selector_v).get_platform() == devices[0].get_platform(), true, "the selected platform");
}
