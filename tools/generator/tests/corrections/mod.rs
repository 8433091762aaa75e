//! Conditions that the fact files have mangled or that the project's own extensions make untrue, and what the
//! specification says instead. A correction is for a text that the lint refuses and for nothing else; one that no fact
//! needs any more fails the comparison.

/// One condition of a fact file and what stands for it in `spec/api`.
pub struct Correction {
    /// The function.
    pub function: &'static str,
    /// The result code.
    pub code: &'static str,
    /// The condition as the fact files have it.
    pub fact: &'static str,
    /// The conditions and sentences that the specification has instead.
    pub spec: &'static [&'static str],
}

const TOO_LARGE: &[&str] = &["`size` is greater than `UR_DEVICE_INFO_MAX_MEM_ALLOC_SIZE` of `hDevice`"];

/// `spec/api/exp-usm-pool-policy.toml` adds two queries above the vendor's last one.
const POOL_QUERY: &[&str] = &["UR_USM_POOL_INFO_PEERS_EXP < propName"];

const fn pool_query(function: &'static str) -> Correction {
    Correction {
        function,
        code: "UR_RESULT_ERROR_INVALID_ENUMERATION",
        fact: "UR_USM_POOL_INFO_USED_HIGH_EXP < propName",
        spec: POOL_QUERY,
    }
}

/// `spec/api/exp-usm-plain-memory.toml` adds two queries above the vendor's last one.
const CONTEXT_QUERY: Correction = Correction {
    function: "urContextGetInfo",
    code: "UR_RESULT_ERROR_INVALID_ENUMERATION",
    fact: "UR_CONTEXT_INFO_USM_FILL2D_SUPPORT < propName",
    spec: &["UR_CONTEXT_INFO_USM_USED_BYTES_EXP < propName"],
};

/// `spec/api/exp-usm-plain-memory.toml` adds two queries of devices above the vendor's last one too.
const DEVICE_QUERY: Correction = Correction {
    function: "urDeviceGetInfo",
    code: "UR_RESULT_ERROR_INVALID_ENUMERATION",
    fact: "UR_DEVICE_INFO_ENQUEUE_HOST_TASK_SUPPORT_EXP < propName",
    spec: &["UR_DEVICE_INFO_USM_HOLDERS_EXP < propName"],
};

/// A sentence of which the facts kept the quoted name alone.
const fn cut(
    function: &'static str,
    code: &'static str,
    fact: &'static str,
    spec: &'static [&'static str],
) -> Correction {
    Correction { function, code, fact, spec }
}

/// All of them.
pub const CORRECTIONS: [Correction; 15] = [
    CONTEXT_QUERY,
    DEVICE_QUERY,
    pool_query("urUSMPoolGetInfo"),
    pool_query("urUSMPoolGetInfoExp"),
    pool_query("urUSMPoolSetInfoExp"),
    cut("urUSMDeviceAlloc", "UR_RESULT_ERROR_INVALID_USM_SIZE", "size", TOO_LARGE),
    cut("urUSMSharedAlloc", "UR_RESULT_ERROR_INVALID_USM_SIZE", "size", TOO_LARGE),
    cut("urMemoryExportAllocExportableMemoryExp", "UR_RESULT_ERROR_UNSUPPORTED_SIZE", "size", TOO_LARGE),
    cut(
        "urUSMPitchedAllocExp",
        "UR_RESULT_ERROR_INVALID_USM_SIZE",
        "size",
        &["`widthInBytes * height` is greater than `UR_DEVICE_INFO_MAX_MEM_ALLOC_SIZE` of `hDevice`"],
    ),
    // The vendor's sentence sets the devices' memory as a limit of host memory, which neither its adapters nor ours
    // hold a program to.
    cut(
        "urUSMHostAlloc",
        "UR_RESULT_ERROR_INVALID_USM_SIZE",
        "size` is greater than UR_DEVICE_INFO_MAX_MEM_ALLOC_SIZE for any device in `hContext",
        &["`size` and the room that `pUSMDesc->align` needs are more than a `size_t` holds"],
    ),
    // `name` is no parameter: the vendor's text calls it otherwise than its signature.
    cut(
        "urProgramGetGlobalVariablePointer",
        "UR_RESULT_ERROR_INVALID_VALUE",
        "name",
        &["the program has no variable of the name `pGlobalVariableName`"],
    ),
    cut(
        "urIPCGetPhysMemHandleExp",
        "UR_RESULT_ERROR_INVALID_ARGUMENT",
        "hPhysMem` was not created with the `UR_PHYSICAL_MEM_FLAG_ENABLE_IPC",
        &["`hPhysMem` was created without `UR_PHYSICAL_MEM_FLAG_ENABLE_IPC`"],
    ),
    // Two sentences of the vendor's are one and the same fact.
    cut(
        "urIPCGetEventHandleExp",
        "UR_RESULT_ERROR_INVALID_EVENT",
        "hEvent",
        &[
            "`hEvent` was not created by `urEventCreateExp` with `UR_EXP_EVENT_FLAG_IPC_EXP`",
            "`hEvent` was opened by `urIPCOpenEventHandleExp`",
        ],
    ),
    cut(
        "urIPCGetEventHandleExp",
        "UR_RESULT_ERROR_UNSUPPORTED_FEATURE",
        "hEvent",
        &["the device of `hEvent` answers false to `UR_DEVICE_INFO_IPC_EVENT_SUPPORT_EXP`"],
    ),
    cut(
        "urIPCOpenEventHandleExp",
        "UR_RESULT_ERROR_INVALID_VALUE",
        "ipcEventHandleDataSize",
        &["`ipcEventHandleDataSize` is not the size that `urIPCGetEventHandleExp` answered"],
    ),
];
