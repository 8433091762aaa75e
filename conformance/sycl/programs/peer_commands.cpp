// What one device may do with another's memory without a kernel: copies, fills, prefetches, and rights that are given and
// taken again; atomics across devices are told of.
#include "check.hpp"

PROGRAM("peer_commands") {
    auto devices = sycl::device::get_devices(sycl::info::device_type::gpu);
    if (devices.size() < 2) {
        throw check::skipped("this machine has one device");
    }
    sycl::queue here{devices[0], sycl::property::queue::in_order()}, there{devices[1], sycl::property::queue::in_order()};
    constexpr std::size_t count = 100000, bytes = count * sizeof(int);
    check::memory<int> mine(count, here, sycl::usm::alloc::device), theirs(count, there, sycl::usm::alloc::device);
    std::vector<int> back(count);
    const auto round_trip = [&](int value) {
        auto filled = there.fill(theirs.data, value, count);
        auto copied = here.memcpy(mine.data, theirs.data, bytes, filled);
        auto raised = here.fill(mine.data, value + 1, count / 2, copied);
        there.memcpy(theirs.data, mine.data, bytes, raised).wait();
        here.memcpy(back.data(), theirs.data, bytes).wait_and_throw();
        check::each(back.data(), count, [&](std::size_t i) { return i < count / 2 ? value + 1 : value; }, "what went there and back");
    };
    round_trip(10);
    using peer = sycl::ext::oneapi::peer_access;
    if (devices[0].ext_oneapi_can_access_peer(devices[1], peer::access_supported)) {
        devices[0].ext_oneapi_can_access_peer(devices[1], peer::atomics_supported);
        for (int round = 0; round < 3; round++) {
            devices[0].ext_oneapi_enable_peer_access(devices[1]);
            round_trip(20 + round);
            // The whole of the other's memory, by this device's own commands.
            here.fill(theirs.data, 40 + round, count).wait_and_throw();
            there.memcpy(back.data(), theirs.data, bytes).wait_and_throw();
            check::each(back.data(), count, [&](std::size_t) { return 40 + round; }, "what was written over there");
            devices[0].ext_oneapi_disable_peer_access(devices[1]);
        }
        check::code_of([&] { devices[0].ext_oneapi_disable_peer_access(devices[1]); }, "taking rights that are not there");
    }
    round_trip(60);
}
