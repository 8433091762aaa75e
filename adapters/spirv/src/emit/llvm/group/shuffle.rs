//! Values from other lanes. The hardware moves 32 bits; other sizes are put together from that.

use super::super::helper::{Head, Motion};
use super::super::types::Scalar;
use super::super::{Target, Writer};
use crate::error::Result;

/// Which lane a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Mode {
    /// The lane with this number.
    Index,
    /// The lane this far below; the lane itself if there is none.
    Up,
    /// The lane this far above; the lane itself if there is none.
    Down,
    /// The lane whose number differs by these bits.
    Xor,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Index => "idx",
            Self::Up => "up",
            Self::Down => "down",
            Self::Xor => "bfly",
        }
    }
}

impl Writer<'_> {
    /// The value of another lane. `mask` names all lanes that execute this.
    pub(super) fn shuffle(
        &mut self,
        mode: Mode,
        scalar: Scalar,
        value: &str,
        lane: &str,
        mask: &str,
    ) -> Result<String> {
        let (name, ty) = (format!("ur_shuffle_{}_{}", mode.name(), scalar.suffix()), scalar.text());
        let lanes = self.mask().text();
        let parameters = format!("{ty} %x, i32 %lane, {lanes} %mask");
        let head = Head { name: &name, returns: ty, parameters: &parameters, motion: Motion::Convergent };
        self.helper(&head, |writer| {
            writer.label("entry");
            let value = writer.shuffle_body(mode, scalar)?;
            writer.ret(ty, &value);
            Ok(())
        })?;
        Ok(self.let_temp(format_args!("call {ty} @{name}({ty} {value}, i32 {lane}, {lanes} {mask}) #0")))
    }

    fn shuffle_body(&mut self, mode: Mode, scalar: Scalar) -> Result<String> {
        let (ty, int) = (scalar.text(), scalar.integer().text());
        if let Scalar::Float(_) = scalar {
            let bits = self.let_temp(format_args!("bitcast {ty} %x to {int}"));
            let moved = self.shuffle(mode, scalar.integer(), &bits, "%lane", "%mask")?;
            return Ok(self.let_temp(format_args!("bitcast {int} {moved} to {ty}")));
        }
        Ok(match scalar.bits() {
            32 => self.shuffle_word(mode, "%x"),
            64 => {
                let low = self.let_temp(format_args!("trunc i64 %x to i32"));
                let high = self.let_temp(format_args!("lshr i64 %x, 32"));
                let high = self.let_temp(format_args!("trunc i64 {high} to i32"));
                let (low, high) = (self.shuffle_word(mode, &low), self.shuffle_word(mode, &high));
                let low = self.let_temp(format_args!("zext i32 {low} to i64"));
                let high = self.let_temp(format_args!("zext i32 {high} to i64"));
                let high = self.let_temp(format_args!("shl i64 {high}, 32"));
                self.let_temp(format_args!("or i64 {low}, {high}"))
            }
            _ => {
                let wide = self.let_temp(format_args!("zext {ty} %x to i32"));
                let moved = self.shuffle_word(mode, &wide);
                self.let_temp(format_args!("trunc i32 {moved} to {ty}"))
            }
        })
    }

    fn shuffle_word(&mut self, mode: Mode, value: &str) -> String {
        if self.target == Target::Amdgcn {
            return self.amdgcn_shuffle_word(mode, value);
        }
        let (name, clamp) = (mode.name(), if mode == Mode::Up { 0 } else { 31 });
        self.let_temp(format_args!(
            "call i32 asm sideeffect \"shfl.sync.{name}.b32 $0, $1, $2, {clamp}, $3;\", \"=r,r,r,r\"(i32 {value}, i32 %lane, i32 %mask) #0"
        ))
    }
}
