"""One row of a propagation step as LLVM vector code, with software prefetch.

Propagation is a gather: for each edge a whole row of the iterate is read from an unpredictable
place. It is fast if (1) the sums of a row stay in vector registers over all its edges, and (2) a
neighbor's row is requested many edges before it is needed. Numba's own loops do neither, so this
one row is written as vector instructions; everything around it is plain numba.

`fused_step` is in this file because numba's disk cache is keyed by the file of the kernel:
elsewhere, numba would not notice a change of the row.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ..._utils.jit import kernel

PREFETCH_DISTANCE = 16  # edges ahead; 8 to 48 measured alike, less is slower
SEGMENT = 128  # edges summed plainly before the partial sum is added with compensation
CACHE_LINE = 64

_I32, _I64 = ir.IntType(32), ir.IntType(64)


@intrinsic
def fused_row(
    typingctx, lanes, vectors, indices, weights, source, base, out, worst,
    row, place, start, stop, last, c_sum, c_own, c_base, c_prev, check, z_factor, clamp, low, high,
):  # fmt: skip
    """Write ``out[place] = c_sum·Σ_e w_e source[indices[e]] + c_own·source[row]
    + c_base·base[place] + c_prev·out[place]`` for the edges ``start ≤ e < stop``.

    The *lengths* of the tuples ``lanes`` and ``vectors`` are the lanes of a vector and the
    vectors of a row: lengths are part of the type, so each width gets its own unrolled code.
    ``weights`` is None for an unweighted graph. With ``check``, the columns of ``worst`` receive
    the largest ``|z_factor·t − source[row]|``, where t is the sum without its last term: the
    residual of a fixed-point iteration. With ``clamp`` the result is clipped to [low, high].
    Terms with a zero coefficient are not read.
    """
    number = source.dtype
    arrays = (lanes, vectors, indices, weights, source, base, out, worst)
    rows, coefficients = (types.int64,) * 5, (number,) * 4
    options = (types.boolean, number, types.boolean, number, number)
    return types.void(*arrays, *rows, *coefficients, *options), _emit_row


def _emit_row(context, builder, signature, args):
    row = _RowWriter(context, builder, signature, args)
    row.sum_edges()
    row.add_own_terms()
    row.note_residual()
    row.add_previous_and_store()
    return context.get_dummy_value()


class _RowWriter:
    """Emits the parts of `fused_row` in order."""

    def __init__(self, context, builder, signature, args):
        self.builder = builder
        types_ = signature.args
        lanes, vectors, indices, weights, source, base, out, worst = types_[:8]
        self.n_lanes, self.n_vectors = lanes.count, vectors.count
        self.width = self.n_lanes * self.n_vectors
        self.scalar = ir.FloatType() if source.dtype == types.float32 else ir.DoubleType()
        self.size = source.dtype.bitwidth // 8
        self.vector = ir.VectorType(self.scalar, self.n_lanes)

        def data(type_, value):
            return context.make_array(type_)(context, builder, value).data

        self.indices = data(indices, args[2])
        self.weights = None if isinstance(weights, types.NoneType) else data(weights, args[3])
        self.source, self.base = data(source, args[4]), data(base, args[5])
        self.out, self.worst = data(out, args[6]), data(worst, args[7])
        self.row, self.place, self.start, self.stop, self.last = args[8:13]
        self.c_sum, self.c_own, self.c_base, self.c_prev = args[13:17]
        self.check, self.z_factor = args[17:19]
        self.clamp, self.low, self.high = args[19:22]
        self.total = [cgutils.alloca_once(builder, self.vector) for _ in range(self.n_vectors)]
        self.partial = [cgutils.alloca_once(builder, self.vector) for _ in range(self.n_vectors)]
        self.lost = [cgutils.alloca_once(builder, self.vector) for _ in range(self.n_vectors)]

    # -- small pieces -------------------------------------------------------------------
    def address(self, array, row, column):
        offset = self.builder.add(self.builder.mul(row, _I64(self.width)), _I64(column))
        return self.builder.gep(array, [offset])

    def load(self, array, row, k):
        pointer = self.address(array, row, k * self.n_lanes)
        pointer = self.builder.bitcast(pointer, self.vector.as_pointer())
        return self.builder.load(pointer, align=self.size)

    def splat(self, value):
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(undefined, value, _I32(0))
        zeros = ir.Constant(ir.VectorType(_I32, self.n_lanes), [0] * self.n_lanes)
        return self.builder.shuffle_vector(first, undefined, zeros)

    def add_to(self, cell, value):
        self.builder.store(
            self.builder.fadd(self.builder.load(cell), value, flags=("contract",)), cell
        )

    def add_compensated(self, cell, lost, value):
        """Kahan summation: at a hub of 10⁵ edges, plain float32 sums would lose two digits."""
        b = self.builder
        old = b.load(cell)
        value = b.fsub(value, b.load(lost))
        new = b.fadd(old, value)
        b.store(b.fsub(b.fsub(new, old), value), lost)
        b.store(new, cell)

    def column_of(self, edge):
        j = self.builder.load(self.builder.gep(self.indices, [edge]))
        return j if j.type.width == 64 else self.builder.sext(j, _I64)

    def smaller(self, a, b):
        return self.builder.select(self.builder.icmp_signed("<", a, b), a, b)

    # -- the parts of a row -------------------------------------------------------------
    def sum_edges(self):
        b = self.builder
        zero = ir.Constant(self.vector, [0.0] * self.n_lanes)
        for cell in self.total + self.lost:
            b.store(zero, cell)
        with cgutils.for_range_slice(b, self.start, self.stop, _I64(SEGMENT)) as (first, _):
            for cell in self.partial:
                b.store(zero, cell)
            end = self.smaller(b.add(first, _I64(SEGMENT)), self.stop)
            with cgutils.for_range_slice(b, first, end, _I64(1)) as (edge, _):
                self.prefetch(self.smaller(b.add(edge, _I64(PREFETCH_DISTANCE)), self.last))
                j = self.column_of(edge)
                if self.weights is not None:
                    weight = self.splat(b.load(b.gep(self.weights, [edge])))
                for k, cell in enumerate(self.partial):
                    value = self.load(self.source, j, k)
                    if self.weights is not None:
                        value = b.fmul(value, weight, flags=("contract",))
                    self.add_to(cell, value)
            for cell, part, lost in zip(self.total, self.partial, self.lost, strict=True):
                self.add_compensated(cell, lost, b.load(part))
        factor = self.splat(self.c_sum)
        for cell in self.total:
            b.store(b.fmul(factor, b.load(cell)), cell)

    def prefetch(self, edge):
        b = self.builder
        pointer_type = ir.IntType(8).as_pointer()
        function = cgutils.get_or_insert_function(
            b.module,
            ir.FunctionType(ir.VoidType(), [pointer_type, _I32, _I32, _I32]),
            "llvm.prefetch.p0",
        )
        j = self.column_of(edge)
        last_column = self.width - 1
        columns = {*range(0, self.width, CACHE_LINE // self.size)}
        if self.width * self.size % CACHE_LINE and len(columns) > 1:
            columns.add(last_column)  # rows that do not start on a line touch one more
        for column in sorted(columns):
            pointer = b.bitcast(self.address(self.source, j, column), pointer_type)
            b.call(function, [pointer, _I32(0), _I32(3), _I32(1)])  # a read, keep, data cache

    def add_scaled(self, coefficient, array):
        b = self.builder
        with b.if_then(b.fcmp_unordered("!=", coefficient, ir.Constant(self.scalar, 0.0))):
            factor = self.splat(coefficient)
            for k, cell in enumerate(self.total):
                row = self.row if array is self.source else self.place
                value = self.load(array, row, k)
                self.add_to(cell, b.fmul(factor, value, flags=("contract",)))

    def add_own_terms(self):
        self.add_scaled(self.c_own, self.source)
        self.add_scaled(self.c_base, self.base)

    def note_residual(self):
        b = self.builder
        with b.if_then(self.check):
            z_factor = self.splat(self.z_factor)
            infinity = ir.Constant(self.vector, [float("inf")] * self.n_lanes)
            for k, cell in enumerate(self.total):
                gap = b.fsub(b.fmul(z_factor, b.load(cell)), self.load(self.source, self.row, k))
                gap = b.select(b.fcmp_ordered("<", gap, b.fneg(gap)), b.fneg(gap), gap)
                # Comparisons would drop NaN, so it becomes infinity.
                gap = b.select(b.fcmp_unordered("uno", gap, gap), infinity, gap)
                pointer = b.gep(self.worst, [_I64(k * self.n_lanes)])
                pointer = b.bitcast(pointer, self.vector.as_pointer())
                seen = b.load(pointer, align=self.size)
                largest = b.select(b.fcmp_ordered(">", gap, seen), gap, seen)
                b.store(largest, pointer, align=self.size)

    def add_previous_and_store(self):
        b = self.builder
        self.add_scaled(self.c_prev, self.out)
        with b.if_then(self.clamp):
            low, high = self.splat(self.low), self.splat(self.high)
            for cell in self.total:
                value = b.load(cell)
                value = b.select(b.fcmp_ordered("<", value, low), low, value)
                b.store(b.select(b.fcmp_ordered(">", value, high), high, value), cell)
        for k, cell in enumerate(self.total):
            pointer = self.address(self.out, self.place, k * self.n_lanes)
            pointer = b.bitcast(pointer, self.vector.as_pointer())
            b.store(b.load(cell), pointer, align=self.size)


@kernel(error_model="numpy")
def fused_step(
    lanes, vectors, indptr, indices, weights, row_factor, loop, source, base, out,
    coefficients, worst, check, clamp, bound_scale, row_offset, edge_offset, out_offset,
    first_row, end_row,
):  # fmt: skip
    """One fused step on the rows [first_row, end_row) of a block:

    ``out = a·M source + b·source + c·base + d·out``, with
    ``(M H)_i = row_factor_i·(Σ_j w_ij H_j + loop_i·H_i)``.

    ``coefficients`` = (a, b, c, d, z_factor, low, high). With ``check``, ``worst`` (one number per
    column) receives the largest |z_factor·(out − d·previous out) − source|. With ``clamp``, row i
    is clipped to [low, high]·bound_scale_i. The arrays of the graph may be a window that begins at
    row ``row_offset`` and edge ``edge_offset``; ``indptr`` counts edges of the whole graph.
    ``base`` and ``out`` may begin at row ``out_offset``.
    """
    a, b, c, d = coefficients[0], coefficients[1], coefficients[2], coefficients[3]
    z_factor, low, high = coefficients[4], coefficients[5], coefficients[6]
    last = indptr[-1] - 1 - edge_offset
    for i in range(first_row, end_row):
        local = i - row_offset
        a_i = a * row_factor[local]
        start, stop = indptr[local] - edge_offset, indptr[local + 1] - edge_offset
        scale = bound_scale[local]
        fused_row(  # type: ignore[call-arg]  # numba supplies the typing context
            lanes, vectors, indices, weights, source, base, out, worst, i, i - out_offset,
            start, stop, last, a_i, a_i * loop[local] + b, c, d, check, z_factor, clamp,
            low * scale, high * scale,
        )  # fmt: skip
