//! The inventory and the search as text and as JSON. It asks nothing.

use std::ffi::OsStr;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::inventory::{Adapter, Device, Inventory, Properties};
use crate::why::{Considered, Search};

/// For people.
pub fn text(loader: &OsStr, inventory: &Inventory, search: Option<&Search>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(&mut out, loader, inventory, search);
    out
}

fn write_all(out: &mut String, loader: &OsStr, inventory: &Inventory, search: Option<&Search>) -> std::fmt::Result {
    writeln!(out, "loader {}", loader.display())?;
    if let Some(search) = search {
        write_search(out, search)?;
    }
    for (index, adapter) in inventory.adapters.iter().enumerate() {
        write_adapter(out, index, adapter)?;
    }
    match (inventory.adapters.len(), inventory.devices()) {
        (0, _) => writeln!(out, "no adapter{}", if search.is_some() { "" } else { "; --why tells what was tried" }),
        (_, 0) => writeln!(out, "no device"),
        (adapters, devices) => writeln!(out, "{} in {}", many(devices, "device"), many(adapters, "adapter")),
    }
}

fn many(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn write_adapter(out: &mut String, index: usize, adapter: &Adapter) -> std::fmt::Result {
    let version = adapter.version.map_or_else(String::new, |version| format!(", version {version}"));
    writeln!(out, "adapter {index}: {}{version}", adapter.backend)?;
    if adapter.platforms.is_empty() {
        let reason = adapter.last_error.as_deref().unwrap_or("the adapter gives no reason");
        writeln!(out, "  no platform: {reason}")?;
    }
    for (index, platform) in adapter.platforms.iter().enumerate() {
        writeln!(out, "  platform {index}: {}, {}, {}", platform.name, platform.vendor, platform.version)?;
        for (index, device) in platform.devices.iter().enumerate() {
            write_device(out, index, device)?;
        }
    }
    Ok(())
}

fn write_device(out: &mut String, index: usize, device: &Device) -> std::fmt::Result {
    let memory = device
        .memory
        .map_or_else(|| "memory unknown".to_owned(), |bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)));
    let units = device.compute_units.map_or_else(|| "?".to_owned(), |units| units.to_string());
    writeln!(
        out,
        "    device {index}: {} ({}), {memory}, {units} compute units, driver {}",
        device.name, device.ty, device.driver
    )?;
    device.properties.as_ref().map_or(Ok(()), |properties| write_properties(out, properties))
}

fn write_properties(out: &mut String, properties: &Properties) -> std::fmt::Result {
    for (name, text, _) in &properties.known {
        writeln!(out, "      {name:<44} {text}")?;
    }
    for (name, error) in &properties.failed {
        writeln!(out, "      {name:<44} failed: {error}")?;
    }
    if !properties.unsupported.is_empty() {
        let count = properties.unsupported.len();
        writeln!(out, "      not supported ({count}): {}", properties.unsupported.join(", "))?;
    }
    Ok(())
}

fn write_search(out: &mut String, search: &Search) -> std::fmt::Result {
    writeln!(out, "search: {}", search.order.join(", then "))?;
    if let Some(directory) = &search.loader_directory {
        writeln!(out, "  the loader's directory is {}", directory.display())?;
    }
    for problem in &search.problems {
        writeln!(out, "  {problem}")?;
    }
    for Considered { name, skipped, candidates } in &search.adapters {
        writeln!(out, "  {name}")?;
        if let Some(reason) = skipped {
            writeln!(out, "    - not looked for: {reason}")?;
        }
        for tried in candidates {
            let mark = if tried.taken { '*' } else { '-' };
            writeln!(out, "    {mark} {} ({}): {}", tried.path.display(), tried.origin, tried.reason)?;
        }
    }
    Ok(())
}

/// For programs.
pub fn json(loader: &OsStr, inventory: &Inventory, search: Option<&Search>) -> Value {
    let mut root = json!({
        "loader": loader.to_string_lossy(),
        "adapters": inventory.adapters.iter().map(adapter_json).collect::<Vec<_>>(),
    });
    if let Some(search) = search {
        root["search"] = json!(search);
    }
    root
}

fn adapter_json(adapter: &Adapter) -> Value {
    let platforms = adapter.platforms.iter().map(|platform| {
        json!({
            "name": platform.name,
            "vendor": platform.vendor,
            "version": platform.version,
            "devices": platform.devices.iter().map(device_json).collect::<Vec<_>>(),
        })
    });
    json!({
        "backend": adapter.backend,
        "version": adapter.version,
        "last_error": adapter.last_error,
        "platforms": platforms.collect::<Vec<_>>(),
    })
}

fn device_json(device: &Device) -> Value {
    let mut value = json!({
        "name": device.name,
        "type": device.ty,
        "memory_bytes": device.memory,
        "compute_units": device.compute_units,
        "driver_version": device.driver,
    });
    if let Some(properties) = &device.properties {
        value["properties"] =
            properties.known.iter().map(|(name, _, value)| ((*name).to_owned(), value.clone())).collect();
        value["unsupported"] = json!(properties.unsupported);
        value["failed"] = properties.failed.iter().map(|(name, error)| ((*name).to_owned(), json!(error))).collect();
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::Platform;
    use crate::why::Tried;

    fn inventory() -> Inventory {
        let device = Device {
            name: "GPU".into(),
            ty: "GPU".into(),
            memory: Some(3 << 30),
            compute_units: Some(8),
            driver: "1.2".into(),
            properties: Some(Properties {
                known: vec![("VENDOR_ID", "4318".into(), json!(4318))],
                unsupported: vec!["FAN_SPEED"],
                failed: vec![("UUID", "urDeviceGetInfo answers X".into())],
            }),
        };
        let platform = Platform { name: "P".into(), vendor: "V".into(), version: "1".into(), devices: vec![device] };
        Inventory {
            adapters: vec![
                Adapter { backend: "CUDA".into(), version: Some(1), platforms: vec![platform], last_error: None },
                Adapter {
                    backend: "HIP".into(),
                    version: None,
                    platforms: Vec::new(),
                    last_error: Some("no library".into()),
                },
            ],
        }
    }

    fn search() -> Search {
        let tried = |taken, reason: &str| Tried {
            path: "/l/a.so".into(),
            origin: "the system's search".into(),
            taken,
            reason: reason.into(),
        };
        Search {
            loader_directory: Some("/l".into()),
            order: vec!["the first rule".into(), "the second".into()],
            problems: vec!["X is ignored".into()],
            adapters: vec![
                Considered {
                    name: "a.so".into(),
                    skipped: None,
                    candidates: vec![tried(true, "used"), tried(false, "not found")],
                },
                Considered { name: "b.so".into(), skipped: Some("the selector".into()), candidates: Vec::new() },
            ],
        }
    }

    #[test]
    fn text_shows_devices_properties_and_why_an_adapter_has_none() {
        let text = text(OsStr::new("l.so"), &inventory(), None);
        for part in [
            "device 0: GPU (GPU), 3.0 GiB, 8 compute units, driver 1.2",
            "VENDOR_ID                                    4318",
            "failed: urDeviceGetInfo answers X",
            "not supported (1): FAN_SPEED",
            "no platform: no library",
            "1 device in 2 adapters",
        ] {
            assert!(text.contains(part), "{part:?} is missing from\n{text}");
        }
    }

    #[test]
    fn text_marks_the_candidate_that_is_used() {
        let text = text(OsStr::new("l.so"), &Inventory { adapters: Vec::new() }, Some(&search()));
        for part in [
            "search: the first rule, then the second",
            "the loader's directory is /l",
            "  X is ignored",
            "* /l/a.so (the system's search): used",
            "- /l/a.so",
            "not looked for",
            "no adapter",
        ] {
            assert!(text.contains(part), "{part:?} is missing from\n{text}");
        }
    }

    #[test]
    fn json_says_the_same() {
        let json = json(OsStr::new("l.so"), &inventory(), Some(&search()));
        let device = &json["adapters"][0]["platforms"][0]["devices"][0];
        assert_eq!(device["properties"]["VENDOR_ID"], 4318);
        assert_eq!(device["unsupported"][0], "FAN_SPEED");
        assert_eq!(json["adapters"][1]["last_error"], "no library");
        assert_eq!(json["search"]["adapters"][0]["candidates"][0]["taken"], true);
        assert_eq!(json["search"]["order"][1], "the second");
    }
}
