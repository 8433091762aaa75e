//! Each instruction, on operands that are hard on it, gives what Rust computes.

use super::support::{self, Device, Span, Value};

/// Operands: small, large, of either sign, at every width, and the bits of floats.
const HARD: [u64; 30] = [
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    63,
    64,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x3f80_0000,           // 1f32
    0xbfc0_0000,           // -1.5f32
    0x0000_0001_8000_0001, // a subnormal and a sign
    0x7f80_0000,           // infinity
    0x7fc0_0001,           // NaN
    0x4f00_0000,           // 2^31
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
    0x3ff8_0000_0000_0000, // 1.5f64
    0xc1e0_0000_0010_0000, // about -2^31
];

/// Runs `text` once for each row of operands `%a %b %c` (64 bits), `%wa %wb %wc` (32), `%ha %hb %hc` (16); what it
/// leaves in `%d` (64), `%wd` (32), `%hd` (16), `%p` (bit 0) and `%q` (bit 1), all zero before, is the result.
fn run(text: &str, rows: &[[u64; 3]]) -> Vec<u64> {
    let source = format!(
        ".version 8.0
.target sm_90
.address_size 64
.visible .entry test(.param .u64 from, .param .u64 to, .param .u32 n)
{{
    .reg .pred %p, %q, %end;
    .reg .b16 %ha, %hb, %hc, %hd;
    .reg .b32 %wa, %wb, %wc, %wd, %i, %n, %x<4>;
    .reg .b64 %a, %b, %c, %d, %t, %from, %to;
    ld.param.u64 %from, [from];
    ld.param.u64 %to, [to];
    ld.param.u32 %n, [n];
    mov.u32 %i, %ctaid.x;
    mov.u32 %x0, %ntid.x;
    mov.u32 %x1, %tid.x;
    mad.lo.u32 %i, %i, %x0, %x1;
    setp.ge.u32 %end, %i, %n;
    @%end ret;
    mad.wide.u32 %from, %i, 24, %from;
    mad.wide.u32 %to, %i, 8, %to;
    ld.global.b64 %a, [%from];
    ld.global.b64 %b, [%from+8];
    ld.global.b64 %c, [%from+16];
    cvt.u32.u64 %wa, %a; cvt.u32.u64 %wb, %b; cvt.u32.u64 %wc, %c;
    cvt.u16.u64 %ha, %a; cvt.u16.u64 %hb, %b; cvt.u16.u64 %hc, %c;
    mov.b64 %d, 0; mov.b32 %wd, 0; mov.b16 %hd, 0; mov.pred %p, 0; mov.pred %q, 0;
    {{
    {text}
    }}
    cvt.u64.u32 %t, %wd; or.b64 %d, %d, %t;
    cvt.u64.u16 %t, %hd; or.b64 %d, %d, %t;
    selp.b64 %t, 1, 0, %p; or.b64 %d, %d, %t;
    selp.b64 %t, 2, 0, %q; or.b64 %d, %d, %t;
    st.global.b64 [%to], %d;
}}
"
    );
    let device = Device::parse(&source);
    let mut out = vec![0u64; rows.len()];
    let arguments = [Value::In(Span::of(rows)), Value::Out(Span::of_mut(&mut out)), Value::U32(rows.len() as u32)];
    device.run("test", [rows.len().div_ceil(128) as u32, 1, 1], [128, 1, 1], 0, &arguments);
    out
}

fn rows() -> Vec<[u64; 3]> {
    let mut out = Vec::new();
    for (i, &a) in HARD.iter().enumerate() {
        for (j, &b) in HARD.iter().enumerate() {
            out.push([a, b, HARD[(i * 7 + j * 3) % HARD.len()]]);
        }
    }
    out
}

fn check(text: &str, expected: impl Fn(u64, u64, u64) -> u64) {
    let rows = rows();
    for (row, got) in rows.iter().zip(run(text, &rows)) {
        let want = expected(row[0], row[1], row[2]);
        assert_eq!(got, want, "{text} of {:#x} {:#x} {:#x}: {got:#x}, not {want:#x}", row[0], row[1], row[2]);
    }
}

fn w(v: u32) -> u64 {
    v.into()
}

#[test]
fn sums_and_differences() {
    check("add.s32 %wd, %wa, %wb;", |a, b, _| w((a as u32).wrapping_add(b as u32)));
    check("add.u64 %d, %a, %b;", |a, b, _| a.wrapping_add(b));
    check("add.u16 %hd, %ha, %hb;", |a, b, _| (a as u16).wrapping_add(b as u16).into());
    check("add.sat.s32 %wd, %wa, %wb;", |a, b, _| w((a as i32).saturating_add(b as i32) as u32));
    check("sub.s64 %d, %a, %b;", |a, b, _| a.wrapping_sub(b));
    check("sub.sat.s32 %wd, %wa, %wb;", |a, b, _| w((a as i32).saturating_sub(b as i32) as u32));
    check("sub.s16 %hd, %ha, %hb;", |a, b, _| (a as u16).wrapping_sub(b as u16).into());
    check("sad.s32 %wd, %wa, %wb, %wc;", |a, b, c| w((a as i32).abs_diff(b as i32).wrapping_add(c as u32)));
    check("sad.u64 %d, %a, %b, %c;", |a, b, c| a.abs_diff(b).wrapping_add(c));
    check("neg.s32 %wd, %wa;", |a, _, _| w((a as u32).wrapping_neg()));
    check("abs.s64 %d, %a;", |a, _, _| (a as i64).wrapping_abs() as u64);
    check("min.s32 %wd, %wa, %wb;", |a, b, _| w((a as i32).min(b as i32) as u32));
    check("max.u16 %hd, %ha, %hb;", |a, b, _| (a as u16).max(b as u16).into());
    check("min.u64 %d, %a, %b;", |a, b, _| a.min(b));
}

#[test]
fn carries_chain_through_wide_sums() {
    let wide = |a: u64, c: u64| u128::from(a) | u128::from(c) << 64;
    check(
        "add.cc.u32 %x0, %wa, %wb; addc.cc.u32 %x1, %wb, %wc; addc.u32 %wd, 0, 0; mov.b64 %d, {%x0, %x1}; shl.b32 %wd, %wd, 5; mov.b64 %t, {%wd, 0}; xor.b64 %d, %d, %t; mov.b32 %wd, 0;",
        |a, b, c| {
            let (low, first) = (a as u32).overflowing_add(b as u32);
            let sum = w(b as u32) + w(c as u32) + u64::from(first);
            (w(low) | (sum & 0xffff_ffff) << 32) ^ (sum >> 32) << 5
        },
    );
    check("add.cc.u64 %t, %a, %b; addc.u64 %d, %b, %c;", |a, b, c| (wide(a, b).wrapping_add(wide(b, c)) >> 64) as u64);
    check("sub.cc.u64 %t, %a, %b; subc.u64 %d, %b, %c;", |a, b, c| (wide(a, b).wrapping_sub(wide(b, c)) >> 64) as u64);
    check("sub.cc.u32 %x0, %wa, %wb; subc.u32 %wd, %wb, %wc;", |a, b, c| {
        w((b as u32).wrapping_sub(c as u32).wrapping_sub(u32::from((a as u32) < b as u32)))
    });
    check("mad.lo.cc.u32 %x0, %wa, %wb, %wc; madc.hi.u32 %wd, %wa, %wb, 5;", |a, b, c| {
        let product = w(a as u32) * w(b as u32);
        let carry = (product as u32).overflowing_add(c as u32).1;
        w(((product >> 32) as u32).wrapping_add(5).wrapping_add(u32::from(carry)))
    });
}

#[test]
fn products_and_quotients() {
    check("mul.lo.s32 %wd, %wa, %wb;", |a, b, _| w((a as u32).wrapping_mul(b as u32)));
    check("mul.hi.s32 %wd, %wa, %wb;", |a, b, _| w(((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32));
    check("mul.hi.u32 %wd, %wa, %wb;", |a, b, _| (w(a as u32) * w(b as u32)) >> 32);
    check("mul.hi.u64 %d, %a, %b;", |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64);
    check("mul.hi.s64 %d, %a, %b;", |a, b, _| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64);
    check("mul.wide.s32 %d, %wa, %wb;", |a, b, _| (i64::from(a as i32) * i64::from(b as i32)) as u64);
    check("mul.wide.u16 %wd, %ha, %hb;", |a, b, _| u64::from(a as u16) * u64::from(b as u16));
    check("mul.hi.s16 %hd, %ha, %hb;", |a, b, _| u64::from(((i32::from(a as i16) * i32::from(b as i16)) >> 16) as u16));
    check("mad.lo.u64 %d, %a, %b, %c;", |a, b, c| a.wrapping_mul(b).wrapping_add(c));
    check("mad.hi.s32 %wd, %wa, %wb, %wc;", |a, b, c| {
        w((((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32).wrapping_add(c as u32))
    });
    check("mad.wide.s32 %d, %wa, %wb, %c;", |a, b, c| {
        ((i64::from(a as i32) * i64::from(b as i32)) as u64).wrapping_add(c)
    });
    check("mul24.lo.s32 %wd, %wa, %wb;", |a, b, _| {
        let low = |v: u64| i64::from((v as i32) << 8 >> 8);
        w((low(a) * low(b)) as u32)
    });
    check("mad24.lo.u32 %wd, %wa, %wb, %wc;", |a, b, c| w(((a & 0xff_ffff) * (b & 0xff_ffff)).wrapping_add(c) as u32));
    check("div.u32 %wd, %wa, %wb;", |a, b, _| w((a as u32).checked_div(b as u32).unwrap_or(u32::MAX)));
    check("div.s64 %d, %a, %b;", |a, b, _| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 });
    check("rem.s32 %wd, %wa, %wb;", |a, b, _| {
        w(if b as u32 == 0 { a as u32 } else { (a as i32).wrapping_rem(b as i32) as u32 })
    });
    check("rem.u64 %d, %a, %b;", |a, b, _| a.checked_rem(b).unwrap_or(a));
    check("dp4a.s32.u32 %wd, %wa, %wb, %wc;", |a, b, c| {
        let sum = (0..4).map(|i| i32::from((a >> (8 * i)) as i8) * i32::from((b >> (8 * i)) as u8)).sum::<i32>();
        w((c as u32).wrapping_add(sum as u32))
    });
}

#[test]
fn logic_and_shifts() {
    check("and.b32 %wd, %wa, %wb;", |a, b, _| a & b & 0xffff_ffff);
    check("or.b64 %d, %a, %b;", |a, b, _| a | b);
    check("xor.b16 %hd, %ha, %hb;", |a, b, _| (a ^ b) & 0xffff);
    check("not.b32 %wd, %wa;", |a, _, _| w(!(a as u32)));
    check("not.b64 %d, %a;", |a, _, _| !a);
    check("cnot.b32 %wd, %wa;", |a, _, _| u64::from(a as u32 == 0));
    check("lop3.b32 %wd, %wa, %wb, %wc, 0xca;", |a, b, c| (a & b | !a & c) & 0xffff_ffff);
    check("lop3.b32 %wd, %wa, %wb, %wc, 0x96;", |a, b, c| (a ^ b ^ c) & 0xffff_ffff);
    check("shl.b32 %wd, %wa, %wb;", |a, b, _| w((a as u32).checked_shl(b as u32).unwrap_or(0)));
    check("shr.u64 %d, %a, %wb;", |a, b, _| a.checked_shr(b as u32).unwrap_or(0));
    check("shr.s32 %wd, %wa, %wb;", |a, b, _| w((a as i32 >> (b as u32).min(31)) as u32));
    check("shr.s16 %hd, %ha, %wb;", |a, b, _| ((a as i16 >> (b as u32).min(15)) as u16).into());
    check("shl.b16 %hd, %ha, %wb;", |a, b, _| (a as u16).checked_shl(b as u32).unwrap_or(0).into());
    check("shf.l.wrap.b32 %wd, %wa, %wb, %wc;", |a, b, c| w(((b << 32 | a & 0xffff_ffff) << (c & 31) >> 32) as u32));
    check("shf.r.clamp.b32 %wd, %wa, %wb, %wc;", |a, b, c| {
        w((b << 32 | a & 0xffff_ffff).checked_shr((c as u32).min(32)).unwrap_or(0) as u32)
    });
    check("prmt.b32 %wd, %wa, %wb, 0x6240;", |a, b, _| {
        let bytes = [a.to_le_bytes()[..4].to_vec(), b.to_le_bytes()[..4].to_vec()].concat();
        w(u32::from_le_bytes([bytes[0], bytes[4], bytes[2], bytes[6]]))
    });
}

#[test]
fn bits_and_fields() {
    check("popc.b64 %wd, %a;", |a, _, _| a.count_ones().into());
    check("clz.b32 %wd, %wa;", |a, _, _| (a as u32).leading_zeros().into());
    check("clz.b64 %wd, %a;", |a, _, _| a.leading_zeros().into());
    check("brev.b32 %wd, %wa;", |a, _, _| w((a as u32).reverse_bits()));
    check("bfind.u32 %wd, %wa;", |a, _, _| w((a as u32).checked_ilog2().unwrap_or(u32::MAX)));
    check("bfind.s64 %wd, %a;", |a, _, _| w((if (a as i64) < 0 { !a } else { a }).checked_ilog2().unwrap_or(u32::MAX)));
    check("bfe.u32 %wd, %wa, 4, 8;", |a, _, _| a >> 4 & 0xff);
    check("bfe.s64 %d, %a, 28, 8;", |a, _, _| (a >> 28) as i8 as u64);
    check("bfi.b32 %wd, %wa, %wb, 8, 4;", |a, b, _| (b & !0xf00 | (a & 15) << 8) & 0xffff_ffff);
    check("bfi.b64 %d, %a, %b, 40, 60;", |a, b, _| b & 0xff_ffff_ffff | a << 40);
}

#[test]
fn comparisons_of_integers_and_their_combinations() {
    check("setp.lt.s32 %p, %wa, %wb;", |a, b, _| u64::from((a as i32) < b as i32));
    check("setp.hi.u32 %p, %wa, %wb;", |a, b, _| u64::from(a as u32 > b as u32));
    check("setp.eq.b64 %p, %a, %b;", |a, b, _| u64::from(a == b));
    check("setp.ge.s16 %p, %ha, %hb;", |a, b, _| u64::from(a as i16 >= b as i16));
    check("setp.ne.u32 %p|%q, %wa, %wb;", |a, b, _| if a as u32 != b as u32 { 1 } else { 2 });
    check("setp.ne.u32 %q, %wc, 0; setp.lt.and.u64 %p, %a, %b, %q; mov.pred %q, 0;", |a, b, c| {
        u64::from(a < b && c as u32 != 0)
    });
    check("setp.ne.u32 %q, %wc, 0; setp.lt.xor.u64 %p, %a, %b, !%q; mov.pred %q, 0;", |a, b, c| {
        u64::from((a < b) ^ (c as u32 == 0))
    });
    check("set.le.u32.s32 %wd, %wa, %wb;", |a, b, _| if a as i32 <= b as i32 { 0xffff_ffff } else { 0 });
    check("set.gt.f32.u32 %wd, %wa, %wb;", |a, b, _| if a as u32 > b as u32 { 0x3f80_0000 } else { 0 });
    check("slct.u32.s32 %wd, %wa, %wb, %wc;", |a, b, c| if c as i32 >= 0 { w(a as u32) } else { w(b as u32) });
    check("setp.lt.u32 %p, %wa, %wb; @!%p mov.b32 %wd, 64; @%p mov.b32 %wd, 128;", |a, b, _| {
        if (a as u32) < b as u32 { 129 } else { 64 }
    });
}

fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn g(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// The bits an instruction answers: one NaN only.
fn b32(v: f32) -> u64 {
    if v.is_nan() { 0x7fff_ffff } else { v.to_bits().into() }
}

#[test]
fn comparisons_of_floats_know_nan() {
    check("setp.eq.f32 %p, %wa, %wb;", |a, b, _| u64::from(f(a) == f(b)));
    check("setp.ne.f32 %p, %wa, %wb;", |a, b, _| u64::from(f(a) < f(b) || f(a) > f(b)));
    check("setp.neu.f32 %p, %wa, %wb;", |a, b, _| u64::from(f(a) != f(b)));
    check("setp.ltu.f64 %p, %a, %b;", |a, b, _| u64::from(g(a) < g(b) || g(a).is_nan() || g(b).is_nan()));
    check("setp.nan.f32 %p, %wa, %wb;", |a, b, _| u64::from(f(a).is_nan() || f(b).is_nan()));
    check("setp.num.f64 %p, %a, %b;", |a, b, _| u64::from(!g(a).is_nan() && !g(b).is_nan()));
    check("testp.subnormal.f32 %p, %wa;", |a, _, _| u64::from(f(a).is_subnormal()));
    check("testp.finite.f64 %p, %a;", |a, _, _| u64::from(g(a).is_finite()));
}

#[test]
fn single_precision() {
    check("add.f32 %wd, %wa, %wb;", |a, b, _| b32(f(a) + f(b)));
    check("sub.rn.f32 %wd, %wa, %wb;", |a, b, _| b32(f(a) - f(b)));
    check("mul.f32 %wd, %wa, %wb;", |a, b, _| b32(f(a) * f(b)));
    check("fma.rn.f32 %wd, %wa, %wb, %wc;", |a, b, c| b32(f(a).mul_add(f(b), f(c))));
    check("div.rn.f32 %wd, %wa, %wb;", |a, b, _| b32(f(a) / f(b)));
    check("sqrt.rn.f32 %wd, %wa;", |a, _, _| b32(f(a).sqrt()));
    check("rcp.rn.f32 %wd, %wa;", |a, _, _| b32(1.0 / f(a)));
    check("abs.f32 %wd, %wa;", |a, _, _| a & 0x7fff_ffff);
    check("neg.f32 %wd, %wa;", |a, _, _| w(a as u32 ^ 0x8000_0000));
    check("copysign.f32 %wd, %wa, %wb;", |a, b, _| w(f32::from_bits(b as u32).copysign(f(a)).to_bits()));
    check("add.sat.f32 %wd, %wa, %wb;", |a, b, _| {
        let sum = f(a) + f(b);
        b32(if sum.is_nan() { 0.0 } else { sum.clamp(0.0, 1.0) + 0.0 })
    });
    let flush = |v: f32| if v.is_subnormal() { 0.0f32.copysign(v) } else { v };
    check("add.ftz.f32 %wd, %wa, %wb;", |a, b, _| b32(flush(flush(f(a)) + flush(f(b)))));
    check("mul.ftz.f32 %wd, %wa, %wb;", |a, b, _| b32(flush(flush(f(a)) * flush(f(b)))));
    check("min.f32 %wd, %wa, %wb;", |a, b, _| {
        let (x, y) = (f(a), f(b));
        if x == 0.0 && y == 0.0 { (a | b) & 0x8000_0000 } else { b32(x.min(y)) }
    });
    check("max.NaN.f32 %wd, %wa, %wb;", |a, b, _| {
        let (x, y) = (f(a), f(b));
        match (x.is_nan() || y.is_nan(), x == 0.0 && y == 0.0) {
            (true, _) => 0x7fff_ffff,
            (_, true) => a & b & 0x8000_0000,
            _ => b32(x.max(y)),
        }
    });
}

#[test]
fn directed_rounding_encloses() {
    let rows = rows();
    for (op, exact) in [("add", 0), ("mul", 1), ("div", 2)] {
        let down = run(&format!("{op}.rm.f32 %wd, %wa, %wb;"), &rows);
        let up = run(&format!("{op}.rp.f32 %wd, %wa, %wb;"), &rows);
        let zero = run(&format!("{op}.rz.f32 %wd, %wa, %wb;"), &rows);
        for (i, row) in rows.iter().enumerate() {
            let (x, y) = (f64::from(f(row[0])), f64::from(f(row[1])));
            let value = [x + y, x * y, x / y][exact];
            if value.is_nan() {
                assert!(f(down[i]).is_nan() && f(up[i]).is_nan());
                continue;
            }
            let (low, high) = (f(down[i]), f(up[i]));
            assert!(f64::from(low) <= value && value <= f64::from(high), "{op} {x:e} {y:e}: {low:e} {high:e}");
            assert!(low == high || low.next_up() == high, "{op} {x:e} {y:e}: {low:e} {high:e}");
            assert_eq!(f(zero[i]), if value < 0.0 { high } else { low });
        }
    }
}

/// Doubles keep their NaN; which one is not promised.
fn check64(text: &str, expected: impl Fn(f64, f64, f64) -> f64) {
    let rows = rows();
    for (row, got) in rows.iter().zip(run(text, &rows)) {
        let want = expected(g(row[0]), g(row[1]), g(row[2]));
        assert!(got == want.to_bits() || g(got).is_nan() && want.is_nan(), "{text} of {row:x?}: {got:#x}");
    }
}

#[test]
fn double_precision() {
    check64("add.f64 %d, %a, %b;", |a, b, _| a + b);
    check64("sub.rn.f64 %d, %a, %b;", |a, b, _| a - b);
    check64("mul.f64 %d, %a, %b;", |a, b, _| a * b);
    check64("fma.rn.f64 %d, %a, %b, %c;", |a, b, c| a.mul_add(b, c));
    check64("div.rn.f64 %d, %a, %b;", |a, b, _| a / b);
    check64("sqrt.rn.f64 %d, %a;", |a, _, _| a.sqrt());
    check64("rcp.rn.f64 %d, %a;", |a, _, _| 1.0 / a);
    check64("neg.f64 %d, %a;", |a, _, _| -a);
}

#[test]
fn approximations_are_close() {
    let values = [0.1f32, 0.5, 1.0, 2.0, 3.7, 10.0];
    let rows: Vec<[u64; 3]> = values.iter().map(|v| [w(v.to_bits()), w(2.5f32.to_bits()), 0]).collect();
    type Case = (&'static str, fn(f64) -> f64);
    let cases: [Case; 9] = [
        ("rcp.approx.f32 %wd, %wa;", |x| 1.0 / x),
        ("rcp.approx.ftz.f32 %wd, %wa;", |x| 1.0 / x),
        ("sqrt.approx.f32 %wd, %wa;", f64::sqrt),
        ("rsqrt.approx.f32 %wd, %wa;", |x| 1.0 / x.sqrt()),
        ("sin.approx.f32 %wd, %wa;", f64::sin),
        ("cos.approx.f32 %wd, %wa;", f64::cos),
        ("ex2.approx.ftz.f32 %wd, %wa;", f64::exp2),
        ("lg2.approx.f32 %wd, %wa;", f64::log2),
        ("div.full.f32 %wd, %wa, %wb;", |x| x / 2.5),
    ];
    for (text, exact) in cases {
        for (value, got) in values.iter().zip(run(text, &rows)) {
            let want = exact(f64::from(*value));
            assert!((f64::from(f(got)) - want).abs() <= want.abs() * 1e-6 + 1e-7, "{text} of {value}: {}", f(got));
        }
    }
}

#[test]
fn conversions_of_integers() {
    check("cvt.s64.s32 %d, %wa;", |a, _, _| a as i32 as i64 as u64);
    check("cvt.u64.u16 %d, %ha;", |a, _, _| a & 0xffff);
    check("cvt.s32.s8 %wd, %wa;", |a, _, _| w(a as i8 as i32 as u32));
    check("cvt.u16.u64 %hd, %a;", |a, _, _| a & 0xffff);
    check("cvt.s8.s64 %wd, %a;", |a, _, _| w(a as i8 as i32 as u32));
    check("cvt.u32.u8 %wd, %wa;", |a, _, _| a & 0xff);
    check("cvt.sat.s32.s64 %wd, %a;", |a, _, _| w((a as i64).clamp(i32::MIN.into(), i32::MAX.into()) as i32 as u32));
    check("cvt.sat.u8.s32 %wd, %wa;", |a, _, _| (a as i32).clamp(0, 255) as u64);
    check("cvt.rn.f32.s32 %wd, %wa;", |a, _, _| b32(a as i32 as f32));
    check("cvt.rn.f32.u64 %wd, %a;", |a, _, _| b32(a as f32));
    check("cvt.rn.f64.s64 %d, %a;", |a, _, _| (a as i64 as f64).to_bits());
    check("cvt.rz.f32.u32 %wd, %wa;", |a, _, _| {
        let near = a as u32 as f32;
        b32(if near as u64 > u64::from(a as u32) { near.next_down() } else { near })
    });
}

#[test]
fn conversions_of_floats() {
    check("cvt.rzi.s32.f32 %wd, %wa;", |a, _, _| w(f(a) as i32 as u32));
    check("cvt.rni.s32.f32 %wd, %wa;", |a, _, _| w(f(a).round_ties_even() as i32 as u32));
    check("cvt.rmi.u32.f32 %wd, %wa;", |a, _, _| w(f(a).floor() as u32));
    check("cvt.rzi.u64.f32 %d, %wa;", |a, _, _| if f(a).is_nan() { 1 << 63 } else { f(a) as u64 });
    check("cvt.rpi.s64.f64 %d, %a;", |a, _, _| if g(a).is_nan() { 1 << 63 } else { g(a).ceil() as i64 as u64 });
    check("cvt.f64.f32 %d, %wa;", |a, _, _| f64::from(f(a)).to_bits());
    check("cvt.rn.f32.f64 %wd, %a;", |a, _, _| b32(g(a) as f32));
    check("cvt.rzi.f32.f32 %wd, %wa;", |a, _, _| b32(f(a).trunc()));
    check("cvt.rn.bf16.f32 %hd, %wa;", |a, _, _| {
        let bits = a as u32;
        let up = 0x7fff + (bits >> 16 & 1);
        if f(a).is_nan() { 0x7fff } else { u64::from(bits.wrapping_add(up) >> 16) }
    });
    check("cvt.rn.f16.f32 %hd, %wa; cvt.f32.f16 %wd, %hd; mov.b16 %hd, 0;", |a, _, _| {
        match f(a) {
            v if v.is_nan() => 0x7fff_ffff,
            v if v.abs() >= 65520.0 => b32(f32::INFINITY.copysign(v)),
            // All other operands here are whole halves, or far too small.
            v if v.abs() < 1e-8 => b32(0.0f32.copysign(v)),
            v => b32(v),
        }
    });
    check("cvt.rn.f16x2.f32 %wd, %wa, 0f3F800000; and.b32 %wd, %wd, 0xffff;", |_, _, _| 0x3c00);
}

#[test]
fn halves_alone_and_in_pairs() {
    let one = |v: f64| support::half(v);
    let rows = [[one(1.5), one(2.25), one(-1.0)], [one(1000.0), one(70.0), one(0.5)], [one(0.1), one(0.2), one(0.3)]];
    let pairs = rows.map(|r| r.map(|v| v << 16 | v));
    for (text, exact) in [
        ("add.f16", (|a, b, _| a + b) as fn(f64, f64, f64) -> f64),
        ("sub.rn.f16", |a, b, _| a - b),
        ("mul.f16", |a, b, _| a * b),
        ("fma.rn.f16", |a, b, c| a * b + c),
    ] {
        let fused = text.starts_with("fma");
        let operands =
            |r: &str| if fused { format!("%{r}d, %{r}a, %{r}b, %{r}c") } else { format!("%{r}d, %{r}a, %{r}b") };
        let alone = run(&format!("{text} {};", operands("h")), &rows);
        let paired = run(&format!("{text}x2 {};", operands("w")), &pairs);
        for (i, r) in rows.iter().enumerate() {
            let [a, b, c] = r.map(|v| support::half_value(v as u16));
            let want = one(exact(a, b, c));
            assert_eq!(alone[i], want, "{text} {a} {b} {c}");
            assert_eq!(paired[i], want << 16 | want, "{text}x2");
        }
    }
    let got = run("max.bf16 %hd, %ha, %hb;", &[[0x3f80, 0x4000, 0]]);
    assert_eq!(got, [0x4000]);
}

#[test]
fn moves_pack_and_unpack() {
    check("mov.b64 {%x0, %x1}, %a; mov.b64 %d, {%x1, %x0};", |a, _, _| a.rotate_left(32));
    check("mov.b32 %wd, {%ha, %hb};", |a, b, _| a & 0xffff | (b & 0xffff) << 16);
    check("mov.b64 {_, %wd}, %a;", |a, _, _| a >> 32);
    check("mov.u32 %wd, 0x10; mov.u32 %wd, WARP_SZ;", |_, _, _| 32);
}

#[test]
fn vector_and_narrow_memory_accesses() {
    let text = "
    .local .align 16 .b8 room[32];
    .reg .b64 %l;
    mov.u64 %l, room;
    st.local.v2.b64 [%l], {%a, %b};
    st.local.v4.u32 [room+16], {%wa, %wb, %wc, 7};
    cvta.local.u64 %l, %l;
    ld.v2.u32 {%x0, %x1}, [%l+8];
    ld.s8 %wd, [%l+1];
    mov.b64 %t, {%x0, %x1};
    ld.local.v4.u32 {%x0, %x1, %x2, %x3}, [room+16];
    add.u32 %wd, %wd, %x3;
    cvt.s64.s32 %d, %wd;
    mov.b32 %wd, 0;
    xor.b64 %d, %d, %t;
    ld.u16 %x0, [%l+6];
    cvt.u64.u32 %t, %x0;
    xor.b64 %d, %d, %t;";
    check(text, |a, b, _| {
        let byte = (a >> 8) as i8;
        ((i32::from(byte) + 7) as i64 as u64) ^ b ^ a >> 48
    });
}

#[test]
fn state_spaces_of_generic_addresses() {
    let text = "
    .shared .align 4 .b8 s[4];
    .local .align 4 .b8 l[4];
    .reg .b64 %g;
    .reg .pred %r;
    mov.u64 %g, s; cvta.shared.u64 %g, %g; isspacep.shared %r, %g; selp.b32 %x0, 1, 0, %r;
    isspacep.local %r, %g; selp.b32 %x1, 2, 0, %r; or.b32 %wd, %x0, %x1;
    mov.u64 %g, l; cvta.local.u64 %g, %g; isspacep.local %r, %g; selp.b32 %x0, 4, 0, %r; or.b32 %wd, %wd, %x0;
    isspacep.global %r, %to; selp.b32 %x0, 8, 0, %r; or.b32 %wd, %wd, %x0;
    isspacep.shared %r, %to; selp.b32 %x0, 16, 0, %r; or.b32 %wd, %wd, %x0;";
    check(text, |_, _, _| 1 | 4 | 8);
}
