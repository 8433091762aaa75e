//! The committed kernels, as clang and as nvcc compile them, give what the host computes.

use super::support::{self, Device, Value::*};

/// The same source through both compilers.
const DIALECTS: [&str; 2] = ["", "nvcc/"];

fn each(file: &str, test: impl Fn(&Device)) {
    for dialect in DIALECTS {
        test(&Device::load(&format!("{dialect}{file}.ptx")));
    }
}

#[test]
fn saxpy_of_a_million_elements_is_exact() {
    each("saxpy", |device| {
        let n = 1_000_003usize;
        let x: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
        let mut y: Vec<f32> = (0..n).map(|i| 7.0 - i as f32).collect();
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x.mul_add(1.25, *y)).collect();
        device.run(
            "saxpy",
            [n.div_ceil(256) as u32, 1, 1],
            [256, 1, 1],
            0,
            &[F32(1.25), In(bytes(&x)), at(&mut y), U32(n as u32)],
        );
        assert!(y == expected);
    });
}

#[test]
fn saxpy_with_offset_starts_there() {
    each("saxpy", |device| {
        let x = vec![1.0f32; 100];
        let mut y = vec![0.0f32; 100];
        device.run(
            "saxpy_with_offset",
            [1, 1, 1],
            [64, 1, 1],
            0,
            &[
                F32(2.0),
                In(bytes(&x)),
                at(&mut y),
                U32(100),
                Bytes([30u32, 0, 0].iter().flat_map(|v| v.to_ne_bytes()).collect(), 4),
            ],
        );
        for (i, y) in y.iter().enumerate() {
            assert_eq!(*y, if (30..94).contains(&i) { 2.0 } else { 0.0 }, "{i}");
        }
    });
}

fn bytes<T: Copy>(slice: &[T]) -> support::Span {
    support::Span::of(slice)
}

fn at<T: Copy>(slice: &mut [T]) -> support::Value {
    Out(support::Span::of_mut(slice))
}

#[test]
fn ids_in_three_dimensions() {
    each("basic", |device| {
        let mut out = vec![0u32; 8 * 6 * 6];
        device.run("ids", [2, 3, 2], [4, 2, 3], 0, &[at(&mut out)]);
        for z in 0..6 {
            for y in 0..6 {
                for x in 0..8 {
                    assert_eq!(out[(z * 6 + y) * 8 + x] as usize, x + 1000 * y + 1_000_000 * z);
                }
            }
        }
    });
}

#[test]
fn arguments_of_every_size() {
    each("basic", |device| {
        let mut out = vec![0u64; 9];
        let twelve: Vec<u8> = [10u32, 11, 12].iter().flat_map(|v| v.to_ne_bytes()).collect();
        let sixteen: Vec<u8> = [1u64 << 40, 2 << 40].iter().flat_map(|v| v.to_ne_bytes()).collect();
        device.run(
            "arguments",
            [1, 1, 1],
            [33, 1, 1],
            0,
            &[
                at(&mut out),
                Bytes(vec![200], 1),
                Bytes(60000u16.to_ne_bytes().to_vec(), 2),
                U32(4_000_000_000),
                U64(1 << 63),
                Bytes(twelve, 4),
                Bytes(sixteen, 16),
            ],
        );
        assert_eq!(out, [200, 60000, 4_000_000_000, 1 << 63, 10, 11, 12, 1 << 40, 2 << 40]);
    });
}

#[test]
fn a_parameter_of_four_kilobytes() {
    each("basic", |device| {
        let values: Vec<u32> = (0..1024).map(|i| i * i).collect();
        let mut out = vec![0u32; 1024];
        let raw = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
        device.run("large_argument", [8, 1, 1], [128, 1, 1], 0, &[Bytes(raw, 4), at(&mut out)]);
        assert_eq!(out, values);
    });
}

#[test]
fn shared_memory_static_and_dynamic() {
    each("basic", |device| {
        let start: Vec<u32> = (0..600).collect();
        let reversed: Vec<u32> = start.chunks(200).flat_map(|c| c.iter().rev().copied()).collect();
        let mut data = start.clone();
        device.run("reverse_static", [3, 1, 1], [200, 1, 1], 0, &[at(&mut data)]);
        assert_eq!(data, reversed);
        let mut data = start.clone();
        device.run("reverse_dynamic", [3, 1, 1], [200, 1, 1], 800, &[at(&mut data)]);
        assert_eq!(data, reversed);
        let mut sums = vec![0u32; 3];
        device.run("block_sum", [3, 1, 1], [256, 1, 1], 1024, &[In(bytes(&start)), at(&mut sums), U32(600)]);
        assert_eq!(sums, [start[..256].iter().sum(), start[256..512].iter().sum(), start[512..].iter().sum::<u32>()]);
        let mut out = vec![0u32; 64];
        device.run("two_locals", [2, 1, 1], [32, 1, 1], 512, &[U32(0), U32(256), at(&mut out)]);
        for (i, v) in out.iter().enumerate() {
            let from = 31 - i as u32 % 32;
            assert_eq!(*v, from * 10000 + 1000 + from);
        }
    });
}

#[test]
fn module_variables_and_local_arrays() {
    each("basic", |device| {
        let (mut out, mut scaled) = (vec![0u32; 9], vec![0f32; 1]);
        device.run("module_variables", [1, 1, 1], [32, 1, 1], 0, &[at(&mut out), at(&mut scaled)]);
        assert_eq!(out, [1, 2, 4, 8, 16, 32, 64, 128, 8]);
        assert_eq!(scaled, [2.5]);
        let mut out = vec![0u32; 64];
        device.run("local_array", [2, 1, 1], [32, 1, 1], 0, &[at(&mut out), U32(5)]);
        for (i, v) in out.iter().enumerate() {
            let mut values = [0; 16];
            for k in 0..16u32 {
                values[(k as usize * 5) & 15] = k + i as u32;
            }
            assert_eq!(*v, values[(i * 5) & 15]);
        }
    });
}

#[test]
fn fills_copies_and_spins() {
    each("basic", |device| {
        let mut data = vec![0u32; 1000];
        device.run("fill", [8, 1, 1], [128, 1, 1], 0, &[at(&mut data), U32(7), U32(990)]);
        assert!(data[..990].iter().all(|&v| v == 7) && data[990..].iter().all(|&v| v == 0));
        device.run("iota", [8, 1, 1], [128, 1, 1], 0, &[at(&mut data), U32(1000)]);
        device.run("add_constant", [8, 1, 1], [128, 1, 1], 0, &[at(&mut data), U32(u32::MAX), U32(1000)]);
        assert!(data.iter().enumerate().all(|(i, &v)| v == (i as u32).wrapping_sub(1)));
        let mut small = vec![250u8; 40];
        device.run("add_bytes", [1, 1, 1], [64, 1, 1], 0, &[at(&mut small), Bytes(vec![10], 1), U32(39)]);
        assert!(small[..39].iter().all(|&v| v == 4) && small[39] == 250);
        let mut out = vec![0u32; 1];
        device.run("spin", [1, 1, 1], [32, 1, 1], 0, &[at(&mut out), U32(5000), U32(3)]);
        let expected = (0..5000).fold(3u32, |v, _| v.wrapping_mul(1664525).wrapping_add(1013904223));
        assert_eq!(out[0], expected);
        device.run("empty", [3, 2, 1], [1, 1, 1], 0, &[]);
    });
}

#[test]
fn control_flow() {
    each("control", |device| {
        let mut out = vec![0u32; 500];
        device.run("collatz", [4, 1, 1], [128, 1, 1], 0, &[at(&mut out), U32(500)]);
        for (i, steps) in out.iter().enumerate() {
            let (mut v, mut n) = (i as u64 + 1, 0);
            while v != 1 {
                v = if v & 1 == 1 { 3 * v + 1 } else { v / 2 };
                n += 1;
            }
            assert_eq!(*steps, n, "{i}");
        }
        let mut out = vec![0u32; 256];
        device.run("nested_divergence", [2, 1, 1], [128, 1, 1], 0, &[at(&mut out)]);
        for (i, v) in out.iter().enumerate() {
            let (i, mut r) = (i as u32, 0u32);
            for k in 0..(i & 7) {
                if (i ^ k) & 1 != 0 {
                    (0..k).for_each(|j| r = r.wrapping_add(j * i));
                } else if k & 2 != 0 {
                    r += 100;
                    continue;
                } else {
                    r ^= k;
                }
                if r > 5000 {
                    break;
                }
            }
            assert_eq!(*v, r, "{i}");
        }
        device.run("switch_case", [2, 1, 1], [128, 1, 1], 0, &[at(&mut out)]);
        for (i, v) in out.iter().enumerate() {
            let i = i as u32;
            let expected = match i % 11 {
                0 => 17,
                1 => i * 3,
                2 => i ^ 0xff,
                3 => i << 3,
                4 => 5,
                5 => !i,
                6 => i / 3,
                7 => i % 5,
                _ => 1,
            };
            assert_eq!(*v, expected, "{i}");
        }
    });
}

fn mix(a: u32, b: u32) -> u32 {
    let r = a.wrapping_mul(31).wrapping_add(b);
    if r & 1 != 0 { r ^ 0x5555_5555 } else { r }
}

#[test]
fn calls_direct_and_indirect() {
    each("control", |device| {
        let (mut out, mut halves) = (vec![0u32; 96], vec![0f64; 96]);
        device.run("calls", [3, 1, 1], [32, 1, 1], 0, &[at(&mut out), at(&mut halves)]);
        for i in 0..96u32 {
            let mut r = mix(i, 3);
            if i & 1 != 0 {
                r = mix(r, i);
            }
            assert_eq!(out[i as usize], (r & 0xffff) + 1);
            assert_eq!(halves[i as usize], f64::from(r & 0xffff) * 0.5);
        }
        device.run("indirect_calls", [3, 1, 1], [32, 1, 1], 0, &[at(&mut out)]);
        for (i, v) in out.iter().enumerate() {
            let i = i as u32;
            assert_eq!(*v, [i + 7, i * 7, mix(i, 7)][i as usize % 3]);
        }
        let mut out = vec![0u32; 64];
        device.run("early_exit", [1, 1, 1], [128, 1, 1], 0, &[at(&mut out)]);
        assert!(out.iter().enumerate().all(|(i, &v)| v == i as u32 + 1));
    });
}

#[test]
fn atomics_across_blocks() {
    each("atomics", |device| {
        let data: Vec<u32> = (0..10_000u32).map(|i| i.wrapping_mul(2654435761) >> 7).collect();
        let mut bins = vec![0u32; 64];
        device.run("histogram", [40, 1, 1], [256, 1, 1], 0, &[In(bytes(&data)), at(&mut bins), U32(10_000)]);
        let mut expected = vec![0u32; 64];
        data.iter().for_each(|v| expected[*v as usize & 63] += 1);
        assert_eq!(bins, expected);

        let n = 1000u32;
        let mut out = vec![0u32, 0, 0, u32::MAX, 0, 0, 0, 0, 0, 0, 0];
        device.run("integer_atomics", [10, 1, 1], [100, 1, 1], 0, &[at(&mut out)]);
        assert_eq!(out[0], n * (n - 1) / 2);
        assert_eq!(out[1] as i32, -10);
        assert_eq!(out[2], n - 1);
        assert_eq!(out[3], 0x0f0f_0f0f);
        assert_eq!(out[4], u32::MAX);
        assert_eq!(out[5], (0..n).fold(0, |x, i| x ^ i.wrapping_mul(2654435761)));
        assert_eq!(out[6], n % 100);
        assert_eq!(out[7], 0);
        assert_eq!(out[8..], [4711, 1, 1]);

        let (mut single, mut double, mut wide) = (vec![0f32], vec![0f64], vec![0u64]);
        device.run("float_atomics", [10, 1, 1], [100, 1, 1], 0, &[at(&mut single), at(&mut double), at(&mut wide)]);
        assert_eq!((single[0], double[0], wide[0]), (1000.0, 500.0, 1000 * 0x1_0000_0001));
    });
}

#[test]
fn lanes_of_one_warp_may_wait_for_each_other() {
    each("atomics", |device| {
        let (mut lock, mut guarded) = (vec![0u32], vec![0u32]);
        device.run("spin_lock", [6, 1, 1], [96, 1, 1], 0, &[at(&mut lock), at(&mut guarded)]);
        assert_eq!((lock[0], guarded[0]), (0, 6 * 96));
        let (mut arrived, mut out) = (vec![0u32], vec![0u32]);
        device.run("last_block", [50, 1, 1], [64, 1, 1], 0, &[at(&mut arrived), at(&mut out)]);
        assert_eq!(out[0], 50);
    });
}

#[test]
fn shuffles_and_votes() {
    each("warp", |device| {
        let mut out = vec![0i32; 4 * 128];
        device.run("shuffles", [2, 1, 1], [64, 1, 1], 0, &[at(&mut out)]);
        for i in 0..128i32 {
            let (lane, base) = (i & 31, i & !31);
            let to = &out[4 * i as usize..][..4];
            assert_eq!(to[0], if lane + 3 < 32 { i + 3 } else { i });
            assert_eq!(to[1], if lane >= 5 { i - 5 } else { i });
            assert_eq!(to[2], base | (lane ^ 9));
            assert_eq!(to[3], base | ((lane * 7) & 31));
        }
        let input: Vec<i32> = (0..128).map(|i| i * 3 % 17 - 8).collect();
        let mut sums = vec![0i32; 4];
        device.run("warp_sum", [1, 1, 1], [128, 1, 1], 0, &[In(bytes(&input)), at(&mut sums)]);
        for (w, sum) in sums.iter().enumerate() {
            assert_eq!(*sum, input[32 * w..][..32].iter().sum::<i32>());
        }
        let mut out = vec![0u32; 4 * 128];
        device.run("votes", [1, 1, 1], [128, 1, 1], 0, &[In(bytes(&input)), at(&mut out)]);
        for i in 0..128 {
            let ballot = (0..32).fold(0u32, |m, l| m | u32::from(input[i / 32 * 32 + l] > 0) << l);
            let to = &out[4 * i..][..4];
            assert_eq!(to, [ballot, 1, 0, if input[i] > 0 { ballot } else { 0 }]);
        }
    });
}

#[test]
fn integers_match_the_host() {
    each("math", |device| {
        let interesting = [0, 1, -1, 2, 7, -7, i32::MAX, i32::MIN, 1000, -1000, 0x5555_5555, 31, 33];
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for x in interesting {
            for y in interesting {
                a.push(x);
                b.push(y);
            }
        }
        let n = a.len();
        let mut out = vec![0i64; 16 * n];
        device.run(
            "integers",
            [n.div_ceil(64) as u32, 1, 1],
            [64, 1, 1],
            0,
            &[In(bytes(&a)), In(bytes(&b)), at(&mut out), U32(n as u32)],
        );
        for i in 0..n {
            let (x, y) = (a[i], b[i]);
            let (ux, uy) = (x as u32, y as u32);
            let divides = y != 0 && !(x == i32::MIN && y == -1);
            let expected: [i64; 16] = [
                x.wrapping_add(y).into(),
                (ux.wrapping_mul(uy) as i32).into(),
                if y == 0 { 0 } else { (ux / uy).into() },
                if divides { (x / y).into() } else { 0 },
                if divides { (x % y).into() } else { 0 },
                ((u64::from(ux) * u64::from(uy)) >> 32) as i64,
                i64::from(x) * i64::from(y),
                (x >> (y & 31)).into(),
                (ux >> (y & 31)).into(),
                ((ux << (y & 31)) as i32).into(),
                x.min(y).into(),
                ux.max(uy).into(),
                ux.count_ones().into(),
                ux.leading_zeros().into(),
                ((x & y) | (!x ^ y)).into(),
                (u64::from(ux) * u64::from(uy) / 7).wrapping_add((x % 1000) as i64 as u64) as i64,
            ];
            assert_eq!(out[16 * i..][..16], expected, "{x} {y}");
        }
    });
}

#[test]
fn floats_match_the_host_bit_for_bit() {
    each("math", |device| {
        let interesting = [
            0.0f32,
            -0.0,
            1.0,
            -1.5,
            3.0,
            1e-40,
            f32::MAX,
            f32::MIN_POSITIVE,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            0.1,
        ];
        let pairs: Vec<(f32, f32)> =
            interesting.iter().flat_map(|&x| interesting.iter().map(move |&y| (x, y))).collect();
        let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
        let n = pairs.len() as u32;
        let mut out = vec![0f32; 8 * pairs.len()];
        device.run(
            "floats",
            [n.div_ceil(64), 1, 1],
            [64, 1, 1],
            0,
            &[In(bytes(&a)), In(bytes(&b)), at(&mut out), U32(n)],
        );
        for (i, &(x, y)) in pairs.iter().enumerate() {
            let expected = [
                x + y,
                x - y,
                x * y + 0.0,
                x / y,
                x.mul_add(y, 1.0),
                (if x < 0.0 { -x } else { x }).sqrt(),
                if x < y { x } else { y },
                -x,
            ];
            for (k, (got, want)) in out[8 * i..].iter().zip(expected).enumerate() {
                assert!(
                    got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                    "{x} {y} [{k}]: {got} {want}"
                );
            }
        }
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().map(|&(x, y)| (f64::from(x), f64::from(y))).unzip();
        let mut out = vec![0f64; 6 * pairs.len()];
        device.run(
            "doubles",
            [n.div_ceil(64), 1, 1],
            [64, 1, 1],
            0,
            &[In(bytes(&a)), In(bytes(&b)), at(&mut out), U32(n)],
        );
        for i in 0..pairs.len() {
            let (x, y) = (a[i], b[i]);
            let expected =
                [x + y, x - y, x * y, x / y, (if x < 0.0 { -x } else { x }).sqrt(), if x < y { y } else { x }];
            for (got, want) in out[6 * i..].iter().zip(expected) {
                assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{x} {y}: {got} {want}");
            }
        }
    });
}

#[test]
fn conversions_truncate() {
    each("math", |device| {
        let a = [0.0f32, 1.9, -1.9, 100.5, -100.5, 1e6];
        let b = [0.0f64, 2.9, -2.9, 1e15, -1e15, 123456.789];
        let mut out = vec![0i64; 8 * 6];
        device.run("conversions", [1, 1, 1], [32, 1, 1], 0, &[In(bytes(&a)), In(bytes(&b)), at(&mut out), U32(6)]);
        for i in 0..6 {
            let (x, y) = (a[i], b[i]);
            let expected = [
                (x as i32).into(),
                (x as u32).into(),
                y as i64,
                (x as i32 as i8).into(),
                y as f32 as i64,
                (f64::from(x) * 3.0) as i64,
                i as i64 - 5,
                (x as i32 as u16).into(),
            ];
            assert_eq!(out[8 * i..][..8], expected, "{x} {y}");
        }
    });
}
