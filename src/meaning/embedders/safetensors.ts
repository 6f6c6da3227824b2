import { quoted } from '../../base/errors.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { isTable } from '../../base/parse/parse.ts';

/** Reading one number of a tensor, by the name of its kind in the file. */
const READ = {
  F64: { bytes: 8, at: (view: DataView, place: number) => view.getFloat64(place, true) },
  F32: { bytes: 4, at: (view: DataView, place: number) => view.getFloat32(place, true) },
  F16: { bytes: 2, at: (view: DataView, place: number) => half(view.getUint16(place, true)) },
  BF16: { bytes: 2, at: (view: DataView, place: number) => brainHalf(view.getUint16(place, true)) },
  I8: { bytes: 1, at: (view: DataView, place: number) => view.getInt8(place) },
  I32: { bytes: 4, at: (view: DataView, place: number) => view.getInt32(place, true) },
  I64: { bytes: 8, at: (view: DataView, place: number) => Number(view.getBigInt64(place, true)) },
} as const;

type Dtype = keyof typeof READ;

export interface Tensor {
  name: string;
  dtype: Dtype;
  shape: readonly number[];
  /** The number at this place, rows one after the other. */
  at(index: number): number;
}

/** What is wrong with a file, in words that follow its name. */
export class BadTensors extends Error {}

/** The length of the header, then the header as JSON, then the numbers. Files with few tensors have a short one. */
const LENGTH_BYTES = 8;
const MOST_HEADER_BYTES = 1_000_000;

/** The tensors of a file by name. Nothing is copied: numbers are read where they are when they are asked for. */
export function readTensors(file: Buffer): Map<string, Tensor> {
  if (file.length < LENGTH_BYTES) throw new BadTensors('is truncated: it ends before its header');
  const headerBytes = Number(file.readBigUInt64LE(0));
  if (headerBytes > MOST_HEADER_BYTES)
    throw new BadTensors(
      `has a header of ${headerBytes} bytes, and at most ${MOST_HEADER_BYTES} are read; perhaps it is not in the safetensors format`,
    );
  const start = LENGTH_BYTES + headerBytes;
  if (file.length < start) throw new BadTensors('is truncated: it ends within its header');
  const header = jsonObject(file.toString('utf8', LENGTH_BYTES, start));
  if (header === undefined) throw new BadTensors('has a header that is not JSON');
  const data = new DataView(file.buffer, file.byteOffset + start, file.length - start);
  const named = Object.entries(header).filter(([name]) => name !== '__metadata__');
  return new Map(named.map(([name, described]) => [name, tensor(name, described, data)]));
}

function tensor(name: string, described: unknown, data: DataView): Tensor {
  const what = `has a tensor ${quoted(name)}`;
  const { dtype, shape, data_offsets: offsets } = isTable(described) ? described : {};
  if (!isSizes(shape) || !isSizes(offsets) || offsets.length !== 2)
    throw new BadTensors(`${what} without a usable shape and place`);
  if (!isKnown(dtype))
    throw new BadTensors(
      `${what} of the kind ${quoted(String(dtype))}, which is not one of ${Object.keys(READ).join(', ')}`,
    );
  const { bytes, at } = READ[dtype];
  const [from = 0, to = 0] = offsets;
  const count = shape.reduce((product, size) => product * size, 1);
  if (to - from !== count * bytes) throw new BadTensors(`${what} whose shape and size disagree`);
  if (to > data.byteLength)
    throw new BadTensors(`is truncated: ${data.byteLength} of ${to} bytes of numbers are there`);
  return { name, dtype, shape, at: (index) => at(data, from + index * bytes) };
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && (size as number) >= 0);
}

function isKnown(dtype: unknown): dtype is Dtype {
  return typeof dtype === 'string' && Object.hasOwn(READ, dtype);
}

/** Five bits of exponent, ten of fraction. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const wide = new DataView(new ArrayBuffer(4));

/** The upper half of a number of four bytes. */
function brainHalf(bits: number): number {
  wide.setUint16(0, bits);
  return wide.getFloat32(0);
}
