//! The inventory and the search as text and as JSON. It asks nothing.

use std::ffi::OsStr;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::inventory::{Adapter, Device, Inventory, Platform, Properties};
use crate::why::{Considered, Search};

/// For people: what is known before the loader is asked for anything.
pub fn search_text(loader: &OsStr, search: Option<&Search>) -> String {
    let mut out = format!("loader {}\n", loader.display());
    if let Some(search) = search {
        // Writing to a string cannot fail.
        let _ = write_search(&mut out, search);
    }
    out
}

/// For people: what there is, after [`search_text`], which told the search or not.
pub fn text(inventory: &Inventory, searched: bool) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_inventory(&mut out, inventory, searched);
    out
}

fn write_inventory(out: &mut String, inventory: &Inventory, searched: bool) -> std::fmt::Result {
    for (index, adapter) in inventory.adapters.iter().enumerate() {
        write_adapter(out, index, adapter)?;
    }
    match (inventory.adapters.len(), inventory.devices()) {
        // Nobody knows what there is.
        (0, _) if inventory.error.is_some() => Ok(()),
        (0, _) => writeln!(out, "no adapter{}", if searched { "" } else { "; --why tells what was tried" }),
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
    if let Some(error) = &adapter.error {
        writeln!(out, "  failed: {error}")?;
    } else if adapter.platforms.is_empty() {
        let reason = adapter.last_error.as_deref().unwrap_or("the adapter gives no reason");
        writeln!(out, "  no platform: {reason}")?;
    }
    for (index, platform) in adapter.platforms.iter().enumerate() {
        writeln!(out, "  platform {index}: {}, {}, {}", platform.name, platform.vendor, platform.version)?;
        for (index, device) in platform.devices.iter().enumerate() {
            write_device(out, index, device)?;
        }
        if let Some(error) = &platform.error {
            writeln!(out, "    failed: {error}")?;
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

/// For programs. A key `error` stands only where something failed.
pub fn json(loader: &OsStr, inventory: &Inventory, search: Option<&Search>) -> Value {
    let mut root = json!({
        "loader": loader.to_string_lossy(),
        "adapters": inventory.adapters.iter().map(adapter_json).collect::<Vec<_>>(),
    });
    if let Some(search) = search {
        root["search"] = json!(search);
    }
    with_error(root, inventory.error.as_ref().map(ToString::to_string))
}

fn with_error(mut value: Value, error: Option<String>) -> Value {
    if let Some(error) = error {
        value["error"] = json!(error);
    }
    value
}

fn adapter_json(adapter: &Adapter) -> Value {
    let value = json!({
        "backend": adapter.backend,
        "version": adapter.version,
        "last_error": adapter.last_error,
        "platforms": adapter.platforms.iter().map(platform_json).collect::<Vec<_>>(),
    });
    with_error(value, adapter.error.clone())
}

fn platform_json(platform: &Platform) -> Value {
    let value = json!({
        "name": platform.name,
        "vendor": platform.vendor,
        "version": platform.version,
        "devices": platform.devices.iter().map(device_json).collect::<Vec<_>>(),
    });
    with_error(value, platform.error.clone())
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
        let platform =
            Platform { name: "P".into(), vendor: "V".into(), version: "1".into(), devices: vec![device], error: None };
        Inventory {
            error: None,
            adapters: vec![
                Adapter {
                    backend: "CUDA".into(),
                    version: Some(1),
                    platforms: vec![platform],
                    last_error: None,
                    error: None,
                },
                Adapter {
                    backend: "HIP".into(),
                    version: None,
                    platforms: Vec::new(),
                    last_error: Some("no library".into()),
                    error: None,
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
        let text = text(&inventory(), false);
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
        let text = search_text(OsStr::new("l.so"), Some(&search())) + &text(&Inventory::default(), true);
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
