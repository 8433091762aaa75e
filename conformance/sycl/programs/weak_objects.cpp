// Objects that are held weakly: they are there as long as someone else holds them, and their order does not change with them.
#include "check.hpp"
#include <sycl/ext/oneapi/owner_less.hpp>
#include <sycl/ext/oneapi/weak_object.hpp>

#include <map>
#include <optional>

template <typename T> using weak = sycl::ext::oneapi::weak_object<T>;

template <typename T> static void try_one(std::optional<T> object, const char *what) {
    weak<T> first{*object}, second{first};
    check::that(!first.expired() && first.lock() == *object, std::string(what) + ": what is held is not there");
    check::that(!first.owner_before(second) && !second.owner_before(first), std::string(what) + ": a copy is another");
    object.reset();
    check::that(first.expired() && !second.try_lock().has_value(), std::string(what) + ": what nobody holds is still there");
    check::code_of([&] { first.lock(); }, std::string(what) + ": locking what is gone");
}

PROGRAM("weak_objects") {
    sycl::queue queue;
    check::memory<int> memory(100, queue, sycl::usm::alloc::device);
    {
        auto event = queue.fill(memory.data, 1, 100);
        event.wait();
        queue.wait();
        weak<sycl::event> held{event};
        check::that(!held.expired(), "an event that is held is gone");
    }
    try_one(std::optional<sycl::queue>{sycl::queue{}}, "a queue");
    try_one(std::optional<sycl::context>{sycl::context{queue.get_device()}}, "a context");
    weak<sycl::device> device{queue.get_device()};
    check::that(!device.expired(), "a device that the runtime holds is gone");

    std::map<weak<sycl::queue>, int, sycl::ext::oneapi::owner_less<sycl::queue>> numbers;
    sycl::queue other;
    numbers[queue] = 1;
    numbers[other] = 2;
    check::same(numbers[weak<sycl::queue>{queue}] * 10 + numbers[weak<sycl::queue>{other}], 12, "what two queues stand for");
}
