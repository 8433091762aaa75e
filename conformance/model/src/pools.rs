//! Planning for pools: figures, settings, trims, and their making and end.

use crate::plan::{MOST_POOLS, Model, pick};
use crate::state::{Abilities, Flavour, Pool, PoolId};
use crate::step::Step;

impl Model {
    pub(crate) fn figures(&mut self, pool: PoolId, steps: &mut Vec<Step>) {
        let Pool { threshold, flavour, .. } = self.pools[pool];
        let (used, high) = (self.pools[pool].used(), self.pools[pool].high());
        let parts = self.pools[pool].parts();
        steps.push(Step::Figures { pool, used, high, threshold, flavour, parts });
    }

    pub(crate) fn reset_high(&mut self, pool: PoolId, steps: &mut Vec<Step>) -> Option<()> {
        self.pools[pool].reset_high();
        steps.push(Step::ResetHigh { pool });
        Some(())
    }

    pub(crate) fn set_threshold(&mut self, pool: PoolId, bytes: u64, steps: &mut Vec<Step>) {
        if matches!(self.pools[pool].flavour, Flavour::Buffer(_)) {
            return;
        }
        self.pools[pool].threshold = Some(bytes);
        steps.push(Step::Threshold { pool, bytes });
    }

    pub(crate) fn trim(&mut self, pool: PoolId, keep: usize, steps: &mut Vec<Step>) -> Option<()> {
        let keep = pick(&[0, 0, 4096, 1 << 20, 40 << 20], keep)?;
        let device = self.pools[pool].device.unwrap_or(0);
        steps.push(Step::Trim { pool, device, keep });
        Some(())
    }

    pub(crate) fn new_pool(&mut self, flavour: u8, device: usize, steps: &mut Vec<Step>) -> Option<()> {
        if self.pools.len() - self.devices >= MOST_POOLS {
            return None;
        }
        let Abilities { zero, limits, context_pools, buffers, policies, .. } = self.abilities;
        let all = [
            (true, Flavour::Plain),
            (zero, Flavour::Zero),
            (zero, Flavour::Zero),
            (limits, Flavour::Limited(1 << 20)),
            (limits, Flavour::Limited(40 << 20)),
            (limits, Flavour::Threshold(48 << 20)),
            (context_pools, Flavour::Context),
            (buffers, Flavour::Buffer(4 << 20)),
            // None, and each alone: blocks behind events, finished ones, ones to be waited for.
            (policies, Flavour::Reuse(0)),
            (policies, Flavour::Reuse(1)),
            (policies, Flavour::Reuse(2)),
            (policies, Flavour::Reuse(4)),
        ];
        let able: Vec<Flavour> = all.iter().filter(|(able, _)| *able).map(|(_, flavour)| *flavour).collect();
        let flavour = pick(&able, flavour)?;
        let device = (flavour != Flavour::Context).then_some(device % self.devices);
        self.pools.push(Pool::new(flavour, device));
        steps.push(Step::NewPool { pool: self.pools.len() - 1, device, flavour });
        Some(())
    }

    pub(crate) fn destroy_pool(&mut self, choice: u8, steps: &mut Vec<Step>) -> Option<()> {
        let made: Vec<PoolId> = self.pools_that(|pool| pool.alive).into_iter().filter(|&p| p >= self.devices).collect();
        let pool = pick(&made, choice)?;
        self.pools[pool].alive = false;
        for (device, current) in self.current.iter_mut().enumerate() {
            if *current == pool {
                *current = device;
            }
        }
        steps.push(Step::DestroyPool { pool });
        Some(())
    }

    pub(crate) fn set_device_pool(&mut self, device: usize, choice: u8, steps: &mut Vec<Step>) -> Option<()> {
        if !self.abilities.device_pool {
            return None;
        }
        let device = device % self.devices;
        let pool = pick(&self.pools_that(|pool| pool.alive && pool.device == Some(device)), choice)?;
        self.current[device] = pool;
        steps.push(Step::SetDevicePool { device, pool });
        Some(())
    }
}
