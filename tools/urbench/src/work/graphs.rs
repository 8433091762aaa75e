//! Command buffers against raw graphs: recording, launching and changing them, and what their shapes and sizes pay.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use ur_client::ffi::{
    ur_exp_command_buffer_command_handle_t, ur_exp_command_buffer_desc_t, ur_exp_command_buffer_handle_t,
    ur_exp_command_buffer_sync_point_t, ur_exp_command_buffer_update_kernel_launch_desc_t,
    ur_exp_command_buffer_update_pointer_arg_desc_t, ur_exp_command_buffer_update_value_arg_desc_t,
    ur_exp_kernel_arg_properties_t, ur_kernel_handle_t,
};
use ur_client::{Ur, call, pointer_argument, value_argument};

use super::{Prepared, Sides, raw_of};
use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::{Body, Meter, straight};
use crate::options::Options;
use crate::raw::{Graph, Handle, Raw};

/// Steps of a kernel that takes a while: some ten microseconds on a GPU.
const STEPS: u32 = 3000;
/// Kernels between the ends of one diamond, and diamonds one after the other.
const WIDE: usize = 64;
const DIAMONDS: usize = 2;
/// Nodes that are changed at once.
const CHANGED: usize = 100;

const ONCE: &str = "launched, then waited for; the wait does not count";

const AGAIN: &str = "both sides raw: another graph and stream";
const AGAIN_KEPT: &str = "both sides raw: another stream, and a graph that is kept beside what is launched";

pub const CASES: [Prepared; 17] = [
    Prepared { name: "graphs: launch 1 kernel", note: ONCE, make: |fixture, options| launch(fixture, of(options, 1)) },
    Prepared {
        name: "graphs: launch 10 kernels",
        note: ONCE,
        make: |fixture, options| launch(fixture, of(options, 10)),
    },
    Prepared {
        name: "graphs: launch 100 kernels",
        note: ONCE,
        make: |fixture, options| launch(fixture, of(options, 100)),
    },
    Prepared {
        name: "graphs: launch 1000 kernels",
        note: ONCE,
        make: |fixture, options| launch(fixture, of(options, 1000)),
    },
    Prepared {
        name: "graphs: raw launch of 10 kernels against itself",
        note: AGAIN,
        make: |fixture, options| launch_again(fixture, of(options, 10), false),
    },
    Prepared {
        name: "graphs: raw launch of 10 kernels, graph kept",
        note: AGAIN_KEPT,
        make: |fixture, options| launch_again(fixture, of(options, 10), true),
    },
    Prepared {
        name: "graphs: raw launch of 1000 kernels against itself",
        note: AGAIN,
        make: |fixture, options| launch_again(fixture, of(options, 1000), false),
    },
    Prepared {
        name: "graphs: raw launch of 1000 kernels, graph kept",
        note: AGAIN_KEPT,
        make: |fixture, options| launch_again(fixture, of(options, 1000), true),
    },
    Prepared {
        name: "graphs: record 100 kernels",
        note: "a chain",
        make: |fixture, options| record(fixture, of(options, 100)),
    },
    Prepared {
        name: "graphs: record 10000 kernels",
        note: "a chain",
        make: |fixture, options| record(fixture, of(options, 10_000)),
    },
    Prepared { name: "graphs: record 10000 kernels at once", note: "other side: 100 times 100", make: record_flat },
    Prepared { name: "graphs: raw record 10000 kernels at once", note: "likewise, raw calls", make: raw_record_flat },
    Prepared {
        name: "graphs: change 100 kernels",
        note: "all 3 arguments of each",
        make: |fixture, _| change(fixture, true),
    },
    Prepared {
        name: "graphs: change 100 pointers",
        note: "1 of 3 arguments",
        make: |fixture, _| change(fixture, false),
    },
    Prepared { name: "graphs: diamond", note: "2 x 64 kernels, finish", make: diamond },
    Prepared { name: "graphs: diamond over chain", note: "other side: the same in a chain", make: diamond_over_chain },
    Prepared { name: "graphs: 1000 kernels at once", note: "finish; other side: 1000 launches", make: thousand },
];

/// Fewer kernels with `--quick`, which is not for figures.
fn of(options: &Options, count: usize) -> usize {
    if options.quick { count.div_ceil(20) } else { count }
}

type Point = ur_exp_command_buffer_sync_point_t;
type Command = ur_exp_command_buffer_command_handle_t;

/// A command buffer that releases itself.
struct Commands<'u> {
    ur: &'u Ur,
    handle: ur_exp_command_buffer_handle_t,
}

impl Drop for Commands<'_> {
    fn drop(&mut self) {
        // SAFETY: the reference is this value's own. Errors have nobody to go to.
        let _ = unsafe { call!(self.ur, CommandBufferExp.pfnReleaseExp(self.handle)) };
    }
}

impl<'u> Commands<'u> {
    fn new(fixture: &Fixture<'u>, updatable: bool) -> Result<Self, Failure> {
        let (ur, mut handle) = (fixture.ur, null_mut());
        let (context, device) = (fixture.context.handle(), fixture.listed.device.handle());
        let description = ur_exp_command_buffer_desc_t { isUpdatable: updatable.into(), ..Default::default() };
        // SAFETY: live handles, a description that lives, a writable output.
        unsafe { call!(ur, CommandBufferExp.pfnCreateExp(context, device, &raw const description, &raw mut handle)) }?;
        Ok(Self { ur, handle })
    }

    /// Appends a kernel of one thread; asks for its handle if there is a place for it.
    #[inline]
    fn kernel(
        &self,
        kernel: ur_kernel_handle_t,
        arguments: &[ur_exp_kernel_arg_properties_t],
        after: &[Point],
        command: *mut Command,
    ) -> Result<Point, Failure> {
        let (size, mut point, none) = (1usize, 0, null_mut());
        let (count, first) = (after.len() as u32, if after.is_empty() { null() } else { after.as_ptr() });
        let one = &raw const size;
        let (args, given) = (arguments.len() as u32, if arguments.is_empty() { null() } else { arguments.as_ptr() });
        // SAFETY: live handles, one dimension, lists of their lengths, outputs that are writable or null.
        unsafe {
            call!(
                self.ur,
                CommandBufferExp.pfnAppendKernelLaunchWithArgsExp(
                    self.handle,
                    kernel,
                    1,
                    null(),
                    one,
                    one,
                    args,
                    given,
                    0,
                    none,
                    count,
                    first,
                    0,
                    null(),
                    &raw mut point,
                    null_mut(),
                    command
                )
            )
        }?;
        Ok(point)
    }

    /// Asks for the native graph, which then has the nodes of all kernels so far.
    fn native(&self) -> Result<(), Failure> {
        let mut graph = 0;
        // SAFETY: a live handle and a writable output.
        unsafe { call!(self.ur, CommandBufferExp.pfnGetNativeHandleExp(self.handle, &raw mut graph)) }?;
        Ok(())
    }

    fn finalize(&self) -> Result<(), Failure> {
        // SAFETY: a live handle.
        unsafe { call!(self.ur, CommandBufferExp.pfnFinalizeExp(self.handle)) }?;
        Ok(())
    }

    #[inline]
    fn launch(&self, fixture: &Fixture<'_>) -> Result<(), Failure> {
        let queue = fixture.queue.handle();
        // SAFETY: live handles, no list, no place for an event.
        unsafe { call!(self.ur, EnqueueExp.pfnCommandBufferExp(queue, self.handle, 0, null(), null_mut())) }?;
        Ok(())
    }
}

/// What each of some kernels comes after.
fn chain(length: usize) -> Vec<Vec<usize>> {
    (0..length).map(|node| node.checked_sub(1).into_iter().collect()).collect()
}

fn diamonds() -> Vec<Vec<usize>> {
    let mut plan: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..DIAMONDS {
        let top = plan.len() - 1;
        plan.extend((0..WIDE).map(|_| vec![top]));
        plan.push((top + 1..=top + WIDE).collect());
    }
    plan
}

/// Records a plan by what adds one node.
fn recorded<N: Copy>(
    plan: &[Vec<usize>],
    mut add: impl FnMut(usize, &[N]) -> Result<N, Failure>,
) -> Result<Vec<N>, Failure> {
    let mut nodes = Vec::with_capacity(plan.len());
    let mut before = Vec::new();
    for (index, after) in plan.iter().enumerate() {
        before.clear();
        before.extend(after.iter().map(|&from| nodes[from]));
        nodes.push(add(index, &before)?);
    }
    Ok(nodes)
}

/// The raw side's way of a body, where something of it is current.
fn while_current<'f>(raw: &'f Raw, mut body: Body<'f>) -> Body<'f> {
    Box::new(move |iterations, meter: &mut Meter<'_>| raw.while_current(|| body(iterations, meter)))
}

fn raw_graph<'r>(raw: &'r Raw, plan: &[Vec<usize>]) -> Result<Graph<'r>, Failure> {
    let graph = raw.graph()?;
    recorded(plan, |_, after: &[Handle]| graph.kernel(None, &mut [], after))?;
    Ok(graph)
}

/// A finalised chain of empty kernels.
fn ur_chain<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Commands<'f>, Failure> {
    let (commands, kernel) = (Commands::new(fixture, false)?, fixture.kernel()?);
    recorded(&chain(count), |_, after| commands.kernel(kernel, &[], after, null_mut()))?;
    commands.finalize()?;
    Ok(commands)
}

/// Launches one at a time, waited for behind each, of a graph that every slice of a round makes anew: what one graph's launch
/// costs, beside another of the same shape, differs by more than what is measured here, for as long as the two live.
fn launches<'b, G: 'b>(
    make: impl Fn() -> Result<G, Failure> + 'b,
    launch: impl Fn(&G) -> Result<(), Failure> + 'b,
    finish: impl Fn() -> Result<(), Failure> + 'b,
) -> Body<'b> {
    Box::new(move |iterations, meter: &mut Meter<'_>| {
        let graph = make()?;
        // The first launches bring the graph to the device.
        for _ in 0..2 {
            launch(&graph)?;
            finish()?;
        }
        for _ in 0..iterations {
            meter.start();
            launch(&graph)?;
            meter.stop();
            finish()?;
        }
        Ok(())
    })
}

fn launch<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Sides<'f>, Failure> {
    fixture.kernel()?;
    let launch = |commands: &Commands<'_>| commands.launch(fixture);
    let ur = launches(move || ur_chain(fixture, count), launch, move || super::finish(fixture));
    Ok(Sides { ur, raw: raw_of(fixture, |raw| Ok(raw_chain(raw, count)))? })
}

fn raw_chain(raw: &Raw, count: usize) -> Body<'_> {
    let make = move || raw.while_current(|| raw_graph(raw, &chain(count))?.instantiate());
    launches(make, |exec| exec.launch(), move || raw.synchronize(raw.stream()))
}

/// A stream beside the raw side's own, which ends with this.
struct Stream<'r> {
    raw: &'r Raw,
    stream: Handle,
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        // Errors have nobody to go to.
        let _ = self.raw.destroy_stream(self.stream);
    }
}

/// How sure the ratio of a launch is, and whether a graph that outlives its instantiation, as the UR's does, changes it.
fn launch_again<'f>(fixture: &'f Fixture<'f>, count: usize, keeps_graph: bool) -> Result<Sides<'f>, Failure> {
    let again = raw_of(fixture, |raw| {
        let stream = Stream { raw, stream: raw.new_stream()? };
        let native = stream.stream;
        let make = move || {
            raw.while_current(|| {
                let graph = raw_graph(raw, &chain(count))?;
                Ok((graph.instantiate()?, keeps_graph.then_some(graph)))
            })
        };
        let finish = move || {
            let _stream = &stream;
            raw.synchronize(native)
        };
        Ok(launches(make, move |(exec, _)| exec.launch_on(native), finish))
    })?;
    let ur = again.ok_or_else(|| Failure::Unavailable("there is no raw side".to_owned()))?;
    Ok(Sides { ur, raw: raw_of(fixture, |raw| Ok(raw_chain(raw, count)))? })
}

/// Appends so many kernels to a new buffer; its release does not count. An adapter may make nodes later than it answers, so
/// the native graph is asked for: all of them count.
fn recording<'f>(fixture: &'f Fixture<'f>, count: usize, times: usize) -> Result<Body<'f>, Failure> {
    let kernel = fixture.kernel()?;
    Ok(Box::new(move |iterations, meter: &mut Meter<'_>| {
        for _ in 0..iterations {
            for _ in 0..times {
                meter.start();
                let commands = Commands::new(fixture, false)?;
                let mut last = commands.kernel(kernel, &[], &[], null_mut())?;
                for _ in 1..count {
                    last = commands.kernel(kernel, &[], &[last], null_mut())?;
                }
                commands.native()?;
                meter.stop();
            }
        }
        Ok(())
    }))
}

/// The same by raw calls; the graph's end does not count.
fn raw_recording<'f>(fixture: &'f Fixture<'f>, count: usize, times: usize) -> Result<Option<Body<'f>>, Failure> {
    raw_of(fixture, |raw| {
        let body: Body<'f> = Box::new(move |iterations, meter: &mut Meter<'_>| {
            for _ in 0..iterations {
                for _ in 0..times {
                    meter.start();
                    let graph = raw.graph()?;
                    let mut last = graph.kernel(None, &mut [], &[])?;
                    for _ in 1..count {
                        last = graph.kernel(None, &mut [], &[last])?;
                    }
                    meter.stop();
                }
            }
            Ok(())
        });
        Ok(while_current(raw, body))
    })
}

fn record<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Sides<'f>, Failure> {
    Ok(Sides { ur: recording(fixture, count, 1)?, raw: raw_recording(fixture, count, 1)? })
}

/// Whether a node of a large buffer costs what one of a small buffer costs.
fn record_flat<'f>(fixture: &'f Fixture<'f>, options: &Options) -> Result<Sides<'f>, Failure> {
    let times = of(options, 100);
    Ok(Sides { ur: recording(fixture, 100 * times, 1)?, raw: Some(recording(fixture, 100, times)?) })
}

/// The same of the native library, whose nodes may cost more the more there are.
fn raw_record_flat<'f>(fixture: &'f Fixture<'f>, options: &Options) -> Result<Sides<'f>, Failure> {
    let times = of(options, 100);
    let none = || Failure::Unavailable("there is no raw side".to_owned());
    let at_once = raw_recording(fixture, 100 * times, 1)?.ok_or_else(none)?;
    Ok(Sides { ur: at_once, raw: raw_recording(fixture, 100, times)? })
}

/// A kernel that takes a pointer and two words and does nothing with them.
const THREE: &[u8] =
    b".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry three(\n    .param .u64 three_0,\n    \
    .param .u32 three_1,\n    .param .u32 three_2\n)\n{\n    ret;\n}\n\0";

/// The raw side makes one call a node either way: it takes all arguments or none.
fn change<'f>(fixture: &'f Fixture<'f>, values_too: bool) -> Result<Sides<'f>, Failure> {
    fixture.kernel()?;
    let (context, device) = (fixture.context.handle(), fixture.listed.device.handle());
    let program = fixture.ur.program(context, device, THREE.strip_suffix(b"\0").unwrap_or(THREE))?;
    let kernel = fixture.ur.kernel(program.handle(), c"three")?;
    let commands = Commands::new(fixture, true)?;
    let (memory, word) = (fixture.memory, 1u32);
    let given = [pointer_argument(0, memory), value_argument(1, &word), value_argument(2, &word)];
    let mut handles: Vec<Command> = vec![null_mut(); CHANGED];
    recorded(&chain(CHANGED), |node, after| commands.kernel(kernel.handle(), &given, after, &raw mut handles[node]))?;
    commands.finalize()?;
    let mut turn = 0u32;
    let ur: Body<'f> = Box::new(move |iterations, meter: &mut Meter<'_>| {
        // All of the buffer, and what its commands run.
        let (commands, _kept) = (&commands, (&program, &kernel));
        straight(iterations, meter, || {
            turn = turn.wrapping_add(1);
            let address = memory.wrapping_byte_add((turn % 1024) as usize);
            let pointer = ur_exp_command_buffer_update_pointer_arg_desc_t {
                argIndex: 0,
                pNewPointerArg: (&raw const address).cast(),
                ..Default::default()
            };
            let value = |index| ur_exp_command_buffer_update_value_arg_desc_t {
                argIndex: index,
                argSize: 4,
                pNewValueArg: (&raw const turn).cast(),
                ..Default::default()
            };
            let values = [value(1), value(2)];
            let changes: [_; CHANGED] = std::array::from_fn(|node| ur_exp_command_buffer_update_kernel_launch_desc_t {
                hCommand: handles[node],
                numNewPointerArgs: 1,
                pNewPointerArgList: &raw const pointer,
                numNewValueArgs: if values_too { 2 } else { 0 },
                pNewValueArgList: if values_too { values.as_ptr() } else { null() },
                ..Default::default()
            });
            let (buffer, count) = (commands.handle, CHANGED as u32);
            // SAFETY: live handles, and descriptions that live and name what lives.
            unsafe { call!(commands.ur, CommandBufferExp.pfnUpdateKernelLaunchExp(buffer, count, changes.as_ptr())) }?;
            Ok(())
        })
    });
    let raw = raw_of(fixture, |raw| {
        let function = raw.function(THREE, c"three")?;
        let (mut address, mut word) = (memory.addr(), 1u32);
        let mut arguments = [(&raw mut address).cast::<c_void>(), (&raw mut word).cast(), (&raw mut word).cast()];
        let (exec, nodes, graph) = raw.while_current(|| {
            let graph = raw.graph()?;
            let nodes = recorded(&chain(CHANGED), |_, after| graph.kernel(Some(&function), &mut arguments, after))?;
            Ok((graph.instantiate()?, nodes, graph))
        })?;
        let body: Body<'f> = Box::new(move |iterations, meter: &mut Meter<'_>| {
            let _kept = &graph;
            let (mut address, mut word) = (memory.addr(), 1u32);
            straight(iterations, meter, || {
                word = word.wrapping_add(1);
                address = memory.addr() + (word % 1024) as usize;
                let mut arguments =
                    [(&raw mut address).cast::<c_void>(), (&raw mut word).cast(), (&raw mut word).cast()];
                nodes.iter().try_for_each(|&node| exec.change(node, Some(&function), &mut arguments))
            })
        });
        Ok(while_current(raw, body))
    })?;
    Ok(Sides { ur, raw })
}

/// A finalised buffer of kernels that take a while, launched and waited for.
fn ur_spinning<'f>(fixture: &'f Fixture<'f>, options: &Options, plan: &[Vec<usize>]) -> Result<Body<'f>, Failure> {
    let image = spinning(options)?;
    let (context, device) = (fixture.context.handle(), fixture.listed.device.handle());
    let program = fixture.ur.program(context, device, image.strip_suffix(b"\0").unwrap_or(&image))?;
    let kernel = fixture.ur.kernel(program.handle(), c"spin")?;
    let commands = Commands::new(fixture, false)?;
    let (steps, seed) = (steps(options), 1u32);
    let given = [pointer_argument(0, fixture.memory), value_argument(1, &steps), value_argument(2, &seed)];
    recorded(plan, |_, after| commands.kernel(kernel.handle(), &given, after, null_mut()))?;
    commands.finalize()?;
    Ok(Box::new(move |iterations, meter: &mut Meter<'_>| {
        let _kept = (&program, &kernel);
        straight(iterations, meter, || {
            commands.launch(fixture)?;
            super::finish(fixture)
        })
    }))
}

fn steps(options: &Options) -> u32 {
    if options.quick { 1 } else { STEPS }
}

/// The image of the kernel that takes a while, with its zero byte.
fn spinning(options: &Options) -> Result<Vec<u8>, Failure> {
    let path = options.kernels.join("basic.ptx");
    let mut image = std::fs::read(&path).map_err(|error| Failure::Other(format!("{}: {error}", path.display())))?;
    image.push(0);
    Ok(image)
}

fn diamond<'f>(fixture: &'f Fixture<'f>, options: &Options) -> Result<Sides<'f>, Failure> {
    fixture.kernel()?;
    let ur = ur_spinning(fixture, options, &diamonds())?;
    let raw = raw_of(fixture, |raw| {
        let function = raw.function(&spinning(options)?, c"spin")?;
        let (mut address, mut steps, mut seed) = (fixture.memory.addr(), steps(options), 1u32);
        let mut arguments = [(&raw mut address).cast::<c_void>(), (&raw mut steps).cast(), (&raw mut seed).cast()];
        let exec = raw.while_current(|| {
            let graph = raw.graph()?;
            recorded(&diamonds(), |_, after| graph.kernel(Some(&function), &mut arguments, after))?;
            graph.instantiate()
        })?;
        let body: Body<'f> = Box::new(move |iterations, meter: &mut Meter<'_>| {
            let _kept = &function;
            straight(iterations, meter, || {
                exec.launch()?;
                raw.synchronize(raw.stream())
            })
        });
        Ok(body)
    })?;
    Ok(Sides { ur, raw })
}

/// What independent kernels gain by being independent.
fn diamond_over_chain<'f>(fixture: &'f Fixture<'f>, options: &Options) -> Result<Sides<'f>, Failure> {
    fixture.kernel()?;
    let plan = diamonds();
    let ur = ur_spinning(fixture, options, &plan)?;
    Ok(Sides { ur, raw: Some(ur_spinning(fixture, options, &chain(plan.len()))?) })
}

/// What a thousand small kernels gain by being recorded.
fn thousand<'f>(fixture: &'f Fixture<'f>, options: &Options) -> Result<Sides<'f>, Failure> {
    let count = of(options, 1000);
    let commands = ur_chain(fixture, count)?;
    let ur: Body<'f> = Box::new(move |iterations, meter: &mut Meter<'_>| {
        straight(iterations, meter, || {
            commands.launch(fixture)?;
            super::finish(fixture)
        })
    });
    let raw: Body<'f> = Box::new(move |iterations, meter: &mut Meter<'_>| {
        straight(iterations, meter, || {
            for _ in 0..count {
                fixture.launch_on(fixture.queue.handle())?;
            }
            super::finish(fixture)
        })
    });
    Ok(Sides { ur, raw: Some(raw) })
}
