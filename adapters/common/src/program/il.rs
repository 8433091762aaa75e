//! Programs of SPIR-V: which modules a device's image is made of, and the way from them to a loaded module.
//!
//! A module is read when its program is made, and translated and compiled when it is built: whole, since a failure is told by the
//! build and not by the first kernel. The devices of one build are worked for side by side, one thread each, and what suits
//! several of them is compiled once. No lock that others need is held over that: a build has a lock of its own for each image, and
//! whoever asks meanwhile is told that the build is in progress.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};
use ur_ffi::{
    ur_program_build_status_t, ur_program_handle_t, ur_program_properties_t, ur_result_t,
    ur_specialization_constant_info_t,
};

use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::device::deferred::refuse_in_task;
use crate::device::relief::reclaiming;
use crate::driver::{BuildRequest, CheckedImage, Driver, SpirvTarget};
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::object::{Object, null_pointer};
use crate::program::build::{LOADING, Made, all_or_none, already_built, as_failure, load_native, split_options};
use crate::program::spirv::{self, BuildOptions, Kernel, Product, Request, Source};
use crate::program::{Program, Target, metadata_of};

/// Bytes of stack of a thread that compiles: what programs' main threads have, since LLVM recurses.
const COMPILER_STACK: usize = 8 << 20;

/// What one device's image is made of.
pub struct Il {
    /// The modules, with the constants that were set. A leaf.
    sources: Mutex<Vec<Source>>,
    /// What it is compiled to.
    target: SpirvTarget,
    /// Most threads of a work-group on the device.
    max_threads: u32,
    /// What the modules say of their kernels, read once somebody asks.
    kernels: OnceLock<Vec<Kernel>>,
}

impl Il {
    /// Modules for a device.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` when nothing compiles for its loader.
    fn new<D: Driver>(call: &str, device: &Device<D>, sources: Vec<Source>) -> Result<Self> {
        let properties = &device.properties;
        let target = properties.spirv.clone().ok_or_else(|| no_compiler(call, &properties.architecture))?;
        Ok(Self {
            sources: Mutex::new(sources),
            target,
            max_threads: properties.max_threads_per_block,
            kernels: OnceLock::new(),
        })
    }

    /// A module for a device, copied unless another device of the program has it.
    ///
    /// # Errors
    /// As [`Source::new`]; `UNSUPPORTED_FEATURE` when nothing compiles for the device's loader.
    pub(super) fn shared<D: Driver>(
        call: &str,
        device: &Device<D>,
        bytes: &[u8],
        others: &[Target<D>],
    ) -> Result<Self> {
        let mut known = others.iter().filter_map(|target| target.il.as_ref()?.sources.lock().first().cloned());
        let source = match known.find(|source| source.bytes() == bytes) {
            Some(source) => source,
            None => Source::new(bytes).map_err(|error| error.named(call))?,
        };
        Self::new(call, device, vec![source])
    }

    /// The modules with their constants.
    pub(super) fn sources(&self) -> Vec<Source> {
        self.sources.lock().clone()
    }

    /// What they are compiled to.
    pub(super) fn target(&self) -> SpirvTarget {
        self.target.clone()
    }

    /// What the modules say of their kernels.
    ///
    /// # Errors
    /// As [`Source::kernels`].
    pub fn kernels(&self) -> Result<&[Kernel]> {
        if let Some(known) = self.kernels.get() {
            return Ok(known);
        }
        let mut kernels = Vec::new();
        for source in self.sources() {
            kernels.extend(source.kernels()?);
        }
        Ok(self.kernels.get_or_init(|| kernels))
    }

    /// What they say of one kernel.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels().ok()?.iter().find(|kernel| kernel.name == name)
    }

    /// Bytes of each parameter of a kernel, for drivers that do not tell them.
    #[must_use]
    pub fn parameter_sizes(&self, kernel: &str) -> Option<Vec<usize>> {
        let sizes = self.kernel(kernel)?.parameters.iter().map(|parameter| usize::try_from(parameter.size));
        sizes.collect::<std::result::Result<_, _>>().ok()
    }

    fn compile(&self, sources: &[Source], options: &BuildOptions, allows_imports: bool) -> Result<Product> {
        spirv::compile(&self.request(sources, options, allows_imports))
    }

    fn request<'a>(&self, sources: &'a [Source], options: &'a BuildOptions, allows_imports: bool) -> Request<'a> {
        let (target, max_threads) = (self.target.clone(), self.max_threads);
        Request { sources, target, max_threads, options, global_offset: false, allows_imports }
    }
}

#[cold]
fn no_compiler(call: &str, architecture: &str) -> Error {
    Error::new(
        ur_result_t::ERROR_UNSUPPORTED_FEATURE,
        format!(
            "{call}: SPIR-V is compiled to PTX or for amdgcn, and the loader of {architecture} takes neither; give its machine code to \
             urProgramCreateWithBinary"
        ),
    )
}

/// `urProgramCreateWithIL`: for every device of the context.
///
/// # Errors
/// `INVALID_BINARY` for what is no SPIR-V or is wrong, with word and instruction; `UNSUPPORTED_FEATURE` for a version that is
/// unknown, and for devices for whose loader nothing compiles; what is wrong with the metadata.
pub fn create<D: Driver>(
    context: &Object<Context<D>>,
    bytes: &[u8],
    properties: Option<&ur_program_properties_t>,
    out: Out<'_, ur_program_handle_t>,
) -> Result<()> {
    const NAME: &str = "urProgramCreateWithIL";
    let metadata = metadata_of(NAME, properties)?;
    let mut targets = Vec::new();
    for device in context.devices() {
        let il = Il::shared(NAME, device, bytes, &targets)?;
        targets.push(Target::of_il(Arc::clone(device), il));
    }
    out.write_object(Object::new(Program { context: context.to_arc(), metadata, targets }));
    Ok(())
}

/// `urProgramSetSpecializationConstants`.
///
/// # Errors
/// `UNSUPPORTED_FEATURE` for device code, `INVALID_OPERATION` for a program that is built, `INVALID_NULL_POINTER`, and
/// `INVALID_VALUE` for a value that has not the constant's size. Then none is set.
pub fn set_constants<D: Driver>(
    program: &Object<Program<D>>,
    list: &[ur_specialization_constant_info_t],
) -> Result<()> {
    const NAME: &str = "urProgramSetSpecializationConstants";
    let ils: Vec<&Il> = program.targets.iter().filter_map(|target| target.il.as_ref()).collect();
    if ils.is_empty() {
        return Err(Error::unsupported(&format!("{NAME} (device code has its constants compiled in)")));
    }
    // A build has taken the constants that it uses.
    let idle: Option<Vec<_>> = program.targets.iter().map(|target| target.building.try_lock()).collect();
    if idle.is_none() || !program.modules().is_empty() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_OPERATION,
            format!("{NAME}: the program is built or being built; set its constants before urProgramBuild"),
        ));
    }
    let mut values = BTreeMap::new();
    for constant in list {
        if constant.pValue.is_null() {
            return Err(null_pointer(NAME));
        }
        // SAFETY: the specification lets the value be readable for its size.
        let bytes = unsafe { core::slice::from_raw_parts(constant.pValue.cast::<u8>(), constant.size) };
        values.insert(constant.id, bytes.to_vec());
    }
    let mut changed = Vec::with_capacity(ils.len());
    for il in &ils {
        let mut sources = il.sources();
        for source in &mut sources {
            source.specialise(&values).map_err(|error| error.named(NAME))?;
        }
        changed.push(sources);
    }
    for (il, sources) in ils.into_iter().zip(changed) {
        *il.sources.lock() = sources;
    }
    Ok(())
}

/// The module's bytes; nothing for device code.
pub(super) fn bytes_of<D: Driver>(program: &Program<D>) -> Arc<[u8]> {
    let mut sources = program.targets.iter().filter_map(|target| target.il.as_ref()?.sources.lock().first().cloned());
    sources.next().map_or_else(|| Arc::from([]), |source| source.shared_bytes())
}

/// One build for some devices of a program.
struct Build<'a, D: Driver> {
    program: &'a Program<D>,
    /// The options as they were given.
    text: &'a str,
    options: BuildOptions,
    /// What is compiled, once for all devices that it suits.
    groups: Vec<Group>,
}

/// What the images of some devices are made of, and what became of it.
struct Group {
    sources: Vec<Source>,
    target: SpirvTarget,
    max_threads: u32,
    product: OnceLock<Result<Product>>,
}

impl Group {
    fn suits(&self, il: &Il, sources: &[Source]) -> bool {
        self.target == il.target && self.max_threads == il.max_threads && self.sources == sources
    }
}

/// Builds for devices of a program of which some have SPIR-V.
///
/// # Errors
/// The first device's: `INVALID_OPERATION` once there is a module, and in the function of a host task; as [`spirv::compile`]; `PROGRAM_BUILD_FAILURE` with the words of the
/// native loader.
pub(super) fn build<D: Driver>(program: &Program<D>, targets: &[&Target<D>], options: &str) -> Result<()> {
    // Its threads do not know whom they build for.
    refuse_in_task(LOADING)?;
    let mut build =
        Build { program, text: options, options: BuildOptions::parse(&split_options(options)?), groups: Vec::new() };
    let work: Vec<(&Target<D>, usize)> = targets.iter().map(|target| (*target, build.group_of(target))).collect();
    let Some((first, others)) = work.split_first() else { return Ok(()) };
    let build = &build;
    let run = move |(target, group): &(&Target<D>, usize)| build.run(target, *group);
    if others.is_empty() {
        return run(first).map(drop);
    }
    std::thread::scope(|scope| {
        let thread = || std::thread::Builder::new().name("ur-build".to_owned()).stack_size(COMPILER_STACK);
        let start = |work| thread().spawn_scoped(scope, move || run(work));
        let threads: Vec<_> = others.iter().map(start).collect();
        let mut built = vec![(first.0, run(first))];
        for (work, thread) in others.iter().zip(threads) {
            let made = match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(_) => run(work),
            };
            built.push((work.0, made));
        }
        all_or_none(built)
    })
}

impl<D: Driver> Build<'_, D> {
    /// The group of a device's image, a new one if nobody has the same. Of a device without SPIR-V it means nothing.
    fn group_of(&mut self, target: &Target<D>) -> usize {
        let Some(il) = &target.il else { return 0 };
        let sources = il.sources();
        if let Some(known) = self.groups.iter().position(|group| group.suits(il, &sources)) {
            return known;
        }
        self.groups.push(Group {
            sources,
            target: il.target.clone(),
            max_threads: il.max_threads,
            product: OnceLock::new(),
        });
        self.groups.len() - 1
    }

    fn run(&self, target: &Target<D>, group: usize) -> Made<D> {
        let Some(il) = &target.il else { return self.program.load_image(target, self.text) };
        let state = self.program.context.state(&target.device)?;
        let building = target.begin_loading()?;
        target.begin(&building, self.text)?;
        let group = &self.groups[group];
        let compiled = group.product.get_or_init(|| il.compile(&group.sources, &self.options, false));
        let made = compiled.clone().and_then(|product| {
            let image = CheckedImage::new(state.driver, &product.image)?;
            Ok((Arc::new(image), product.log))
        });
        let (image, log) = made.map_err(|error| target.refuse(self.text, build_failure(error)))?;
        target.set_image(image);
        // Constants that were set since the build began are for another one.
        il.sources.lock().clone_from(&group.sources);
        load(&building, &state, target, self.text, &self.options, &log)
    }
}

/// What a build calls a link's failure.
fn build_failure(error: Error) -> Error {
    match error.code() {
        ur_result_t::ERROR_PROGRAM_LINK_FAILURE => error.with_code(ur_result_t::ERROR_PROGRAM_BUILD_FAILURE),
        _ => error,
    }
}

/// Loads the image that was made, with the loader's words behind `log`.
fn load<D: Driver>(
    building: &MutexGuard<'_, ()>,
    state: &Arc<DeviceState<D>>,
    target: &Target<D>,
    text: &str,
    options: &BuildOptions,
    log: &str,
) -> Made<D> {
    let image = target.image().ok_or_else(already_built)?;
    reclaiming(&state.device, || {
        target.step(building, state, text, |driver, request| {
            let mut loading = BuildRequest { options: &options.loader, log: String::new() };
            let loaded = load_native(driver, &image, &mut loading);
            let said = match &loaded {
                Err(error) if loading.log.is_empty() => error.message(),
                _ => &loading.log,
            };
            request.log = format!("{log}{said}");
            loaded.map(Some)
        })
    })
}

impl<D: Driver> Target<D> {
    /// Whether its image may have a kernel of that name. What an image of SPIR-V has beside the module's own kernels is the engine's.
    pub fn may_have_kernel(&self, name: &str) -> bool {
        self.il.as_ref().is_none_or(|il| il.kernel(name).is_some())
    }

    /// Keeps what the compiler said as the log of a build that failed.
    fn refuse(&self, options: &str, error: Error) -> Error {
        let mut build = self.build.lock();
        build.told.status = ur_program_build_status_t::ERROR;
        options.clone_into(&mut build.told.options);
        error.message().clone_into(&mut build.told.log);
        error
    }
}

/// Compiles for a later link: translates, and keeps what there is to say.
///
/// # Errors
/// `INVALID_OPERATION` once there is a module; as [`spirv::check`].
pub(super) fn check<D: Driver>(program: &Program<D>, target: &Target<D>, il: &Il, options: &str) -> Result<()> {
    let parsed = BuildOptions::parse(&split_options(options)?);
    let state = program.context.state(&target.device)?;
    let building = target.begin_compiling()?;
    target.begin(&building, options)?;
    let log = spirv::check(&il.request(&il.sources(), &parsed, true)).map_err(|error| target.refuse(options, error))?;
    let step = target.step(&building, &state, options, |_, request| {
        request.log = log;
        Ok(None)
    });
    step.map(drop)
}

/// The image of a program that is to be linked with others by the native linker.
///
/// # Errors
/// As [`spirv::compile`].
pub(super) fn image_for_link<D: Driver>(
    driver: &D,
    target: &Target<D>,
    options: &BuildOptions,
) -> Result<Arc<CheckedImage<D>>> {
    match (&target.il, target.image()) {
        (Some(il), _) => {
            let product = il.compile(&il.sources(), options, true)?;
            Ok(Arc::new(CheckedImage::new(driver, &product.image)?))
        }
        (None, Some(image)) => Ok(image),
        (None, None) => Err(Error::new(
            ur_result_t::ERROR_INVALID_PROGRAM,
            "a program that was made of a native module has no image to link",
        )),
    }
}

/// Links modules into one program for a device, by the compiler. `None` if some program has no SPIR-V.
///
/// # Errors
/// `PROGRAM_LINK_FAILURE` with names that are missing or what the compiler says; as [`spirv::compile`].
pub(super) fn link<D: Driver>(
    context: &Context<D>,
    device: &Object<Device<D>>,
    inputs: &[&Target<D>],
    options: &str,
) -> Result<Option<Target<D>>> {
    const FAILURE: ur_result_t = ur_result_t::ERROR_PROGRAM_LINK_FAILURE;
    let Some(ils) = inputs.iter().map(|target| target.il.as_ref()).collect::<Option<Vec<&Il>>>() else {
        return Ok(None);
    };
    let state = context.state(device)?;
    let parsed = BuildOptions::parse(&split_options(options)?);
    let il = Il::new("urProgramLink", device, ils.into_iter().flat_map(Il::sources).collect())?;
    let compiled = il.compile(&il.sources(), &parsed, false);
    let product = compiled.map_err(|error| match error.code() {
        ur_result_t::ERROR_PROGRAM_BUILD_FAILURE => error.with_code(FAILURE),
        _ => error,
    })?;
    let image = CheckedImage::new(state.driver, &product.image)?;
    let target = Target::of_il(device.to_arc(), il);
    target.set_image(Arc::new(image));
    let loaded = {
        let building = target.begin_loading()?;
        target.begin(&building, options)?;
        load(&building, &state, &target, options, &parsed, &product.log)
    };
    loaded.map_err(|error| as_failure(error, "", FAILURE))?;
    Ok(Some(target))
}
