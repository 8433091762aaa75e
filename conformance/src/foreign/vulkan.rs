//! Vulkan 1.2 on the device that the adapter calls by the same UUID: one exported buffer, exported semaphores, one queue.
//!
//! The library is opened at run time. Every call is made as Vulkan's valid usage asks, and an error ends the test, so handles
//! live from [`Vulkan::new`] to the drop, which waits for the device. The memory changes hands by the barriers that Vulkan has
//! for foreign queues.

use std::collections::VecDeque;
use std::ffi::{CStr, OsString};
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, OwnedFd};

use ash::vk::Handle as _;
use ash::{Entry, khr, vk};

use super::{Peer, SemaphoreKind, Step, Wanted};

/// Submissions in flight before the oldest is waited for.
const IN_FLIGHT: usize = 64;
/// So long a submission may take, in nanoseconds; only one that would never end does.
const PATIENCE_NS: u64 = 60_000_000_000;

const EXTENSIONS: [&CStr; 2] = [khr::external_memory_fd::NAME, khr::external_semaphore_fd::NAME];
const MEMORY_TYPE: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
const SEMAPHORE_TYPE: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;

/// A buffer with memory of its own.
struct Buffer {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    size: u64,
}

/// The other API as Vulkan.
pub struct Vulkan {
    // Declared in the order in which they are made; the drop ends them backwards.
    _entry: Entry,
    instance: ash::Instance,
    device: ash::Device,
    family: u32,
    queue: vk::Queue,
    commands: vk::CommandPool,
    memory_fd: khr::external_memory_fd::Device,
    semaphore_fd: khr::external_semaphore_fd::Device,
    shared: Buffer,
    read_back: Buffer,
    semaphores: Vec<(vk::Semaphore, SemaphoreKind)>,
    in_flight: VecDeque<(vk::CommandBuffer, vk::Fence)>,
    /// Bytes of the shared memory that are used.
    bytes: u64,
    reads: u64,
    most_reads: u64,
    /// Whether the shared buffer was given to the foreign API before.
    given: bool,
}

/// The library that `UR_TEST_VULKAN` names, the system's loader, or NVIDIA's driver without one.
fn open() -> Result<Entry, String> {
    // SAFETY: opening a Vulkan library runs its initialisers, which is what the test is for.
    let open = |name: OsString| unsafe { Entry::load_from(&name) }.map_err(|error| format!("{name:?}: {error}"));
    if let Some(name) = std::env::var_os("UR_TEST_VULKAN").filter(|name| !name.is_empty()) {
        return open(name);
    }
    open("libvulkan.so.1".into()).or_else(|first| {
        // SAFETY: as above.
        let driver = unsafe { libloading::Library::new("libGLX_nvidia.so.0") }.map_err(|_| first.clone())?;
        of_driver(driver).ok_or_else(|| {
            format!(
                "{first}, and libGLX_nvidia.so.0 makes no instance without that loader: install libvulkan1, or name \
                 another library by UR_TEST_VULKAN"
            )
        })
    })
}

/// A driver as it gives itself to loaders, which tell it their version first; `None` if it makes no instance so.
fn of_driver(driver: libloading::Library) -> Option<Entry> {
    type Negotiate = unsafe extern "C" fn(*mut u32) -> vk::Result;
    // Never closed again: the entry leads there.
    let driver = ManuallyDrop::new(driver);
    // SAFETY: functions of the interface between loaders and drivers, with its signatures; the version is a live local, and the name ends
    // with a zero.
    unsafe {
        if let Ok(negotiate) = driver.get::<Negotiate>(b"vk_icdNegotiateLoaderICDInterfaceVersion\0") {
            let _ = negotiate(&mut 5);
        }
        let get = driver.get::<vk::PFN_vkGetInstanceProcAddr>(b"vk_icdGetInstanceProcAddr\0").ok()?;
        get(vk::Instance::null(), c"vkCreateInstance".as_ptr())?;
        Some(Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: *get }))
    }
}

fn done<T>(call: &str, result: Result<T, vk::Result>) -> T {
    result.unwrap_or_else(|error| panic!("{call} answers {error:?}"))
}

/// The physical device with that UUID, and a queue family that copies and fills.
fn find(instance: &ash::Instance, uuid: [u8; 16]) -> Result<(vk::PhysicalDevice, u32), String> {
    // SAFETY: the instance is alive, here and below.
    let all = done("vkEnumeratePhysicalDevices", unsafe { instance.enumerate_physical_devices() });
    let mut seen = Vec::new();
    for physical in all {
        let mut identity = vk::PhysicalDeviceIDProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut identity);
        // SAFETY: the output has the chain that it is told.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let version = properties.properties.api_version;
        seen.push(format!("{:02x?}", identity.device_uuid));
        if identity.device_uuid != uuid {
            continue;
        }
        if version < vk::API_VERSION_1_2 {
            return Err(format!("the device's driver has Vulkan {version:#x}, not 1.2"));
        }
        // SAFETY: the physical device is the instance's.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        let works = |family: &vk::QueueFamilyProperties| {
            family.queue_flags.intersects(vk::QueueFlags::COMPUTE | vk::QueueFlags::GRAPHICS)
        };
        let family = families.iter().position(works).ok_or("the device has no queue that computes")?;
        return Ok((physical, u32::try_from(family).unwrap_or(0)));
    }
    Err(format!("no Vulkan device has the UUID {uuid:02x?}; there are {seen:?}"))
}

impl Vulkan {
    /// The peer on the device of that UUID.
    ///
    /// # Errors
    /// Why there is none: no Vulkan, no such device, or one that exports nothing.
    ///
    /// # Panics
    /// When a call of a driver that has all this fails.
    pub fn new(uuid: [u8; 16], wanted: Wanted<'_>) -> Result<Self, String> {
        let entry = open()?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
        let create = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the descriptions are live locals, here and below.
        let instance =
            unsafe { entry.create_instance(&create, None) }.map_err(|error| format!("no instance: {error:?}"))?;
        let found = find(&instance, uuid).and_then(|(physical, family)| {
            let device = create_device(&instance, physical, family)?;
            Ok((physical, family, device))
        });
        let (physical, family, device) = match found {
            Ok(found) => found,
            Err(why) => {
                // SAFETY: nothing was made of the instance.
                unsafe { instance.destroy_instance(None) };
                return Err(why);
            }
        };
        // SAFETY: the family has one queue, which the device was made with.
        let queue = unsafe { device.get_device_queue(family, 0) };
        let create = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: as above.
        let commands = done("vkCreateCommandPool", unsafe { device.create_command_pool(&create, None) });
        // SAFETY: the physical device is the instance's.
        let types = unsafe { instance.get_physical_device_memory_properties(physical) };
        let (bytes, most_reads) = (wanted.bytes as u64, wanted.reads.max(1) as u64);
        let shared = shared_buffer(&device, &types, bytes);
        let read_back = host_buffer(&device, &types, bytes * most_reads);
        let semaphores = wanted.semaphores.iter().map(|kind| (semaphore(&device, *kind), *kind)).collect();
        Ok(Self {
            memory_fd: khr::external_memory_fd::Device::new(&instance, &device),
            semaphore_fd: khr::external_semaphore_fd::Device::new(&instance, &device),
            _entry: entry,
            instance,
            device,
            family,
            queue,
            commands,
            shared,
            read_back,
            semaphores,
            in_flight: VecDeque::new(),
            bytes,
            reads: 0,
            most_reads,
            given: false,
        })
    }

    /// Hands the shared buffer from or to the foreign API.
    fn hand_over(&self, commands: vk::CommandBuffer, to_foreign: bool) {
        let own = vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE;
        let (from, to) = (self.family, vk::QUEUE_FAMILY_EXTERNAL);
        let (from, to) = if to_foreign { (from, to) } else { (to, from) };
        let nothing = vk::AccessFlags::empty();
        let (before, after) = if to_foreign { (own, nothing) } else { (nothing, own) };
        let barrier = vk::BufferMemoryBarrier::default()
            .src_access_mask(before)
            .dst_access_mask(after)
            .src_queue_family_index(from)
            .dst_queue_family_index(to)
            .buffer(self.shared.buffer)
            .size(vk::WHOLE_SIZE);
        let (transfer, all) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::ALL_COMMANDS);
        let (before, after) = if to_foreign { (transfer, all) } else { (all, transfer) };
        let none = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is being recorded, and the buffer lives as long as the peer.
        unsafe { self.device.cmd_pipeline_barrier(commands, before, after, none, &[], &[barrier], &[]) };
    }

    fn record(&mut self, commands: vk::CommandBuffer, step: Step) {
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: a new command buffer.
        done("vkBeginCommandBuffer", unsafe { self.device.begin_command_buffer(commands, &begin) });
        if core::mem::replace(&mut self.given, true) {
            self.hand_over(commands, false);
        }
        if step.read {
            assert!(self.reads < self.most_reads, "more reads than the peer was made for");
            let copy = vk::BufferCopy { src_offset: 0, dst_offset: self.reads * self.bytes, size: self.bytes };
            self.reads += 1;
            let reading = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ);
            let (transfer, host) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
            let none = vk::DependencyFlags::empty();
            // SAFETY: both buffers have the bytes and live as long as the peer. The fill comes after the copy.
            unsafe {
                self.device.cmd_copy_buffer(commands, self.shared.buffer, self.read_back.buffer, &[copy]);
                self.device.cmd_pipeline_barrier(commands, transfer, transfer | host, none, &[reading], &[], &[]);
            }
        }
        if let Some(word) = step.fill {
            // SAFETY: the buffer has the bytes, a multiple of 4.
            unsafe { self.device.cmd_fill_buffer(commands, self.shared.buffer, 0, self.bytes, word) };
        }
        self.hand_over(commands, true);
        // SAFETY: what was begun above.
        done("vkEndCommandBuffer", unsafe { self.device.end_command_buffer(commands) });
    }

    /// Waits for the oldest submission and ends what it used.
    fn retire_oldest(&mut self) {
        let Some((commands, fence)) = self.in_flight.pop_front() else { return };
        // SAFETY: both were made by `submit`; the fence says that the device is done with them.
        unsafe {
            done("vkWaitForFences", self.device.wait_for_fences(&[fence], true, PATIENCE_NS));
            self.device.destroy_fence(fence, None);
            self.device.free_command_buffers(self.commands, &[commands]);
        }
    }
}

fn create_device(instance: &ash::Instance, physical: vk::PhysicalDevice, family: u32) -> Result<ash::Device, String> {
    // SAFETY: the physical device is the instance's.
    let known = done("vkEnumerateDeviceExtensionProperties", unsafe {
        instance.enumerate_device_extension_properties(physical)
    });
    let has = |name: &CStr| known.iter().any(|one| one.extension_name_as_c_str().is_ok_and(|known| known == name));
    if let Some(name) = EXTENSIONS.iter().find(|name| !has(name)) {
        return Err(format!("the device's driver has no {}", name.to_string_lossy()));
    }
    let queue = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let names = EXTENSIONS.map(CStr::as_ptr);
    let mut features = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
    let create = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queue)
        .enabled_extension_names(&names)
        .push_next(&mut features);
    // SAFETY: the description is a live local; Vulkan 1.2 has timeline semaphores.
    unsafe { instance.create_device(physical, &create, None) }.map_err(|error| format!("no device: {error:?}"))
}

/// The first kind of memory that a buffer can have with these properties.
fn memory_type(
    types: &vk::PhysicalDeviceMemoryProperties,
    needed: &vk::MemoryRequirements,
    flags: vk::MemoryPropertyFlags,
) -> u32 {
    let found = (0_u32..)
        .zip(types.memory_types_as_slice())
        .find(|(index, kind)| needed.memory_type_bits & (1 << index) != 0 && kind.property_flags.contains(flags));
    found.map(|(index, _)| index).expect("memory for a buffer")
}

/// A buffer of the device's own memory that is exported.
fn shared_buffer(device: &ash::Device, types: &vk::PhysicalDeviceMemoryProperties, bytes: u64) -> Buffer {
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(MEMORY_TYPE);
    let create = vk::BufferCreateInfo::default()
        .size(bytes)
        .usage(vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST)
        .push_next(&mut external);
    // SAFETY: the descriptions are live locals, and the device is alive.
    unsafe {
        let buffer = done("vkCreateBuffer", device.create_buffer(&create, None));
        let needed = device.get_buffer_memory_requirements(buffer);
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(MEMORY_TYPE);
        let allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(needed.size)
            .memory_type_index(memory_type(types, &needed, vk::MemoryPropertyFlags::DEVICE_LOCAL))
            .push_next(&mut export);
        let memory = done("vkAllocateMemory", device.allocate_memory(&allocate, None));
        done("vkBindBufferMemory", device.bind_buffer_memory(buffer, memory, 0));
        Buffer { buffer, memory, size: needed.size }
    }
}

/// A buffer that the host reads.
fn host_buffer(device: &ash::Device, types: &vk::PhysicalDeviceMemoryProperties, bytes: u64) -> Buffer {
    let create = vk::BufferCreateInfo::default().size(bytes).usage(vk::BufferUsageFlags::TRANSFER_DST);
    let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    // SAFETY: as above.
    unsafe {
        let buffer = done("vkCreateBuffer", device.create_buffer(&create, None));
        let needed = device.get_buffer_memory_requirements(buffer);
        let allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(needed.size)
            .memory_type_index(memory_type(types, &needed, host));
        let memory = done("vkAllocateMemory", device.allocate_memory(&allocate, None));
        done("vkBindBufferMemory", device.bind_buffer_memory(buffer, memory, 0));
        Buffer { buffer, memory, size: needed.size }
    }
}

/// An exported semaphore.
fn semaphore(device: &ash::Device, kind: SemaphoreKind) -> vk::Semaphore {
    let kind = match kind {
        SemaphoreKind::Binary => vk::SemaphoreType::BINARY,
        SemaphoreKind::Timeline => vk::SemaphoreType::TIMELINE,
    };
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(kind);
    let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(SEMAPHORE_TYPE);
    let create = vk::SemaphoreCreateInfo::default().push_next(&mut kind).push_next(&mut export);
    // SAFETY: the descriptions are live locals, and the device is alive.
    done("vkCreateSemaphore", unsafe { device.create_semaphore(&create, None) })
}

impl Peer for Vulkan {
    fn memory(&self) -> OwnedFd {
        let get = vk::MemoryGetFdInfoKHR::default().memory(self.shared.memory).handle_type(MEMORY_TYPE);
        // SAFETY: the memory is exportable; the descriptor is made for the caller.
        unsafe { OwnedFd::from_raw_fd(done("vkGetMemoryFdKHR", self.memory_fd.get_memory_fd(&get))) }
    }

    fn import_size(&self) -> usize {
        usize::try_from(self.shared.size).expect("a size")
    }

    fn semaphore(&self, index: usize) -> OwnedFd {
        let get = vk::SemaphoreGetFdInfoKHR::default().semaphore(self.semaphores[index].0).handle_type(SEMAPHORE_TYPE);
        // SAFETY: the semaphore is exportable; the descriptor is made for the caller.
        unsafe { OwnedFd::from_raw_fd(done("vkGetSemaphoreFdKHR", self.semaphore_fd.get_semaphore_fd(&get))) }
    }

    fn submit(&mut self, step: Step) {
        if self.in_flight.len() == IN_FLIGHT {
            self.retire_oldest();
        }
        let allocate = vk::CommandBufferAllocateInfo::default().command_pool(self.commands).command_buffer_count(1);
        // SAFETY: the pool is alive and used by this thread alone.
        let commands = done("vkAllocateCommandBuffers", unsafe { self.device.allocate_command_buffers(&allocate) })[0];
        self.record(commands, step);
        // SAFETY: the description is a live local.
        let fence = done("vkCreateFence", unsafe { self.device.create_fence(&vk::FenceCreateInfo::default(), None) });
        let of = |point: Option<(usize, u64)>| {
            point.map_or((Vec::new(), Vec::new()), |(index, value)| (vec![self.semaphores[index].0], vec![value]))
        };
        let ((waits, wait_values), (signals, signal_values)) = (of(step.wait), of(step.signal));
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()];
        let commands_list = [commands];
        // Values of binary semaphores are ignored.
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&wait_values)
            .signal_semaphore_values(&signal_values);
        let submit = vk::SubmitInfo::default()
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .command_buffers(&commands_list)
            .signal_semaphores(&signals)
            .push_next(&mut values);
        // SAFETY: all of it lives until the fence is signalled, and the queue is used by this thread alone.
        done("vkQueueSubmit", unsafe { self.device.queue_submit(self.queue, &[submit], fence) });
        self.in_flight.push_back((commands, fence));
    }

    fn finish(&mut self) -> Vec<Vec<u32>> {
        while !self.in_flight.is_empty() {
            self.retire_oldest();
        }
        let count = usize::try_from(core::mem::take(&mut self.reads)).expect("a count");
        let words = usize::try_from(self.bytes / 4).expect("a size");
        if count == 0 {
            return Vec::new();
        }
        let none = vk::MemoryMapFlags::empty();
        // SAFETY: the memory is the host's to read, coherent, as large as all reads, and the device is done with it.
        unsafe {
            let memory = self.read_back.memory;
            let start = done("vkMapMemory", self.device.map_memory(memory, 0, vk::WHOLE_SIZE, none)).cast::<u32>();
            let read = core::slice::from_raw_parts(start, count * words).chunks(words).map(<[u32]>::to_vec).collect();
            self.device.unmap_memory(memory);
            read
        }
    }
}

impl Drop for Vulkan {
    fn drop(&mut self) {
        // SAFETY: everything was made here and is ended once, backwards, when the device is done with it.
        unsafe {
            // A test that fails may leave a wait that nobody signals; the device must not be waited for then.
            if std::thread::panicking() && self.in_flight.iter().any(|(_, fence)| !fence.is_null()) {
                return;
            }
            let _ = self.device.device_wait_idle();
            for (commands, fence) in self.in_flight.drain(..) {
                self.device.destroy_fence(fence, None);
                self.device.free_command_buffers(self.commands, &[commands]);
            }
            for (semaphore, _) in self.semaphores.drain(..) {
                self.device.destroy_semaphore(semaphore, None);
            }
            for buffer in [&self.read_back, &self.shared] {
                self.device.destroy_buffer(buffer.buffer, None);
                self.device.free_memory(buffer.memory, None);
            }
            self.device.destroy_command_pool(self.commands, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}
