//! Methods of a driver that are one call with the same arguments in every native library: written here once, named by the
//! backend within its `impl Driver`.
//!
//! Each macro is a group of methods; a backend gives the native call's name for each, and has the symbol in its table
//! under the name used here. What a library does in its own way, with flags, structures or statuses of its own, does not
//! belong here: its method stands in the backend.

/// Streams and events.
#[macro_export]
macro_rules! plain_stream_calls {
    (
        destroy_stream = $destroy_stream:literal,
        synchronize_stream = $synchronize_stream:literal,
        stream_is_idle = $stream_is_idle:literal,
        destroy_event = $destroy_event:literal,
        record_event = $record_event:literal,
        event_is_complete = $event_is_complete:literal,
        synchronize_event = $synchronize_event:literal $(,)?
    ) => {
        fn destroy_stream(&self, stream: Self::Stream) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.stream_destroy(stream), $destroy_stream)
        }

        fn synchronize_stream(&self, stream: Self::Stream) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.stream_synchronize(stream), $synchronize_stream)
        }

        fn stream_is_idle(&self, stream: Self::Stream) -> $crate::object::error::Result<bool> {
            // SAFETY: the symbol has the API's signature and the stream is alive.
            $crate::driver::symbols::done(&self.symbols, $stream_is_idle, unsafe {
                (self.symbols.stream_query)(stream)
            })
        }

        fn destroy_event(&self, event: Self::Event) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.event_destroy(event), $destroy_event)
        }

        fn record_event(&self, event: Self::Event, stream: Self::Stream) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.event_record(event, stream), $record_event)
        }

        fn event_is_complete(&self, event: Self::Event) -> $crate::object::error::Result<bool> {
            // SAFETY: the symbol has the API's signature and the event is alive.
            $crate::driver::symbols::done(&self.symbols, $event_is_complete, unsafe {
                (self.symbols.event_query)(event)
            })
        }

        fn synchronize_event(&self, event: Self::Event) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.event_synchronize(event), $synchronize_event)
        }
    };
}

/// Plain memory, and what a device reaches of it.
#[macro_export]
macro_rules! plain_memory_calls {
    (
        memory_info = $memory_info:literal,
        can_access_peer = $can_access_peer:literal,
        disable_peer = $disable_peer:literal,
        allocate_device = $allocate_device:literal,
        free_device = $free_device:literal,
        allocate_pitched = $allocate_pitched:literal,
        unregister_host = $unregister_host:literal,
        close_ipc = $close_ipc:literal $(,)?
    ) => {
        fn memory_info(&self) -> $crate::object::error::Result<(usize, usize)> {
            let (mut free, mut total) = (0, 0);
            $crate::native_call!(self.memory_info(&raw mut free, &raw mut total), $memory_info)?;
            Ok((free, total))
        }

        fn can_access_peer(&self, device: Self::Device, peer: Self::Device) -> $crate::object::error::Result<bool> {
            let mut can: ::core::ffi::c_int = 0;
            $crate::native_call!(self.device_can_access_peer(&raw mut can, device, peer), $can_access_peer)?;
            Ok(can != 0)
        }

        fn disable_peer(&self, peer: Self::Place) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.peer_disable(peer), $disable_peer)
        }

        fn allocate_device(&self, size: usize) -> $crate::object::error::Result<usize> {
            let mut pointer = 0;
            $crate::native_call!(self.memory_allocate(&raw mut pointer, size), $allocate_device)?;
            Ok(pointer)
        }

        fn free_device(&self, pointer: usize) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.memory_free(pointer), $free_device)
        }

        fn allocate_pitched(
            &self,
            width: usize,
            height: usize,
            element: u32,
        ) -> $crate::object::error::Result<(usize, usize)> {
            let (mut pointer, mut pitch) = (0, 0);
            $crate::native_call!(
                self.memory_allocate_pitch(&raw mut pointer, &raw mut pitch, width, height, element),
                $allocate_pitched
            )?;
            Ok((pointer, pitch))
        }

        fn unregister_host(&self, address: usize) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.memory_unregister(address), $unregister_host)
        }

        fn close_ipc(&self, address: usize) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.ipc_close(address), $close_ipc)
        }
    };
}

/// Pools of memory, and frees in a stream's order.
#[macro_export]
macro_rules! plain_pool_calls {
    (
        destroy_pool = $destroy_pool:literal,
        pool_attribute = $pool_attribute:literal,
        set_pool_attribute = $set_pool_attribute:literal,
        trim_pool = $trim_pool:literal,
        free_async = $free_async:literal $(,)?
    ) => {
        fn destroy_pool(&self, pool: Self::Pool) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.pool_destroy(pool), $destroy_pool)
        }

        fn pool_attribute(
            &self,
            pool: Self::Pool,
            attribute: $crate::driver::PoolAttribute,
        ) -> $crate::object::error::Result<u64> {
            // An `int` fills the lower half and leaves the other 0.
            let mut value = 0_u64;
            let number = attribute as ::core::ffi::c_int;
            $crate::native_call!(self.pool_attribute(pool, number, (&raw mut value).cast()), $pool_attribute)?;
            Ok(value)
        }

        fn set_pool_attribute(
            &self,
            pool: Self::Pool,
            attribute: $crate::driver::PoolAttribute,
            value: u64,
        ) -> $crate::object::error::Result<()> {
            // Of an `int` the library reads the lower half.
            let mut value = value;
            let number = attribute as ::core::ffi::c_int;
            $crate::native_call!(self.pool_set_attribute(pool, number, (&raw mut value).cast()), $set_pool_attribute)
        }

        fn trim_pool(&self, pool: Self::Pool, keep: usize) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.pool_trim(pool, keep), $trim_pool)
        }

        #[inline(always)]
        fn free_async(&self, pointer: usize, stream: Self::Stream) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.free_async(pointer, stream), $free_async)
        }
    };
}

/// Virtual and physical memory: with the function that describes physical memory of a device, shareable or not, and the
/// library's number for a file descriptor.
#[macro_export]
macro_rules! plain_virtual_memory_calls {
    (
        described by $properties:path, shared as $handle:expr;
        reserve_addresses = $reserve_addresses:literal,
        free_addresses = $free_addresses:literal,
        create_physical = $create_physical:literal,
        release_physical = $release_physical:literal,
        map = $map:literal,
        unmap = $unmap:literal,
        export_physical = $export_physical:literal,
        import_physical = $import_physical:literal $(,)?
    ) => {
        fn reserve_addresses(&self, size: usize, wish: usize) -> $crate::object::error::Result<usize> {
            let mut address = 0;
            $crate::native_call!(self.address_reserve(&raw mut address, size, 0, wish, 0), $reserve_addresses)?;
            Ok(address)
        }

        fn free_addresses(&self, address: usize, size: usize) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.address_free(address, size), $free_addresses)
        }

        fn create_physical(
            &self,
            device: Self::Device,
            size: usize,
            shareable: bool,
        ) -> $crate::object::error::Result<Self::Physical> {
            let properties = $properties(device, shareable);
            let mut physical = Self::Physical::default();
            $crate::native_call!(
                self.physical_create(&raw mut physical, size, &raw const properties, 0),
                $create_physical
            )?;
            Ok(physical)
        }

        fn release_physical(&self, physical: Self::Physical) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.physical_release(physical), $release_physical)
        }

        fn map(
            &self,
            address: usize,
            size: usize,
            offset: usize,
            physical: Self::Physical,
        ) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.physical_map(address, size, offset, physical, 0), $map)
        }

        fn unmap(&self, address: usize, size: usize) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.physical_unmap(address, size), $unmap)
        }

        fn export_physical(&self, physical: Self::Physical) -> $crate::object::error::Result<i32> {
            let mut descriptor: ::core::ffi::c_int = -1;
            $crate::native_call!(
                self.physical_export((&raw mut descriptor).cast(), physical, $handle, 0),
                $export_physical
            )?;
            Ok(descriptor)
        }

        fn import_physical(&self, descriptor: i32) -> $crate::object::error::Result<Self::Physical> {
            // The descriptor's number is passed in the pointer's place.
            let number = ::core::ptr::without_provenance_mut(descriptor.unsigned_abs() as usize);
            let mut physical = Self::Physical::default();
            $crate::native_call!(self.physical_import(&raw mut physical, number, $handle), $import_physical)?;
            Ok(physical)
        }
    };
}

/// Arrays for images, and textures of them.
#[macro_export]
macro_rules! plain_image_calls {
    (
        create_array = $create_array:literal,
        destroy_array = $destroy_array:literal,
        create_texture = $create_texture:literal,
        destroy_texture = $destroy_texture:literal $(,)?
    ) => {
        fn create_array(
            &self,
            shape: &$crate::driver::native_image::ArrayShape,
        ) -> $crate::object::error::Result<usize> {
            let (mut array, description) = (0, $crate::driver::native_image::ArrayDescriptor::new(shape));
            $crate::native_call!(self.array_create(&raw mut array, &raw const description), $create_array)?;
            Ok(array)
        }

        fn destroy_array(&self, array: usize) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.array_destroy(array), $destroy_array)
        }

        fn create_texture(
            &self,
            array: usize,
            sampling: &$crate::driver::native_image::Sampling,
        ) -> $crate::object::error::Result<u64> {
            let (mut texture, resource) = (0, $crate::driver::native_image::ResourceDescriptor::array(array));
            let reading = $crate::driver::native_image::TextureDescriptor::new(sampling);
            let view = ::core::ptr::null();
            $crate::native_call!(
                self.texture_create(&raw mut texture, &raw const resource, &raw const reading, view),
                $create_texture
            )?;
            Ok(texture)
        }

        fn destroy_texture(&self, texture: u64) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.texture_destroy(texture), $destroy_texture)
        }
    };
}

/// Modules and what is asked of their functions.
#[macro_export]
macro_rules! plain_module_calls {
    (
        unload_module = $unload_module:literal,
        resident_blocks = $resident_blocks:literal,
        allow_dynamic_shared($attribute:expr) = $allow_dynamic_shared:literal $(,)?
    ) => {
        fn unload_module(&self, module: Self::Module) -> $crate::object::error::Result<()> {
            $crate::native_call!(self.module_unload(module), $unload_module)
        }

        fn resident_blocks(
            &self,
            function: Self::Function,
            threads: u32,
            dynamic_shared: usize,
        ) -> $crate::object::error::Result<u32> {
            let mut blocks: ::core::ffi::c_int = 0;
            let threads = ::core::ffi::c_int::try_from(threads).unwrap_or(::core::ffi::c_int::MAX);
            $crate::native_call!(
                self.occupancy_blocks(&raw mut blocks, function, threads, dynamic_shared),
                $resident_blocks
            )?;
            Ok(blocks.unsigned_abs())
        }

        fn allow_dynamic_shared(&self, function: Self::Function, bytes: usize) -> $crate::object::error::Result<()> {
            let bytes = ::core::ffi::c_int::try_from(bytes)
                .map_err(|_| $crate::object::error::Error::code_only(::ur_ffi::ur_result_t::ERROR_OUT_OF_RESOURCES))?;
            $crate::native_call!(self.function_set_attribute(function, $attribute, bytes), $allow_dynamic_shared)
        }
    };
}
