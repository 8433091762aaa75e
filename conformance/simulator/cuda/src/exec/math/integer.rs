//! Integer instructions that Rust has no operator for.

/// Bits of a permute: `prmt` without a mode.
pub(crate) fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = u64::from(a) | u64::from(b) << 32;
    let mut out = 0;
    for i in 0..4 {
        let s = selector >> (4 * i) & 15;
        let mut byte = (bytes >> (8 * (s & 7))) as u8;
        if s & 8 != 0 {
            byte = if byte & 0x80 != 0 { 0xff } else { 0 };
        }
        out |= u32::from(byte) << (8 * i);
    }
    out
}

/// The selector of a permute with a mode, from the two low bits of its control.
pub(crate) fn permute_selector(mode: PermuteMode, control: u32) -> u32 {
    let c = control & 3;
    match mode {
        PermuteMode::Forward4 => [0x3210, 0x4321, 0x5432, 0x6543][c as usize],
        PermuteMode::Backward4 => [0x5670, 0x6701, 0x7012, 0x0123][c as usize],
        PermuteMode::Replicate8 => c * 0x1111,
        PermuteMode::EdgeLeft => [0x3210, 0x3211, 0x3222, 0x3333][c as usize],
        PermuteMode::EdgeRight => [0x0000, 0x1110, 0x2210, 0x3210][c as usize],
        PermuteMode::Replicate16 => [0x1010, 0x3232, 0x1010, 0x3232][c as usize],
    }
}

/// The modes of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PermuteMode {
    Forward4,
    Backward4,
    Replicate8,
    EdgeLeft,
    EdgeRight,
    Replicate16,
}

/// Any function of three bits, for all bits of three words.
#[inline(always)]
pub(crate) fn logic3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let mut out = 0;
    for i in 0..8 {
        if table >> i & 1 != 0 {
            let x = if i & 4 != 0 { a } else { !a };
            let y = if i & 2 != 0 { b } else { !b };
            let z = if i & 1 != 0 { c } else { !c };
            out |= x & y & z;
        }
    }
    out
}

/// `bfe`: a field of `length` bits from `start`, its sign extended if `signed`.
pub(crate) fn extract(value: u64, start: u64, length: u64, width: u32, signed: bool) -> u64 {
    let (start, length) = (start & 0xff, length & 0xff);
    let value = if width == 32 { value & 0xffff_ffff } else { value };
    let top = u64::from(width - 1);
    let sign = if !signed || length == 0 { 0 } else { value >> (start + length - 1).min(top) & 1 };
    let mut out = if sign != 0 { u64::MAX } else { 0 };
    for i in 0..length.min(u64::from(width)) {
        if start + i > top {
            break;
        }
        out = out & !(1 << i) | (value >> (start + i) & 1) << i;
    }
    if width == 32 { out & 0xffff_ffff } else { out }
}

/// `bfi`: `length` low bits of `field` into `into` at `start`.
pub(crate) fn insert(field: u64, into: u64, start: u64, length: u64, width: u32) -> u64 {
    let (start, length) = (start & 0xff, length & 0xff);
    if start >= u64::from(width) || length == 0 {
        return into;
    }
    let mask = if length >= 64 { u64::MAX } else { (1 << length) - 1 };
    let out = into & !(mask << start) | (field & mask) << start;
    if width == 32 { out & 0xffff_ffff } else { out }
}

/// `bmsk`: `length` ones from `start`.
pub(crate) fn mask(start: u32, length: u32, wrap: bool) -> u32 {
    let (start, length) = if wrap { (start & 31, length & 31) } else { (start.min(32), length.min(32)) };
    (((1u64 << length) - 1) << start) as u32
}

/// `szext`: keeps `length` low bits and extends their sign, if `signed`.
pub(crate) fn extend(value: u32, length: u32, wrap: bool, signed: bool) -> u32 {
    let length = if wrap { length & 31 } else { length };
    if length >= 32 {
        return value;
    }
    if length == 0 {
        return 0;
    }
    let shift = 32 - length;
    if signed { ((value << shift) as i32 >> shift) as u32 } else { value << shift >> shift }
}

/// `bfind`: position of the highest bit that differs from the sign, all ones when there is none.
pub(crate) fn find_high(value: u64, width: u32, signed: bool, shift_amount: bool) -> u32 {
    let mut value = if width == 32 { value & 0xffff_ffff } else { value };
    if signed && value >> (width - 1) & 1 != 0 {
        value = if width == 32 { !value & 0xffff_ffff } else { !value };
    }
    if value == 0 {
        return u32::MAX;
    }
    let position = 63 - value.leading_zeros();
    if shift_amount { width - 1 - position } else { position }
}

/// `fns`: the position of the n-th set bit from a base, upwards or downwards.
pub(crate) fn find_nth(mask: u32, base: u32, offset: i32) -> u32 {
    let base = base & 31;
    if offset == 0 {
        return if mask >> base & 1 != 0 { base } else { u32::MAX };
    }
    let (mut position, mut left) = (base as i32, offset.unsigned_abs());
    let direction = offset.signum();
    while (0..32).contains(&position) {
        if mask >> position & 1 != 0 {
            left -= 1;
            if left == 0 {
                return position as u32;
            }
        }
        position += direction;
    }
    u32::MAX
}

/// `dp4a`: sum of four products of bytes, plus `c`.
pub(crate) fn dot4(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let byte = |v: u32, i: u32, signed: bool| {
        let byte = (v >> (8 * i)) as u8;
        if signed { i32::from(byte as i8) } else { i32::from(byte) }
    };
    (0..4).fold(c, |sum, i| sum.wrapping_add((byte(a, i, a_signed) * byte(b, i, b_signed)) as u32))
}

/// `dp2a`: sum of two products of halves of `a` and bytes of `b`, the upper ones if `high`, plus `c`.
pub(crate) fn dot2(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool, high: bool) -> u32 {
    (0..2).fold(c, |sum, i| {
        let half = (a >> (16 * i)) as u16;
        let half = if a_signed { i32::from(half as i16) } else { i32::from(half) };
        let byte = (b >> (8 * (i + if high { 2 } else { 0 }))) as u8;
        let byte = if b_signed { i32::from(byte as i8) } else { i32::from(byte) };
        sum.wrapping_add(half.wrapping_mul(byte) as u32)
    })
}

/// `mul24`: product of the low 24 bits, its low or its high part.
pub(crate) fn mul24(a: u32, b: u32, signed: bool, high: bool) -> u32 {
    let product = if signed {
        (i64::from((a << 8) as i32 >> 8) * i64::from((b << 8) as i32 >> 8)) as u64
    } else {
        u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)
    };
    if high { (product >> 16) as u32 } else { product as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        assert_eq!(extract(0xabcd_1234, 8, 8, 32, false), 0x12);
        assert_eq!(extract(0xabcd_1234, 24, 8, 32, true), 0xffff_ffab);
        assert_eq!(extract(0xabcd_1234, 28, 16, 32, true), 0xffff_fffa);
        assert_eq!(extract(0xabcd_1234, 40, 4, 32, false), 0);
        assert_eq!(extract(u64::MAX, 0, 0, 64, true), 0);
        assert_eq!(insert(0xff, 0, 4, 8, 32), 0xff0);
        assert_eq!(insert(0xff, 0xffff_ffff, 28, 8, 32), 0xffff_ffff);
        assert_eq!(insert(1, 0, 32, 1, 32), 0);
        assert_eq!(mask(4, 8, false), 0xff0);
        assert_eq!(mask(36, 8, true), 0xff0);
        assert_eq!(mask(36, 8, false), 0);
        assert_eq!(extend(0xff, 8, false, true), u32::MAX);
        assert_eq!(extend(0xff, 8, false, false), 0xff);
    }

    #[test]
    fn bits() {
        assert_eq!(permute(0x33221100, 0x77665544, 0x7531), 0x77553311);
        assert_eq!(permute(0x80, 0, 0x8888), u32::MAX);
        assert_eq!(permute_selector(PermuteMode::Replicate8, 2), 0x2222);
        assert_eq!(logic3(0b1100, 0b1010, 0b0110, 0x96), 0b1100 ^ 0b1010 ^ 0b0110);
        assert_eq!(logic3(5, 6, 7, 0xe8), (5 & 6) | (5 & 7) | (6 & 7));
        assert_eq!(find_high(0, 32, false, false), u32::MAX);
        assert_eq!(find_high(0x8000_0000, 32, false, false), 31);
        assert_eq!(find_high(0xffff_fff0, 32, true, false), 3);
        assert_eq!(find_high(1, 64, false, true), 63);
        assert_eq!(find_nth(0b10110, 0, 2), 2);
        assert_eq!(find_nth(0b10110, 4, -2), 2);
        assert_eq!(find_nth(0b10110, 3, 0), u32::MAX);
    }

    #[test]
    fn products() {
        assert_eq!(dot4(0x01020304, 0x01010101, 10, false, false), 20);
        assert_eq!(dot4(0xffff_ffff, 0x01010101, 0, true, false), -4i32 as u32);
        assert_eq!(dot2(0x0002_0003, 0x0504_0302, 1, false, false, false), 1 + 3 * 2 + 2 * 3);
        assert_eq!(dot2(0x0002_0003, 0x0504_0302, 1, false, false, true), 1 + 3 * 4 + 2 * 5);
        assert_eq!(mul24(0xff_ffff, 2, true, false), -2i32 as u32);
        assert_eq!(mul24(0xff_ffff, 0xff_ffff, false, true), ((0xff_ffffu64 * 0xff_ffff) >> 16) as u32);
    }
}
