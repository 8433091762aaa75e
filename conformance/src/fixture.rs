//! What nearly every test starts from: its turn, the adapter's devices, a context over the first or all, and the accounts of
//! the simulated driver. When it goes, everything the test made must be gone and no misuse reported.

use core::ffi::{CStr, c_char, c_void};
use core::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ur_ffi::{
    ur_context_handle_t, ur_context_info_t, ur_device_handle_t, ur_kernel_handle_t, ur_logger_level_t,
    ur_platform_handle_t, ur_program_handle_t, ur_program_properties_t, ur_queue_flags_t, ur_queue_properties_t,
    ur_result_t,
};

use crate::memory::{self, Kind, Memory};
use crate::native::Hip;
use crate::sim::Counts;
use crate::{Context, Environment, Kernel, Program, Queue, Sim, ask, expect_success, loader, ok, query, ur};

/// So long something that goes late may take; a leak is found then.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);

static TURN: Mutex<()> = Mutex::new(());

/// What the adapter's debug mode found since the last test.
static FINDINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "C" fn keep_finding(_: ur_logger_level_t, text: *const c_char, _: *mut c_void) {
    // SAFETY: the adapter gives a C string that lives as long as the call.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    if text.contains("was written") {
        FINDINGS.lock().unwrap_or_else(PoisonError::into_inner).push(text.into_owned());
    }
}

/// Has the adapter's errors told here. A test that listens itself does so from then on.
fn listen_to_guards() {
    let level = ur_logger_level_t::ERROR;
    crate::ok!(Adapter.pfnSetLoggerCallback(crate::adapter(), Some(keep_finding), core::ptr::null_mut(), level));
}

/// The calling test's turn, for tests that need nothing else of a [`Fixture`].
pub fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program of `basic.ptx`, with the native objects that it takes.
struct Basic {
    program: Program,
    objects: Counts,
}

/// A test's surroundings. Made first, so that it goes last.
pub struct Fixture {
    /// The adapter's platform.
    pub platform: ur_platform_handle_t,
    /// Its devices.
    pub devices: Vec<ur_device_handle_t>,
    context: Option<Context>,
    sim: Option<Sim>,
    before: Counts,
    basic: Mutex<Option<Basic>>,
    late_releases: AtomicBool,
    leaks: AtomicBool,
    _turn: MutexGuard<'static, ()>,
}

// SAFETY: handles may be used from every thread by the API's rules; the guard, which stays where it is, is only kept.
unsafe impl Sync for Fixture {}

impl Fixture {
    /// Waits for the test's turn and makes the context.
    ///
    /// # Panics
    /// When the adapter has no device.
    #[must_use]
    pub fn new() -> Self {
        Self::over(1)
    }

    /// The same with a context over all devices.
    ///
    /// # Panics
    /// When the adapter has no device.
    #[must_use]
    pub fn over_all_devices() -> Self {
        Self::over(usize::MAX)
    }

    fn over(count: usize) -> Self {
        let turn = turn();
        let adapter = crate::adapter();
        let platforms = loader().platforms(adapter).unwrap_or_else(|error| panic!("{error}"));
        let Some(&platform) = platforms.first() else { panic!("the adapter has no platform: {}", crate::last_error()) };
        let devices = loader().devices(platform).unwrap_or_else(|error| panic!("{error}"));
        assert!(!devices.is_empty(), "the platform has no device");
        let sim = Sim::loaded();
        let before = sim.as_ref().map(Sim::objects).unwrap_or_default();
        if let Some(sim) = &sim {
            sim.clear_reports();
        }
        let mut fixture = Self {
            platform,
            devices,
            context: None,
            sim,
            before,
            basic: Mutex::new(None),
            late_releases: AtomicBool::new(false),
            leaks: AtomicBool::new(false),
            _turn: turn,
        };
        fixture.context = Some(fixture.context_of(&fixture.devices[..fixture.devices.len().min(count)]));
        // The context has opened the native library by now.
        crate::release_at_exit();
        if memory::is_guarded() {
            listen_to_guards();
        }
        fixture
    }

    /// The first device.
    #[must_use]
    pub fn device(&self) -> ur_device_handle_t {
        self.devices[0]
    }

    /// How many of the devices its context has.
    #[track_caller]
    #[must_use]
    pub fn devices_of_context(&self) -> usize {
        let count: u32 = query::get(ask!(Context.pfnGetInfo(self.context(), ur_context_info_t::NUM_DEVICES)));
        count as usize
    }

    /// The context.
    #[must_use]
    pub fn context(&self) -> ur_context_handle_t {
        self.context.as_ref().map_or(null_mut(), Context::handle)
    }

    /// The simulated driver, if the adapter runs on it. `needs_sim!` is the usual way to ask.
    #[must_use]
    pub fn sim(&self) -> Option<&Sim> {
        self.sim.as_ref()
    }

    /// A context over these devices.
    #[track_caller]
    #[must_use]
    pub fn context_of(&self, devices: &[ur_device_handle_t]) -> Context {
        let mut context = null_mut();
        let count = u32::try_from(devices.len()).unwrap_or(u32::MAX);
        ok!(Context.pfnCreate(count, devices.as_ptr(), null(), &raw mut context));
        Context::take(context)
    }

    /// A queue of the first device in the fixture's context.
    #[track_caller]
    #[must_use]
    pub fn queue(&self, flags: ur_queue_flags_t) -> Queue {
        self.queue_in(self.context(), self.device(), flags)
    }

    /// A queue of any context and device.
    #[track_caller]
    #[must_use]
    pub fn queue_in(&self, context: ur_context_handle_t, device: ur_device_handle_t, flags: ur_queue_flags_t) -> Queue {
        let properties = ur_queue_properties_t { flags, ..Default::default() };
        let mut queue = null_mut();
        ok!(Queue.pfnCreate(context, device, &raw const properties, &raw mut queue));
        Queue::take(queue)
    }

    /// A queue that keeps the order.
    #[track_caller]
    #[must_use]
    pub fn in_order(&self) -> Queue {
        self.queue(ur_queue_flags_t::empty())
    }

    /// A queue that keeps no order but the one it is told.
    #[track_caller]
    #[must_use]
    pub fn out_of_order(&self) -> Queue {
        self.queue(ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE)
    }

    /// USM memory of the fixture's context.
    #[track_caller]
    #[must_use]
    pub fn memory(&self, kind: Kind, bytes: usize) -> Memory<'_> {
        Memory::new(self, kind, bytes)
    }

    /// A program that is not built.
    ///
    /// # Errors
    /// What `urProgramCreateWithBinary` answers.
    pub fn unbuilt(&self, image: &[u8]) -> Result<Program, ur_result_t> {
        self.unbuilt_with(image, null())
    }

    /// The same with properties.
    ///
    /// # Errors
    /// As [`Fixture::unbuilt`].
    pub fn unbuilt_with(
        &self,
        image: &[u8],
        properties: *const ur_program_properties_t,
    ) -> Result<Program, ur_result_t> {
        self.unbuilt_in(self.context(), image, properties)
    }

    fn unbuilt_in(
        &self,
        context: ur_context_handle_t,
        image: &[u8],
        properties: *const ur_program_properties_t,
    ) -> Result<Program, ur_result_t> {
        let mut program: ur_program_handle_t = null_mut();
        let (mut device, mut length, mut bytes) = (self.device(), image.len(), image.as_ptr());
        let answer = ur!(Program.pfnCreateWithBinary(
            context,
            1,
            &raw mut device,
            &raw mut length,
            &raw mut bytes,
            properties,
            &raw mut program
        ));
        if answer == ur_result_t::SUCCESS { Ok(Program::take(program)) } else { Err(answer) }
    }

    /// The built program of an image of the kernels' folder, such as `basic.ptx`.
    #[track_caller]
    #[must_use]
    pub fn program(&self, image: &str) -> Program {
        self.program_in(self.context(), image)
    }

    /// The same in any context that has the first device.
    #[track_caller]
    #[must_use]
    pub fn program_in(&self, context: ur_context_handle_t, image: &str) -> Program {
        let image = Environment::get().image(image);
        let program = match self.unbuilt_in(context, &image, null()) {
            Ok(program) => program,
            Err(answer) => panic!("urProgramCreateWithBinary answers {answer:?}: {}", crate::last_error()),
        };
        ok!(Program.pfnBuild(context, program.handle(), null()));
        program
    }

    /// The built program of an image of the kernels' folder, on one device of the fixture's context.
    #[track_caller]
    #[must_use]
    pub fn program_on(&self, image: &str, mut device: ur_device_handle_t) -> Program {
        let (context, image) = (self.context(), Environment::get().image(image));
        let (mut length, mut bytes, mut program) = (image.len(), image.as_ptr(), null_mut());
        let (devices, lengths, images) = (&raw mut device, &raw mut length, &raw mut bytes);
        ok!(Program.pfnCreateWithBinary(context, 1, devices, lengths, images, null(), &raw mut program));
        let program = Program::take(program);
        ok!(Program.pfnBuild(context, program.handle(), null()));
        program
    }

    /// A kernel of a built program.
    #[track_caller]
    #[must_use]
    pub fn kernel(&self, program: &Program, name: &core::ffi::CStr) -> Kernel {
        let mut kernel: ur_kernel_handle_t = null_mut();
        let answer = ur!(Kernel.pfnCreate(program.handle(), name.as_ptr(), &raw mut kernel));
        expect_success(answer, "urKernelCreate");
        Kernel::take(kernel)
    }

    /// A kernel of `basic.ptx`. Its program is built for the first one and kept: loading another would wait for all that
    /// runs, gates too. What it takes of the native library is no object of the test's.
    #[track_caller]
    #[must_use]
    pub fn basic(&self, name: &core::ffi::CStr) -> Kernel {
        let mut basic = self.kept_basic();
        let basic = basic.get_or_insert_with(|| {
            let before = self.sim.as_ref().map(Sim::objects).unwrap_or_default();
            let program = self.program("basic.ptx");
            let mut objects = self.sim.as_ref().map(Sim::objects).unwrap_or_default();
            for (kind, count) in &mut objects {
                *count = count.saturating_sub(before.get(kind).copied().unwrap_or(0));
            }
            Basic { program, objects }
        });
        self.kernel(&basic.program, name)
    }

    fn kept_basic(&self) -> MutexGuard<'_, Option<Basic>> {
        self.basic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails unless nothing is alive that was not alive when the test began.
    #[track_caller]
    pub fn expect_no_new_objects(&self) {
        self.expect_none_left("the test");
    }

    /// The same in the middle of a test, with what was just tried.
    #[track_caller]
    pub fn expect_none_left(&self, what: &str) {
        self.wait_for_late_releases();
        let left = self.new_objects();
        assert!(left.is_empty(), "native objects are left behind: {left:?} after {what}");
    }

    /// The test had functions called back, which hold what they were given until they have returned: what is left at its
    /// end may take a moment to go.
    pub fn allow_late_releases(&self) {
        self.late_releases.store(true, Ordering::Relaxed);
    }

    /// The test makes giving back fail, so that contexts end with something in them.
    pub fn allow_leaks(&self) {
        self.leaks.store(true, Ordering::Relaxed);
    }

    /// What is alive that was not alive when the test began. An adapter may keep things for as long as it is in use, so it is
    /// given back first.
    fn new_objects(&self) -> Counts {
        let Some(sim) = &self.sim else { return Counts::new() };
        crate::renew_adapter();
        let mut left = sim.objects();
        let basic = self.kept_basic();
        let of_basic = |kind| basic.as_ref().and_then(|basic| basic.objects.get(kind)).copied().unwrap_or(0);
        for (kind, count) in &mut left {
            *count = count.saturating_sub(self.before.get(kind).copied().unwrap_or(0) + of_basic(kind));
        }
        if Hip::loaded().is_some() {
            // HIP has no contexts to give back; over CUDA it keeps the devices' own to the end.
            left.remove("primary context retain");
        }
        left.retain(|_, count| *count > 0);
        left
    }

    fn wait_for_late_releases(&self) {
        let begun = std::time::Instant::now();
        while self.late_releases.load(Ordering::Relaxed) && !self.new_objects().is_empty() && begun.elapsed() < PATIENCE
        {
            std::thread::yield_now();
        }
    }

    /// Takes what is alive now as what the test may leave, after it made the native library lose something.
    pub fn accept_objects(&mut self) {
        if self.sim.is_some() {
            crate::renew_adapter();
        }
        self.before = self.sim.as_ref().map(Sim::objects).unwrap_or_default();
        if let Some(basic) = &mut *self.kept_basic() {
            basic.objects.clear();
        }
    }
}

impl Default for Fixture {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        drop(self.kept_basic().take());
        drop(self.context.take());
        for &device in &self.devices {
            let _ = ur!(Device.pfnRelease(device));
        }
        let Some(sim) = &self.sim else { return };
        sim.let_go();
        // Before the faults are over: a device that was lost takes what was in it along.
        crate::renew_adapter();
        self.wait_for_late_releases();
        sim.clear_faults();
        let findings = std::mem::take(&mut *FINDINGS.lock().unwrap_or_else(PoisonError::into_inner));
        let mut reports = sim.reports();
        sim.clear_reports();
        if self.leaks.load(Ordering::Relaxed) {
            reports.retain(|(kind, _)| kind != "leak");
        }
        if std::thread::panicking() {
            // Often the reason.
            println!("the simulated driver reports: {reports:#?}");
        } else {
            assert!(reports.is_empty(), "the simulated driver reports misuse: {reports:#?}");
            assert!(findings.is_empty(), "guards of plain memory were written: {findings:#?}");
            self.expect_no_new_objects();
        }
    }
}
