//! The families of programs: what each is about, and its share of all programs.

use ur_model::Profile;

/// A family of programs and how many of a hundred it runs.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The test of `programs.rs` that runs it.
    pub test: &'static str,
    pub profile: Profile,
    pub percent: u64,
}

pub const IN_ORDER: Family = Family {
    test: "programs_of_in_order_queues_do_what_the_model_says",
    profile: Profile {
        name: "in order",
        queues: 3,
        devices: 1,
        out_of_order: 0,
        ops: 50,
        churn: 14,
        pools: 0,
        gates: 0,
    },
    percent: 30,
};

pub const OUT_OF_ORDER: Family = Family {
    test: "programs_of_out_of_order_queues_do_what_the_model_says",
    profile: Profile { name: "out of order", out_of_order: 6, ..IN_ORDER.profile },
    percent: 20,
};

pub const TWO_DEVICES: Family = Family {
    test: "programs_over_two_devices_do_what_the_model_says",
    profile: Profile { name: "two devices", queues: 4, devices: 2, out_of_order: 2, ..IN_ORDER.profile },
    percent: 15,
};

pub const STATISTICS: Family = Family {
    test: "pools_and_their_statistics_do_what_the_model_says",
    profile: Profile { name: "statistics", out_of_order: 2, pools: 8, ..IN_ORDER.profile },
    percent: 20,
};

pub const GATES: Family = Family {
    test: "work_before_a_closed_gate_finishes_whatever_comes_behind_it",
    profile: Profile { name: "gates", out_of_order: 2, gates: 8, ..IN_ORDER.profile },
    percent: 15,
};

/// All of them.
pub const ALL: [Family; 5] = [IN_ORDER, OUT_OF_ORDER, TWO_DEVICES, STATISTICS, GATES];
