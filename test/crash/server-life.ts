// The whole server as a process, driven over the wire: single adds over gRPC, everything else over HTTP.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { MemoryServiceClient } from '../../src/server/gen/memory/v1/services.ts';
import type { Output } from '../../src/shards/protocol.ts';
import type { RequestOf, WriteRequest } from '../model/request.ts';
import { eventually } from '../support/eventually.ts';
import { NotStarted, startServerProcess } from '../support/server-process.ts';
import type { Ending } from './campaign.ts';
import { type Answer, type Door, type Life, Lost, type Question, Refused } from './door.ts';

const CUT = pathToFileURL(join(import.meta.dirname, 'server-cut.ts')).href;
/** Concurrent requests of one check. */
const LOOKS_AT_ONCE = 32;
/** The numbers of workers of one life after another. */
const WORKERS = [2, 0, 1];
let lives = 0;
/** The time between a broken connection and the news that its server was killed. */
const NEWS_MS_MAX = 60_000;

export interface ServerOptions {
  readonly directory: string;
  readonly shards: number;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cut?: NonNullable<Ending['cut']>;
}

/** Starts `granary serve`; rejects with Lost when it was killed before it was ready. */
export async function startServer({ directory, shards, flags = [], env = {}, cut }: ServerOptions): Promise<Life> {
  const server = await startServerProcess({
    directory,
    flags: ['--shards', String(shards), '--workers', String(WORKERS[lives++ % WORKERS.length]), ...flags],
    ...(cut === undefined ? {} : { preload: CUT }),
    env: { ...env, ...(cut === undefined ? {} : { CRASH_CUT_STEPS: String(cut.steps) }) },
  }).catch((error: unknown) => {
    if (error instanceof NotStarted && error.signal === 'SIGKILL') throw new Lost('it was killed while it started');
    throw error;
  });
  const { child, ended } = server;
  const grpc = new MemoryServiceClient(server.grpc, credentials.createInsecure());
  void ended.then(() => grpc.close());
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    door: serverDoor({ http: server.http, key: server.key, grpc, isOver, ended }),
    ended,
    stderr: server.output,
    kill: server.kill,
    stop: server.stop,
  };
}

interface Wire {
  readonly http: string;
  readonly key: string;
  readonly grpc: MemoryServiceClient;
  /** True once the process has ended. */
  readonly isOver: () => boolean;
  readonly ended: Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: members of a reply are read as the contract defines them
type Reply = any;

function serverDoor(wire: Wire): Door {
  const call = (verb: string, path: string, body?: unknown): Promise<Reply> => overHttp(wire, verb, path, body);
  const at = (memory: number, path: string): string => `/memories/m${memory}${path}`;
  const exec = async (memory: number, command: string, args: object = {}): Promise<Reply> =>
    (await call('POST', at(memory, '/app/exec'), { command, args })).result;
  return {
    createMemory: async (memory) => {
      await call('POST', '/memories', { id: `m${memory}` });
    },
    dropMemory: async (memory) => {
      await call('DELETE', at(memory, '?confirm=true'));
    },
    send: (request) => sendTo(wire, request),
    upkeep: async (memory, kind) => {
      if (kind === 'flush') await call('POST', at(memory, '/flush'));
      else if (kind === 'rotate') await exec(memory, 'rotate_keys', { scope: 'memory' });
      else await exec(memory, kind === 'compact' ? 'compact' : 'rebuild_indexes');
    },
    look: async (memory, questions) => {
      const answers: Answer[] = [];
      for (let from = 0; from < questions.length; from += LOOKS_AT_ONCE) {
        const some = questions.slice(from, from + LOOKS_AT_ONCE);
        answers.push(...(await Promise.all(some.map((question) => ask(question)))));
      }
      return answers;

      async function ask(question: Question): Promise<Answer> {
        try {
          return await answerTo(question);
        } catch (error) {
          if (error instanceof Refused) return { code: error.code };
          throw error;
        }
      }
      async function answerTo(question: Question): Promise<Answer> {
        const found = async (query: object): Promise<Answer> => {
          const body = { ...query, exclude_superseded: false, limit: 500, candidate_limit: 2_500 };
          const { results } = await call('POST', at(memory, '/recall'), body);
          return { hashes: results.map((hit: Reply) => hit.hash) };
        };
        switch (question.ask) {
          case 'get':
            return { seen: seenOf(await call('GET', at(memory, `/grains/${question.hash}`))) };
          case 'subject':
            return found({ subject: question.subject });
          case 'word':
            return found({ query: question.word });
          case 'history': {
            const { versions } = await exec(memory, 'history', { hash: question.hash });
            return { hashes: versions.map((version: Reply) => version.hash) };
          }
          case 'total':
            return { total: (await call('GET', at(memory, '/stats'))).total_grains };
        }
      }
    },
    verify: async () => {
      const { findings } = (await call('POST', '/memories/default/app/exec', { command: 'verify', args: {} })).result;
      return [...findings, ...(await reasonsOf(wire))].map((finding: unknown) => JSON.stringify(finding));
    },
    audit: (memory) => exec(memory, 'verify_audit_chain'),
  };
}

/** Reasons from health, after the server's shards had time to answer. */
async function reasonsOf(wire: Wire): Promise<readonly string[]> {
  let reasons: readonly string[] = [];
  await eventually('the shards answer', async () => {
    reasons = (await overHttp(wire, 'GET', '/health', undefined, undefined, true)).reasons ?? [];
    return !reasons.some((reason) => reason.startsWith('shards did not answer within'));
  });
  return reasons;
}

/** Sends a write. The wire tells less than the engine. */
async function sendTo(wire: Wire, request: WriteRequest): Promise<object> {
  const { memory, idempotency } = request.context;
  const post = (path: string, body: object): Promise<Reply> =>
    overHttp(wire, 'POST', `/memories/m${memory}${path}`, body, idempotency?.key);
  switch (request.method) {
    case 'add':
      return { hash: await overGrpc(wire, request) };
    case 'addBatch': {
      const { items } = request.input;
      const grains = items.map(({ grainType, fields }) => ({ grain_type: grainType, fields }));
      const { added, errors } = await post('/batch-add', { grains });
      const outcomes: object[] = items.map(() => ({ error: { code: 'NONE' } }));
      for (const { index, blob_hash: hash } of added) outcomes[index] = { hash };
      for (const { index, code } of errors) outcomes[index] = { error: { code } };
      return { outcomes };
    }
    case 'supersede': {
      const { oldHash, fields } = request.input;
      const { new_hash: newHash } = await post('/supersede', { blob_hash: oldHash, fields });
      return { oldHash, newHash };
    }
    case 'accumulate': {
      const { target, ...change } = request.input;
      const body = { ...change, blob_hash: 'hash' in target ? target.hash : undefined };
      const { old_hash: oldHash, new_hash: newHash } = await post('/accumulate', body);
      return { oldHash, newHash };
    }
    case 'forget': {
      const { hashes, subject } = request.input;
      const body = { reason: request.context.reason, ...(subject === undefined ? { hashes } : { subject }) };
      return { hashes: (await post('/forget', body)).hashes };
    }
    case 'eraseUser': {
      const { count, key_fingerprint: keyFingerprint } = await post('/forget', { user_id: request.input.userId });
      return { count, keyFingerprint };
    }
    case 'importBlobs':
      return assert.fail('a campaign imports no blobs');
  }
}

function seenOf({ hash, fields, user_id: userId, superseded_by: supersededBy }: Reply): Partial<Output<'get'>> {
  return { hash, fields, userId, supersededBy };
}

/** The body of a success; with `any` the body of any answer. */
async function overHttp(
  wire: Wire,
  verb: string,
  path: string,
  body?: unknown,
  key?: string,
  any = false,
): Promise<Reply> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${wire.http}/api${path}`, {
      method: verb,
      headers: {
        authorization: `Bearer ${wire.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    text = await response.text();
  } catch (error) {
    return gone(wire, error);
  }
  const reply = JSON.parse(text);
  if (response.ok || any) return reply;
  throw new Refused(reply.error?.code ?? String(response.status), `${verb} ${path}: ${text}`);
}

/** A broken connection is expected from a killed server; with a live server it is a failure. */
async function gone(wire: Wire, error: unknown): Promise<never> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, NEWS_MS_MAX);
  });
  await Promise.race([wire.ended, late]);
  clearTimeout(timer);
  if (wire.isOver()) throw new Lost('the server went away');
  throw new Error('a connection broke although the server is alive', { cause: error });
}

function overGrpc(wire: Wire, { context, input }: RequestOf<'add'>): Promise<string> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${wire.key}`);
  metadata.set('x-memory-id', `m${context.memory}`);
  if (context.idempotency !== undefined) metadata.set('idempotency-key', context.idempotency.key);
  const request = { grainType: input.grainType, fieldsJson: JSON.stringify(input.fields) };
  return new Promise((resolve, reject) => {
    wire.grpc.add(request, metadata, (error: ServiceError | null, reply) => {
      if (error === null) return resolve(reply.hash);
      const [code] = error.metadata?.get('x-error-code') ?? [];
      if (code !== undefined) return reject(new Refused(String(code), error.message));
      if (error.code === status.UNAVAILABLE || error.code === status.CANCELLED) return resolve(gone(wire, error));
      reject(error);
    });
  });
}
