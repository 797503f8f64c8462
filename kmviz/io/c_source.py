"""One C99 file: the tables of a fitted classifier, and the few lines that read them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz import __version__
from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.machines.affine import Affine
from kmviz.machines.shared import SharedMachines
from kmviz.methods.svtree import SVTreeClassifier

HEAD = """\
/* {title}, written by kmviz {version}.

   int kmviz_predict(const KMVIZ_REAL *x)
     the place of the class of x, a row of KMVIZ_COLUMNS numbers, in kmviz_classes
   void kmviz_decision(const KMVIZ_REAL *x, KMVIZ_REAL *out)
     the KMVIZ_PAIRS outputs: with two classes positive for the second, with more one for each
     pair (0, 1), (0, 2) ... (1, 2) ..., positive for its first

   C99, the C library alone: cc -std=c99 -O3 -c file.c, and -lm when linking. */
#include <math.h>

#ifndef KMVIZ_REAL
#define KMVIZ_REAL float
#endif
#define KMVIZ_COLUMNS {columns}
#define KMVIZ_CLASSES {classes}
#define KMVIZ_PAIRS {pairs}
#define KMVIZ_VECTORS {vectors}
#define KMVIZ_WIDTH {width}

void kmviz_decision(const KMVIZ_REAL *x, KMVIZ_REAL *out);
int kmviz_predict(const KMVIZ_REAL *x);

"""

KERNELS = {
    Linear: "return dot;",
    Polynomial: """\
KMVIZ_REAL base = (KMVIZ_REAL){gamma} * dot + (KMVIZ_REAL){coef0}, value = 1;
    int i;
    for (i = 0; i < {degree}; i++)
        value *= base;
    return value;""",
    RBF: "return (KMVIZ_REAL)exp(-(double){gamma} * (double)dot);",
}

KERNEL = """\
static KMVIZ_REAL kernel(const KMVIZ_REAL *a, const float *b)
{{
    KMVIZ_REAL dot = 0;
    int j;
    for (j = 0; j < KMVIZ_WIDTH; j++)
        dot += {term};
    {{
    {value}
    }}
}}

"""

SUM = """\
void kmviz_decision(const KMVIZ_REAL *x, KMVIZ_REAL *out)
{
    KMVIZ_REAL row[KMVIZ_WIDTH];
    double sums[KMVIZ_PAIRS];
    int i, q;
    read_row(x, row);
    for (q = 0; q < KMVIZ_PAIRS; q++)
        sums[q] = -bias[q];
    for (i = 0; i < KMVIZ_VECTORS; i++) {
        KMVIZ_REAL value = kernel(row, vectors + i * KMVIZ_WIDTH);
        for (q = 0; q < KMVIZ_PAIRS; q++)
            sums[q] += weights[i * KMVIZ_PAIRS + q] * value;
    }
    for (q = 0; q < KMVIZ_PAIRS; q++)
        out[q] = (KMVIZ_REAL)sums[q];
}

"""

WALK = """\
void kmviz_decision(const KMVIZ_REAL *x, KMVIZ_REAL *out)
{
    KMVIZ_REAL row[KMVIZ_WIDTH], values[KMVIZ_HEIGHT];
    int q;
    read_row(x, row);
    for (q = 0; q < KMVIZ_PAIRS; q++) {
        double sum = -bias[q];
        int node = root[q], height = 0, last = -1, i;
        while (node >= 0) {
            KMVIZ_REAL value = kernel(row, vectors + asked[node] * KMVIZ_WIDTH);
            last = node;
            values[height++] = value;
            node = weight[node] * value <= threshold[node] ? left[node] : right[node];
        }
        if (last >= 0) {
            sum = offset[last];
            for (i = 0; i < height; i++)
                sum += coefficients[start[last] + i] * values[i];
            sum = sum > limit[q] ? limit[q] : sum < -limit[q] ? -limit[q] : sum;
        }
        out[q] = (KMVIZ_REAL)sum;
    }
}

"""

TWO = """\
int kmviz_predict(const KMVIZ_REAL *x)
{
    KMVIZ_REAL out[KMVIZ_PAIRS];
    kmviz_decision(x, out);
    return out[0] OVER 0;
}
"""

MANY = """\
int kmviz_predict(const KMVIZ_REAL *x)
{
    KMVIZ_REAL out[KMVIZ_PAIRS];
    double votes[KMVIZ_CLASSES] = {0}, sums[KMVIZ_CLASSES] = {0};
    int i, j, q = 0, best = 0;
    kmviz_decision(x, out);
    for (i = 0; i < KMVIZ_CLASSES; i++)
        for (j = i + 1; j < KMVIZ_CLASSES; j++, q++) {
            votes[out[q] OVER 0 ? i : j] += 1;
            sums[i] += out[q];
            sums[j] -= out[q];
        }
    for (i = 0; i < KMVIZ_CLASSES; i++) {
        if (BREAK_TIES)
            votes[i] += sums[i] / (3 * (fabs(sums[i]) + 1));
        if (votes[i] > votes[best])
            best = i;
    }
    return best;
}
"""


REST = """\
int kmviz_predict(const KMVIZ_REAL *x)
{
    KMVIZ_REAL out[KMVIZ_PAIRS];
    int i, best = 0;
    kmviz_decision(x, out);
    for (i = 1; i < KMVIZ_CLASSES; i++)
        if (out[i] > out[best])
            best = i;
    return best;
}
"""


def c_source(clf: Any) -> str:
    """Return the file of a fitted exact, reduced or tree classifier."""
    is_tree = isinstance(clf, SVTreeClassifier)
    kernel, tables = clf.machines_[0].kernel, (_tree if is_tree else _sums)(clf)
    vectors = kernel.embed(tables.pop("vectors").astype(np.float64))
    names = ", ".join(_quoted(name) for name in clf.classes_)
    parts = [
        HEAD.format(
            title=f"{type(clf).__name__} on {kernel!r}", version=__version__,
            columns=clf.n_features_in_, classes=len(clf.classes_), pairs=len(clf.machines_),
            vectors=len(vectors), width=vectors.shape[1],
        ),
        f"extern const char *const kmviz_classes[KMVIZ_CLASSES];\n"
        f"const char *const kmviz_classes[KMVIZ_CLASSES] = {{{names}}};\n\n",
    ]  # fmt: skip
    if is_tree:
        height = max(max(tree.height for tree in clf.trees_), 1)
        parts.append(f"#define KMVIZ_HEIGHT {height}\n")
    parts += [_table(name, values) for name, values in {"vectors": vectors, **tables}.items()]
    parts += [_reader(clf, kernel), _kernel(kernel), WALK if is_tree else SUM]
    is_pair, rule = len(clf.classes_) == 2, clf.rule_
    over = ">=" if (rule.at_zero == 1) == is_pair else ">"  # of a pair f > 0 is the first class
    parts.append(f"#define OVER {over}\n#define BREAK_TIES {int(rule.breaks_ties)}\n\n")
    parts.append(TWO if is_pair else REST if rule.rest else MANY)
    return "".join(parts)


def answers_of_tables(clf: Any, X: NDArray[np.float32]) -> NDArray[Any]:
    """Return what the file answers, its numbers rounded as they are written and added up here."""
    kernel, found = clf.machines_[0].kernel, clf.affine_map
    rows: NDArray[Any] = X
    if found is not None:
        shift = None if found.offset is None else _written(found.offset)
        rows = Affine(found.center, _written(found.factor), shift)(X.astype(np.float64))
    rows = kernel.embed(rows.astype(np.float32)).astype(np.float64)
    parts: Any = clf.trees_ if isinstance(clf, SVTreeClassifier) else clf.machines_
    outputs = np.column_stack([_outputs(part, rows) for part in parts])
    return clf.classes_[clf.rule_.winners(outputs)]


def _outputs(part: Any, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what a machine or a tree puts out for embedded rows, its numbers as written."""
    held = {f.name: _written(getattr(part, f.name)) for f in fields(part) if f.name != "kernel"}
    held["vectors"] = _written(part.kernel.embed(part.vectors))
    same = replace(part, kernel=part.kernel.plain, **held)
    return same.run(rows)[0] if hasattr(same, "run") else same.decision_function(rows)


def _written(values: Any) -> Any:
    """Round numbers as a table of the file holds them; whole numbers stay."""
    found = np.asarray(values)
    return found if found.dtype.kind in "iu" else found.astype(np.float32).astype(np.float64)[()]


def _sums(clf: Any) -> dict[str, NDArray[Any]]:
    shared = SharedMachines(clf.machines_)
    return {"vectors": shared.vectors, "weights": shared.weights, "bias": shared.bias}


def _tree(clf: Any) -> dict[str, NDArray[Any]]:
    """The trees of all pairs, one after the other."""
    trees = clf.trees_
    nodes = np.cumsum([0] + [tree.n_nodes for tree in trees])
    rows = np.cumsum([0] + [len(tree.vectors) for tree in trees])
    places = np.cumsum([0] + [len(tree.coefficients) for tree in trees])

    def joined(name: str, offsets: NDArray[Any] | None = None) -> NDArray[Any]:
        found = [getattr(tree, name) for tree in trees]
        if offsets is not None:
            found = [np.where(a < 0, -1, a + k) for a, k in zip(found, offsets[:-1], strict=True)]
        return np.concatenate(found)

    return {
        "vectors": joined("vectors"),
        "bias": np.array([tree.bias for tree in trees]),
        "limit": np.array([tree.limit for tree in trees]),
        "root": np.array([k if t.n_nodes else -1 for k, t in zip(nodes, trees, strict=False)]),
        "asked": joined("sv_index", rows),
        "left": joined("children_left", nodes),
        "right": joined("children_right", nodes),
        "start": joined("start", places),
        "weight": joined("weight"),
        "threshold": joined("threshold"),
        "offset": joined("offset"),
        "coefficients": joined("coefficients"),
    }


def _reader(clf: Any, kernel: Any) -> str:
    """The function that brings a row to what the kernel reads."""
    found = clf.affine_map
    tables, lines = "", ["    int j;"]
    width = clf.machines_[0].n_features
    if found is None:
        lines.append(f"    for (j = 0; j < {width}; j++)\n        row[j] = x[j];")
    else:
        tables += _table("center", found.center, "double") + _table("factor", found.factor)
        if found.offset is not None:
            tables += _table("shift", found.offset)
        shift = "shift[j]" if found.offset is not None else "0"
        if found.factor.ndim == 1:
            one = "row[j] = (KMVIZ_REAL)((x[j] - center[j]) * factor[j]);"
            lines.append(f"    for (j = 0; j < {width}; j++)\n        {one}")
        else:
            lines.append(
                f"    for (j = 0; j < {width}; j++) {{\n        double sum = {shift};\n"
                f"        int i;\n        for (i = 0; i < KMVIZ_COLUMNS; i++)\n"
                f"            sum += (x[i] - center[i]) * factor[i * {width} + j];\n"
                f"        row[j] = (KMVIZ_REAL)sum;\n    }}"
            )
    if isinstance(kernel, Normalized) and not isinstance(kernel.plain, RBF):
        lines.append(_unit_length(kernel, width))
    body = "\n".join(lines)
    return f"{tables}static void read_row(const KMVIZ_REAL *x, KMVIZ_REAL *row)\n{{\n{body}\n}}\n\n"


def _unit_length(kernel: Normalized, width: int) -> str:
    """Augment a row as `Normalized.embed` does, and bring it to length 1."""
    gamma, coef0, inner = 1.0, 0.0, kernel.kernel
    while isinstance(inner, Normalized):
        inner = inner.kernel
    lines = ["    {\n    double square = 0;"]
    if isinstance(inner, Polynomial):
        gamma, coef0 = inner.gamma, inner.coef0
        lines.append(f"    for (j = 0; j < {width}; j++)\n"
                     f"        row[j] *= (KMVIZ_REAL){_number(np.sqrt(gamma))};\n"
                     f"    row[{width}] = (KMVIZ_REAL){_number(np.sqrt(coef0))};")  # fmt: skip
    lines.append(
        "    for (j = 0; j < KMVIZ_WIDTH; j++)\n        square += row[j] * row[j];\n"
        "    for (j = 0; j < KMVIZ_WIDTH; j++)\n"
        "        row[j] = square > 0 ? (KMVIZ_REAL)(row[j] / sqrt(square)) : 0;\n    }"
    )
    return "\n".join(lines)


def _kernel(kernel: Any) -> str:
    plain = kernel.plain
    difference = "(a[j] - b[j]) * (a[j] - b[j])"
    values = {name: _number(getattr(plain, name, 0)) for name in ("gamma", "coef0")}
    value = KERNELS[type(plain)].format(**values, degree=getattr(plain, "degree", 1))
    return KERNEL.format(term=difference if isinstance(plain, RBF) else "a[j] * b[j]", value=value)


def _table(name: str, values: NDArray[Any], kind: str = "float") -> str:
    """A constant array, eight numbers to a line."""
    flat = np.ravel(values)
    if flat.dtype.kind in "iu":
        kind, numbers = "int", [str(value) for value in flat]
    elif kind == "float":
        numbers = [_number(np.float32(value)) + "f" for value in flat]
    else:
        numbers = [_number(value) for value in flat]
    lines = [", ".join(numbers[i : i + 8]) for i in range(0, len(numbers), 8)] or ["0"]
    body = ",\n    ".join(lines)
    return f"static const {kind} {name}[{max(len(flat), 1)}] = {{\n    {body}\n}};\n\n"


def _number(value: Any) -> str:
    """A number as C reads it back, to the last bit."""
    if np.isinf(value):
        return "3.0e38" if value > 0 else "-3.0e38"
    return np.format_float_scientific(value, unique=True, trim="0")


def _quoted(name: Any) -> str:
    """A class as a C string; what is not plain ASCII as octal bytes."""
    text = "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}"
        for b in str(name).encode()
    )
    return f'"{text}"'
