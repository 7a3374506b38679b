// Numbers from bytes of memory.

/** The types of elements: the bytes of each, and how it is read from a DataView. */
const READ = {
  f16: [2, (view, at) => float(view.getUint16(at, true), 5, 10)],
  bf16: [2, (view, at) => float(view.getUint16(at, true), 8, 7)],
  f32: [4, (view, at) => view.getFloat32(at, true)],
  f64: [8, (view, at) => view.getFloat64(at, true)],
  e4m3: [1, (view, at) => float(view.getUint8(at), 4, 3)],
  e5m2: [1, (view, at) => float(view.getUint8(at), 5, 2)],
  u8: [1, (view, at) => view.getUint8(at)],
  u16: [2, (view, at) => view.getUint16(at, true)],
  u32: [4, (view, at) => view.getUint32(at, true)],
  u64: [8, (view, at) => view.getBigUint64(at, true)],
  s8: [1, (view, at) => view.getInt8(at)],
  s16: [2, (view, at) => view.getInt16(at, true)],
  s32: [4, (view, at) => view.getInt32(at, true)],
  s64: [8, (view, at) => view.getBigInt64(at, true)],
};

export const TYPES = Object.keys(READ);

/** The bytes of an element. */
export const bytesOf = (type) => READ[type][0];

/** The element at a byte of a DataView, as text; one that is outside is 0. */
export function number(view, at, type) {
  const [bytes, read] = READ[type];
  if (at + bytes > view.byteLength) return "0";
  const value = read(view, at);
  return type === "f64" || !type.includes("f") && !type.startsWith("e") ? String(value) : shortest(value);
}

/** A number of so many bits of exponent and mantissa. */
function float(bits, exponent, mantissa) {
  const [most, part] = [(1 << exponent) - 1, bits & ((1 << mantissa) - 1)];
  const [sign, power, bias] = [bits >> (exponent + mantissa) ? -1 : 1, (bits >> mantissa) & most, most >> 1];
  // E4M3 has no infinity, and one NaN of each sign.
  if (power === most && (exponent !== 4 || part === 7)) return part ? NaN : sign * Infinity;
  return sign * (power ? 1 + part / (1 << mantissa) : (2 * part) / (1 << mantissa)) * 2 ** (power - bias);
}

/** The shortest text that is this number of f32. */
function shortest(value) {
  for (let digits = 1; digits < 9; digits += 1) {
    const text = Number(value.toPrecision(digits));
    if (Math.fround(text) === value) return Object.is(value, -0) ? "-0" : String(text);
  }
  return String(Number(value.toPrecision(9)));
}

/** An address, as findings write it. */
export const address = (at) => `0x${at.toString(16)}`;

/** The texts of 32 lanes from one that stands for all: one value, "a, b, ..., z" for an arithmetic sequence, or all of them. */
export function lanesOf(text) {
  const steps = text.match(/^(\S+), (\S+), \.\.\., \S+$/);
  if (steps) {
    const [first, second] = steps.slice(1).map((of) => (of.startsWith("-0x") ? -BigInt(of.slice(1)) : BigInt(of)));
    const shown = (value) => (steps[1].startsWith("0x") ? `0x${value.toString(16)}` : String(value));
    return Array.from({ length: 32 }, (_, lane) => shown(first + (second - first) * BigInt(lane)));
  }
  const all = text.split(" ");
  return all.length === 1 ? Array(32).fill(text || "-") : all;
}
