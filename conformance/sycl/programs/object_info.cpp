// What contexts, platforms, queues and events say of themselves.
#include "check.hpp"

#include <algorithm>

template <typename T> static bool holds(const std::vector<T> &list, T value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

PROGRAM("object_info") {
    sycl::queue queue;
    const auto device = queue.get_device();
    const auto context = queue.get_context();
    const auto platform = device.get_platform();
    check::that(!platform.get_info<sycl::info::platform::vendor>().empty(), "the platform has no vendor");
    check::that(!platform.get_info<sycl::info::platform::version>().empty(), "the platform has no version");
    check::that(platform.get_backend() == sycl::backend::ext_oneapi_cuda, "the platform is of another backend");
    check::that(holds(platform.get_devices(), device), "the platform lacks the device");
    check::that(platform.has(sycl::aspect::gpu), "not all of the platform's devices are GPUs");
    check::that(holds(sycl::platform::get_platforms(), platform), "the list of platforms lacks this one");

    using order = sycl::memory_order;
    using scope = sycl::memory_scope;
    const auto orders = context.get_info<sycl::info::context::atomic_memory_order_capabilities>();
    check::that(holds(orders, order::relaxed) && holds(orders, order::acq_rel), "the context orders no memory");
    const auto scopes = context.get_info<sycl::info::context::atomic_memory_scope_capabilities>();
    check::that(holds(scopes, scope::work_group) && holds(scopes, scope::device), "the context's atomics reach no device");
    check::that(!context.get_info<sycl::info::context::atomic_fence_order_capabilities>().empty() &&
                    !context.get_info<sycl::info::context::atomic_fence_scope_capabilities>().empty(), "the context has no fences");
    check::that(context.get_info<sycl::info::context::platform>() == platform, "the context is of another platform");
    check::that(holds(context.get_info<sycl::info::context::devices>(), device), "the context lacks the device");
    check::that(queue.get_info<sycl::info::queue::context>() == context && queue.get_info<sycl::info::queue::device>() == device,
                "the queue is elsewhere");

    check::memory<int> memory(100, queue, sycl::usm::alloc::device);
    const auto first = queue.fill(memory.data, 1, 100);
    auto second = queue.fill(memory.data, 2, 100, first);
    second.wait();
    check::that(second.get_backend() == sycl::backend::ext_oneapi_cuda, "the event is of another backend");
    check::that(sycl::event{second} == second && first != second, "events are not told apart");
    sycl::event::wait({first, second});
    sycl::event::wait_and_throw({first, second});

    // Selecting.
    check::that(sycl::device{sycl::aspect_selector(sycl::aspect::fp64, sycl::aspect::usm_shared_allocations)}.is_gpu(),
                "selecting by aspects finds something else");
    check::that(check::code_of([] { sycl::device{sycl::aspect_selector(sycl::aspect::custom)}; }, "an aspect that nothing has") ==
                    sycl::errc::runtime, "an aspect that nothing has is not errc::runtime");
    check::that(sycl::device{sycl::ext::oneapi::filter_selector("cuda:gpu:0")} == platform.get_devices()[0],
                "the first device of CUDA is another");
}
