// Every file of a data directory, damaged in every way: the start fails with its name and a code, or the file is
// rebuilt and reported; no grain counts as one that never existed.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EngineError } from '../../src/engine/base/errors.ts';
import { FORMAT_VERSION } from '../../src/engine/log/format.ts';
import { openLmdbLog } from '../../src/engine/log/lmdb/lmdb-log.ts';
import { readConfig } from '../../src/server/config.ts';
import { makeLog } from '../../src/server/log.ts';
import { startServer } from '../../src/server/main.ts';
import type { RunningServer } from '../../src/server/running-server.ts';
import { ask } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { USED_THREADS } from '../support/used-threads.ts';

const GRAINS = 12;
const M = '/memories/default';

const DAMAGES = {
  emptied: (path: string) => truncateSync(path, 0),
  'cut in half': (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2)),
  deleted: (path: string) => rmSync(path),
  'a folder': (path: string) => {
    rmSync(path);
    mkdirSync(path);
  },
  'all bits of a byte flipped': (path: string) => {
    const bytes = readFileSync(path);
    bytes[Math.min(24, bytes.length >> 1)]! ^= 0xff;
    writeFileSync(path, bytes);
  },
} as const;
type Damage = keyof typeof DAMAGES;

/**
 * The expected result. `refused`: pattern of the start's error. `reported`: pattern of a finding of verify or a reason of
 * health.
 */
type Outcome = { readonly refused: RegExp } | { readonly reported: RegExp } | 'nothing lost';
type Row = Readonly<Partial<Record<Damage, Outcome>>>;

const all = (outcome: Outcome): Row => ({
  emptied: outcome,
  'cut in half': outcome,
  deleted: outcome,
  'a folder': outcome,
  'all bits of a byte flipped': outcome,
});
/** damage.test.ts covers truncated and flipped ones. */
const segment: Row = { deleted: { reported: /\.seg/ }, 'a folder': { reported: /\.seg/ } };
/** Made by LMDB at every start. */
const lock: Row = { emptied: 'nothing lost', 'a folder': { refused: /lock\.mdb/ } };
/** Empty, and locked while a server runs. */
const ownersLock: Row = {
  emptied: 'nothing lost',
  deleted: 'nothing lost',
  'a folder': { refused: /directory\.lock/ },
};
/** By the suffix of a file's path. */
const ROWS: Readonly<Record<string, Row>> = {
  'directory.lock': ownersLock,
  'layout.json': all({ refused: /layout\.json/ }),
  'control/data.mdb': all({ refused: /control/ }),
  'control/lock.mdb': { 'a folder': { refused: /lock\.mdb/ } },
  'shard-0/log/data.mdb': all({ refused: /shard-0\/log/ }),
  'shard-0/log/lock.mdb': lock,
  'shard-0/segments/00000001.seg': segment,
  // Another start writes it again. wal.test.ts damages the files beside it, which a clean end removes.
  'wal/owner': { ...ownersLock, 'a folder': { refused: /wal/ } },
  'keys/control.key': all({ refused: /control\.key/ }),
  'keys/master.key': all({ refused: /master\.key/ }),
  // The id of the right master key: without it any key is tried, and a wrong one opens nothing.
  'keys/master.check': { ...all({ refused: /master\.check/ }), deleted: 'nothing lost' },
  // A server without one makes a new one; proofs hold the public key that they were signed with.
  'keys/proof.key': { ...all({ refused: /proof\.key/ }), deleted: 'nothing lost' },
  // A copy of the first API key for the command line.
  'keys/bootstrap.key': { emptied: 'nothing lost', 'a folder': 'nothing lost' },
  'keys/shard-0/bucket-000000.keys': {
    emptied: { reported: /key 2: it was never written/ },
    'cut in half': { reported: /the file is cut short/ },
    deleted: { reported: /key 2: it was never written/ },
    'a folder': { refused: /bucket-000000\.keys/ },
    'all bits of a byte flipped': { reported: /the header is damaged/ },
  },
};

let written: string[] = [];
const start = (dataDir: string): Promise<RunningServer> => {
  const config = readConfig({ dataDir, embedder: 'none', httpPort: '0', grpcPort: '0', shards: '1', workers: '1' }, {});
  const log = makeLog('error', { write: (line: string) => void written.push(line) });
  return startServer(config, { log, threads: USED_THREADS });
};

async function fill(dataDir: string): Promise<{ key: string; hashes: readonly string[] }> {
  const server = await start(dataDir);
  const key = server.firstKey ?? assert.fail('the first start tells a key');
  const by = { http: server.http, key };
  const add = async (i: number): Promise<string> => {
    const grain = {
      subject: `s${i}`,
      relation: 'says',
      object: `harbour ${i}`,
      ...(i % 2 === 0 ? {} : { user_id: 'ann' }),
    };
    return (await ask(by, 'POST', `${M}/add`, grain)).body.blob_hash;
  };
  // Without a pause: two idle seconds between them would seal the first ones into a separate segment.
  const hashes = await Promise.all(Array.from({ length: GRAINS }, (_, i) => add(i)));
  await server.close();
  return { key, hashes };
}

function filesOf(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}

/** Codes of the refusals, and all findings of verify and health. */
async function lookAt(server: RunningServer, { key, hashes }: { key: string; hashes: readonly string[] }) {
  const by = { http: server.http, key };
  const refusals: string[] = [];
  for (const [i, hash] of hashes.entries()) {
    const reported = await ask(by, 'GET', `${M}/grains/${hash}`);
    if (reported.status === 200) assert.equal(reported.body.fields.object, `harbour ${i}`);
    else refusals.push(String(reported.code));
  }
  const verified = await ask(by, 'POST', `${M}/app/exec`, { command: 'verify', args: {} });
  assert.equal(verified.status, 200, JSON.stringify(verified.body));
  const { reasons = [] } = (await ask(by, 'GET', '/health')).body;
  return { refusals, reported: JSON.stringify([verified.body.result.findings, reasons]) };
}

test('every file of a data directory, damaged in every way, is reported', { timeout: 600_000 }, async (t) => {
  const root = temporaryDirectory(t);
  const model = join(root, 'model');
  const filled = await fill(model);
  const files = filesOf(model);
  assert.deepEqual(files.sort(), Object.keys(ROWS).sort(), 'every file has its row');
  for (const [file, row] of Object.entries(ROWS))
    for (const [damage, outcome] of Object.entries(row) as [Damage, Outcome][]) {
      const what = `${file}, ${damage}`;
      const copy = join(root, 'copy');
      rmSync(copy, { recursive: true, force: true });
      cpSync(model, copy, { recursive: true });
      DAMAGES[damage](join(copy, file));
      written = [];
      let server: RunningServer;
      try {
        server = await start(copy);
      } catch (error) {
        assert.ok(error instanceof EngineError, `${what}: ${error instanceof Error ? error.stack : error}`);
        assert.ok(typeof outcome === 'object' && 'refused' in outcome, `${what}: ${error.message}`);
        assert.match(error.message, outcome.refused, what);
        continue;
      }
      try {
        const { refusals, reported } = await lookAt(server, filled);
        assert.ok(outcome === 'nothing lost' || 'reported' in outcome, `${what} was not refused`);
        if (outcome === 'nothing lost') assert.deepEqual(refusals, [], what);
        else assert.match(reported, outcome.reported, what);
        for (const code of refusals) assert.equal(code, 'STO-E001', what);
        assert.deepEqual(written, [], what);
      } finally {
        await server.close();
      }
    }
});

test('damaged state is rebuilt where the log has it, else the shard is refused by its name', async (t) => {
  const root = temporaryDirectory(t);
  const model = join(root, 'model');
  const filled = await fill(model);
  for (const [key, outcome] of [
    ['manifest', { reported: /indexed again.*manifest/ }],
    ['memory/1', { refused: /memory\/1.*shard-0/ }],
  ] as const) {
    const copy = join(root, 'copy');
    rmSync(copy, { recursive: true, force: true });
    cpSync(model, copy, { recursive: true });
    // The value in its page, found by its own bytes.
    const log = openLmdbLog(join(copy, 'shard-0', 'log'), {
      stamp: { formatVersion: FORMAT_VERSION, shard: 0, shards: 1 },
    });
    const value = Buffer.from(log.getState(key)!);
    await log.close();
    const path = join(copy, 'shard-0', 'log', 'data.mdb');
    const bytes = readFileSync(path);
    const pattern = Buffer.concat([Buffer.from(key), value]);
    const places: number[] = [];
    for (let at = bytes.indexOf(pattern); at !== -1; at = bytes.indexOf(pattern, at + 1)) places.push(at);
    assert.ok(places.length > 0, key);
    for (const at of places) bytes[at + key.length]! ^= 0xff;
    writeFileSync(path, bytes);
    try {
      const server = await start(copy);
      const { refusals, reported } = await lookAt(server, filled);
      await server.close();
      assert.deepEqual(refusals, []);
      assert.ok('reported' in outcome, `${key} was not refused`);
      assert.match(reported, outcome.reported);
      // The next start does not report it again.
      const again = await start(copy);
      assert.equal((await lookAt(again, filled)).reported, '[[],[]]');
      await again.close();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      assert.ok('refused' in outcome, error.message);
      assert.match(error.message, outcome.refused);
    }
  }
});
