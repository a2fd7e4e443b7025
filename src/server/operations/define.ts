// An operation is one thing to do: a row of the table. Its faces are the ways to ask for it: an rpc (grpc-face.ts), a
// route (http-face.ts), an app/exec command. Reading and writing by a row is pure: a worker that is sent raw bytes can
// run the same row code.

import type { Static, TSchema } from 'typebox';
import { defined } from '../../engine/base/defined.ts';
import type { ErrorCode } from '../../engine/base/errors.ts';
import type { MemoryRelation } from '../../engine/govern/access/tuple.ts';
import { agentsOf } from '../../engine/govern/agents/agents.ts';
import type { Input, MemoryCalls, Output } from '../../shards/protocol.ts';
import { includesScope, type Scope } from '../auth/principal.ts';
import { type Reach, requireReach } from '../auth/reach.ts';
import type { Context } from '../context.ts';
import { NeedsLeader } from '../control/replica/needs-leader.ts';
import { type FirstChange, UNKEPT } from '../replies.ts';
import { type GrpcFace, type GrpcRow, grpcRow } from './grpc-face.ts';
import { type HttpFace, type HttpRow, httpRow } from './http-face.ts';
import { inward, type Members, nodeOf, outsideSchema, outward } from './names.ts';
import { compileUnknown, type FindUnknown, type UnknownMember, within } from './unknown-members.ts';
import { compileCheck, type Validate } from './validate.ts';

/** The right that a caller needs: none, any valid key, or a key with a scope. */
export type Needs = 'public' | 'key' | Scope;

export type Definition<In extends TSchema, Out extends TSchema> = Described<In, Out> &
  Change & {
    /** `first`: for a change of the deployment, what it makes first in the control log. */
    run(input: Static<In>, context: Context, first: FirstChange): Promise<Static<Out>>;
  };

/** Whether a call changes data. Idempotency-Key applies to calls that do. */
export type Change =
  | { readonly mutates: false }
  | {
      readonly mutates: true;
      /**
       * How to treat a request with unknown members. Calls that delete, erase, restrict or govern must `refuse` it, as the
       * call would not do what the caller meant. Other calls name the members in the answer's warnings.
       */
      readonly onUnknown: 'warn' | 'refuse';
      /**
       * True when the call changes data for some inputs only: it asks other rows or shards, and they refuse the writes of a
       * deactivated agent.
       */
      readonly mayOnlyRead?: true | undefined;
      /** True when the call supports a dry run: `dry_run`, or the header `x-dry-run: 1`. */
      readonly dryRun?: true | undefined;
    };

interface Described<In extends TSchema, Out extends TSchema> {
  readonly name: string;
  readonly summary: string;
  /** One or two sentences that add to the summary. */
  readonly description: string;
  /** A sample request under outside names: all members of path, query and body, or the arguments of the command. */
  readonly example: Members;
  readonly needs: Needs;
  /** True when callers that may create memories may call too, whatever the scope of their key. */
  readonly orMayCreateMemories?: true | undefined;
  /** The target of the call: one memory, or the deployment. */
  readonly on: 'memory' | 'deployment';
  /** The data that the call reaches; a caller bound or narrowed to less is refused (AUT-E001). May depend on the input. */
  readonly reach: Reach | ((input: Static<In>) => Reach);
  /**
   * The relations to the memory of which a caller needs one, where the policy has access tuples decide. The default is
   * viewer for a read and editor for a write if the call reaches the whole memory, and none if it does not: the shards
   * then decide by the grains' namespaces. `calls`: the rows of the shard calls name the relations.
   */
  readonly access?: readonly [MemoryRelation, ...MemoryRelation[]] | 'calls' | undefined;
  /** True for long calls, which the deployment's request timeout does not limit. */
  readonly slow?: true | undefined;
  /** True when a model's words may be in the answer: its header X-AI-Disclosure says so. */
  readonly disclosure?: true | undefined;
  /** True when the input has a list's `limit`, `cursor` and `offset`. */
  readonly paged?: true | undefined;
  readonly input: In;
  readonly output: Out;
  readonly http?: readonly HttpFace<Static<Out>>[] | undefined;
  readonly grpc?: GrpcFace<Static<Out>> | undefined;
  readonly exec?: { readonly command: string } | undefined;
  /** Members of the output that only the first answer has; a replayed answer omits them. */
  readonly shownOnce?: readonly string[] | undefined;
  /** True when the memory's shards keep the answer for a repeated request, so the server does not. */
  readonly keptByShards?: true | undefined;
  /**
   * Whether any node of a deployment answers the call, by its copy of the control log: it calls the memory's shards, reads memories,
   * keys, providers and settings, and has no other effect. Depends on the input where some calls have one. Absent: only the node
   * that runs the server answers it, which is right for every call.
   */
  readonly onAnyNode?: true | ((input: Static<In>) => boolean) | undefined;
  /** True when the answer is about the node that is asked, so no other one may give it. */
  readonly ofNode?: true | undefined;
  /** Error codes specific to this operation, for OpenAPI. */
  readonly errors?: readonly ErrorCode[] | undefined;
  /** Finds unknown members where the schema is open, such as in a grain's fields. Its input is not yet validated. */
  readonly findUnknown?: FindUnknown | undefined;
}

/**
 * A row that makes exactly one call on its memory. `ask` and `answer` are pure, so a worker can run them on the raw
 * request (codecs.ts). Both throw EngineError.
 */
export interface SingleCall<In, Out, M extends keyof MemoryCalls> {
  readonly method: M;
  readonly ask: (input: In) => Asked<M>;
  /** Converts the shard's output; `input` is the row's input. */
  readonly answer: (output: Output<M>, input: In) => Out;
  /** Adds the bytes that the main thread prepared (`Sidecar`) to the input. */
  readonly withSidecar?: ((input: In, sidecar: Uint8Array) => In) | undefined;
  /**
   * Does the row's further work around the one call, for requests that stay on the main thread; `perform` makes the
   * call, with `more` members than the request can name. Workers never run this.
   */
  readonly around?:
    | ((input: In, context: Context, perform: (input: In, more?: Partial<Input<M>>) => Promise<Out>) => Promise<Out>)
    | undefined;
}

export interface Asked<M extends keyof MemoryCalls> {
  readonly input: Input<M>;
  readonly purpose?: string | undefined;
}

/** A validated request of such a row, with its types erased. */
export interface Planned {
  readonly method: keyof MemoryCalls;
  readonly asked: Asked<keyof MemoryCalls>;
  /** Converts the shard's output to the row's. */
  readonly answer: (output: unknown) => unknown;
}

/** A row with its types erased, as the table and the transports hold it. */
export interface Operation {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly example: Members;
  readonly needs: Needs;
  readonly orMayCreateMemories: boolean;
  readonly on: 'memory' | 'deployment';
  /** `input` when the reach depends on the input. */
  readonly reach: Exclude<Reach, object> | 'input';
  readonly mutates: boolean;
  readonly onUnknown: 'warn' | 'refuse';
  readonly dryRun: boolean;
  /** Checks the input; undefined for a row whose schema leaves nothing open. */
  readonly findUnknown: FindUnknown | undefined;
  readonly slow: boolean;
  readonly disclosure: boolean;
  readonly paged: boolean;
  readonly input: TSchema;
  readonly output: TSchema;
  readonly http: readonly HttpRow[];
  readonly grpc: GrpcRow | undefined;
  readonly exec: { readonly command: string } | undefined;
  readonly shownOnce: readonly string[];
  readonly keptByShards: boolean;
  /** False: only the leader answers it. `input`: it depends on the input. */
  readonly onAnyNode: boolean | 'input';
  readonly ofNode: boolean;
  readonly errors: readonly ErrorCode[];
  /** Validates `candidate` against the input schema, then runs the operation. */
  readonly perform: (candidate: unknown, context: Context, first?: FirstChange) => Promise<unknown>;
  /** Validates the input and returns the call to make; undefined unless the row is one call on its memory. */
  readonly plan: ((candidate: unknown, sidecar?: Uint8Array) => Planned) | undefined;
  /** Reads the JSON arguments of app/exec. */
  readonly readArgs: (args: unknown, unknown: UnknownMember[]) => unknown;
  readonly writeResult: (output: unknown) => unknown;
}

/**
 * Makes a row. The schemas determine the static types of `run`, `read` and `write`. `isOneCall`: the row's only change is a
 * call on a shard, which refuses a deactivated agent by itself.
 */
export function defineOperation<In extends TSchema, Out extends TSchema>(
  row: Definition<In, Out>,
  isOneCall = false,
): Operation {
  const input = nodeOf(row.input);
  const output = nodeOf(row.output);
  const check: Validate<In> = compileCheck(row.input, { paged: row.paged ?? false });
  const writeJson = (value: unknown): unknown => outward(output, value);
  const findInBody = compileUnknown(outsideSchema(row.input));
  const { reach } = row;
  // The row may change settings, jobs or the control log before it asks a shard.
  const asksActive = row.mutates && row.mayOnlyRead !== true && row.on === 'memory' && !isOneCall;
  return {
    name: row.name,
    summary: row.summary,
    description: row.description,
    example: row.example,
    needs: row.needs,
    orMayCreateMemories: row.orMayCreateMemories ?? false,
    on: row.on,
    reach: typeof reach === 'string' ? reach : 'input',
    mutates: row.mutates,
    onUnknown: row.mutates ? row.onUnknown : 'warn',
    dryRun: row.mutates && row.dryRun === true,
    findUnknown: row.findUnknown,
    slow: row.slow ?? false,
    disclosure: row.disclosure ?? false,
    paged: row.paged ?? false,
    input: row.input,
    output: row.output,
    errors: row.errors ?? [],
    ofNode: row.ofNode ?? false,
    onAnyNode: typeof row.onAnyNode === 'function' ? 'input' : row.onAnyNode === true,
    exec: row.exec,
    shownOnce: row.shownOnce ?? [],
    keptByShards: row.keptByShards ?? false,
    http: (row.http ?? []).map((face) => httpRow(face, row.input, writeJson, row.findUnknown)),
    grpc: row.grpc === undefined ? undefined : grpcRow(row.grpc, input, output, row.findUnknown),
    perform: async (candidate, context, first = UNKEPT) => {
      if (typeof reach !== 'function') requireReach(context.principal, reach);
      const checked = check(candidate);
      if (context.isOnCopy === true && typeof row.onAnyNode === 'function' && !row.onAnyNode(checked))
        throw new NeedsLeader(`${row.name} has an effect on the server that runs the deployment`);
      const reached = typeof reach === 'function' ? reach(checked) : reach;
      if (typeof reach === 'function') requireReach(context.principal, reached);
      const relations = relationsFor(row, reached);
      if (relations !== undefined && !includesScope(context.principal, 'admin'))
        await context.call('requireAccess', { relations });
      if (asksActive && agentsOf(context.principal).length > 0) await context.call('requireActive', {});
      return row.run(checked, context, first);
    },
    plan: undefined,
    readArgs: (args, unknown) => {
      within('args', unknown, () => findInBody?.(args, unknown));
      return inward(input, args ?? {});
    },
    writeResult: writeJson,
  };
}

/** The relations to the memory that the operation itself asks for; undefined: none. */
function relationsFor(
  {
    on,
    access,
    mutates,
  }: { readonly on: string; readonly mutates: boolean } & Pick<Described<TSchema, TSchema>, 'access'>,
  reach: Reach,
): readonly [MemoryRelation, ...MemoryRelation[]] | undefined {
  if (on !== 'memory' || access === 'calls') return undefined;
  if (access !== undefined) return access;
  return reach === 'memory' ? [mutates ? 'editor' : 'viewer'] : undefined;
}

/** Makes a row that makes exactly one call on its memory. */
export function defineCall<In extends TSchema, Out extends TSchema, M extends keyof MemoryCalls>(
  row: Omit<Described<In, Out>, 'on'> &
    Change & {
      /** Always the binding: a worker that answers a raw request cannot check any other reach. */
      readonly reach: 'binding';
      readonly call: SingleCall<Static<In>, Static<Out>, M>;
    },
): Operation {
  const { call, ...rest } = row;
  const check: Validate<In> = compileCheck(row.input, { paged: row.paged ?? false });
  const run: Definition<In, Out>['run'] = (input, context) => {
    const perform = async (wanted: Static<In>, more?: Partial<Input<M>>): Promise<Static<Out>> => {
      const { input: asked, purpose } = call.ask(wanted);
      const whole = more === undefined ? asked : { ...asked, ...more };
      const output = await context.call(call.method, whole, defined({ purpose }));
      return call.answer(output, wanted);
    };
    return call.around === undefined ? perform(input) : call.around(input, context, perform);
  };
  const operation = defineOperation({ ...rest, on: 'memory', run }, true);
  const plan = (candidate: unknown, sidecar?: Uint8Array): Planned => {
    const checked = check(candidate);
    const input =
      sidecar === undefined || call.withSidecar === undefined ? checked : call.withSidecar(checked, sidecar);
    // The shard answers this method with this method's output.
    return { method: call.method, asked: call.ask(input), answer: (output) => call.answer(output as Output<M>, input) };
  };
  return { ...operation, plan };
}
