//! What a thunk makes of C's parameters: the checks, in their order, and the arguments of the engine's function.
//!
//! The order is the same everywhere: handles, then enumerations and flags, then pointers, then flags behind pointers, then
//! the wait list, then the output of a query. Which check a parameter gets follows from its type and tags; the functions
//! that check are `object::params` of the engine. Parameters that belong together become one argument.

use crate::condition::{self, Expr, Node};
use crate::ctype::CType;
use crate::engine::Row;
use crate::model::{Function, Kind, Param, Release};
use crate::names;

/// The body of a thunk.
#[derive(Debug, Default)]
pub struct Call {
    /// The checks, as statements.
    pub steps: Vec<String>,
    /// The variables that the checks make and the call needs.
    pub checked: Vec<String>,
    /// The arguments of the engine's function.
    pub arguments: Vec<String>,
}

/// When a check is made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Clears,
    Handles,
    Values,
    Pointers,
    BehindPointers,
    Waits,
    Query,
}

impl Call {
    /// The checks and arguments of one function.
    pub fn of(release: &Release, function: &Function, row: &Row) -> Call {
        let mut builder = Builder { release, function, row, steps: Vec::new(), call: Call::default() };
        builder.parameters();
        builder.conditions();
        builder.steps.sort_by_key(|(stage, _)| *stage);
        builder.call.steps = builder.steps.into_iter().map(|(_, text)| text).collect();
        builder.call
    }
}

struct Builder<'a> {
    release: &'a Release,
    function: &'a Function,
    row: &'a Row,
    steps: Vec<(Stage, String)>,
    call: Call,
}

impl<'a> Builder<'a> {
    fn param(&self, name: &str) -> Option<&'a Param> {
        self.function.params.iter().find(|param| param.name == name)
    }

    /// `"urQueueFinish: hQueue"`: how messages name a parameter.
    fn named(&self, what: &str) -> String {
        format!("\"{}: {what}\"", self.function.name)
    }

    /// A check that makes a variable of the parameter's name, which becomes an argument.
    fn checked(&mut self, stage: Stage, name: &str, check: String) {
        let variable = names::rust_ident(name);
        self.steps.push((stage, format!("let {variable} = {check};")));
        self.call.checked.push(variable.clone());
        self.call.arguments.push(variable);
    }

    fn parameters(&mut self) {
        let function = self.function;
        for name in &self.row.clears {
            let text = format!("params::clear(params::optional_out({}));", names::rust_ident(name));
            self.steps.push((Stage::Clears, text));
        }
        if let Some(name) = &self.row.dimensions {
            let text = format!("params::work_dimensions({}, {})?;", self.named(name), names::rust_ident(name));
            self.steps.push((Stage::Values, text));
        }
        let enqueue = self.enqueue();
        let append = self.append();
        let query = self.query();
        let mut at = 0;
        while let Some(param) = function.params.get(at) {
            at += 1;
            if enqueue.as_ref().is_some_and(|parts| parts.contains(&param.name.as_str())) {
                if param.name == QUEUE {
                    self.enqueue_argument();
                }
            } else if append.as_ref().is_some_and(|parts| parts.contains(&param.name.as_str())) {
                if param.name == COMMAND_BUFFER {
                    self.append_argument();
                }
            } else if let Some(query) = query.as_ref().filter(|query| query.has(&param.name)) {
                if param.name == query.size.unwrap_or(query.value) {
                    self.query_argument(query);
                }
            } else if let Some(list) = self.listed(at - 1) {
                let check = self.list_out(list);
                self.checked(Stage::Pointers, &list.1.name, check);
                at += 2;
            } else if !self.is_a_length(param) {
                self.parameter(param);
            }
        }
    }

    /// The parameters of an enqueue that become one argument: queue, wait list, event.
    fn enqueue(&self) -> Option<Vec<&'a str>> {
        let queue = self.param(QUEUE).filter(|param| self.release.is_handle(&param.ty))?;
        let event = self.param(EVENT)?;
        let mut parts = vec![queue.name.as_str(), event.name.as_str()];
        if let Some(list) = self.param(WAITS) {
            parts.extend([list.name.as_str(), list.count()?]);
        }
        Some(parts)
    }

    fn enqueue_argument(&mut self) {
        self.steps.push((
            Stage::Handles,
            format!("let hQueue = params::handle::<Queue<D>>({}, hQueue)?;", self.named(QUEUE)),
        ));
        let waits = match self.param(WAITS).and_then(Param::count) {
            Some(count) => format!("WaitList::new({}, {}, {WAITS})?", self.named(WAITS), names::rust_ident(count)),
            None => "WaitList::none()".to_owned(),
        };
        let has = |tag: &str| self.param(EVENT).is_some_and(|event| event.has(tag));
        let event = if has("optional") {
            format!("EventOut::new({EVENT})")
        } else {
            format!("EventOut::required({}, {EVENT})?", self.named(EVENT))
        };
        // One that must be there is written alone.
        let is_input = has("in,out") && has("optional");
        if is_input {
            let text = format!("let given = event_input::<D>({}, {EVENT})?;", self.named(EVENT));
            self.steps.push((Stage::Waits, text));
        }
        let text = format!("let enqueue = Enqueue {{ queue: hQueue, waits: {waits}, event: {event} }};");
        self.steps.push((Stage::Waits, text));
        for variable in ["enqueue", "given"].into_iter().take(1 + usize::from(is_input)) {
            self.call.checked.push(variable.to_owned());
            self.call.arguments.push(variable.to_owned());
        }
    }

    /// The parameters of a command that is appended to a command buffer, which become one argument: the buffer, what the
    /// command comes after, and what is told of it.
    fn append(&self) -> Option<Vec<&'a str>> {
        let buffer = self.param(COMMAND_BUFFER).filter(|param| self.release.is_handle(&param.ty))?;
        let list = self.param(SYNC_POINTS)?;
        let mut parts = vec![buffer.name.as_str(), list.name.as_str(), self.sync_point_count()?];
        let others = [WAITS, SYNC_POINT, EVENT, COMMAND];
        parts.extend(others.into_iter().filter_map(|name| self.param(name)).map(|param| param.name.as_str()));
        parts.extend(self.param(WAITS).and_then(Param::count));
        Some(parts)
    }

    /// The specification has no tag for the length of a list of sync points; it stands before the list.
    fn sync_point_count(&self) -> Option<&'a str> {
        let at = self.function.params.iter().position(|param| param.name == SYNC_POINTS)?;
        Some(&self.function.params.get(at.checked_sub(1)?)?.name)
    }

    fn append_argument(&mut self) {
        let body = self.param(COMMAND_BUFFER).map(|param| names::engine_object(&param.ty.base)).unwrap_or_default();
        let buffer = format!("params::handle::<{body}<D>>({}, {COMMAND_BUFFER})?", self.named(COMMAND_BUFFER));
        self.steps.push((Stage::Handles, format!("let {COMMAND_BUFFER} = {buffer};")));
        let count = names::rust_ident(self.sync_point_count().unwrap_or_default());
        let points = format!("SyncPoints::new({}, {count}, {SYNC_POINTS})?", self.named(SYNC_POINTS));
        let waits = match self.param(WAITS).and_then(Param::count) {
            Some(count) => format!("WaitList::new({}, {}, {WAITS})?", self.named(WAITS), names::rust_ident(count)),
            None => "WaitList::none()".to_owned(),
        };
        let out = |name: &str| match self.param(name) {
            Some(_) => format!("params::optional_out({name})"),
            None => "None".to_owned(),
        };
        let outputs = [SYNC_POINT, EVENT, COMMAND].map(out).join(", ");
        let text = format!("let append = Append::new({COMMAND_BUFFER}, {points}, {waits}, {outputs});");
        self.steps.push((Stage::Waits, text));
        self.call.checked.push("append".to_owned());
        self.call.arguments.push("append".to_owned());
    }

    /// The parameters of a query that become one argument.
    fn query(&self) -> Option<Query<'a>> {
        let params = &self.function.params;
        let at = params.iter().position(|param| {
            let is_output = param.ty.is_pointer() && is_out(param);
            is_output && (typename(param).is_some() || self.is_without_size(param))
        })?;
        let (value, told) = (&params[at], params.get(at + 1)?);
        let size = match typename(value) {
            Some((_, size)) => Some(self.param(size.trim())?.name.as_str()),
            None => None,
        };
        Some(Query { size, value: &value.name, told: &told.name })
    }

    /// Whether a parameter is the output of a query that is told no size: bytes without a length, and the place for their
    /// number behind them, as the last parameters.
    fn is_without_size(&self, value: &Param) -> bool {
        let [.., before, told] = self.function.params.as_slice() else { return false };
        let is_value = before.name == value.name && value.ty.base == "void" && value.ty.pointers == 1;
        is_value && value.has("optional") && told.has("optional") && is_out(told) && told.ty.base == "size_t"
    }

    fn query_argument(&mut self, query: &Query<'_>) {
        let (value, told) = (names::rust_ident(query.value), names::rust_ident(query.told));
        let late = if self.row.unchecked.contains(&value) { "" } else { "?" };
        let function = &self.function.name;
        let info = match query.size.map(names::rust_ident) {
            Some(size) => format!("InfoWriter::new(\"{function}\", {size}, {value}, {told})"),
            None => format!("params::info_without_size(\"{function}\", {value}, {told})"),
        };
        self.steps.push((Stage::Query, format!("let info = {info}{late};")));
        self.call.checked.push("info".to_owned());
        self.call.arguments.push("info".to_owned());
    }

    /// The three parameters of an enumeration of handles, the first of which is at `at`.
    fn listed(&self, at: usize) -> Option<(&'a Param, &'a Param, &'a Param)> {
        let [capacity, entries, count] = self.function.params.get(at..at + 3)? else { return None };
        let fits = is_out(entries) && entries.count() == Some(&capacity.name) && is_out(count) && count.ty.is_pointer();
        fits.then_some((capacity, entries, count))
    }

    fn list_out(&self, (capacity, entries, count): (&Param, &Param, &Param)) -> String {
        let names = [capacity, entries, count].map(|param| names::rust_ident(&param.name));
        format!("params::list_out(\"{}\", {})?", self.function.name, names.join(", "))
    }

    /// Whether a parameter is only the length of others, which carry it.
    fn is_a_length(&self, param: &Param) -> bool {
        !param.ty.is_pointer()
            && self
                .function
                .params
                .iter()
                .any(|other| other.ty.is_pointer() && self.length_of(other) == Some(&param.name))
            && !self.row.unchecked.contains(&param.name)
    }

    /// The parameter that says how many elements another points to.
    fn length_of(&self, param: &'a Param) -> Option<&'a str> {
        param
            .count()
            .or_else(|| self.row.slices.get(&param.name).and_then(|name| self.param(name)).map(|p| p.name.as_str()))
    }

    fn parameter(&mut self, param: &'a Param) {
        let (ty, name) = (&param.ty, names::rust_ident(&param.name));
        let (named, optional) = (self.named(&param.name), param.has("optional"));
        let kind = self.release.kind(&ty.base);
        let is_address = self.release.is_address(ty);
        if is_address && self.row.unchecked.contains(&param.name) {
            match self.length_of(param).map(names::rust_ident) {
                // Not even the handles of a list are looked at, but it has its length.
                Some(length) if optional => {
                    let check = format!("params::slice_or_none({named}, {length}, {name})?");
                    self.checked(Stage::Pointers, &param.name, check);
                }
                _ => self.call.arguments.push(name),
            }
        } else if self.release.is_handle(ty) {
            let body = names::engine_object(&ty.base);
            let check = if optional { "optional_handle" } else { "handle" };
            let mut check = format!("params::{check}::<{body}<D>>({named}, {name})?");
            if self.is_given_back(param) {
                check = format!("Held::new({check})");
            }
            self.checked(Stage::Handles, &param.name, check);
        } else if kind == Some(Kind::Callback) && !ty.is_pointer() {
            if optional {
                self.call.arguments.push(name);
            } else {
                self.checked(Stage::Pointers, &param.name, format!("params::callback({named}, {name})?"));
            }
        } else if ty.is_pointer() {
            self.pointer(param, kind, &name, &named);
        } else if ty.base == "bool" {
            self.call.arguments.push(format!("{name}.get()"));
        } else {
            self.call.arguments.push(name);
        }
    }

    fn pointer(&mut self, param: &'a Param, kind: Option<Kind>, name: &str, named: &str) {
        let (ty, optional) = (&param.ty, param.has("optional"));
        if let Some(length) = self.length_of(param) {
            let length = names::rust_ident(length);
            if ty.base == EVENTS {
                if !optional {
                    self.steps.push((Stage::Pointers, format!("params::address({named}, {name})?;")));
                }
                self.length_check(&length);
                return self.checked(
                    Stage::Pointers,
                    &param.name,
                    format!("WaitList::<D>::new({named}, {length}, {name})?"),
                );
            }
            let is_output = is_out(param) && !is_in(param);
            let bytes = if ty.base == "void" && ty.pointers == 1 { ".cast::<u8>()" } else { "" };
            let list = match optional {
                _ if is_output => "out_array",
                // What the specification gives no length may be left out whatever the length is.
                true if ty.pointers == 1 && self.row.slices.contains_key(&param.name) => "slice_or_none",
                true => "optional_slice",
                false => "slice",
            };
            let mut check = format!("params::{list}({named}, {length}, {name}{bytes})?");
            if kind == Some(Kind::Handle) && ty.pointers == 1 && !is_output {
                self.list_code(param, name, &length, named);
                check = format!("params::handles::<{}<D>>({named}, {check})?", names::engine_object(&ty.base));
            }
            self.checked(Stage::Pointers, &param.name, check);
            return self.length_check(&length);
        }
        let in_memory = matches!(kind, Some(Kind::Struct | Kind::Union)) && ty.pointers == 1 && !is_out(param);
        let chained = if self.row.chained.contains(&param.name) { "_chained" } else { "" };
        let reader = if in_memory {
            Some(format!("optional{chained}"))
        } else if ty.base == "char" && ty.pointers == 1 && ty.constant {
            Some("optional_text".to_owned())
        } else if is_out(param) && !is_in(param) && (ty.pointers > 1 || ty.base != "void") {
            Some("optional_out".to_owned())
        } else {
            None
        };
        if let Some(reader) = reader {
            let given = format!("params::{reader}({name})");
            let check = if optional { given } else { format!("params::required({named}, {given})?") };
            self.checked(Stage::Pointers, &param.name, check);
        } else if self.row.addresses.contains(&param.name) {
            self.checked(Stage::Pointers, &param.name, format!("params::optional_address({name})"));
        } else if optional || param.has("nocheck") {
            self.call.arguments.push(name.to_owned());
        } else {
            self.checked(Stage::Pointers, &param.name, format!("params::address({named}, {name})?"));
        }
    }

    /// Whether the application gives its reference to the object back.
    fn is_given_back(&self, param: &Param) -> bool {
        param.has("release") || self.row.gives_back.contains(&param.name)
    }

    /// Where the specification has a code for a list whose length contradicts it, that comes before a null pointer's.
    fn list_code(&mut self, param: &Param, name: &str, length: &str, named: &str) {
        let contradiction = format!("{} == NULL && {length} > 0", param.name);
        let case = self.function.errors.iter().find(|case| case.when.iter().any(|when| when.text == contradiction));
        if let Some(case) = case {
            let code = names::constant("ur_result_t", &case.code);
            let text = format!("params::list_or_none({named}, {length}, {name}, ur_result_t::{code})?;");
            self.steps.push((Stage::Pointers, text));
        }
    }

    /// Where the specification has a code for a list of no elements, the length is checked after the pointer.
    fn length_check(&mut self, length: &str) {
        let empty = format!("{length} == 0");
        let case = self.function.errors.iter().find(|case| case.when.iter().any(|when| when.text == empty));
        if let Some(case) = case.filter(|_| !self.row.unchecked.iter().any(|name| name == length)) {
            let code = names::constant("ur_result_t", &case.code);
            let (named, length) = (self.named(length), names::rust_ident(length));
            let text = format!("params::not_empty({named}, {length}, ur_result_t::{code})?;");
            if !self.steps.iter().any(|(_, step)| *step == text) {
                self.steps.push((Stage::Pointers, text));
            }
        }
    }

    /// Enumerations and flags, by themselves and behind pointers.
    fn conditions(&mut self) {
        let cases = self.function.errors.iter().filter(|case| case.code == "UR_RESULT_ERROR_INVALID_ENUMERATION");
        for text in cases.flat_map(|case| &case.when) {
            if let Ok(expr) = condition::parse(&text.text) {
                self.condition(&expr);
            }
        }
    }

    fn condition(&mut self, expr: &Expr) {
        let Node::Binary { operator, left, right } = &expr.node else { return };
        match (operator.text, &left.node) {
            ("<" | "&", Node::Name(limit)) => self.limited(limit, right, operator.text == "&"),
            ("&&", _) => self.condition(right),
            _ => {}
        }
    }

    /// A check of `value` against an enumeration's last value, or against the bits that a set of flags does not have.
    fn limited(&mut self, limit: &str, value: &Expr, is_mask: bool) {
        let (name, field) = match &value.node {
            Node::Name(name) => (name, None),
            Node::Member { of, field, arrow: true } => match &of.node {
                Node::Name(name) => (name, Some(field)),
                _ => return,
            },
            _ => return,
        };
        let Some(param) = self.param(name) else { return };
        let what = field.map_or_else(|| name.clone(), |field| format!("{name}->{field}"));
        let is_query = self.query().is_some() && field.is_none() && param.ty.base.ends_with("_info_t");
        if is_query || self.row.unchecked.contains(&what) || self.length_of(param).is_some() {
            return;
        }
        let (named, variable) = (self.named(&what), names::rust_ident(name));
        let place = field.map_or_else(|| variable.clone(), |field| format!("{variable}.{}", names::rust_ident(field)));
        let Some(ty) = self.type_of(param, field) else { return };
        let check = if is_mask {
            let limit = self.mask(limit);
            format!("params::flags({named}, {place}.bits(), {limit})?;")
        } else {
            format!("params::enumeration({named}, {place}.0, {}::{}.0)?;", ty.base, names::constant(&ty.base, limit))
        };
        match field {
            None => self.steps.push((Stage::Values, check)),
            Some(_) if param.has("optional") => {
                let text = format!("if let Some({variable}) = {variable} {{ {check} }}");
                self.steps.push((Stage::BehindPointers, text));
            }
            Some(_) => self.steps.push((Stage::BehindPointers, check)),
        }
    }

    /// A mask where the checks are: the bindings' constant, or the one of the library's release where releases disagree.
    fn mask(&self, name: &str) -> String {
        let mut sets = self.release.enums.iter().filter(|item| item.flags && item.mask_by_release);
        match sets.find(|item| names::flags_mask(&item.name) == name) {
            Some(item) => format!("{}::mask(D::cell().release())", names::flags_typedef(&item.name)),
            None => name.to_owned(),
        }
    }

    fn type_of(&self, param: &'a Param, field: Option<&String>) -> Option<&'a CType> {
        let Some(field) = field else { return Some(&param.ty) };
        let structure = self.release.structs.iter().find(|structure| structure.name == param.ty.base)?;
        structure.fields.iter().find(|own| own.name == *field).map(|own| &own.ty)
    }
}

/// The output parameters of a query.
struct Query<'a> {
    /// The size of the caller's buffer, if the query is told one.
    size: Option<&'a str>,
    value: &'a str,
    /// Where the size of the value goes.
    told: &'a str,
}

impl Query<'_> {
    fn has(&self, name: &str) -> bool {
        self.size == Some(name) || self.value == name || self.told == name
    }
}

/// What the tag `typename(propName, propSize)` of a query's output names.
fn typename(param: &Param) -> Option<(&str, &str)> {
    param.tags.iter().find_map(|tag| tag.strip_prefix("typename(")?.strip_suffix(')')?.split_once(','))
}

/// The queue of an enqueue.
const QUEUE: &str = "hQueue";

/// Its wait list.
const WAITS: &str = "phEventWaitList";

/// A list of these is a wait list, which has a code of its own for what is no list.
const EVENTS: &str = "ur_event_handle_t";

/// Where its event goes.
const EVENT: &str = "phEvent";

/// The command buffer that a command is appended to.
const COMMAND_BUFFER: &str = "hCommandBuffer";

/// What it comes after there.
const SYNC_POINTS: &str = "pSyncPointWaitList";

/// Where its own sync point goes.
const SYNC_POINT: &str = "pSyncPoint";

/// Where the handle goes by which it is changed.
const COMMAND: &str = "phCommand";

fn is_out(param: &Param) -> bool {
    param.has("out") || param.has("in,out")
}

fn is_in(param: &Param) -> bool {
    param.has("in") || param.has("in,out")
}
