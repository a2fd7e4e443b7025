// The child process of a campaign: opens the shards' engines and executes its parent's calls until it is killed.
import { join } from 'node:path';
import { EngineError } from '../../src/engine/base/errors.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { DatabaseOptions } from '../../src/engine/log/postgres/postgres-log.ts';
import { openEngine } from '../../src/engine/open.ts';
import { type Call, type CallContext, isReadCall } from '../../src/shards/protocol.ts';
import { Maintenance } from '../../src/shards/transport/maintenance.ts';
import { SegmentThread } from '../../src/shards/transport/segment-client.ts';
import { armCut, CutLog, watchFileSystem } from './cut.ts';

export interface ChildOptions {
  readonly directory: string;
  readonly shards: number;
  readonly masterKey: string;
  /** In place of files. */
  readonly database?: DatabaseOptions;
  readonly sealGrains: number;
  /** The file of another thread that writes segments, if one does. */
  readonly segmentThread?: string | undefined;
  /** Steps after which the process ends itself, counted from the start or from the first call. */
  readonly cut?: { readonly steps: number; readonly from: 'start' | 'work' };
}

export interface ChildCall {
  readonly shard: number;
  readonly context: CallContext;
  readonly call: Call;
}

export type Order =
  | { readonly kind: 'calls'; readonly id: number; readonly calls: readonly ChildCall[] }
  | { readonly kind: 'arm' }
  | { readonly kind: 'close' };

export type Outcome = { readonly output: unknown } | { readonly code: string; readonly message: string };
export type Report =
  | { readonly kind: 'ready' }
  | { readonly kind: 'outcomes'; readonly id: number; readonly outcomes: readonly Outcome[] }
  | { readonly kind: 'fatal'; readonly problem: string };

// written by the parent
const options = JSON.parse(process.argv[2]!) as ChildOptions;
const say = (report: Report): void => void process.send!(report);

function fatal(error: unknown): void {
  const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.send!({ kind: 'fatal', problem } satisfies Report, undefined, undefined, () => process.exit(70));
}

const beside = options.segmentThread === undefined ? undefined : new SegmentThread(new URL(options.segmentThread));

function openShard(shard: number): Promise<Engine> {
  const { directory, shards, sealGrains, database } = options;
  return openEngine({
    directory: join(directory, `shard-${shard}`),
    keysDirectory: join(directory, 'keys', `shard-${shard}`),
    shard,
    shards,
    masterKeys: [Buffer.from(options.masterKey, 'hex')],
    indexHeapBytes: 16 << 20,
    sealGrains,
    sealer: beside,
    merger: beside,
    database,
    wrapLog: (log) => new CutLog(log),
    onFatal: fatal,
  });
}

async function outcomeOf(engine: Engine, { context, call }: ChildCall): Promise<Outcome> {
  try {
    const output = isReadCall(call)
      ? engine.read(call.method, context, call.input as never)
      : // The parent asks for nothing that only the worker answers.
        await engine.write(call.method as 'add', context, call.input as never);
    return { output };
  } catch (error) {
    if (error instanceof EngineError) return { code: error.code, message: error.message };
    fatal(error);
    return { code: 'BUG', message: String(error) };
  }
}

process.on('uncaughtException', fatal);
process.on('unhandledRejection', fatal);
watchFileSystem();
const { cut } = options;
if (cut?.from === 'start') armCut(cut.steps);
const engines: Engine[] = [];
for (let shard = 0; shard < options.shards; shard++) engines.push(await openShard(shard));
const maintenance = new Maintenance({ engines: new Map(engines.entries()), onBug: fatal });

process.on('message', async (order: Order) => {
  if (order.kind === 'calls') {
    const outcomes = await Promise.all(order.calls.map((call) => outcomeOf(engines[call.shard]!, call)));
    maintenance.batchRan();
    say({ kind: 'outcomes', id: order.id, outcomes });
  } else if (order.kind === 'arm') {
    if (cut?.from === 'work') armCut(cut.steps);
  } else {
    maintenance.stop();
    await Promise.all(engines.map((engine) => engine.close()));
    process.exit(0);
  }
});
process.on('disconnect', () => process.exit(0));
say({ kind: 'ready' });
