//! The whole way over small inputs: an API, a table, an engine and two drivers as text.

use std::collections::BTreeSet;

use super::api::{self, Group};
use super::source::{Code, ENGINE};
use super::{compare, judge, table};

const API: &str = r#"
title = "Things"
[[function]]
name = "urThingMake"
[[function]]
name = "urThingDrop"
[[function]]
name = "urThingOld"
until = "1.0"
[[enum]]
name = "ur_thing_flag_t"
values = [{ name = "UR_THING_FLAG_RED", value = 1 }]
"#;

const TABLE: &str = r#"
impl<D: Driver> EntryPoints for Engine<D> {
    forward!(urThingMake => things::make::<D>);
    #[cfg(feature = "old")]
    forward!(urThingOld => things::old::<D>);
}
left_out!("nobody drops things" => urThingDrop);
"#;

const THINGS: &str = r#"
use crate::error::Error;
use crate::checks;

/// Makes one.
pub unsafe fn make<D: Driver>(thing: &Thing) -> Result<()> {
    thing.check(1)?;
    driver.paint()
}
"#;

const CHECKS: &str = r#"
impl Thing {
    /// # Unsupported
    /// - things of a size
    ///   above 7.
    pub fn check(&self, size: usize) -> Result<()> {
        Err(Error::unsupported("a size"))
    }
}
impl Other {
    pub fn check(&self, size: usize) -> Result<()> {
        Ok(())
    }
}
"#;

const HIP: &str = r#"
impl Driver for Hip {
    /// # Unsupported
    /// - always: no paint
    fn paint(&self) -> Result<()> {
        Err(Error::unsupported("paint"))
    }
}
"#;

const CUDA: &str = "impl Driver for Cuda { fn paint(&self) -> Result<()> { Ok(()) } }";

/// What is made of the inputs above, with some of them exchanged.
#[derive(Clone)]
struct Inputs {
    table: String,
    things: String,
    checks: String,
    hip: String,
}

impl Default for Inputs {
    fn default() -> Self {
        Inputs { table: TABLE.into(), things: THINGS.into(), checks: CHECKS.into(), hip: HIP.into() }
    }
}

impl Inputs {
    fn document(&self) -> Result<String, String> {
        let api: Vec<Group> = vec![api::group("thing".to_owned(), &API.parse().unwrap(), "2.0")];
        let table = table::read(&self.table).map_err(|error| error.to_string())?;
        let mut code = Code::default();
        for (of, module, text) in [
            (ENGINE, "things", self.things.as_str()),
            (ENGINE, "checks", &self.checks),
            ("CUDA", "driver", CUDA),
            ("HIP", "driver", &self.hip),
        ] {
            code.read_file(of, module.to_owned(), text).unwrap();
        }
        let mut names = BTreeSet::new();
        api::collect_names(&API.parse::<toml::Table>().unwrap().into(), &mut names);
        judge(&api, &names, &table, &code).map_err(|failure| failure.to_string())
    }

    fn refused(&self, because: &str) {
        let problems = self.document().expect_err("it is to be refused");
        assert!(problems.contains(because), "{problems}\nlacks: {because}");
    }
}

fn with(change: impl FnOnce(&mut Inputs)) -> Inputs {
    let mut inputs = Inputs::default();
    change(&mut inputs);
    inputs
}

fn row<'d>(document: &'d str, name: &str) -> &'d str {
    document.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).expect("every function has a row")
}

#[test]
fn a_row_has_the_gaps_of_everything_that_is_called_by_backend() {
    let document = Inputs::default().document().unwrap();
    assert_eq!(
        row(&document, "urThingMake"),
        "| `urThingMake` | partial | unsupported | HIP: no paint<br>things of a size above 7 |"
    );
    assert_eq!(row(&document, "urThingDrop"), "| `urThingDrop` | unsupported | unsupported | nobody drops things |");
    assert!(!document.contains("urThingOld"), "a function of an older release alone has no row");
    assert!(document.contains("| CUDA | 0 | 1 | 1 | 0 | 2 |") && document.contains("| HIP | 0 | 0 | 2 | 0 | 2 |"));
}

#[test]
fn what_a_device_must_have_is_told_and_makes_nothing_partial() {
    let needs = |text: &str| text.replace("- things of", "- needs: things of").replace("- always: no", "- needs: no");
    let inputs = with(|inputs| (inputs.checks, inputs.hip) = (needs(CHECKS), needs(HIP)));
    let document = inputs.document().unwrap();
    let text = "*needs* things of a size above 7<br>HIP: *needs* no paint |";
    assert_eq!(row(&document, "urThingMake"), format!("| `urThingMake` | supported | supported | {text}"));
}

#[test]
fn a_note_belongs_to_the_function_that_answers_and_not_to_what_calls_it() {
    let inputs = with(|inputs| {
        inputs.things = THINGS.replace("/// Makes one.", "/// # Unsupported\n/// - note: it is small");
        inputs.hip = HIP.replace("- always: no paint", "- always: no paint\n    /// - note: no brush");
    });
    let document = inputs.document().unwrap();
    assert!(
        row(&document, "urThingMake")
            .ends_with("| partial | unsupported | HIP: no paint<br>things of a size above 7<br>it is small |")
    );
    assert!(document.contains("- HIP `paint`: no brush"));
}

#[test]
fn a_function_that_is_neither_forwarded_nor_left_out_is_an_error() {
    with(|inputs| inputs.table = TABLE.replace("urThingDrop", "urThingOther"))
        .refused("urThingDrop is neither forwarded nor left out with a reason");
    with(|inputs| inputs.table = TABLE.replace("urThingDrop", "urThingOther"))
        .refused("urThingOther is left out, and no function of the release");
}

#[test]
fn a_function_that_is_both_is_an_error() {
    with(|inputs| inputs.table = TABLE.replace("=> urThingDrop", "=> urThingDrop, urThingMake"))
        .refused("urThingMake is forwarded and left out");
}

#[test]
fn a_constant_that_a_reason_names_is_one_of_the_specification() {
    let naming =
        |name: &str| with(|inputs| inputs.table = TABLE.replace("nobody drops", &format!("`{name}`: nobody drops")));
    naming("UR_THING_FLAG_RED").document().unwrap();
    naming("UR_THING_FLAG_BLUE").refused("urThingDrop: the specification has no `UR_THING_FLAG_BLUE`");
}

#[test]
fn a_reason_must_be_there() {
    with(|inputs| inputs.table = TABLE.replace("nobody drops things", " ")).refused("a reason is missing");
}

#[test]
fn a_target_that_is_not_there_is_an_error() {
    with(|inputs| inputs.table = TABLE.replace("things::make", "things::build"))
        .refused("things::build, which is not found");
}

#[test]
fn an_answer_without_a_line_in_the_section_is_an_error() {
    with(|inputs| inputs.hip = HIP.replace("- always: no paint", ""))
        .refused("HIP driver: Hip::paint: 1 answers that something is not supported (lines 6) and 0 lines");
    let code = "return ur_result_t::ERROR_UNSUPPORTED_FEATURE;";
    with(|inputs| inputs.things = THINGS.replace("thing.check(1)?;", &format!("thing.check(1)?; {code}")))
        .refused("common things: make: 1 answers");
}

#[test]
fn a_second_answer_needs_a_second_line() {
    let twice =
        CHECKS.replace("Err(Error::", "if size == 0 { return Err(Error::unsupported(\"none\")); }\n Err(Error::");
    with(|inputs| inputs.checks = twice).refused("2 answers");
}

#[test]
fn a_code_that_is_compared_or_matched_is_no_answer() {
    let looks = "if code == C::ERROR_UNSUPPORTED_FEATURE { } match code { C::ERROR_UNSUPPORTED_FEATURE => 1, _ => 2 };";
    with(|inputs| inputs.things = THINGS.replace("thing.check(1)?;", &format!("thing.check(1)?; {looks}")))
        .document()
        .unwrap();
}

#[test]
fn a_comment_with_a_reason_says_that_an_answer_is_no_gap() {
    let excused = |why: &str| {
        let text = CHECKS.replace("    /// # Unsupported\n    /// - things of a size\n    ///   above 7.\n", "");
        text.replace("        Err(Error", &format!("        // coverage: none because {why}\n        Err(Error"))
    };
    let document = with(|inputs| inputs.checks = excused("it is a test")).document().unwrap();
    assert_eq!(row(&document, "urThingMake"), "| `urThingMake` | supported | unsupported | HIP: no paint |");
    with(|inputs| inputs.checks = excused("")).refused("gives no reason");
}

#[test]
fn a_call_that_cannot_meet_a_gap_is_cut_by_name() {
    let cut = THINGS.replace("driver.paint()", "// coverage: without paint because it is dry\n    driver.paint()");
    // Nobody else leads there, so the line would be told nowhere.
    with(|inputs| inputs.things = cut).refused("HIP driver: Hip::paint: no entry point leads to its gaps");
}

#[test]
fn a_comment_that_has_become_idle_is_an_error() {
    let cut = THINGS.replace("driver.paint()", "// coverage: without draw because it is dry\n    driver.paint()");
    with(|inputs| inputs.things = cut).refused("common things: make: nothing to cut at `draw`");
    let excuse = THINGS.replace("driver.paint()", "// coverage: none because it is dry\n    driver.paint()");
    with(|inputs| inputs.things = excuse).refused("stands above no such answer");
}

#[test]
fn a_method_is_looked_for_in_the_receiver_s_type_where_that_is_known() {
    let both = CHECKS.replace("impl Other {\n", "impl Other {\n    /// # Unsupported\n    /// - others\n");
    with(|inputs| inputs.checks = both.clone()).refused("checks: Other::check: no entry point leads to its gaps");
    let inputs = with(|inputs| {
        inputs.things = THINGS
            .replace("thing: &Thing", "things: &Things")
            .replace("thing.", "let (thing, _) = things.two();\n    thing.");
        inputs.checks = both;
    });
    assert!(row(&inputs.document().unwrap(), "urThingMake").contains("others"));
}

#[test]
fn a_gap_of_one_backend_is_not_the_other_s_to_tell() {
    with(|inputs| inputs.hip = HIP.replace("- always", "- CUDA: always")).refused("a gap of CUDA in another backend");
}

#[test]
fn a_document_that_differs_is_stale_and_the_line_is_told() {
    let document = Inputs::default().document().unwrap();
    compare(&document, &document).unwrap();
    let old = document.replace("no paint", "paint");
    let line = 1 + document.lines().position(|line| line.contains("no paint")).unwrap();
    let failure = compare(&old, &document).unwrap_err().to_string();
    assert!(failure.contains(&format!("from line {line} on")), "{failure}");
    compare("", &document).unwrap_err();
}
