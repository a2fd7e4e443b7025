// Validates a service's answer and converts it to unit vectors. Count, order, length and every number are checked: a
// wrong vector in the index would never be noticed.
import { EmbedError } from '../embedder.ts';

/** Vectors below this norm carry no meaning; normalising them would only amplify noise. */
const NORM_MIN = 1e-30;

/**
 * Reads `{"data":[{"index","embedding"}]}`. Returns unit vectors in the order of `index`, each of `dimensions` numbers
 * (without `dimensions`, all must have equal length); undefined for a zero vector. `embedding` may be an array or
 * base64 of little-endian floats. Throws EmbedError (not retryable) for anything else.
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
    if (place < 0 || place >= count || seen.has(place)) throw broken('an index that is out of range or repeated');
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
    throw broken('something that is not JSON'); // The message leaves the text out: it may quote our texts.
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

/** Some services omit all indexes and keep the order. Numbering only some is an error. */
function placeOf(index: unknown, position: number, items: readonly unknown[]): number {
  if (index === undefined && items.every((item) => fieldsOf(item).index === undefined)) return position;
  if (typeof index !== 'number' || !Number.isInteger(index)) throw broken('an index that is not a number');
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
  // Node skips characters that are not base64; then the decoded length does not match the text's.
  const unpadded = text.replace(/={1,2}$/, '').length;
  if (bytes.length !== Math.floor((unpadded * 3) / 4)) throw broken('a vector that is not base64');
  if (bytes.length % 4 !== 0) throw broken(`a vector of ${bytes.length} bytes, which is not a whole number of floats`);
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
  for (let i = 0; i < numbers.length; i++) sum += (numbers[i]! / largest) ** 2; // Scaled first, so that nothing overflows.
  const norm = Math.sqrt(sum);
  const unit = new Float32Array(numbers.length);
  for (let i = 0; i < unit.length; i++) unit[i] = numbers[i]! / largest / norm;
  return unit;
}
