// Layered depth images of two bodies in a band of rows: how many layers each column has (count), where they go (place),
// the layers themselves (fill), what of each column lies in both bodies (measure), and the sums of each row (sum_rows).
//
// Places are whole units of a fraction of a pixel, as on the processor, so both cover the same samples; depths are
// whole parts of the common box. Sums are whole numbers, so their order cannot be seen in them.

struct Frame {
    // Pixels along a side of the image, and bits of a fraction of a pixel.
    pixels: u32,
    shift: u32,
    // The rows of the band: the first, and how many.
    first_row: u32,
    rows: u32,
    // Rows of triangles to draw, and layers that come drawn.
    items: u32,
    given: u32,
    // Where the gradient of this image's axis begins at each vertex; NONE without a gradient.
    component: u32,
    // Parts of a column that are shorter are nothing but rounding.
    rounding: i32,
    // The stride of a two-dimensional dispatch.
    stride: u32,
    // Layers of two bodies that are nearer are in the same place.
    same: i32,
}

// A triangle whose corners run against the clock, seen along the depth.
struct Triangle {
    // Along and across the rows, corner by corner.
    corners: array<i32, 6>,
    // A place, the depth there, and how it grows along and across by a unit of places; its least and most.
    at: array<i32, 2>,
    depth: i32,
    slopes: array<f32, 2>,
    range: array<i32, 2>,
    // The vertices of the corners, those of b behind those of a; NONE for what has none.
    vertices: array<u32, 3>,
    // Shares of the corners for a layer that comes drawn; used where the corners coincide.
    shares: array<f32, 3>,
}

// One surface in one column: its depth, and a code: triangle, body, and whether it leads out.
struct Layer {
    depth: i32,
    code: u32,
}

struct Given {
    column: u32,
    depth: i32,
    code: u32,
}

const NONE: u32 = 0xffffffffu;
// The units of depths, and so of lengths, and of shares in the sums.
const DEPTH_UNIT: f32 = 268435456.0;
const SHARE_UNIT: f32 = 16777216.0;

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> triangles: array<Triangle>;
// For each row of the band where its samples stand in their pixels, then the rows of triangles: a code and the row.
@group(0) @binding(2) var<storage, read> items: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> given: array<Given>;
// Layers of each column that are still to come; at the end how many layers have a place.
@group(0) @binding(4) var<storage, read_write> counts: array<atomic<u32>>;
// Where the layers of each column begin, and how many there are.
@group(0) @binding(5) var<storage, read_write> places: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> layers: array<Layer>;
// The length of each column in both bodies, then what each tells of the border; behind them, for each row, the sum in two
// words, the squares and the border.
@group(0) @binding(7) var<storage, read_write> sums: array<u32>;
// For each vertex and axis a sum in two words.
@group(0) @binding(8) var<storage, read_write> gradient: array<atomic<u32>>;

// --- whole numbers of 64 bits: low and high word --------------------------------------------------------------------

fn wide_product(a: u32, b: u32) -> vec2<u32> {
    let al = a & 0xffffu;
    let ah = a >> 16u;
    let bl = b & 0xffffu;
    let bh = b >> 16u;
    let low = al * bl;
    let first = al * bh;
    let second = ah * bl;
    let middle = (low >> 16u) + (first & 0xffffu) + (second & 0xffffu);
    return vec2<u32>(
        (low & 0xffffu) | (middle << 16u),
        ah * bh + (first >> 16u) + (second >> 16u) + (middle >> 16u),
    );
}

fn negative(x: vec2<u32>) -> vec2<u32> {
    let low = ~x.x + 1u;
    return vec2<u32>(low, ~x.y + select(0u, 1u, low == 0u));
}

fn product(a: i32, b: i32) -> vec2<u32> {
    let p = wide_product(u32(abs(a)), u32(abs(b)));
    if ((a < 0) != (b < 0)) {
        return negative(p);
    }
    return p;
}

fn difference(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(x.x - y.x, x.y - y.y - select(0u, 1u, x.x < y.x));
}

fn is_negative(x: vec2<u32>) -> bool {
    return (x.y >> 31u) == 1u;
}

// --- drawing --------------------------------------------------------------------------------------------------------

fn offset_of(row: u32) -> i32 {
    return i32(items[row - frame.first_row].x);
}

fn corner(t: u32, k: u32) -> vec2<i32> {
    return vec2<i32>(triangles[t].corners[2u * k], triangles[t].corners[2u * k + 1u]);
}

// The edge function: positive on the triangle's side.
fn edge(from_: vec2<i32>, to: vec2<i32>, p: vec2<i32>) -> vec2<u32> {
    let way = to - from_;
    return difference(product(way.x, p.y - from_.y), product(way.y, p.x - from_.x));
}

// Whether a sample is on the triangle's side of an edge; those on it belong to one of two neighbours.
fn holds(from_: vec2<i32>, to: vec2<i32>, p: vec2<i32>) -> bool {
    let at = edge(from_, to, p);
    if (at.x == 0u && at.y == 0u) {
        let way = to - from_;
        return way.y < 0 || (way.y == 0 && way.x > 0);
    }
    return !is_negative(at);
}

fn covers(t: u32, p: vec2<i32>) -> bool {
    let a = corner(t, 0u);
    let b = corner(t, 1u);
    let c = corner(t, 2u);
    return holds(a, b, p) && holds(b, c, p) && holds(c, a, p);
}

fn depth_at(t: u32, p: vec2<i32>) -> i32 {
    let way = p - vec2<i32>(triangles[t].at[0], triangles[t].at[1]);
    // Only the way from the middle of the triangle is rounded to f32.
    let more = f32(way.x) * triangles[t].slopes[0] + f32(way.y) * triangles[t].slopes[1];
    let depth = triangles[t].depth + i32(round(clamp(more, -3.9, 3.9) * DEPTH_UNIT));
    return clamp(depth, triangles[t].range[0], triangles[t].range[1]);
}

// The samples of a row that a triangle may cover: the first and the last.
fn span(t: u32, offset: i32) -> vec2<i32> {
    let x = vec3<i32>(corner(t, 0u).x, corner(t, 1u).x, corner(t, 2u).x);
    let left = min(min(x.x, x.y), x.z);
    let right = max(max(x.x, x.y), x.z);
    let first = (left - offset + (1 << frame.shift) - 1) >> frame.shift;
    let last = (right - offset) >> frame.shift;
    return vec2<i32>(max(first, 0), min(last, i32(frame.pixels) - 1));
}

@compute @workgroup_size(64)
fn count(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x + id.y * frame.stride;
    if (i < frame.items) {
        let item = items[frame.rows + i];
        let t = item.x >> 2u;
        let row = item.y;
        let offset = offset_of(row);
        let across = i32((row << frame.shift) + (1u << (frame.shift - 1u)));
        let ends = span(t, offset);
        for (var column = ends.x; column <= ends.y; column++) {
            if (covers(t, vec2<i32>((column << frame.shift) + offset, across))) {
                atomicAdd(&counts[(row - frame.first_row) * frame.pixels + u32(column)], 1u);
            }
        }
    } else if (i - frame.items < frame.given) {
        atomicAdd(&counts[given[i - frame.items].column], 1u);
    }
}

@compute @workgroup_size(64)
fn place(@builtin(global_invocation_id) id: vec3<u32>) {
    let column = id.x + id.y * frame.stride;
    let columns = frame.rows * frame.pixels;
    if (column >= columns) {
        return;
    }
    let own = atomicLoad(&counts[column]);
    places[column] = vec2<u32>(atomicAdd(&counts[columns], own), own);
}

fn put(column: u32, layer: Layer) {
    // From the last place to the first.
    let left = atomicSub(&counts[column], 1u);
    layers[places[column].x + left - 1u] = layer;
}

@compute @workgroup_size(64)
fn fill(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x + id.y * frame.stride;
    if (i < frame.items) {
        let item = items[frame.rows + i];
        let t = item.x >> 2u;
        let row = item.y;
        let offset = offset_of(row);
        let across = i32((row << frame.shift) + (1u << (frame.shift - 1u)));
        let ends = span(t, offset);
        for (var column = ends.x; column <= ends.y; column++) {
            let p = vec2<i32>((column << frame.shift) + offset, across);
            if (covers(t, p)) {
                put((row - frame.first_row) * frame.pixels + u32(column), Layer(depth_at(t, p), item.x));
            }
        }
    } else if (i - frame.items < frame.given) {
        let own = given[i - frame.items];
        put(own.column, Layer(own.depth, own.code));
    }
}

// --- columns --------------------------------------------------------------------------------------------------------

// By depth; where it is equal, exits first, then by triangle, so that the order of drawing cannot be seen.
fn is_before(x: Layer, y: Layer) -> bool {
    if (x.depth != y.depth) {
        return x.depth < y.depth;
    }
    if ((x.code & 1u) != (y.code & 1u)) {
        return (x.code & 1u) == 1u;
    }
    return x.code < y.code;
}

fn sort_column(begin: u32, own: u32) {
    for (var k = begin + 1u; k < begin + own; k++) {
        let layer = layers[k];
        var at = k;
        while (at > begin) {
            let before = layers[at - 1u];
            if (!is_before(layer, before)) {
                break;
            }
            layers[at] = before;
            at--;
        }
        layers[at] = layer;
    }
}

fn add_gradient(slot: u32, value: i32) {
    let low = u32(value);
    let old = atomicAdd(&gradient[slot], low);
    let carry = select(0u, 1u, old + low < old);
    let high = select(0u, NONE, value < 0) + carry;
    if (high != 0u) {
        atomicAdd(&gradient[slot + 1u], high);
    }
}

fn as_float(x: vec2<u32>) -> f32 {
    return max(f32(i32(x.y)) * 4294967296.0 + f32(x.x), 0.0);
}

// The shares of a triangle's corners at a sample that it covers.
fn shares_at(t: u32, p: vec2<i32>) -> vec3<f32> {
    let a = corner(t, 0u);
    let b = corner(t, 1u);
    let c = corner(t, 2u);
    let parts = vec3<f32>(as_float(edge(b, c, p)), as_float(edge(c, a, p)), as_float(edge(a, b, p)));
    let whole = parts.x + parts.y + parts.z;
    if (whole > 0.0) {
        return parts / whole;
    }
    return vec3<f32>(triangles[t].shares[0], triangles[t].shares[1], triangles[t].shares[2]);
}

// An end of a part that lies in both bodies adds its share of a pixel to the corners of its triangle.
fn add_end(code: u32, p: vec2<i32>, share: f32) {
    let t = code >> 2u;
    if (frame.component == NONE || triangles[t].vertices[0] == NONE) {
        return;
    }
    let shares = shares_at(t, p) * (share * SHARE_UNIT);
    for (var k = 0u; k < 3u; k++) {
        add_gradient((triangles[t].vertices[k] * 3u + frame.component) * 2u, i32(round(shares[k])));
    }
}

fn add_ends(code: u32, shared_code: u32, p: vec2<i32>, sign: f32) {
    if (shared_code == NONE) {
        add_end(code, p, sign);
    } else {
        add_end(code, p, 0.5 * sign);
        add_end(shared_code, p, 0.5 * sign);
    }
}

// The layer by which the other body, too, is left in the same place.
fn leaves_too(first: u32, end: u32, layer: Layer, winding: i32) -> u32 {
    var around = winding;
    for (var k = first; k < end; k++) {
        let next = layers[k];
        if (next.depth - layer.depth > frame.same) {
            break;
        }
        if (((next.code ^ layer.code) & 2u) != 0u) {
            around += 1 - 2 * i32(next.code & 1u);
            if (around == 0) {
                return next.code;
            }
        }
    }
    return NONE;
}

// By how much samples in the middles of pixels count too much of a body that begins so far behind the border of the box.
fn miscounted(gap: i32, pixel: i32) -> i32 {
    if (gap >= pixel || gap <= 0) {
        return 0;
    }
    return select(gap - pixel, gap, 2 * gap < pixel);
}

@compute @workgroup_size(64)
fn measure(@builtin(global_invocation_id) id: vec3<u32>) {
    let column = id.x + id.y * frame.stride;
    if (column >= frame.rows * frame.pixels) {
        return;
    }
    let begin = places[column].x;
    let own = places[column].y;
    let end = begin + own;
    sort_column(begin, own);
    let row = frame.first_row + column / frame.pixels;
    let p = vec2<i32>(
        i32((column % frame.pixels) << frame.shift) + offset_of(row),
        i32((row << frame.shift) + (1u << (frame.shift - 1u))),
    );
    var winding = vec2<i32>(0, 0);
    // Where each body was last entered.
    var entered_depth = vec2<i32>(0, 0);
    var entered_code = vec2<u32>(NONE, NONE);
    var from_depth = 0;
    var from_code = NONE;
    var from_shared = NONE;
    var length = 0u;
    var border = 0;
    let pixel = i32(DEPTH_UNIT) / i32(frame.pixels);
    for (var k = begin; k < end; k++) {
        let layer = layers[k];
        let body = (layer.code >> 1u) & 1u;
        let other = 1u - body;
        let before = winding[body];
        winding[body] = before + 1 - 2 * i32(layer.code & 1u);
        if (before == 0 && winding[body] != 0) {
            entered_depth[body] = layer.depth;
            entered_code[body] = layer.code;
            if (winding[other] != 0) {
                from_depth = layer.depth;
                from_code = layer.code;
                let is_shared = layer.depth - entered_depth[other] <= frame.same;
                from_shared = select(NONE, entered_code[other], is_shared);
            }
        } else if (before != 0 && winding[body] == 0 && from_code != NONE) {
            let deep = layer.depth - from_depth;
            if (deep > frame.rounding) {
                length += u32(deep);
                border += miscounted(from_depth, pixel) + miscounted(i32(DEPTH_UNIT) - layer.depth, pixel);
                add_ends(from_code, from_shared, p, -1.0);
                add_ends(layer.code, leaves_too(k + 1u, end, layer, winding[other]), p, 1.0);
            }
            from_code = NONE;
        }
    }
    sums[column] = length;
    sums[frame.rows * frame.pixels + column] = bitcast<u32>(border);
}

// The sum of each row, the squares of the second differences of its columns around all that hold something, and what they
// tell of the border.
@compute @workgroup_size(64)
fn sum_rows(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = id.x;
    if (row >= frame.rows) {
        return;
    }
    let begin = row * frame.pixels;
    var low = 0u;
    var high = 0u;
    var first = NONE;
    var last = 0u;
    var border = 0;
    for (var column = 0u; column < frame.pixels; column++) {
        let own = sums[begin + column];
        border += bitcast<i32>(sums[(frame.rows + row) * frame.pixels + column]);
        if (own != 0u) {
            let sum = low + own;
            high += select(0u, 1u, sum < low);
            low = sum;
            first = min(first, column);
            last = column;
        }
    }
    var squares = 0.0;
    if (first != NONE && frame.pixels > 1u) {
        for (var column = max(first, 1u); column <= min(last, frame.pixels - 2u); column++) {
            let at = begin + column;
            let around = f32(sums[at - 1u]) + f32(sums[at + 1u]);
            let second = (around - 2.0 * f32(sums[at])) / DEPTH_UNIT;
            squares += second * second;
        }
        if (first > 0u) {
            let step = f32(sums[begin + first]) / DEPTH_UNIT;
            squares += step * step;
        }
        if (last < frame.pixels - 1u) {
            let step = f32(sums[begin + last]) / DEPTH_UNIT;
            squares += step * step;
        }
    }
    let out = 2u * frame.rows * frame.pixels + 4u * row;
    sums[out] = low;
    sums[out + 1u] = high;
    sums[out + 2u] = bitcast<u32>(squares);
    sums[out + 3u] = bitcast<u32>(border);
}
