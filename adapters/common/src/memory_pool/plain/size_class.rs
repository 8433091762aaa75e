//! Sizes of the blocks that plain memory is served with: eight to a doubling.
//!
//! So a block is at most an eighth larger than what was asked, but for the alignment of 256 bytes that every allocation has.
//! Plain arithmetic; it knows neither heaps nor drivers.

/// Blocks start at multiples of this, bytes.
const STEP: usize = 256;

/// Up to here sizes are multiples of [`STEP`].
const EVEN: usize = 8 * STEP;

/// The largest size with a class of its own.
pub const LARGEST: usize = 1 << 20;

/// How many classes there are.
pub const COUNT: usize = 80;

/// Beyond this, sizes are multiples of [`PAGE`].
const HUGE: usize = 64 << 20;

/// What native libraries hand huge memory out in.
const PAGE: usize = 2 << 20;

/// The largest alignment that blocks can have.
pub const MOST_ALIGNED: usize = 4096;

/// The class of the smallest blocks of at least `size` bytes, which is at least 1 and at most [`LARGEST`].
#[inline]
#[must_use]
const fn of_size(size: usize) -> usize {
    let last = size - 1;
    if size <= EVEN {
        return last / STEP;
    }
    let octave = last.ilog2();
    8 * (octave as usize - EVEN.ilog2() as usize) + (last >> (octave - 3))
}

/// The size of a class's blocks.
const fn computed(class: usize) -> usize {
    if class < 8 {
        return (class + 1) * STEP;
    }
    (STEP << ((class - 8) / 8)) * (9 + class % 8)
}

/// The sizes of all classes, which are looked up faster than computed.
static SIZES: [usize; COUNT] = {
    let mut sizes = [0; COUNT];
    let mut class = 0;
    while class < COUNT {
        sizes[class] = computed(class);
        class += 1;
    }
    sizes
};

/// The size of a class's blocks.
#[inline]
#[must_use]
pub const fn size_of(class: usize) -> usize {
    SIZES[class]
}

/// The class of the smallest blocks of at least `size` bytes whose size is a multiple of `align`, so that all of them are aligned
/// if the first is. `None` for sizes without a class. `align` is a power of two up to [`MOST_ALIGNED`].
#[inline]
#[must_use]
pub fn fitting(size: usize, align: usize) -> Option<usize> {
    if size > LARGEST {
        return None;
    }
    let class = of_size(size);
    if align <= STEP {
        return Some(class);
    }
    (class..COUNT).find(|class| size_of(*class).is_multiple_of(align))
}

/// The size that a block above [`LARGEST`] has; `None` beyond the address space.
#[must_use]
pub fn large(size: usize) -> Option<usize> {
    let step = if size <= HUGE { 1 << ((size - 1).ilog2() - 3) } else { PAGE };
    size.checked_next_multiple_of(step)
}

/// The size below that of a class of at least a slab's smallest size, with its class if it has one. It is a page less at least.
#[must_use]
pub fn below(size: usize) -> (usize, Option<usize>) {
    if size <= LARGEST + LARGEST / 8 {
        let class = of_size(size.min(LARGEST + 1) - 1).min(COUNT - 1);
        let class = if size_of(class) < size { class } else { class - 1 };
        return (size_of(class), Some(class));
    }
    let step = if size <= HUGE { 1 << ((size - 1).ilog2() - 3) } else { PAGE };
    (size - step, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_order_and_each_size_has_the_smallest_that_holds_it() {
        assert_eq!((size_of(0), size_of(7), size_of(8), size_of(COUNT - 1)), (256, 2048, 2304, LARGEST));
        for class in 1..COUNT {
            let (below, own) = (size_of(class - 1), size_of(class));
            assert!(below < own && own.is_multiple_of(STEP));
            assert_eq!([of_size(below + 1), of_size(own - 1), of_size(own)], [class; 3], "{own}");
        }
        assert_eq!(of_size(1), 0);
    }

    #[test]
    fn a_block_is_at_most_an_eighth_larger_than_its_bytes_or_less_than_the_alignment() {
        let waste = |size: usize, block: usize| assert!((block - size) * 8 <= size.max(EVEN), "{size} in {block}");
        (1..=LARGEST).for_each(|size| waste(size, size_of(of_size(size))));
        // Above, the size asked for that is one more than a block wastes most.
        let mut size = LARGEST;
        while size < 4 << 30 {
            waste(size + 1, large(size + 1).unwrap());
            size = large(size + 1).unwrap();
        }
        for size in [LARGEST + 1, (16 << 20) - 1, (16 << 20) + 1, HUGE + 1, (1 << 40) + 1] {
            waste(size, large(size).unwrap());
        }
        assert_eq!((large(16 << 20), large(usize::MAX)), (Some(16 << 20), None));
    }

    #[test]
    fn the_size_below_one_leaves_a_page_of_room_and_is_a_size() {
        for class in of_size(64 << 10)..COUNT {
            assert_eq!(below(size_of(class)), (size_of(class - 1), Some(class - 1)));
            assert!(size_of(class) - size_of(class - 1) >= MOST_ALIGNED);
        }
        let mut size = large(LARGEST + 1).unwrap();
        assert_eq!(below(size), (LARGEST, Some(COUNT - 1)));
        while size < 200 << 20 {
            let next = large(size + 1).unwrap();
            assert_eq!(below(next), (size, None));
            size = next;
        }
    }

    #[test]
    fn blocks_of_an_aligned_class_are_multiples_of_the_alignment() {
        for align in [1, 256, 512, 1024, 2048, MOST_ALIGNED] {
            for size in [1, 255, 257, 3000, 4097, 100_000, LARGEST - 1, LARGEST] {
                let class = fitting(size, align).unwrap();
                assert!(size_of(class) >= size && size_of(class).is_multiple_of(align), "{size} {align}");
                assert!(size_of(class) <= size.next_multiple_of(align) * 9 / 8 + STEP, "{size} {align}");
            }
        }
        assert_eq!(fitting(LARGEST + 1, 1), None);
    }
}
