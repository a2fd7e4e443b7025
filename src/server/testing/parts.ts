// A server without sockets and threads, for tests: real wrapper, table, control store, router and engines, over
// in-memory logs.

import { createSecretKey, hash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StepClock } from '../../../test/support/step-clock.ts';
import { assert } from '../../engine/base/assert.ts';
import type { EngineError } from '../../engine/base/errors.ts';
import { stringifyJson } from '../../engine/grain/api/json.ts';
import { KeyFolder } from '../../engine/keys/key-files.ts';
import { MasterKey } from '../../engine/keys/master-key.ts';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import type { Call, MemoryCalls } from '../../shards/protocol.ts';
import { Router } from '../../shards/router.ts';
import { TestEngine } from '../../shards/testing/test-engine.ts';
import { directShard } from '../../shards/transport/direct.ts';
import { Turns } from '../../shards/turns.ts';
import { Authenticator } from '../auth/authenticate.ts';
import type { Scope } from '../auth/principal.ts';
import { RateLimiter } from '../auth/rate-limit.ts';
import { tokenVerifier } from '../auth/tokens.ts';
import { CalGate } from '../cal-gate.ts';
import { Chats } from '../chat/chats.ts';
import { type Config, readConfig } from '../config.ts';
import type { Services } from '../context.ts';
import { randomId } from '../control/ids.ts';
import { Keys, type NewKey } from '../control/keys.ts';
import { Memories } from '../control/memories.ts';
import { ControlStore } from '../control/store.ts';
import type { CopyInUse } from '../copy-gate.ts';
import { readHere } from '../documents/testing/read-here.ts';
import { Embedders } from '../embedding/embedders.ts';
import { LocalModels } from '../embedding/local-models.ts';
import { QueryVectors } from '../embedding/query-vector.ts';
import { EventBells } from '../events/bells.ts';
import { EventHub } from '../events/hub.ts';
import { HostExecutors } from '../executors/host.ts';
import { HttpTools } from '../executors/http.ts';
import { HarnessTurns } from '../harness/turns/turn-service.ts';
import { Deliveries } from '../hooks/deliveries.ts';
import { Hooks } from '../hooks/hooks.ts';
import { Sender } from '../hooks/sender.ts';
import { ImportJobs } from '../imports/import-jobs.ts';
import { ProgressStreams } from '../imports/streams.ts';
import { Erasures } from '../jobs/erasures.ts';
import { Extractions } from '../jobs/extractions.ts';
import { readImportedFile } from '../jobs/read-import.ts';
import readText from '../jobs/read-text-thread.ts';
import { makeLog } from '../log.ts';
import { Metering } from '../metering/metering.ts';
import { Metrics } from '../metrics.ts';
import { ExtractionModels } from '../models/extraction/extractor.ts';
import { grantsOf } from '../models/grants.ts';
import { LanguageModels } from '../models/language.ts';
import { LocalReranker } from '../models/local-reranker.ts';
import { ModelLists } from '../models/model-lists.ts';
import { RecallModels } from '../models/models.ts';
import { Outgoing } from '../models/outgoing.ts';
import { privateHosts } from '../models/private-hosts.ts';
import { Providers } from '../models/providers.ts';
import { startModels } from '../models/start-models.ts';
import { Monitor } from '../monitor/monitor.ts';
import { CODECS } from '../operations/codecs.ts';
import { CursorSeal } from '../operations/cursor-seal.ts';
import type { HttpParts, HttpReply } from '../operations/http-face.ts';
import { fullPath } from '../operations/openapi.ts';
import type { ReportData } from '../operations/subject-requests/schema.ts';
import { OPERATIONS } from '../operations/table.ts';
import type { UnknownMember } from '../operations/unknown-members.ts';
import { placementOf } from '../placement-of.ts';
import { ProofKeys } from '../proofs/proof-keys.ts';
import type { Shards } from '../shards.ts';
import { SubjectRequests } from '../subject-requests/requests.ts';
import { type Answer, Wrapper } from '../wrapper.ts';

export const CONTROL_KEY = createSecretKey(Buffer.alloc(32, 7));
const MASTER = MasterKey.of(Buffer.alloc(32, 5));
/** The first key of each set of parts: admin, without bindings. */
export const ADMIN = `gr_${'a'.repeat(64)}`;

export interface PartsOptions {
  readonly flags?: Readonly<Record<string, string | boolean | number>> | undefined;
  readonly store?: MemoryLogStore | undefined;
  readonly shards?: number | undefined;
  /** Replaces the extraction thread. */
  readonly readText?: Services['readText'] | undefined;
  /** Collects the log's lines. */
  readonly logLines?: string[] | undefined;
  /** Answers calls of these methods instead of the shards. */
  readonly instead?: Readonly<Record<string, (input: unknown) => Promise<unknown>>> | undefined;
  readonly copy?: CopyInUse | undefined;
}

export interface Parts {
  readonly clock: StepClock;
  readonly config: Config;
  readonly services: Services;
  readonly wrapper: Wrapper;
  readonly authenticator: Authenticator;
  readonly engines: readonly TestEngine[];
  readonly logStore: MemoryLogStore;
  /** Resolves when no extraction is left; later ones are rejected. */
  finishExtractions(): Promise<void>;
  close(): Promise<void>;
}

export async function makeParts(options: PartsOptions = {}): Promise<Parts> {
  const clock = new StepClock();
  const config = readConfig({ embedder: 'none', ...options.flags }, {});
  const logStore = options.store ?? new MemoryLogStore();
  const control = ControlStore.open(new MemoryLog(logStore), CONTROL_KEY, clock);
  const shardCount = options.shards ?? 2;
  const engines = await Promise.all(
    Array.from({ length: shardCount }, (_, shard) => TestEngine.open(shard, { shards: shardCount, clock })),
  );
  let memories: Memories | undefined;
  const router = new Router({
    shards: engines.map((engine, shard) => directShard(shard, engine, { clock })),
    settingsOf: (number) => memories?.settingsOf(number),
    placementOf,
  });
  const shards = insteadOf(router, options.instead ?? {});
  memories = new Memories({ store: control, shards, clock, memoriesMax: config.memoriesMax });
  await memories.start();
  const keys = new Keys(control, clock);
  await keys.setBootstrap(ADMIN);
  const lines = options.logLines;
  const log = makeLog(lines === undefined ? 'silent' : 'debug', { write: (line: string) => void lines?.push(line) });
  const extractions = new Extractions(log);
  const embedders = new Embedders('none', {}, { log });
  const cursors = new CursorSeal(CONTROL_KEY);
  const eventBells = new EventBells(router);
  const nowMs = (): number => clock.nowMs();
  const hooks = new Hooks({ control, nowMs });
  const rule = { privateToo: false, loopbackToo: true };
  const sender = new Sender({ rule, nowMs });
  const deliveries = new Deliveries({ hooks, control, memories, shards, bells: eventBells, sender, rule, log, clock });
  const providers = new Providers({ control, start: startModels(config), nowMs });
  const outgoing = new Outgoing({ hosts: privateHosts(config), nowMs });
  const hasGrants = grantsOf(shards);
  const models = new LanguageModels({ providers, outgoing, hasGrants });
  const localReranker = new LocalReranker({
    localModels: new LocalModels(config),
    assigned: () => providers.assignmentOf('rerank'),
    log,
  });
  const uploads = join(tmpdir(), `granary-parts-${randomId('imp')}`);
  const proofKeyFolder = join(tmpdir(), `granary-parts-${randomId('key')}`);
  mkdirSync(proofKeyFolder, { mode: 0o700 });
  const keyFiles = new KeyFolder(proofKeyFolder);
  const proofKeys = new ProofKeys({ files: keyFiles, master: () => MASTER, clock });
  proofKeys.open();
  const imports = new ImportJobs({
    control,
    clock,
    log,
    shards,
    directory: uploads,
  });
  const services: Services = {
    config,
    clock,
    shards,
    control,
    cursors,
    chats: new Chats(log),
    imports,
    progress: new ProgressStreams(imports, clock),
    memories,
    keys,
    keyFiles,
    proofKeys,
    subjectRequests: new SubjectRequests({ control, clock, controlKey: CONTROL_KEY }),
    masterKeys: {
      current: MasterKey.random(),
      rotate: async () => ({ rotated: 1, fingerprint: '0123456789abcdef' }),
      whileStill: (work) => work(),
    },
    erasures: new Erasures({ control, shards, log, clock }),
    startedAtMs: clock.nowMs(),
    readImport: async (bytes) => readImportedFile(bytes),
    readText: options.readText ?? readText,
    documents: readHere(),
    pdfs: {
      write: async (data, language) =>
        (await import('../subject-requests/report/pdf.ts')).reportPdf(data as ReportData, language),
    },
    extractions,
    cal: new CalGate({ control, clock, config }),
    embedders,
    queryVectors: new QueryVectors({
      embedders,
      stateOf: () => Promise.resolve({ serving: [], lag: 0 }),
      departure: () => undefined,
      hasGrants,
    }),
    vectorsSetup: () => ({ own: 'none', destination: undefined }),
    indexWaits: { wait: () => Promise.resolve(undefined) },
    eventBells,
    events: new EventHub({ shards, bells: eventBells, memories, keys, cursors, restores: [], clock }),
    hooks,
    deliveries,
    providers,
    outgoing,
    models,
    modelLists: new ModelLists({ providers, outgoing, nowMs }),
    extractionModels: new ExtractionModels({
      providers,
      models,
      readText: options.readText ?? readText,
      clock,
      limits: { callsPerMinute: config.extractionRate, charsPerDay: config.extractionBudget },
    }),
    recallModels: new RecallModels({ providers, models, outgoing, hasGrants, localReranker }),
    localReranker,
    hasGrants,
    turns: new HarnessTurns({
      runners: { executors: new Map(), hosts: new HostExecutors(log), http: new HttpTools(rule) },
      shards,
      memories,
      clock,
      log,
    }),
    harnessChanges: new Turns(),
    httpListener: () => 'node',
    grpcListener: () => 'node',
    grpcPort: () => undefined,
    disks: () => [],
    metering: new Metering(clock),
    monitor: new Monitor({ nowMs, raise: () => undefined }),
    isEnding: () => false,
  };
  const authenticator = new Authenticator({
    mode: config.auth,
    open: config.insecure,
    keys,
    tokens: tokenVerifier(config, { log, clock }),
    clock,
  });
  const wrapper = new Wrapper({
    services,
    authenticator,
    limiter:
      config.rateLimit === 0
        ? undefined
        : new RateLimiter({ perMinute: config.rateLimit, burst: Math.max(1, config.rateLimit / 6), clock }),
    metrics: new Metrics({ windows: services.metering.windows, families: [] }),
    log,
    copy: options.copy,
  });
  return {
    clock,
    config,
    services,
    wrapper,
    authenticator,
    engines,
    logStore,
    finishExtractions: () => extractions.close(60_000),
    close: async () => {
      services.memories.close();
      await control.close();
      for (const folder of [uploads, proofKeyFolder]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function insteadOf(router: Router, answers: NonNullable<PartsOptions['instead']>): Shards {
  const call: Shards['call'] = (method, context, input) => {
    const answer = answers[method];
    // the test's answer has the method's type
    return answer === undefined ? router.call(method, context, input) : (answer(input) as Promise<never>);
  };
  return {
    shardCount: router.shardCount,
    attach: (memories) => router.attach(memories),
    call,
    // The engines have no transport, so the bytes are read here.
    callRaw: async (number, context, bytes) => {
      const codec = CODECS[number];
      assert(codec !== undefined, 'a codec is in the table');
      const { call: decoded, encode } = codec.decode(bytes, { ...context, partition: 0 });
      const { method, input } = decoded as Call<keyof MemoryCalls>; // codecs read calls of memories
      return encode(await call(method, context, input));
    },
    callPartition: (method, context, input) => router.callPartition(method, context, input),
    health: () => router.health(),
    verify: () => router.verify(),
    backup: (directory) => router.backup(directory),
    rewrapKeys: (masterKeys) => router.rewrapKeys(masterKeys),
  };
}

export interface Asked {
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly query?: HttpParts['query'] | undefined;
  readonly json?: unknown;
  readonly file?: HttpParts['file'] | undefined;
  readonly address?: string | undefined;
  /** Resolves when the body has arrived. Default: it has. */
  readonly arrives?: (() => Promise<void>) | undefined;
}

export interface ParsedReply {
  readonly status: number;
  /** The JSON body of an answer, or the error's code and message. */
  readonly body: Record<string, unknown>;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: EngineError | undefined;
  readonly reply: HttpReply | undefined;
  /** Another node is to answer. */
  readonly isElsewhere?: true | undefined;
}

/** Calls a route like the HTTP transport, without a socket. `path` is as in the table, with parameters filled in. */
export async function ask(parts: Parts, verb: string, path: string, asked: Asked = {}): Promise<ParsedReply> {
  const { operation, face, params } = routeOf(verb, path);
  const headers: Record<string, string> = { ...asked.headers };
  if (asked.key !== undefined) headers['authorization'] = `Bearer ${asked.key}`;
  const { id, ...rest } = params;
  const request: HttpParts = {
    params: operation.on === 'memory' ? rest : params,
    query: asked.query ?? {},
    json: asked.json,
    file: asked.file,
    ifNoneMatch: headers['if-none-match'],
  };
  const answer: Answer<HttpReply> = await parts.wrapper.perform<HttpReply>(
    {
      operation,
      face: 'http',
      memoryId: operation.on === 'memory' ? id : undefined,
      requestId: headers['x-request-id'],
      header: (name) => headers[name],
      remoteAddress: asked.address ?? '127.0.0.1',
      target: [...Object.values(request.params), JSON.stringify(request.query)].join('\n'),
    },
    {
      read: async () => {
        await asked.arrives?.();
        const unknown: UnknownMember[] = [];
        const bytes = Buffer.from(stringifyJson(asked.json ?? null));
        return { candidate: face.read(request, unknown), bytes, unknown };
      },
      write: (output, warnings) => face.reply(output, request, warnings),
    },
  );
  if (!answer.ok) {
    const { error, headers, isElsewhere } = answer;
    const { code, message } = error;
    return { status: 0, body: { code, message }, headers, error, isElsewhere, reply: undefined };
  }
  const { reply } = answer;
  return {
    status: reply.status,
    // Serialised like a real answer.
    body: reply.kind === 'json' ? (JSON.parse(JSON.stringify(reply.value)) as Record<string, unknown>) : {},
    headers: answer.headers,
    error: undefined,
    reply,
  };
}

function routeOf(verb: string, path: string) {
  const segments = path.split('/');
  for (const operation of OPERATIONS)
    for (const face of operation.http) {
      const pattern = fullPath(face.path).split('/');
      if (face.verb !== verb || pattern.length !== segments.length) continue;
      const params: Record<string, string> = {};
      const matches = pattern.every((part, at) => {
        const segment = segments[at] ?? '';
        if (!part.startsWith('{')) return part === segment;
        params[part.slice(1, -1)] = segment;
        return true;
      });
      if (matches) return { operation, face, params };
    }
  throw new Error(`no route ${verb} ${path}`);
}

/** Makes a key with these scopes and bindings. */
export async function makeKey(parts: Parts, scopes: readonly Scope[], bound: Partial<NewKey> = {}): Promise<string> {
  return (await parts.services.keys.create({ name: 'test', scopes, ...bound }, 'system')).raw;
}

export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
