//! The words in which the driver's memory methods speak: places, advice, rights of access, rows of a copy.
//!
//! Plain values that both sides of [`crate::driver::Driver`] understand; no native number and no decision is here.

/// Where managed memory lies, shall lie, or is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryLocation<V> {
    /// The host.
    Host,
    /// A device.
    Device(V),
}

/// One piece of advice about managed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice<V> {
    /// Whether it is read far more often than written.
    ReadMostly(bool),
    /// Where it had best lie; `None` takes that back.
    PreferredLocation(Option<MemoryLocation<V>>),
    /// Whether it is used from there, and shall be mapped there.
    AccessedBy(MemoryLocation<V>, bool),
    /// Whether it need be coherent at the end of a kernel alone. Only where the driver knows of it
    /// ([`crate::driver::Driver::ADVISES_COHERENCE`]).
    CoarseGrain(bool),
}

/// What may be done with virtually mapped memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    None,
    /// Reading.
    ReadOnly,
    /// Reading and writing.
    ReadWrite,
}

/// Rows of bytes, one side of a copy.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// Address of the first row.
    pub address: usize,
    /// Bytes from one row to the next.
    pub pitch: usize,
}

/// A copy of rows.
#[derive(Clone, Copy, Debug)]
pub struct Copy2D {
    /// Where the rows go.
    pub to: Plane,
    /// Where they come from.
    pub from: Plane,
    /// Bytes of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// What stands for an allocation in another process; both native libraries have 64 bytes for it.
pub type IpcHandle = [u8; 64];
