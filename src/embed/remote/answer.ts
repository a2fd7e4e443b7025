// The body of a service's answer, checked, to unit vectors. A service is believed nothing: count, order, length and
// every number are looked at, since one wrong vector stored is found by nobody later.
import { EmbedError } from '../embedder.ts';

/** Below this a vector says nothing; dividing by its length would only enlarge noise. */
const NORM_MIN = 1e-30;

/**
 * The vectors of `{"data":[{"index","embedding"}]}` in the order of their `index`, each of `dimensions` numbers (of
 * whatever one length all have, without it) and of length 1; undefined for a vector of zeros. `embedding` may be an
 * array or base64 of little-endian floats. Throws EmbedError (not retryable) for everything else.
 */
export function readAnswer(
  text: string,
  count: number,
  dimensions: number | undefined,
): readonly (Float32Array | undefined)[] {
  const items = itemsOf(text);
  if (items.length !== count) throw broken(`${items.length} vectors for ${count} texts`);
  const vectors = new Array<Float32Array | undefined>(count);
  const seen = new Set<number>();
  let length = dimensions;
  items.forEach((item, position) => {
    const { index, embedding } = fieldsOf(item);
    const place = placeOf(index, position, items);
    if (place < 0 || place >= count || seen.has(place)) throw broken('an index is out of range or there twice');
    seen.add(place);
    const numbers = numbersOf(embedding);
    length ??= numbers.length;
    if (numbers.length !== length) throw broken(`a vector of ${numbers.length} numbers instead of ${length}`);
    if (length === 0) throw broken('an empty vector');
    vectors[place] = toUnit(numbers);
  });
  return vectors;
}

function broken(what: string): EmbedError {
  return new EmbedError(`the embedding service answered ${what}`, { retryable: false });
}

function itemsOf(text: string): readonly unknown[] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw broken('something that is not JSON'); // What it was stays out of the message: it may hold our texts.
  }
  if (typeof body === 'object' && body !== null && 'data' in body && Array.isArray(body.data)) return body.data;
  throw broken('JSON without "data"');
}

interface Item {
  readonly index: unknown;
  readonly embedding: unknown;
}

function fieldsOf(item: unknown): Item {
  if (typeof item !== 'object' || item === null || !('embedding' in item)) throw broken('an item without "embedding"');
  return { index: 'index' in item ? item.index : undefined, embedding: item.embedding };
}

/** Some services leave every index out and keep the order; one that numbers only some of them is not understood. */
function placeOf(index: unknown, position: number, items: readonly unknown[]): number {
  if (index === undefined && items.every((item) => fieldsOf(item).index === undefined)) return position;
  if (typeof index !== 'number' || !Number.isInteger(index)) throw broken('an index that is no number');
  return index;
}

function numbersOf(embedding: unknown): ArrayLike<number> {
  if (typeof embedding === 'string') return fromBase64(embedding);
  if (!Array.isArray(embedding)) throw broken('a vector that is neither an array nor base64');
  const numbers: readonly unknown[] = embedding;
  if (!numbers.every((value): value is number => typeof value === 'number')) throw broken('a vector with a non-number');
  return numbers;
}

function fromBase64(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  // Node skips what is no base64; then what was decoded does not add up to the text.
  const unpadded = text.replace(/={1,2}$/, '').length;
  if (bytes.length !== Math.floor((unpadded * 3) / 4)) throw broken('a vector that is no base64');
  if (bytes.length % 4 !== 0) throw broken(`a vector of ${bytes.length} bytes, which is no number of floats`);
  const floats = new Float32Array(bytes.length / 4);
  for (let i = 0; i < floats.length; i++) floats[i] = bytes.readFloatLE(4 * i);
  return floats;
}

function toUnit(numbers: ArrayLike<number>): Float32Array | undefined {
  let largest = 0;
  for (let i = 0; i < numbers.length; i++) {
    const value = numbers[i]!;
    if (!Number.isFinite(value)) throw broken('a vector with NaN or Infinity');
    largest = Math.max(largest, Math.abs(value));
  }
  if (largest < NORM_MIN) return undefined;
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) sum += (numbers[i]! / largest) ** 2; // Scaled, so that nothing overflows.
  const norm = Math.sqrt(sum);
  const unit = new Float32Array(numbers.length);
  for (let i = 0; i < unit.length; i++) unit[i] = numbers[i]! / largest / norm;
  return unit;
}
