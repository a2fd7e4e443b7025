// The peers in the folder that BENCH_PEERS names. They are not dependencies: install them for comparisons.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { defined } from '../../../src/engine/base/defined.ts';
import { chromaKind } from './chroma.ts';
import { type LanceModule, lanceKind } from './lancedb.ts';
import type { PeerKind, PeerName } from './peer.ts';
import { type PostgresModule, postgresKind } from './postgres.ts';
import { type SqliteVecModule, sqliteKind } from './sqlite.ts';

export const HOW_TO_INSTALL =
  'npm install --prefix FOLDER @lancedb/lancedb sqlite-vec postgres; pip install --target FOLDER/python pgserver chromadb; BENCH_PEERS=FOLDER';

/** Other stores that are installed, by name. */
export function installedPeers(): Partial<Record<PeerName, PeerKind>> {
  const sqliteVec = found<SqliteVecModule>('sqlite-vec');
  const lancedb = found<LanceModule>('@lancedb/lancedb');
  const postgres = found<PostgresModule>('postgres');
  const binaries = inPython('pgserver', 'pginstall', 'bin');
  const chroma = inPython('bin', 'chroma');
  return defined({
    sqlite: sqliteVec && sqliteKind(sqliteVec),
    lancedb: lancedb && lanceKind(lancedb),
    postgres: postgres === undefined || binaries === undefined ? undefined : postgresKind(postgres, binaries),
    chroma: chroma === undefined ? undefined : chromaKind(join(chroma, '..', '..')),
  });
}

function found<T>(name: string): T | undefined {
  const folder = process.env['BENCH_PEERS'];
  if (folder === undefined) return undefined;
  try {
    return createRequire(join(folder, 'package.json'))(name) as T; // the parts in use are declared beside each peer
  } catch {
    return undefined;
  }
}

function inPython(...names: readonly string[]): string | undefined {
  const folder = process.env['BENCH_PEERS'];
  const path = folder === undefined ? undefined : join(folder, 'python', ...names);
  return path !== undefined && existsSync(path) ? path : undefined;
}
