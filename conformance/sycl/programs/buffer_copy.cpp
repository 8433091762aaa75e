// Copies, fills and updates of buffers by accessors, a part of a buffer, and host accessors between them.
#include "check.hpp"

PROGRAM("buffer_copy") {
    sycl::queue queue;
    constexpr std::size_t count = 1024;
    std::vector<int> outside(count, 0);
    sycl::buffer<int> a{sycl::range<1>(count)};
    sycl::buffer<int> b{sycl::range<1>(count)};
    queue.submit([&](sycl::handler &handler) { handler.fill(a.get_access<sycl::access_mode::discard_write>(handler), 5); });
    queue.submit([&](sycl::handler &handler) {
        handler.copy(a.get_access<sycl::access_mode::read>(handler), b.get_access<sycl::access_mode::discard_write>(handler));
    });
    {
        sycl::host_accessor host{b};
        check::same(host[count - 1], 5, "the last element");
        host[3] = 6;
    }
    sycl::buffer<int> half{b, sycl::id<1>(512), sycl::range<1>(512)};
    queue.submit([&](sycl::handler &handler) { handler.fill(half.get_access<sycl::access_mode::write>(handler), 9); });
    queue.submit([&](sycl::handler &handler) { handler.copy(b.get_access<sycl::access_mode::read>(handler), outside.data()); });
    queue.wait_and_throw();
    check::each(outside.data(), count, [](std::size_t i) { return i == 3 ? 6 : i < 512 ? 5 : 9; }, "the copy");

    const auto plane = check::numbers<int>(64 * 16);
    std::vector<int> part(8 * 4, -1);
    {
        sycl::buffer<int, 2> two{plane.data(), sycl::range<2>(64, 16)};
        sycl::buffer<int, 2> small{part.data(), sycl::range<2>(8, 4)};
        queue.submit([&](sycl::handler &handler) {
            sycl::accessor<int, 2, sycl::access_mode::read> from{two, handler, sycl::range<2>(8, 4), sycl::id<2>(10, 5)};
            sycl::accessor<int, 2, sycl::access_mode::write> to{small, handler};
            handler.copy(from, to);
        });
    }
    check::each(part.data(), part.size(), [](std::size_t i) { return static_cast<int>((10 + i / 4) * 16 + 5 + i % 4); },
                "the rectangle");
}
