//! Works out the layout of each release from `spec/releases`: a whole release as it is written, one with a base from the
//! base's layout and the differences that its file lists.
//!
//! Only tables and orders are treated here; what exists in a release is said in `spec/api` and read by
//! [`crate::resolve`]. A difference that does not fit its base is a problem, never ignored.

use std::collections::BTreeMap;

use crate::load::{Source, Spec, release_key};
use crate::model::{Table, TableSlot};
use crate::problem::{Location, Problem};
use crate::spec::{self, ReleaseFile, Text};

/// The layout of one release.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Files of `spec/api` in the order of the headers; others follow by name.
    pub order: Vec<String>,
    /// Function tables in the order of `ur_dditable_t`.
    pub tables: Vec<Table>,
}

/// The layouts of all releases, in the order of the specification's files.
pub fn layouts(spec: &Spec, problems: &mut Vec<Problem>) -> Vec<Layout> {
    let mut known: BTreeMap<&str, Layout> = BTreeMap::new();
    // The newest first: a base is always newer than what differs from it.
    for file in spec.releases.iter().rev() {
        let layout = match &file.data.base {
            None => whole(file, problems),
            Some(base) => changed(file, base, &known, problems),
        };
        known.insert(file.data.release.get_ref(), layout);
    }
    let names = spec.releases.iter().map(|file| file.data.release.get_ref().as_str());
    names.map(|name| known.get(name).cloned().unwrap_or_default()).collect()
}

fn whole(file: &Source<ReleaseFile>, problems: &mut Vec<Problem>) -> Layout {
    let data = &file.data;
    let moved = data.moves.iter().map(|item| &item.file);
    let changed = data.change.iter().map(|change| &change.table);
    let placed = data.table.iter().filter_map(|table| table.after.as_ref());
    for text in moved.chain(changed).chain(&data.without_tables).chain(placed) {
        let message = "is a difference, but the release has no `base`; name the newer release it differs from";
        problem(problems, file, text, text.get_ref(), message.to_owned());
    }
    Layout {
        order: data.order.iter().map(|name| name.get_ref().clone()).collect(),
        tables: data.table.iter().map(|table| written(file, table)).collect(),
    }
}

fn changed(
    file: &Source<ReleaseFile>,
    base: &Text,
    known: &BTreeMap<&str, Layout>,
    problems: &mut Vec<Problem>,
) -> Layout {
    let own = file.data.release.get_ref();
    let newer = release_key(base.get_ref()) > release_key(own);
    let Some(mut layout) = known.get(base.get_ref().as_str()).filter(|_| newer).cloned() else {
        let message = format!("the base {} is no newer release of spec/releases; name one that is", base.get_ref());
        problem(problems, file, base, own, message);
        return Layout::default();
    };
    for name in &file.data.order {
        let message = "`order` belongs to a release without a base; list the files that moved with [[move]]";
        problem(problems, file, name, own, message.to_owned());
    }
    for item in &file.data.moves {
        reorder(file, item, &mut layout.order, problems);
    }
    for name in &file.data.without_tables {
        match position(&layout.tables, name) {
            Some(index) => drop(layout.tables.remove(index)),
            None => problem(problems, file, name, name.get_ref(), no_table(base)),
        }
    }
    for change in &file.data.change {
        match position(&layout.tables, &change.table) {
            Some(index) => change_table(file, change, &mut layout.tables[index], problems),
            None => problem(problems, file, &change.table, change.table.get_ref(), no_table(base)),
        }
    }
    for table in &file.data.table {
        add_table(file, table, &mut layout.tables, problems);
    }
    layout
}

fn no_table(base: &Text) -> String {
    format!("release {} has no such table; fix the name or drop the difference", base.get_ref())
}

fn position(tables: &[Table], name: &Text) -> Option<usize> {
    tables.iter().position(|table| table.name == *name.get_ref())
}

/// Puts a file behind another one.
fn reorder(file: &Source<ReleaseFile>, item: &spec::Move, order: &mut Vec<String>, problems: &mut Vec<Problem>) {
    let place = |order: &[String], name: &Text| order.iter().position(|known| known == name.get_ref());
    for name in [&item.file, &item.after] {
        if place(order, name).is_none() {
            let message = "is not in the base's `order`; fix the name or drop the [[move]]".to_owned();
            return problem(problems, file, name, name.get_ref(), message);
        }
    }
    if let Some(from) = place(order, &item.file) {
        let name = order.remove(from);
        let behind = place(order, &item.after).map_or(order.len(), |index| index + 1);
        order.insert(behind, name);
    }
}

fn change_table(
    file: &Source<ReleaseFile>,
    change: &spec::TableChange,
    table: &mut Table,
    problems: &mut Vec<Problem>,
) {
    let slot = |table: &Table, name: &Text| table.slots.iter().position(|slot| slot.function == *name.get_ref());
    let missing = |name: &Text| format!("has no slot for {}; fix the name or drop the line", name.get_ref());
    for name in &change.remove {
        match slot(table, name) {
            Some(index) => drop(table.slots.remove(index)),
            None => problem(problems, file, name, &table.name, missing(name)),
        }
    }
    for insertion in &change.insert {
        let place = match &insertion.after {
            None => Some(0),
            Some(name) => slot(table, name).map(|index| index + 1),
        };
        match (place, &insertion.after) {
            (Some(index), _) => {
                let slots = insertion.functions.iter().map(|name| new_slot(file, &table.prefix, name));
                table.slots.splice(index..index, slots);
            }
            (None, Some(name)) => problem(problems, file, name, &table.name, missing(name)),
            (None, None) => {}
        }
    }
}

/// Adds a table that the base does not have, behind the one it names or first.
fn add_table(file: &Source<ReleaseFile>, table: &spec::Table, tables: &mut Vec<Table>, problems: &mut Vec<Problem>) {
    let place = match &table.after {
        None => Some(0),
        Some(name) => position(tables, name).map(|index| index + 1),
    };
    match (place, &table.after) {
        (Some(index), _) => tables.insert(index, written(file, table)),
        (None, Some(name)) => {
            let message = format!("is to follow {}, which is no table; fix the name", name.get_ref());
            problem(problems, file, name, table.name.get_ref(), message);
        }
        (None, None) => {}
    }
}

fn written(file: &Source<ReleaseFile>, table: &spec::Table) -> Table {
    Table {
        at: at(file, &table.name),
        name: table.name.get_ref().clone(),
        field: table.field.get_ref().clone(),
        prefix: table.prefix.clone(),
        slots: table.functions.iter().map(|name| new_slot(file, &table.prefix, name)).collect(),
    }
}

fn new_slot(file: &Source<ReleaseFile>, prefix: &str, function: &Text) -> TableSlot {
    let name = function.get_ref();
    TableSlot { at: at(file, function), field: slot_field(prefix, name), function: name.clone() }
}

/// A function's field in a table whose functions begin with `prefix`.
pub fn slot_field(prefix: &str, function: &str) -> String {
    format!("pfn{}", function.strip_prefix(prefix).unwrap_or(function))
}

fn at(file: &Source<ReleaseFile>, text: &Text) -> Location {
    file.at(text.span())
}

fn problem(problems: &mut Vec<Problem>, file: &Source<ReleaseFile>, text: &Text, item: &str, message: String) {
    problems.push(Problem::Spec { at: at(file, text), item: item.to_owned(), message });
}
