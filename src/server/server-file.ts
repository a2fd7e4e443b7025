// `<data-dir>/server.json`: the addresses of the server that has the directory. The holder of the lock writes it.
// Without the lock the file means nothing, because a killed server leaves it behind.
import { readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { replaceFile, storageError } from '../engine/base/durable-file.ts';

const SERVER_FILE = 'server.json';

export interface ServerFile {
  readonly http: string;
  readonly grpc: string;
  /** The server's process id on its own host; only for people. */
  readonly pid: number;
  readonly host: string;
  /** Known to the server and to readers of this file: identity.ts. */
  readonly secret: string;
}

export function writeServerFile(directory: string, own: Pick<ServerFile, 'http' | 'grpc' | 'secret'>): void {
  const path = join(directory, SERVER_FILE);
  const { http, grpc, secret } = own;
  const file: ServerFile = { http, grpc, pid: process.pid, host: hostname(), secret };
  try {
    replaceFile(path, Buffer.from(`${JSON.stringify(file)}\n`));
  } catch (error) {
    throw storageError(`cannot write ${path}`, error);
  }
}

export function removeServerFile(directory: string): void {
  const path = join(directory, SERVER_FILE);
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw storageError(`cannot remove ${path}`, error);
  }
}

/** The file's contents; undefined when it is missing or invalid. */
export function readServerFile(directory: string): ServerFile | undefined {
  try {
    const file = JSON.parse(readFileSync(join(directory, SERVER_FILE), 'utf8')) as Partial<Record<string, unknown>>; // each is checked
    const { http, grpc, pid, host, secret } = file;
    if (typeof http !== 'string' || typeof grpc !== 'string') return undefined;
    if (typeof pid !== 'number' || typeof host !== 'string') return undefined;
    if (typeof secret !== 'string' || !/^[0-9a-f]{64}$/.test(secret)) return undefined;
    return { http, grpc, pid, host, secret };
  } catch {
    return undefined;
  }
}

/** Describes the holder of a locked directory, as far as the file shows. */
export function holderOf(directory: string): string {
  const file = readServerFile(directory);
  if (file === undefined) return 'another process';
  const { pid, host, http } = file;
  const where = host === hostname() ? '' : ` on ${host}`;
  return `another server: process ${pid}${where}, at ${http}`;
}
