// Compares an answer with the expected one, except for members that no model can know.
import { inspect, isDeepStrictEqual } from 'node:util';
import { EngineError } from '../../src/engine/base/errors.ts';
import type { Output } from '../../src/shards/protocol.ts';
import type { WriteMethod } from './request.ts';

/** The outcome of a call. */
export type Outcome =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly code: string }
  /** Storage refused it. */
  | { readonly kind: 'storage' }
  /** The process died before the answer. */
  | { readonly kind: 'crashed' };

/** The outcome of the model's run; throws anything but an EngineError. */
export function outcomeOf(run: () => unknown): Outcome {
  try {
    return { kind: 'value', value: run() };
  } catch (error) {
    if (error instanceof EngineError) return { kind: 'error', code: plainCode(error.code) };
    throw error;
  }
}

/** The same answer without permitted differences: order of a set, wording of errors. */
export function plain(method: WriteMethod, value: unknown): unknown {
  switch (method) {
    case 'forget': {
      const { hashes, notFound } = value as Output<'forget'>;
      return { hashes: [...hashes].sort(), notFound };
    }
    case 'addBatch':
      return plainOutcomes(value as Output<'addBatch'>);
    case 'importBlobs': {
      const { refused } = value as Output<'importBlobs'>;
      const entries = refused.map(({ hash, error }) => `${hash} ${plainCode(error.code)}`).sort();
      return { outcomes: plainOutcomes(value as Output<'importBlobs'>), refused: entries };
    }
    default:
      return value;
  }
}

function plainOutcomes({ outcomes }: Output<'addBatch'>): unknown {
  return outcomes.map((one) => ('error' in one ? { code: plainCode(one.error.code) } : one));
}

/** The model does not know how long an erased grain is distinguished from an unknown one. */
export function plainCode(code: string): string {
  return code === 'MEM-E006' ? 'MEM-E001' : code;
}

/** Compares two answers; `what` names the call in the message. */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Discrepancy(`${what}\n${differences(actual, expected).join('\n')}`);
}

const DIFFERENCES_MAX = 12;

/** The paths at which two values differ. */
function differences(actual: unknown, expected: unknown, path = '', found: string[] = []): string[] {
  if (isDeepStrictEqual(actual, expected) || found.length >= DIFFERENCES_MAX) return found;
  const [left, right] = [membersOf(actual), membersOf(expected)];
  if (left === undefined || right === undefined) {
    found.push(`  ${path === '' ? 'it' : path} is ${inspect(actual, LINE)}, not ${inspect(expected, LINE)}`);
    return found;
  }
  for (const name of new Set([...left.keys(), ...right.keys()]))
    differences(left.get(name), right.get(name), `${path}.${name}`, found);
  return found;
}

const LINE = { breakLength: Number.POSITIVE_INFINITY, depth: 4 };

function membersOf(value: unknown): Map<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return undefined;
  return new Map(Object.entries(value));
}

/** The product and the model answered differently. */
export class Discrepancy extends Error {
  override name = 'Discrepancy';
}
