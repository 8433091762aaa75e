//! Which versions of PTX there are for whom: tables of NVIDIA's manual "PTX ISA", "Release Notes".

/// The version of PTX that a driver for this release of CUDA takes.
#[must_use]
pub fn version_of_cuda(major: u32, minor: u32) -> (u32, u32) {
    match (major, minor) {
        (12, 6) => (8, 5),
        (12, 7..) => (8, minor - 1),
        (11.., _) => (major - 4, minor),
        (10, _) => (6, 3 + minor.min(2)),
        _ => (6, 0),
    }
}

/// The version of PTX that an architecture came with: whoever runs such a device takes at least that one.
#[must_use]
pub fn version_of_architecture(sm: u32) -> (u32, u32) {
    match sm {
        ..72 => (6, 0),
        72..75 => (6, 1),
        75..80 => (6, 3),
        80..86 => (7, 0),
        86 => (7, 1),
        87..89 => (7, 4),
        89..100 => (7, 8),
        100..103 => (8, 6),
        103..110 => (8, 8),
        120 => (8, 7),
        121 => (8, 8),
        _ => (9, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_release_of_cuda_takes_the_version_that_came_with_it() {
        let cases = [
            ((10, 2), (6, 5)),
            ((11, 0), (7, 0)),
            ((11, 8), (7, 8)),
            ((12, 4), (8, 4)),
            ((12, 5), (8, 5)),
            ((12, 6), (8, 5)),
            ((12, 7), (8, 6)),
            ((12, 8), (8, 7)),
            ((12, 9), (8, 8)),
            ((13, 0), (9, 0)),
            ((13, 1), (9, 1)),
        ];
        for ((major, minor), version) in cases {
            assert_eq!(version_of_cuda(major, minor), version, "CUDA {major}.{minor}");
        }
    }

    #[test]
    fn an_architecture_needs_no_more_than_the_first_release_that_knows_it() {
        let cases = [
            (75, (10, 0)),
            (80, (11, 0)),
            (86, (11, 1)),
            (90, (11, 8)),
            (100, (12, 7)),
            (120, (12, 8)),
            (110, (13, 0)),
        ];
        for (sm, (major, minor)) in cases {
            assert_eq!(version_of_architecture(sm), version_of_cuda(major, minor), "sm_{sm}");
        }
    }
}
