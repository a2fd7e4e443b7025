// Bytes to text: by byte order mark, by what the document declares, else by what the bytes look like.
import { isUtf8 } from 'node:buffer';
import { unreadable, unsupported } from './limits.ts';

const MARKS: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0x84, 0x31, 0x95, 0x33], 'gb18030'],
];

/** Bytes whose frequencies decide; more tell no more. */
const SAMPLE_BYTES = 65_536;
const DECLARED_WITHIN = 2_048;

/** Throws IMP-E001 for bytes that are no text. `declared` wins over detection, unless the bytes contradict it. */
export function decodeText(bytes: Uint8Array, declared?: string): string {
  return decodeAs(bytes, encodingOf(bytes, declared));
}

export function encodingOf(bytes: Uint8Array, declared?: string): string {
  const mark = MARKS.find(([prefix]) => prefix.every((byte, at) => bytes[at] === byte));
  if (mark !== undefined) return mark[1];
  const wide = wideEncoding(bytes);
  if (wide !== undefined) return wide;
  if (bytes.subarray(0, SAMPLE_BYTES).includes(0)) throw unsupported('the document is neither a known format nor text');
  const named = knownEncoding(declared ?? declaration(bytes));
  // Many files declare Latin-1 and are UTF-8; hardly any text in another encoding is valid UTF-8 by accident.
  if (isUtf8(bytes)) return named === 'iso-2022-jp' ? named : 'utf-8';
  if (named !== undefined && named !== 'utf-8') return named;
  return detected(bytes.subarray(0, SAMPLE_BYTES));
}

function decodeAs(bytes: Uint8Array, encoding: string): string {
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    throw unreadable(`the document's encoding cannot be read`);
  }
}

/** The encoding's name as decoders know it; undefined for one that they do not. */
function knownEncoding(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch {
    return undefined;
  }
}

/** The encoding that the head of an HTML or XML document names. */
function declaration(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(DECLARED_WITHIN, bytes.byteLength));
  const text = head.toString('latin1');
  const declared =
    /<\?xml[^>]*\sencoding\s*=\s*["']([\w-]+)["']/i.exec(text) ??
    /<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)/i.exec(text);
  return declared?.[1];
}

/** UTF-16 without a mark: every other byte of much of the text is zero. */
function wideEncoding(bytes: Uint8Array): string | undefined {
  const length = Math.min(bytes.length, SAMPLE_BYTES) & ~1;
  if (length < 4) return undefined;
  const zeros = [0, 0];
  for (let at = 0; at < length; at++) if (bytes[at] === 0) zeros[at & 1]! += 1;
  const [even = 0, odd = 0] = zeros;
  const pairs = length / 2;
  if (odd > pairs / 3 && even < pairs / 50) return 'utf-16le';
  if (even > pairs / 3 && odd < pairs / 50) return 'utf-16be';
  return undefined;
}

/** Frequent characters of Japanese and of Chinese text. */
const KANA = /[\u3041-\u3096\u30a1-\u30fa\u30fc]/g;
const HAN = /[\u4e00-\u9fff]/g;
const COMMON_HAN =
  /[的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长]/g;
/** Characters that the wrong one of the two encodings yields: half-width kana, private use, rare signs. */
const UNLIKELY = /[\uff61-\uff9f\ue000-\uf8ff\ufffd]|[\u3100-\u312f]/g;

/** Shift-JIS, GB18030 or Windows-1252, for bytes that are not UTF-8. */
function detected(sample: Uint8Array): string {
  const high = sample.reduce((count, byte) => count + (byte >= 0x80 ? 1 : 0), 0);
  const candidates = ['shift_jis', 'gb18030'].map((encoding) => ({
    encoding,
    score: likeness(sample, encoding, high),
  }));
  const best = candidates.reduce((one, other) => (other.score > one.score ? other : one));
  return best.score > 0 ? best.encoding : 'windows-1252';
}

/** How much the bytes look like text in this encoding; at most 0: they do not. */
function likeness(sample: Uint8Array, encoding: string, high: number): number {
  const text = new TextDecoder(encoding).decode(sample, { stream: true });
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  // Letters with accents stand alone between ASCII letters. Double-byte text has runs.
  const pairs = count(/[\u3000-\u9fff\uff01-\uff5e]{2,}/g);
  if (pairs === 0) return 0;
  const kana = count(KANA);
  const han = count(HAN);
  const common = count(COMMON_HAN);
  const good = encoding === 'shift_jis' ? 2 * kana + (kana > 0 ? han / 2 : 0) : 2 * common + kana + han / 8;
  return (good - 4 * count(UNLIKELY)) / Math.max(1, high / 2) - 0.15;
}
