//! From a lane's address to host memory: state spaces, windows, bounds, alignment, permission.

use super::op::{Address, LANES, LOCAL_WINDOW, Lanes, Load, PARAM_WINDOW, SHARED_WINDOW, Space, Store, WINDOW_MASK};
use super::{Access, FaultKind, Memory};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// A memory access that is not allowed.
#[derive(Debug)]
pub(super) struct Problem {
    pub lane: usize,
    pub kind: FaultKind,
    pub message: String,
}

/// The range an instruction was last allowed: start and size.
#[derive(Clone, Copy, Default)]
pub(super) struct Site {
    start: u64,
    size: u64,
}

/// The memories of one warp.
pub(super) struct View<'a> {
    pub memory: &'a dyn Memory,
    /// Allowed besides what `memory` allows: the launch's own.
    pub workspace: Range<u64>,
    pub shared: *mut u8,
    pub shared_size: u64,
    /// How much of it does not fault; never less.
    pub shared_reach: u64,
    /// Whether the launch has told of an access between the two.
    pub strayed: &'a AtomicBool,
    /// The local memory of lane 0; the other lanes' follow.
    pub local: *mut u8,
    /// Local memory of one lane.
    pub stride: u64,
    pub params: *const u8,
    pub params_size: u64,
    /// The current function's sites.
    pub sites: &'a mut [Site],
}

fn name(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Atomic => "atomic operation",
    }
}

impl View<'_> {
    /// The host address of `len` bytes at a lane's address.
    #[inline(always)]
    pub fn resolve(
        &mut self,
        space: Space,
        address: u64,
        len: u64,
        lane: usize,
        access: Access,
        site: u32,
    ) -> Result<*mut u8, Problem> {
        if address & (len - 1) != 0 {
            return Err(misaligned(address, len, lane, access));
        }
        if matches!(space, Space::Global) || (space == Space::Generic && address & WINDOW_MASK < SHARED_WINDOW) {
            let site = &self.sites[site as usize];
            let offset = address.wrapping_sub(site.start);
            if offset < site.size && site.size - offset >= len {
                return Ok(address as *mut u8);
            }
        }
        self.resolve_slowly(space, address, len, lane, access, site)
    }

    #[cold]
    fn resolve_slowly(
        &mut self,
        space: Space,
        address: u64,
        len: u64,
        lane: usize,
        access: Access,
        site: u32,
    ) -> Result<*mut u8, Problem> {
        let space = match (space, address & WINDOW_MASK) {
            (Space::Generic, SHARED_WINDOW) => Space::Shared,
            (Space::Generic, LOCAL_WINDOW) => Space::Local,
            (Space::Generic, PARAM_WINDOW) => Space::Param,
            (Space::Generic, _) => Space::Global,
            (other, _) => other,
        };
        let (what, base, size) = match space {
            Space::Shared => ("shared memory", self.shared, self.shared_size),
            // SAFETY: `local` is the start of LANES pieces of `stride` bytes and `lane < LANES`.
            Space::Local => ("local memory", unsafe { self.local.add(lane * self.stride as usize) }, self.stride),
            Space::Param => ("the parameters", self.params.cast_mut(), self.params_size),
            _ => return self.check(address, len, lane, access, site),
        };
        // Windows are addressed by 32 bits.
        let offset = u64::from(address as u32);
        if offset + len > size {
            let message = |sort: &str| {
                format!("{sort} {} of {len} bytes at offset {offset:#x} of {what} of {size} bytes", name(access))
            };
            if space != Space::Shared || offset + len > self.shared_reach {
                return Err(Problem { lane, kind: FaultKind::IllegalAddress, message: message("illegal") });
            }
            if !self.strayed.swap(true, Relaxed) {
                self.memory.stray(&message("stray"));
            }
        }
        if space == Space::Param && access != Access::Read {
            let message = format!("illegal {} of the kernel's parameters", name(access));
            return Err(Problem { lane, kind: FaultKind::AddressSpace, message });
        }
        // SAFETY: the offset was just checked to lie within the piece of memory at `base`, which has `shared_reach` bytes if it is shared.
        Ok(unsafe { base.add(offset as usize) })
    }

    fn check(&mut self, address: u64, len: u64, lane: usize, access: Access, site: u32) -> Result<*mut u8, Problem> {
        let end = address.checked_add(len);
        let own = end.is_some_and(|end| self.workspace.start <= address && end <= self.workspace.end);
        let range = if own {
            self.workspace.clone()
        } else {
            self.memory.check(address, len as usize, access).map_err(|fault| Problem {
                lane,
                kind: FaultKind::IllegalAddress,
                message: format!("illegal {} of {len} bytes at {address:#x}: {}", name(access), fault.message),
            })?
        };
        self.sites[site as usize] = Site { start: range.start, size: range.end.saturating_sub(range.start) };
        Ok(address as *mut u8)
    }

    /// Reads an aligned element.
    ///
    /// # Safety
    /// `pointer` came from [`View::resolve`] for at least `width` bytes.
    #[inline(always)]
    pub(super) unsafe fn get(pointer: *mut u8, width: u8) -> u64 {
        // SAFETY: aligned and allowed, as the caller promises. Relaxed atomics, because other blocks, streams and
        // the host may access the same memory at the same time.
        unsafe {
            match width {
                1 => AtomicU8::from_ptr(pointer).load(Relaxed).into(),
                2 => AtomicU16::from_ptr(pointer.cast()).load(Relaxed).into(),
                4 => AtomicU32::from_ptr(pointer.cast()).load(Relaxed).into(),
                _ => AtomicU64::from_ptr(pointer.cast()).load(Relaxed),
            }
        }
    }

    /// Writes an aligned element.
    ///
    /// # Safety
    /// As [`View::get`], for writing.
    #[inline(always)]
    pub(super) unsafe fn put(pointer: *mut u8, width: u8, value: u64) {
        // SAFETY: as in `get`.
        unsafe {
            match width {
                1 => AtomicU8::from_ptr(pointer).store(value as u8, Relaxed),
                2 => AtomicU16::from_ptr(pointer.cast()).store(value as u16, Relaxed),
                4 => AtomicU32::from_ptr(pointer.cast()).store(value as u32, Relaxed),
                _ => AtomicU64::from_ptr(pointer.cast()).store(value, Relaxed),
            }
        }
    }

    pub fn load(&mut self, regs: &mut [Lanes], load: &Load, mask: u32) -> Result<(), Problem> {
        let Address { space, base, offset, site } = load.address;
        let len = u64::from(load.width) * u64::from(load.count);
        let addresses = regs[base as usize];
        let keep = u64::MAX >> (64 - load.keep);
        for lane in lanes(mask) {
            let address = addresses[lane].wrapping_add(offset as u64);
            let pointer = self.resolve(space, address, len, lane, Access::Read, site)?;
            for k in 0..load.count {
                // SAFETY: `resolve` allowed all `len` bytes, of which this is the k-th element.
                let value = unsafe { Self::get(pointer.add((k * load.width).into()), load.width) };
                let value = ((value << load.sign_shift) as i64 >> load.sign_shift) as u64;
                let value = if load.sign_shift == 0 { value } else { value & keep };
                regs[load.to[usize::from(k)] as usize][lane] = value;
            }
        }
        Ok(())
    }

    pub fn store(&mut self, regs: &[Lanes], store: &Store, mask: u32) -> Result<(), Problem> {
        let Address { space, base, offset, site } = store.address;
        let len = u64::from(store.width) * u64::from(store.count);
        let addresses = &regs[base as usize];
        for lane in lanes(mask) {
            let address = addresses[lane].wrapping_add(offset as u64);
            let pointer = self.resolve(space, address, len, lane, Access::Write, site)?;
            for k in 0..store.count {
                let value = regs[store.from[usize::from(k)] as usize][lane];
                // SAFETY: `resolve` allowed all `len` bytes, of which this is the k-th element.
                unsafe { Self::put(pointer.add((k * store.width).into()), store.width, value) };
            }
        }
        Ok(())
    }

    /// `cp.async`: `size` bytes, of which the first `read` come from the source and the rest are zero.
    pub fn copy(
        &mut self,
        regs: &[Lanes],
        from: &Address,
        to: &Address,
        size: u8,
        read: &Lanes,
        mask: u32,
    ) -> Result<(), Problem> {
        for lane in lanes(mask) {
            let len = u64::from(size);
            let source = regs[from.base as usize][lane].wrapping_add(from.offset as u64);
            let target = regs[to.base as usize][lane].wrapping_add(to.offset as u64);
            let used = read[lane].min(len);
            let source = match used {
                0 => None,
                _ => Some(self.resolve(from.space, source, len, lane, Access::Read, from.site)?),
            };
            let target = self.resolve(to.space, target, len, lane, Access::Write, to.site)?;
            for k in 0..usize::from(size) {
                // SAFETY: both were allowed for `size` bytes.
                unsafe {
                    let byte = match source {
                        Some(source) if (k as u64) < used => Self::get(source.add(k), 1),
                        _ => 0,
                    };
                    Self::put(target.add(k), 1, byte);
                }
            }
        }
        Ok(())
    }

    /// One byte at a generic address, for strings.
    pub fn byte(&mut self, address: u64, lane: usize) -> Result<u8, Problem> {
        let pointer = self.resolve_slowly(Space::Generic, address, 1, lane, Access::Read, 0)?;
        // SAFETY: allowed for one byte.
        Ok(unsafe { Self::get(pointer, 1) } as u8)
    }

    /// Bytes of a lane's local memory.
    pub fn local_bytes(&self, lane: usize, offset: u64, len: u64) -> Option<*mut u8> {
        if lane >= LANES || offset.checked_add(len)? > self.stride {
            return None;
        }
        // SAFETY: the lane's piece starts at `lane * stride` and `offset + len` lies within it.
        Some(unsafe { self.local.add(lane * self.stride as usize + offset as usize) })
    }
}

#[cold]
fn misaligned(address: u64, len: u64, lane: usize, access: Access) -> Problem {
    let message = format!("misaligned {} of {len} bytes at {address:#x}", name(access));
    Problem { lane, kind: FaultKind::Misaligned, message }
}

/// The lanes of a mask.
#[inline(always)]
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        Some(lane)
    })
}
