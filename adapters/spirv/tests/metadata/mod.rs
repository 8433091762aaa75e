//! What a code object's note says of its kernels: a message of MessagePack in a 64-bit ELF file.

use std::collections::BTreeMap;

/// One kernel of a code object.
#[derive(Debug)]
pub struct MadeKernel {
    pub name: String,
    pub wave_size: u64,
    /// Size and kind of each argument that the kernel names.
    pub arguments: Vec<(u64, String)>,
    pub required_size: Option<[u64; 3]>,
}

/// The kernels of a code object.
pub fn kernels_of(object: &[u8]) -> Vec<MadeKernel> {
    let note = note_of(object);
    let Value::Map(root) = Reader { bytes: note, at: 0 }.value() else { panic!("the note is no map") };
    root["amdhsa.kernels"].list().iter().map(kernel).collect()
}

fn kernel(value: &Value) -> MadeKernel {
    let Value::Map(fields) = value else { panic!("a kernel is no map") };
    let arguments = fields.get(".args").map(Value::list).unwrap_or_default();
    let arguments = arguments.iter().map(|argument| {
        let Value::Map(fields) = argument else { panic!("an argument is no map") };
        (fields[".size"].number(), fields[".value_kind"].text())
    });
    let required = fields.get(".reqd_workgroup_size").map(Value::list);
    MadeKernel {
        name: fields[".name"].text(),
        wave_size: fields[".wavefront_size"].number(),
        arguments: arguments.filter(|(_, kind)| !kind.starts_with("hidden_")).collect(),
        required_size: required.map(|sizes| [0, 1, 2].map(|at| sizes[at].number())),
    }
}

/// The description of the note that AMD's metadata stands in (type 32 of owner `AMDGPU`).
fn note_of(object: &[u8]) -> &[u8] {
    let number = |at: usize, size: usize| {
        object[at..at + size].iter().rev().fold(0usize, |number, &byte| number << 8 | usize::from(byte))
    };
    let (sections, size, count) = (number(0x28, 8), number(0x3a, 2), number(0x3c, 2));
    for section in (0..count).map(|at| sections + at * size) {
        const NOTE: usize = 7;
        if number(section + 4, 4) != NOTE {
            continue;
        }
        let start = number(section + 0x18, 8);
        let (name, length, kind) = (number(start, 4), number(start + 4, 4), number(start + 8, 4));
        let description = start + 12 + name.next_multiple_of(4);
        if kind == 32 {
            return &object[description..description + length];
        }
    }
    panic!("no note has the metadata")
}

#[derive(Debug)]
enum Value {
    Number(u64),
    Text(String),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
}

impl Value {
    fn number(&self) -> u64 {
        let Self::Number(number) = self else { panic!("{self:?} is no number") };
        *number
    }

    fn text(&self) -> String {
        let Self::Text(text) = self else { panic!("{self:?} is no text") };
        text.clone()
    }

    fn list(&self) -> &[Value] {
        let Self::List(list) = self else { panic!("{self:?} is no list") };
        list
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Value {
        let tag = self.number(1) as u8;
        match tag {
            0..=0x7f => Value::Number(tag.into()),
            0x80..=0x8f => self.map((tag & 15).into()),
            0x90..=0x9f => self.list((tag & 15).into()),
            0xa0..=0xbf => self.text((tag & 31).into()),
            0xc2 | 0xc3 => Value::Number((tag & 1).into()),
            0xcc..=0xcf => Value::Number(self.number(1 << (tag - 0xcc))),
            0xd0..=0xd3 => Value::Number(self.number(1 << (tag - 0xd0))),
            0xd9..=0xdb => {
                let length = self.number(1 << (tag - 0xd9));
                self.text(length)
            }
            0xdc | 0xdd => {
                let length = self.number(2 << (tag - 0xdc));
                self.list(length)
            }
            0xde | 0xdf => {
                let length = self.number(2 << (tag - 0xde));
                self.map(length)
            }
            _ => panic!("tag {tag:#x} at byte {}", self.at - 1),
        }
    }

    fn number(&mut self, size: usize) -> u64 {
        let bytes = &self.bytes[self.at..self.at + size];
        self.at += size;
        bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
    }

    fn text(&mut self, length: u64) -> Value {
        let end = self.at + length as usize;
        let text = String::from_utf8(self.bytes[self.at..end].to_vec()).unwrap();
        self.at = end;
        Value::Text(text)
    }

    fn list(&mut self, length: u64) -> Value {
        Value::List((0..length).map(|_| self.value()).collect())
    }

    fn map(&mut self, length: u64) -> Value {
        let entry = |_| {
            let name = self.value().text();
            (name, self.value())
        };
        Value::Map((0..length).map(entry).collect())
    }
}
