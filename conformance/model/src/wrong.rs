//! Calls that must be refused: which of them what exists allows, and what each must answer (said at [`Mistake`]).

use crate::order::QueueId;
use crate::plan::{Model, pick};
use crate::state::Flavour;
use crate::step::{Mistake, Step};

/// More than any rounding adds to a pool's maximum size.
const FAR_MORE: usize = 96 << 20;

impl Model {
    pub(crate) fn wrong(&mut self, what: u8, queue: QueueId, block: u8, pool: u8, steps: &mut Vec<Step>) -> Option<()> {
        let mistake = if what % 2 == 0 || !self.abilities.pools {
            self.wrong_pointer(what / 2, block, pool)?
        } else {
            self.wrong_pool(what / 2, queue, pool)?
        };
        steps.push(Step::Wrong { queue, mistake });
        Some(())
    }

    fn wrong_pointer(&self, what: u8, block: u8, pool: u8) -> Option<Mistake> {
        Some(match what % 8 {
            0 | 1 => Mistake::FreeAgain(self.freed(block)?),
            2 => Mistake::HostFreeAgain(self.freed(block)?),
            3 => {
                let block = self.live(block)?;
                let inside = usize::from(pool) * 4 % self.blocks[block].size;
                if inside == 0 {
                    return None;
                }
                Mistake::FreeInside(block, inside)
            }
            4 if self.abilities.pools => {
                let block = self.live(block)?;
                let own = self.blocks[block].pool;
                let others: Vec<_> = self.pools_that(|pool| pool.alive).into_iter().filter(|&p| p != own).collect();
                Mistake::FreeToPool(block, pick(&others, pool)?)
            }
            5 => Mistake::FreeUnknown,
            6 => Mistake::FreeNull,
            _ => Mistake::AllocNothing,
        })
    }

    fn wrong_pool(&self, what: u8, queue: QueueId, choice: u8) -> Option<Mistake> {
        let alive = self.pools_that(|pool| pool.alive);
        Some(match what % 6 {
            0 => {
                let is_other = |device| !self.has_device(queue, device);
                let others = self.pools_that(|pool| pool.alive && pool.device.is_some_and(is_other));
                Mistake::AllocElsewhere(pick(&others, choice)?)
            }
            1 | 2 => {
                let is_limited = |flavour| matches!(flavour, Flavour::Limited(_) | Flavour::Buffer(_));
                let served = |device: Option<usize>| device.is_some_and(|device| self.has_device(queue, device));
                let limited = self.pools_that(|pool| pool.alive && is_limited(pool.flavour) && served(pool.device));
                let pool = pick(&limited, choice)?;
                match self.pools[pool].flavour {
                    Flavour::Limited(bytes) | Flavour::Buffer(bytes) => Mistake::AllocTooMuch(pool, bytes + FAR_MORE),
                    _ => return None,
                }
            }
            3 => Mistake::SetFigure(pick(&alive, choice)?),
            4 => Mistake::SetInFourBytes(pick(&alive, choice)?),
            _ => Mistake::DestroyDefault(pick(&self.pools_that(|pool| pool.flavour == Flavour::Default), choice)?),
        })
    }
}
