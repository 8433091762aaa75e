// Everything that can be asked of a device: each question has an answer that makes sense, or is refused as one that this
// device has no answer to.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/composite_device.hpp>
#if __has_include(<sycl/ext/oneapi/experimental/max_work_groups.hpp>)
#include <sycl/ext/oneapi/experimental/max_work_groups.hpp>
#endif

namespace ask = sycl::info::device;
namespace intel = sycl::ext::intel::info::device;

static std::vector<std::string> wrong;

// The answer, or that there is none: by the feature's own code, never by another.
template <typename Question> static void any(const sycl::device &device, const char *question) {
    try {
        (void)device.get_info<Question>();
    } catch (const sycl::exception &error) {
        if (error.code() != sycl::errc::feature_not_supported) {
            wrong.push_back(std::string(question) + " (" + error.what() + ")");
        }
    }
}

// An answer that must be there.
template <typename Question, typename Test> static void good(const sycl::device &device, const char *question, Test test) {
    try {
        if (!test(device.get_info<Question>())) {
            wrong.push_back(std::string(question) + " (makes no sense)");
        }
    } catch (const sycl::exception &error) {
        wrong.push_back(std::string(question) + " (" + error.what() + ")");
    }
}

#define ANY(...) any<__VA_ARGS__>(device, #__VA_ARGS__)
#define GOOD(test, ...) good<__VA_ARGS__>(device, #__VA_ARGS__, [&]([[maybe_unused]] const auto &is) { return test; })

static void standard(const sycl::device &device) {
    GOOD(is == ask::device_type::return_type::gpu, ask::device_type);
    GOOD(is == 0x10de || is == 0x1002, ask::vendor_id);
    GOOD(is > 0, ask::max_compute_units);
    GOOD(is == 3, ask::max_work_item_dimensions);
    GOOD(is[0] >= 256, ask::max_work_item_sizes<1>);
    GOOD(is[1] >= 256, ask::max_work_item_sizes<2>);
    GOOD(is[2] >= 256, ask::max_work_item_sizes<3>);
    GOOD(is >= 256, ask::max_work_group_size);
    GOOD(is == device.get_info<ask::max_work_group_size>() / 32, ask::max_num_sub_groups);
    GOOD(is == std::vector<std::size_t>{32}, ask::sub_group_sizes);
    GOOD(is > 0, ask::preferred_vector_width_char);
    GOOD(is > 0, ask::preferred_vector_width_short);
    GOOD(is > 0, ask::preferred_vector_width_int);
    GOOD(is > 0, ask::preferred_vector_width_long);
    GOOD(is > 0, ask::preferred_vector_width_float);
    GOOD((is > 0) == device.has(sycl::aspect::fp64), ask::preferred_vector_width_double);
    GOOD((is > 0) == device.has(sycl::aspect::fp16), ask::preferred_vector_width_half);
    GOOD(is > 0, ask::native_vector_width_char);
    GOOD(is > 0, ask::native_vector_width_short);
    GOOD(is > 0, ask::native_vector_width_int);
    GOOD(is > 0, ask::native_vector_width_long);
    GOOD(is > 0, ask::native_vector_width_float);
    GOOD((is > 0) == device.has(sycl::aspect::fp64), ask::native_vector_width_double);
    GOOD((is > 0) == device.has(sycl::aspect::fp16), ask::native_vector_width_half);
    GOOD(is > 0, ask::max_clock_frequency);
    GOOD(is == 64, ask::address_bits);
    GOOD(is > 0 && is <= device.get_info<ask::global_mem_size>(), ask::max_mem_alloc_size);
    ANY(ask::max_read_image_args);
    ANY(ask::max_write_image_args);
    ANY(ask::image2d_max_width);
    ANY(ask::image2d_max_height);
    ANY(ask::image3d_max_width);
    ANY(ask::image3d_max_height);
    ANY(ask::image3d_max_depth);
    ANY(ask::image_max_buffer_size);
    ANY(ask::max_samplers);
    GOOD(is >= 1024, ask::max_parameter_size);
    GOOD(is >= 1024 && is % 8 == 0, ask::mem_base_addr_align);
    GOOD(!is.empty(), ask::single_fp_config);
    GOOD(is.empty() != device.has(sycl::aspect::fp64), ask::double_fp_config);
    GOOD(is.empty() != device.has(sycl::aspect::fp16), ask::half_fp_config);
    GOOD(is != ask::global_mem_cache_type::return_type::none, ask::global_mem_cache_type);
    GOOD(is > 0 && (is & (is - 1)) == 0, ask::global_mem_cache_line_size);
    GOOD(is > 0, ask::global_mem_cache_size);
    GOOD(is > 0, ask::global_mem_size);
    GOOD(is == ask::local_mem_type::return_type::local, ask::local_mem_type);
    GOOD(is > 0, ask::local_mem_size);
    ANY(ask::error_correction_support);
    GOOD(!is.empty(), ask::atomic_memory_order_capabilities);
    GOOD(!is.empty(), ask::atomic_fence_order_capabilities);
    GOOD(!is.empty(), ask::atomic_memory_scope_capabilities);
    GOOD(!is.empty(), ask::atomic_fence_scope_capabilities);
    GOOD(is > 0, ask::profiling_timer_resolution);
    GOOD(is, ask::is_available);
    GOOD(is.empty(), ask::built_in_kernel_ids);
    GOOD(is == device.get_platform(), ask::platform);
    GOOD(!is.empty(), ask::name);
    GOOD(!is.empty(), ask::vendor);
    GOOD(!is.empty(), ask::driver_version);
    GOOD(!is.empty(), ask::version);
    GOOD(is.find("sm_") != std::string::npos || !is.empty(), ask::backend_version);
    GOOD(!is.empty(), ask::aspects);
    ANY(ask::partition_max_sub_devices);
    GOOD(is.empty(), ask::partition_properties);
    ANY(ask::partition_affinity_domains);
    GOOD(is == ask::partition_type_property::return_type::no_partition, ask::partition_type_property);
    GOOD(is == ask::partition_type_affinity_domain::return_type::not_applicable, ask::partition_type_affinity_domain);
}

static void extensions(const sycl::device &device) {
    GOOD(is > 0, intel::device_id);
    GOOD(is.size() >= 10 && is.find(':') != std::string::npos && is.find('.') != std::string::npos, intel::pci_address);
    GOOD(std::any_of(is.begin(), is.end(), [](auto byte) { return byte != 0; }), intel::uuid);
    GOOD(is > 0 && is <= device.get_info<ask::global_mem_size>(), intel::free_memory);
    GOOD(is > 0, intel::memory_clock_rate);
    GOOD(is > 0 && is % 8 == 0, intel::memory_bus_width);
    ANY(intel::max_compute_queue_indices);
    ANY(intel::max_mem_bandwidth);
    ANY(intel::gpu_eu_count);
    ANY(intel::gpu_eu_simd_width);
    ANY(intel::gpu_slices);
    ANY(intel::gpu_subslices_per_slice);
    ANY(intel::gpu_eu_count_per_subslice);
    ANY(intel::gpu_hw_threads_per_eu);
    ANY(intel::current_clock_throttle_reasons);
    ANY(intel::fan_speed);
    ANY(intel::min_power_limit);
    ANY(intel::max_power_limit);
    ANY(intel::luid);
    ANY(intel::node_mask);
    ANY(sycl::ext::intel::esimd::info::device::has_2d_block_io_support);
    namespace own = check::syclex::info::device;
    GOOD(is > 0, own::max_global_work_groups);
    GOOD(is[0] > 0, own::max_work_groups<1>);
    GOOD(is[0] > 0 && is[1] > 0, own::max_work_groups<2>);
    GOOD(is[0] > 0 && is[1] > 0 && is[2] >= is[1] && is[2] >= is[0], own::max_work_groups<3>);
    GOOD(is == device.get_info<ask::max_compute_units>(), sycl::ext::oneapi::info::device::num_compute_units);
    using scope = check::syclex::execution_scope;
    GOOD(!is.empty(), own::work_group_progress_capabilities<scope::root_group>);
    GOOD(!is.empty(), own::sub_group_progress_capabilities<scope::root_group>);
    GOOD(!is.empty(), own::sub_group_progress_capabilities<scope::work_group>);
    GOOD(!is.empty(), own::work_item_progress_capabilities<scope::root_group>);
    GOOD(!is.empty(), own::work_item_progress_capabilities<scope::work_group>);
    GOOD(!is.empty(), own::work_item_progress_capabilities<scope::sub_group>);
    GOOD(is.empty(), own::component_devices);
    check::code_of([&] { device.get_info<own::composite_device>(); }, "the whole of a device that is no part");
    ANY(own::mipmap_max_anisotropy);
    ANY(own::image_row_pitch_align);
    ANY(own::max_image_linear_row_pitch);
    ANY(own::max_image_linear_width);
    ANY(own::max_image_linear_height);
}

PROGRAM("device_info") {
    const auto devices = sycl::device::get_devices(sycl::info::device_type::gpu);
    check::that(!devices.empty(), "no GPU is listed");
    for (const auto &device : devices) {
        standard(device);
        extensions(device);
        check::code_of([&] { device.get_info<ask::parent_device>(); }, "the parent of a device that is no part");
        check::code_of([&] { device.create_sub_devices<sycl::info::partition_property::partition_equally>(2); }, "half of a device");
        const auto aspects = device.get_info<ask::aspects>();
        for (const auto aspect : aspects) {
            check::that(device.has(aspect), "a device lists an aspect that it has not");
        }
    }
    std::string all;
    for (const auto &one : wrong) {
        all += (all.empty() ? "" : "; ") + one;
    }
    check::that(all.empty(), all);
    check::that(check::syclex::get_composite_devices().empty(), "there is a composite device");
    for (std::size_t i = 0; i < devices.size(); i++) {
        for (std::size_t j = 0; j < i; j++) {
            check::that(devices[i].get_info<intel::uuid>() != devices[j].get_info<intel::uuid>(), "two devices have one UUID");
            check::that(devices[i].get_info<intel::pci_address>() != devices[j].get_info<intel::pci_address>(),
                        "two devices have one PCI address");
        }
    }
    // Free memory is what is left of it.
    sycl::queue queue{devices[0], sycl::property::queue::in_order()};
    const auto before = devices[0].get_info<intel::free_memory>();
    check::memory<char> large(std::size_t{64} << 20, queue, sycl::usm::alloc::device);
    check::that(devices[0].get_info<intel::free_memory>() < before, "an allocation leaves all memory free");
}
