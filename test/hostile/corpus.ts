// The saved attacks of test/corpus.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A string, or a string and its number of repetitions. */
export type Piece = string | readonly [text: string, times: number];

export interface HostileBody {
  readonly name: string;
  /** Relative to `/api/memories/default/`. */
  readonly path: string;
  readonly body?: readonly Piece[];
  readonly base64?: string;
  readonly codes?: readonly string[];
  readonly ok?: boolean;
}

export interface HostileRequest {
  readonly name: string;
  readonly request: readonly Piece[];
  readonly statuses: readonly number[];
  readonly closed?: boolean;
}

export interface HostileFrames {
  readonly name: string;
  readonly rpc: string;
  /** Hex. */
  readonly data: readonly Piece[];
  readonly headers?: Readonly<Record<string, string>>;
  /** The gRPC status. */
  readonly statuses: readonly number[];
}

export function corpus<T>(name: string): readonly T[] {
  // Its use checks it: a row of another shape fails its test.
  return JSON.parse(readFileSync(join(import.meta.dirname, '../corpus', name), 'utf8')) as T[];
}

export function joined(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : piece[0].repeat(piece[1]))).join('');
}
