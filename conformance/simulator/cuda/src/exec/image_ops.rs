//! Texture and surface instructions, lane by lane: the handle's object, the place, the bytes.

use super::image::{Place, Surface, Texels, Texture};
use super::memory::{Problem, View, lanes};
use super::op::{Lanes, Query, Sample, SurfaceAccess};
use super::{Access, FaultKind, MemoryFault};

fn problem(lane: usize, message: String) -> Problem {
    Problem { lane, kind: FaultKind::IllegalAddress, message }
}

/// An instruction with a layer takes a layered array, one without takes another; hardware says nothing of the rest.
fn same_layers(texels: &Texels, layered: bool, lane: usize) -> Result<(), Problem> {
    if texels.layered == layered {
        return Ok(());
    }
    let (has, takes) = if texels.layered { ("has", "takes none") } else { ("has no", "takes one") };
    Err(problem(lane, format!("the image {has} layers, and the instruction {takes}")))
}

/// The object of a handle, asked for again only when a lane has another one than the lane before.
struct Last<T> {
    found: Option<(u64, T)>,
}

impl<T: Copy> Last<T> {
    fn get(
        &mut self,
        handle: u64,
        lane: usize,
        ask: impl FnOnce(u64) -> Result<T, MemoryFault>,
    ) -> Result<(T, bool), Problem> {
        match self.found {
            Some((known, object)) if known == handle => Ok((object, false)),
            _ => {
                let object = ask(handle).map_err(|fault| problem(lane, fault.message))?;
                self.found = Some((handle, object));
                Ok((object, true))
            }
        }
    }
}

impl View<'_> {
    fn allow(&self, texels: &Texels, lane: usize, access: Access) -> Result<(), Problem> {
        let checked = self.memory.check(texels.base, texels.bytes() as usize, access);
        checked.map(drop).map_err(|fault| problem(lane, format!("the image's array: {}", fault.message)))
    }

    pub fn sample(&mut self, regs: &mut [Lanes], op: &Sample, mask: u32) -> Result<(), Problem> {
        let mut last: Last<Texture> = Last { found: None };
        for lane in lanes(mask) {
            let (texture, fresh) =
                last.get(regs[op.texture as usize][lane], lane, |handle| self.memory.texture(handle))?;
            if fresh {
                self.allow(&texture.texels, lane, Access::Read)?;
            }
            same_layers(&texture.texels, op.layer.is_some(), lane)?;
            let layer = op.layer.map_or(0, |slot| regs[slot as usize][lane] as u32);
            let raw: [u32; 3] = op.at.map(|slot| regs[slot as usize][lane] as u32);
            let at =
                if op.integer { Place::Integer(raw.map(|c| c as i32)) } else { Place::Float(raw.map(f32::from_bits)) };
            let width = texture.texels.channel.bytes() as u8;
            // SAFETY: the whole array was allowed just now, and elements are aligned to their channels.
            let read = |address: u64| unsafe { Self::get(address as *mut u8, width) } as u32;
            let channels = texture.sample(at, op.dimensions.into(), layer, &read);
            for (slot, value) in op.to.iter().zip(channels) {
                regs[*slot as usize][lane] = value.into();
            }
        }
        Ok(())
    }

    pub fn surface(&mut self, regs: &mut [Lanes], op: &SurfaceAccess, mask: u32) -> Result<(), Problem> {
        let access = if op.store { Access::Write } else { Access::Read };
        let len = u64::from(op.width) * u64::from(op.count);
        let mut last: Last<Surface> = Last { found: None };
        for lane in lanes(mask) {
            let (surface, fresh) =
                last.get(regs[op.surface as usize][lane], lane, |handle| self.memory.surface(handle))?;
            if fresh {
                self.allow(&surface.texels, lane, access)?;
            }
            same_layers(&surface.texels, op.layered, lane)?;
            let at: [i32; 3] = op.at.map(|slot| regs[slot as usize][lane] as u32 as i32);
            if at[0].rem_euclid(len as i32) != 0 {
                let message = format!("misaligned access of {len} bytes at byte {} of a surface's row", at[0]);
                return Err(Problem { lane, kind: FaultKind::Misaligned, message });
            }
            let place = surface.place(at, len, op.outside).map_err(|()| {
                problem(lane, format!("{len} bytes at {at:?} are outside of a surface of {:?}", surface.texels.extent))
            })?;
            for k in 0..op.count {
                let register = &mut regs[op.values[usize::from(k)] as usize][lane];
                let address = place.map(|address| (address + u64::from(k * op.width)) as *mut u8);
                // SAFETY: the whole array was allowed just now, the place lies inside and is aligned.
                unsafe {
                    match (address, op.store) {
                        (Some(address), true) => Self::put(address, op.width, *register),
                        (Some(address), false) => *register = Self::get(address, op.width),
                        (None, true) => {}
                        (None, false) => *register = 0,
                    }
                }
            }
        }
        Ok(())
    }

    pub fn query(&mut self, regs: &mut [Lanes], op: &Query, mask: u32) -> Result<(), Problem> {
        for lane in lanes(mask) {
            let handle = regs[op.object as usize][lane];
            let texels = if op.of_surface {
                self.memory.surface(handle).map(|surface| surface.texels)
            } else {
                self.memory.texture(handle).map(|texture| texture.texels)
            };
            let texels = texels.map_err(|fault| problem(lane, fault.message))?;
            regs[op.to as usize][lane] = texels.told(op.axis.into(), op.of_surface).into();
        }
        Ok(())
    }
}
