//! Lanes of a wave: their numbers and masks, votes, values of other lanes. A wave runs its active lanes in step, so nothing here waits:
//! lanes that took different ways meet again where the compiler joins them.

use super::super::Writer;
use super::super::group::Mode;

impl Writer<'_> {
    /// The number of this lane in its wave.
    pub(super) fn lane(&mut self) -> String {
        self.declare("llvm.amdgcn.mbcnt.lo", "i32", "i32, i32");
        let low = self.call("i32", "llvm.amdgcn.mbcnt.lo", "i32 -1, i32 0");
        if self.lanes == 32 {
            return low;
        }
        self.declare("llvm.amdgcn.mbcnt.hi", "i32", "i32, i32");
        self.call("i32", "llvm.amdgcn.mbcnt.hi", &format!("i32 -1, i32 {low}"))
    }

    /// The mask of the lanes whose numbers compare so with this lane's.
    pub(super) fn lane_mask(&mut self, which: &str) -> String {
        let ty = self.mask().text();
        let lane = self.lane();
        let lane = self.resize(&lane, 32, self.lanes);
        let own = self.let_temp(format_args!("shl {ty} 1, {lane}"));
        match which {
            "eq" => own,
            "lt" => self.let_temp(format_args!("sub {ty} {own}, 1")),
            "ge" => self.let_temp(format_args!("sub {ty} 0, {own}")),
            "gt" => {
                let from_here = self.let_temp(format_args!("sub {ty} 0, {own}"));
                self.let_temp(format_args!("xor {ty} {from_here}, {own}"))
            }
            _ => {
                let below = self.let_temp(format_args!("sub {ty} {own}, 1"));
                self.let_temp(format_args!("or {ty} {below}, {own}"))
            }
        }
    }

    /// The active lanes where the value is true.
    pub(in super::super) fn amdgcn_ballot(&mut self, value: &str) -> String {
        let ty = self.mask().text();
        let name = format!("llvm.amdgcn.ballot.{ty}");
        self.declare(&name, ty, "i1");
        self.let_temp(format_args!("call {ty} @{name}(i1 {value}) #0"))
    }

    /// 32 bits of another lane, in a helper whose parameter `%lane` says which.
    pub(in super::super) fn amdgcn_shuffle_word(&mut self, mode: Mode, value: &str) -> String {
        let last = self.lanes - 1;
        let from = match mode {
            Mode::Index => "%lane".to_owned(),
            Mode::Xor => {
                let own = self.lane();
                self.let_temp(format_args!("xor i32 {own}, %lane"))
            }
            Mode::Up => {
                let own = self.lane();
                let below = self.let_temp(format_args!("sub i32 {own}, %lane"));
                let exists = self.let_temp(format_args!("icmp uge i32 {own}, %lane"));
                self.let_temp(format_args!("select i1 {exists}, i32 {below}, i32 {own}"))
            }
            Mode::Down => {
                let own = self.lane();
                let above = self.let_temp(format_args!("add i32 {own}, %lane"));
                let near = self.let_temp(format_args!("icmp ule i32 %lane, {last}"));
                let within = self.let_temp(format_args!("icmp ule i32 {above}, {last}"));
                let exists = self.let_temp(format_args!("and i1 {near}, {within}"));
                self.let_temp(format_args!("select i1 {exists}, i32 {above}, i32 {own}"))
            }
        };
        // A lane is addressed by the bytes before its word; numbers go around.
        let from = self.let_temp(format_args!("and i32 {from}, {last}"));
        let place = self.let_temp(format_args!("shl i32 {from}, 2"));
        self.declare("llvm.amdgcn.ds.bpermute", "i32", "i32, i32");
        self.let_temp(format_args!("call i32 @llvm.amdgcn.ds.bpermute(i32 {place}, i32 {value}) #0"))
    }
}
