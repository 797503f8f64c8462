"""How loops are compiled: without the GIL, kept on disk where a disk lets us.

A loop that Python calls is `compiled`. What such loops are made of is a `part`: it is built into
every loop that calls it, and comes to machine code there alone. Python runs it as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import binding, ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import register_jitable

from kmviz.loops.cache import LoopCache

Loop = Callable[..., Any]

#: The same for loops and parts, so that what both ask of numba is compiled once.
OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
FAST = {"reassoc", "contract", "arcp", "nsz"}
FINITE = {"contract", "nsz", "nnan", "ninf"}


class _PartLibrary(JITCodeLibrary):
    """Optimised code for others to take in, of which no machine code is made."""

    _final_module: Any

    def _finalize_final_module(self) -> None:
        whole = self._final_module
        places = ir.Module(self.name)  # numba sets where a function finds the errors it raises
        for variable in whole.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv"):
                place = ir.GlobalVariable(places, ir.PointerType(ir.IntType(8)), variable.name)
                place.linkage, place.initializer = "common", ir.Constant(place.value_type, None)
        self._final_module = binding.parse_assembly(str(places))
        super()._finalize_final_module()
        self._final_module = whole


class _PartCompiler(Compiler):
    def define_pipelines(self) -> Any:
        state = self.state
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_cpython_wrapper = True
        return super().define_pipelines()


def _jit(loop: Loop, **options: Any) -> Loop:
    made = numba.njit(**OPTIONS, **options)(loop)
    made._cache = LoopCache(loop)  # what `cache=True` sets, in a folder that is looked at first
    return made


def _part(loop: Loop, **options: Any) -> Loop:
    options |= OPTIONS | {"pipeline_class": _PartCompiler, "no_cpython_wrapper": False}
    return register_jitable(**options)(loop)


def compiled(loop: Loop) -> Loop:
    """Compile a loop: GIL released, kept on disk, free to reorder sums so that they vectorise."""
    return _jit(loop, fastmath=FAST)


def compiled_strict(loop: Loop) -> Loop:
    """Compile a loop whose sums must keep their order (bounds, forward substitution)."""
    return _jit(loop)


def compiled_finite(loop: Loop) -> Loop:
    """Compile a loop that meets no NaN and no infinity, so that maxima vectorise; sums keep their
    order, and results do not depend on how a loop is split."""
    return _jit(loop, fastmath=FINITE)


def part(loop: Loop) -> Loop:
    """What `compiled` loops are made of."""
    return _part(loop, fastmath=FAST)


def part_strict(loop: Loop) -> Loop:
    """What loops are made of whose sums must keep their order."""
    return _part(loop)


def part_finite(loop: Loop) -> Loop:
    """What loops are made of that meet no NaN and no infinity."""
    return _part(loop, fastmath=FINITE)
