//! Before `cuInit`: one binary of its own, because initialisation is for the whole process.

#[macro_use]
mod driver;
use driver::*;

#[test]
fn calls_before_init_answer_not_initialized() {
    err!(3, cuDeviceGetCount(&mut 0));
    err!(3, cuCtxGetCurrent(&mut 0));
    err!(3, cuMemAlloc_v2(&mut 0, 64));
    assert_eq!(get!(cuDriverGetVersion()), 13000);
    err!(1, cuInit(1));
    err!(3, cuDeviceGetCount(&mut 0));
    ok!(cuInit(0));
    ok!(cuInit(0));
    assert_eq!(get!(cuDeviceGetCount()), 2);
    assert_eq!(c!(simcudaThreadCount()), 0);
    assert_eq!(c!(simcudaContextCount()), 0);
}
