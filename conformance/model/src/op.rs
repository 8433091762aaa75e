//! Ops: the numbers that a random program is made of, and how often each kind comes.

use proptest::prelude::*;

/// One thing to do. The numbers choose among what there is when the op is planned; what cannot be done then is left out.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields are named after what they choose")]
pub enum Op {
    Alloc { queue: u8, pool: u8, kind: u8, size: u8, waits: u8, event: bool },
    Free { queue: u8, block: u8, name_pool: bool, event: bool },
    HostFree { block: u8 },
    Fill { queue: u8, block: u8, value: u8, small: bool, event: bool },
    Copy { queue: u8, from: u8, to: u8, event: bool },
    Kernel { queue: u8, block: u8, write: bool, waits: u8, event: bool },
    Read { queue: u8, block: u8 },
    Wait { queue: u8, waits: u8, barrier: bool, event: bool },
    WaitHere { event: u8, more: u8 },
    Ask { event: u8, wait: bool },
    ReleaseEvent { event: u8 },
    Finish { queue: u8 },
    Trim { pool: u8, keep: u8 },
    Figures { pool: u8 },
    ResetHigh { pool: u8 },
    Threshold { pool: u8, value: u8 },
    NewPool { flavour: u8, device: u8 },
    DestroyPool { pool: u8 },
    SetDevicePool { device: u8, pool: u8 },
    NewQueue { sort: u8, device: u8 },
    ReleaseQueue { queue: u8 },
    Inspect { block: u8, offset: u16, freed: bool },
    Close { queue: u8, event: bool },
    Open,
    Wrong { what: u8, queue: u8, block: u8, pool: u8 },
}

/// What a family of programs is about.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// How it is called.
    pub name: &'static str,
    /// Queues at first.
    pub queues: u8,
    /// Devices in use.
    pub devices: usize,
    /// Of 8 queues so many are out of order.
    pub out_of_order: u8,
    /// Ops of a program at most.
    pub ops: usize,
    /// Weight of allocations, frees and uses: 10 of each.
    pub churn: u32,
    /// Weight of statistics, trims and pools.
    pub pools: u32,
    /// Weight of gates.
    pub gates: u32,
}

/// Random programs of a family: what the queues are like, and the ops.
pub fn program(profile: Profile) -> impl Strategy<Value = (Vec<u8>, Vec<Op>)> {
    let queues = proptest::collection::vec(any::<u8>(), 1..=usize::from(profile.queues));
    (queues, proptest::collection::vec(op(profile), 8..=profile.ops))
}

fn op(profile: Profile) -> BoxedStrategy<Op> {
    let b = any::<u8>;
    let flag = any::<bool>;
    let Profile { churn, pools, gates, .. } = profile;
    let mut list: Vec<(u32, BoxedStrategy<Op>)> = vec![
        (
            3 * churn,
            (b(), b(), b(), b(), few(), flag())
                .prop_map(|(queue, pool, kind, size, waits, event)| Op::Alloc { queue, pool, kind, size, waits, event })
                .boxed(),
        ),
        (
            2 * churn,
            (b(), b(), flag(), flag())
                .prop_map(|(queue, block, name_pool, event)| Op::Free { queue, block, name_pool, event })
                .boxed(),
        ),
        (
            4 * churn,
            (b(), b(), likely(), few(), flag())
                .prop_map(|(queue, block, write, waits, event)| Op::Kernel { queue, block, write, waits, event })
                .boxed(),
        ),
        (
            churn / 2,
            (b(), b(), b(), flag(), flag())
                .prop_map(|(queue, block, value, small, event)| Op::Fill { queue, block, value, small, event })
                .boxed(),
        ),
        (
            churn / 2,
            (b(), b(), b(), flag()).prop_map(|(queue, from, to, event)| Op::Copy { queue, from, to, event }).boxed(),
        ),
        (4, (b(), b()).prop_map(|(queue, block)| Op::Read { queue, block }).boxed()),
        (2, b().prop_map(|block| Op::HostFree { block }).boxed()),
        (
            5,
            (b(), few(), flag(), flag())
                .prop_map(|(queue, waits, barrier, event)| Op::Wait { queue, waits, barrier, event })
                .boxed(),
        ),
        (5, (b(), b()).prop_map(|(event, more)| Op::WaitHere { event, more }).boxed()),
        (5, (b(), flag()).prop_map(|(event, wait)| Op::Ask { event, wait }).boxed()),
        (8, b().prop_map(|event| Op::ReleaseEvent { event }).boxed()),
        (3, b().prop_map(|queue| Op::Finish { queue }).boxed()),
        (1 + pools, (b(), b()).prop_map(|(pool, keep)| Op::Trim { pool, keep }).boxed()),
        (1 + 3 * pools, b().prop_map(|pool| Op::Figures { pool }).boxed()),
        (1 + pools, b().prop_map(|pool| Op::ResetHigh { pool }).boxed()),
        (1 + pools, (b(), b()).prop_map(|(pool, value)| Op::Threshold { pool, value }).boxed()),
        (3 + 2 * pools, (b(), b()).prop_map(|(flavour, device)| Op::NewPool { flavour, device }).boxed()),
        (1 + pools, b().prop_map(|pool| Op::DestroyPool { pool }).boxed()),
        (1, (b(), b()).prop_map(|(device, pool)| Op::SetDevicePool { device, pool }).boxed()),
        (1, (b(), b()).prop_map(|(sort, device)| Op::NewQueue { sort, device }).boxed()),
        (1, b().prop_map(|queue| Op::ReleaseQueue { queue }).boxed()),
        (
            4,
            (b(), any::<u16>(), flag()).prop_map(|(block, offset, freed)| Op::Inspect { block, offset, freed }).boxed(),
        ),
        (3, (b(), b(), b(), b()).prop_map(|(what, queue, block, pool)| Op::Wrong { what, queue, block, pool }).boxed()),
    ];
    if gates > 0 {
        list.push((gates, (b(), flag()).prop_map(|(queue, event)| Op::Close { queue, event }).boxed()));
        list.push((gates / 2, Just(Op::Open).boxed()));
        list.push((2 * gates, (b(), flag()).prop_map(|(event, wait)| Op::Ask { event, wait }).boxed()));
        list.push((gates, (b(), b()).prop_map(|(event, more)| Op::WaitHere { event, more }).boxed()));
        list.push((gates, b().prop_map(|queue| Op::Finish { queue }).boxed()));
    }
    list.retain(|(weight, _)| *weight > 0);
    proptest::strategy::Union::new_weighted(list).boxed()
}

/// Few bits, and mostly none: which of the newest events a command waits for besides those it must.
fn few() -> BoxedStrategy<u8> {
    prop_oneof![5 => Just(0u8), 2 => (0u32..8).prop_map(|bit| 1u8 << bit), 1 => any::<u8>()].boxed()
}

fn likely() -> BoxedStrategy<bool> {
    prop_oneof![1 => Just(false), 3 => Just(true)].boxed()
}
