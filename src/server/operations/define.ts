// An operation is one thing to do: a row of the table. Its faces are the ways to ask for it: an rpc, a route, an
// app/exec command. Reading and writing by a row is pure: a worker that is sent raw bytes can run the same row code.
import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from '../../engine/base/errors.ts';
import type { MemoryRelation } from '../../engine/govern/access/tuple.ts';
import { agentsOf } from '../../engine/govern/agents/agents.ts';
import type { Input, MemoryCalls, Output } from '../../shards/protocol.ts';
import { includesScope, type Scope } from '../auth/principal.ts';
import { type Reach, requireReach } from '../auth/reach.ts';
import type { Context, Services } from '../context.ts';
import type { MemoryRecord } from '../control/records.ts';
import type { DeepPartial, MessageFns } from '../gen/memory/v1/memory.ts';
import type { HttpRequest, ResponseHeaders } from '../http/listener.ts';
import { decodeMessage } from './message-reader.ts';
import {
  fromMessage,
  fromQuery,
  inward,
  isMembers,
  type Members,
  nodeOf,
  outsideSchema,
  outward,
  type SchemaNode,
  toMessage,
} from './names.ts';
import { notesOf } from './notes.ts';
import { compileUnknown, type FindUnknown, type UnknownMember, unknownParameters, within } from './unknown-members.ts';
import { compileCheck, type Validate } from './validate.ts';

/** An HTTP request as plain data, without its socket. */
export interface HttpParts {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, readonly string[]>>;
  /** The parsed body; undefined without one. */
  readonly json: unknown;
  readonly file: UploadedFile | undefined;
  /** The `If-None-Match` header, for answers that have an ETag. */
  readonly ifNoneMatch: string | undefined;
  /** The headers of the same names. */
  readonly accept?: string | undefined;
  readonly lastEventId?: string | undefined;
}

export interface UploadedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** An HTTP answer: JSON, or one of the other kinds. */
export type HttpReply =
  | { readonly kind: 'json'; readonly status: number; readonly value: unknown }
  | {
      readonly kind: 'bytes';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
    }
  | {
      readonly kind: 'stream';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: AsyncIterable<Uint8Array>;
    }
  | {
      /** An answer that goes on after the operation: `open` begins it. */
      readonly kind: 'open';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** Throws EngineError only before it answers. */
      readonly open: (
        services: Pick<Services, 'events' | 'chats'>,
        request: HttpRequest,
        asked: { readonly headers: ResponseHeaders; readonly requestId: string },
      ) => void;
    };

export type Verb = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';

export type HttpFace<Out> = HttpReading &
  HttpWriting<Out> & {
    readonly verb: Verb;
    /** Relative to /api; a leading `M` is `/memories/{id}`. */
    readonly path: string;
    /** The body that the route takes; by default JSON for all but GET. */
    readonly body?: 'json' | 'file' | 'none' | undefined;
    readonly successStatus?: number | ((output: Out) => number) | undefined;
    /** Other non-error statuses and their meanings. They carry the body of a success; 304 has no body. */
    readonly otherStatuses?: Readonly<Record<number, string>> | undefined;
    readonly onMainThread?: OnMainThread | undefined;
    readonly sidecar?: Sidecar | undefined;
  };

/** How the output becomes the answer, and how OpenAPI describes the answer. */
type HttpWriting<Out> =
  /** The output under the mechanical rules. `answer` describes members that the output's own schema leaves open. */
  | { readonly write?: undefined; readonly reply?: undefined; readonly answer?: Members | undefined }
  | {
      /** Converts the output to the JSON body. */
      readonly write: (output: Out) => unknown;
      /** Schema of the body, under outside names. */
      readonly answer: Members;
      readonly reply?: undefined;
    }
  | {
      /** For answers that are not always JSON. `parts` is the request. */
      readonly reply: (output: Out, parts: HttpParts) => HttpReply;
      /** Schema of the body for each content type. */
      readonly answers: Readonly<Record<string, Members>>;
      readonly write?: undefined;
    };

/** Schema of a body without members. */
export const NO_MEMBERS: Members = { type: 'object', properties: {} };

/** How a request becomes the input, and which of its members are known. Unknown members cause a warning or a refusal. */
type HttpReading =
  /** Query, parameters and body under the mechanical rules. */
  | { readonly read?: undefined; readonly bodySchema?: undefined }
  | {
      readonly read: (parts: HttpParts) => unknown;
      /** Schema of the body, under outside names; `additionalProperties` leaves it open. */
      readonly bodySchema: Members;
      /** Known members of the body that the schema does not name. */
      readonly otherNames?: readonly string[] | undefined;
      /** True when the mechanical rules read the query; otherwise every query parameter is unknown. */
      readonly takesQuery?: true | undefined;
      /** Finds unknown members where `bodySchema` leaves the body open. */
      readonly findUnknown?: FindUnknown | undefined;
    };

/** An rpc with its codecs. `rpc()` makes it and checks that the message types match. */
export interface GrpcFace<Out> {
  readonly rpc: string;
  /** Appends fields that the message does not define to `unknown`. */
  readonly decode: (bytes: Uint8Array, input: SchemaNode, unknown: UnknownMember[]) => unknown;
  /** `warnings` are warnings to add to the output's own; a message without a field for warnings omits them. */
  readonly encode: (output: Out, node: SchemaNode, warnings: readonly string[]) => Uint8Array;
  /** True when the message has a field for warnings; otherwise they travel as trailing metadata. */
  readonly carriesWarnings: boolean;
  readonly onMainThread: OnMainThread;
  readonly sidecar: Sidecar | undefined;
}

/** True for a request that the main thread must read, although the row's requests usually go to a worker undecoded. */
export type OnMainThread = ((bytes: Uint8Array, services: Services) => boolean) | undefined;

/**
 * Bytes that the main thread prepares for an undecoded request and sends to the worker with it, for the row's
 * `withBeside`; possibly none. `here` means that the main thread must read this request itself.
 */
export type Sidecar = (
  bytes: Uint8Array,
  asked: { readonly services: Services; readonly memory: MemoryRecord; readonly deadlineMs: number },
) => 'here' | undefined | Promise<Uint8Array>;

/** Set `read` and `write` only where the mechanical rules do not fit. */
export function rpc<Req extends object, Res extends object, Out>(face: {
  readonly rpc: string;
  readonly request: MessageFns<Req>;
  readonly response: MessageFns<Res>;
  readonly read?: ((message: Req) => unknown) | undefined;
  readonly write?: ((output: Out) => DeepPartial<Res>) | undefined;
  readonly onMainThread?: OnMainThread | undefined;
  readonly sidecar?: Sidecar | undefined;
}): GrpcFace<Out> {
  const shape = face.response.create() as Members; // a message is a plain object of its members
  return {
    rpc: face.rpc,
    carriesWarnings: 'warnings' in shape,
    onMainThread: face.onMainThread,
    sidecar: face.sidecar,
    decode: (bytes, input, unknown) => {
      const message = decodeMessage(face.request, bytes, unknown);
      return face.read === undefined ? fromMessage(input, message as Members) : face.read(message); // a plain object
    },
    encode: (output, node, warnings) => {
      const partial =
        face.write === undefined
          ? (toMessage(node, isMembers(output) ? output : {}, shape) as DeepPartial<Res>) // members that `shape` has
          : face.write(output);
      const encoded = face.response.encode(face.response.fromPartial(partial)).finish();
      if (warnings.length === 0 || !('warnings' in shape)) return encoded;
      // Protobuf decoders append a repeated field of a later message to the earlier one, so concatenation adds warnings.
      const more = { warnings: warnings } as DeepPartial<Res>; // `shape` has them
      return Buffer.concat([encoded, face.response.encode(face.response.fromPartial(more)).finish()]);
    },
  };
}

/** The right that a caller needs: none, any valid key, or a key with a scope. */
export type Needs = 'public' | 'key' | Scope;

export type Definition<In extends TSchema, Out extends TSchema> = Described<In, Out> &
  Change & {
    run(input: Static<In>, context: Context): Promise<Static<Out>>;
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
  /** Adds the bytes that the main thread prepared (`Beside`) to the input. */
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
  readonly errors: readonly ErrorCode[];
  /** Validates `candidate` against the input schema, then runs the operation. */
  readonly perform: (candidate: unknown, context: Context) => Promise<unknown>;
  /** Validates the input and returns the call to make; undefined unless the row is one call on its memory. */
  readonly plan: ((candidate: unknown, sidecar?: Uint8Array) => Planned) | undefined;
  /** Reads the JSON arguments of app/exec. */
  readonly readArgs: (args: unknown, unknown: UnknownMember[]) => unknown;
  readonly writeResult: (output: unknown) => unknown;
}

export interface HttpRow {
  readonly verb: Verb;
  readonly path: string;
  readonly body: 'json' | 'file' | 'none';
  readonly bodySchema: Members | undefined;
  /** Schema of the answer for each content type; undefined means JSON of the output's own schema. */
  readonly answers: Readonly<Record<string, Members>> | undefined;
  readonly successStatus: number;
  readonly otherStatuses: Readonly<Record<number, string>>;
  readonly onMainThread: OnMainThread;
  readonly sidecar: Sidecar | undefined;
  /** Appends unknown members and parameters to `unknown`. */
  readonly read: (parts: HttpParts, unknown: UnknownMember[]) => unknown;
  /** Adds the warnings `warnings` to the output's own. */
  readonly reply: (output: unknown, parts: HttpParts, warnings: readonly string[]) => HttpReply;
}

export interface GrpcRow {
  readonly rpc: string;
  readonly onMainThread: OnMainThread;
  readonly sidecar: Sidecar | undefined;
  /** Decodes the request to an input that is not yet validated. Appends unknown fields to `unknown`. */
  readonly read: (bytes: Uint8Array, unknown: UnknownMember[]) => unknown;
  /** Adds the warnings `warnings` to the output's own. */
  readonly write: (output: unknown, warnings: readonly string[]) => Uint8Array;
  /** Warnings for the trailing metadata, because the output's message has no field for them. */
  readonly looseWarnings: (output: unknown, warnings: readonly string[]) => readonly string[];
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
    exec: row.exec,
    shownOnce: row.shownOnce ?? [],
    keptByShards: row.keptByShards ?? false,
    http: (row.http ?? []).map((face) => httpRow(face, row.input, writeJson, row.findUnknown)),
    grpc: row.grpc === undefined ? undefined : grpcRow(row.grpc, input, output, row.findUnknown),
    perform: async (candidate, context) => {
      if (typeof reach !== 'function') requireReach(context.principal, reach);
      const checked = check(candidate);
      const reached = typeof reach === 'function' ? reach(checked) : reach;
      if (typeof reach === 'function') requireReach(context.principal, reached);
      const relations = relationsFor(row, reached);
      if (relations !== undefined && !includesScope(context.principal, 'admin'))
        await context.call('requireAccess', { relations });
      if (asksActive && agentsOf(context.principal).length > 0) await context.call('requireActive', {});
      return row.run(checked, context);
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
      const output = await context.call(call.method, whole, purpose === undefined ? {} : { purpose });
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

function httpRow<Out>(
  face: HttpFace<Out>,
  input: TSchema,
  writeJson: (value: unknown) => unknown,
  findInInput: FindUnknown | undefined,
): HttpRow {
  const body = face.body ?? (face.verb === 'GET' ? 'none' : 'json');
  const status = face.successStatus ?? 200;
  const node = nodeOf(input);
  const read = face.read ?? ((parts: HttpParts) => mechanicalInput(node, parts));
  const findUnknown = unknownOfHttp(face, input);
  return {
    verb: face.verb,
    path: face.path,
    body,
    bodySchema: face.bodySchema,
    answers: answersOf(face),
    successStatus: typeof status === 'number' ? status : 200,
    otherStatuses: face.otherStatuses ?? {},
    onMainThread: face.onMainThread,
    sidecar: face.sidecar,
    read: (parts, unknown) => {
      const candidate = read(parts);
      findUnknown(parts, unknown);
      findInInput?.(candidate, unknown);
      return candidate;
    },
    reply: (value, parts, warnings) => {
      const output = value as Out; // what the row's own run returned
      if (face.reply !== undefined) return withNotes(face.reply(output, parts), warnings);
      const json = face.write === undefined ? writeJson(output) : face.write(output);
      return {
        kind: 'json',
        status: typeof status === 'number' ? status : status(output),
        value: warned(json, warnings),
      };
    },
  };
}

function answersOf<Out>(face: HttpFace<Out>): HttpRow['answers'] {
  if (face.reply !== undefined) return face.answers;
  return face.answer === undefined ? undefined : { 'application/json': face.answer };
}

/** Finds the members and parameters of a request that the face does not know. */
function unknownOfHttp<Out>(face: HttpFace<Out>, input: TSchema): (parts: HttpParts, into: UnknownMember[]) => void {
  const outside = outsideSchema(input);
  const inPath = new Set([...face.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
  const names = isMembers(outside['properties']) ? Object.keys(outside['properties']) : [];
  const takesQuery = face.read === undefined || face.takesQuery === true;
  const parameters = new Set(takesQuery ? names.filter((name) => !inPath.has(name)) : []);
  const findInBody =
    face.read === undefined ? compileUnknown(outside) : compileUnknown(face.bodySchema, face.otherNames ?? []);
  const findMore = face.read === undefined ? undefined : face.findUnknown;
  return ({ query, json }, into) => {
    unknownParameters(query, parameters, into);
    findInBody?.(json, into);
    findMore?.(json, into);
  };
}

/** Adds the warnings `warnings` to a JSON answer. */
function warned(json: unknown, warnings: readonly string[]): unknown {
  if (warnings.length === 0 || !isMembers(json)) return json;
  const own = json['warnings'];
  return { ...json, warnings: Array.isArray(own) ? [...(own as readonly unknown[]), ...warnings] : warnings };
}

/** Puts the warnings of an answer that is not JSON into a header. */
function withNotes(reply: HttpReply, warnings: readonly string[]): HttpReply {
  if (warnings.length === 0) return reply;
  if (reply.kind === 'json') return { ...reply, value: warned(reply.value, warnings) };
  return { ...reply, headers: { ...reply.headers, 'x-warnings': encodeURI(notesOf(warnings)) } };
}

/** Merges query, body and path parameters; later ones win, because the path is the most explicit. */
export function mechanicalInput(input: SchemaNode, parts: HttpParts): unknown {
  const fromPath = fromQuery(
    input,
    Object.fromEntries(Object.entries(parts.params).map(([name, value]) => [name, [value]])),
  );
  if (parts.json !== undefined && !isMembers(parts.json)) return parts.json;
  const fromBody = parts.json === undefined ? undefined : inward(input, parts.json);
  return { ...fromQuery(input, parts.query), ...(isMembers(fromBody) ? fromBody : {}), ...fromPath };
}

function grpcRow<Out>(
  face: GrpcFace<Out>,
  input: SchemaNode,
  output: SchemaNode,
  findInInput: FindUnknown | undefined,
): GrpcRow {
  return {
    rpc: face.rpc,
    onMainThread: face.onMainThread,
    sidecar: face.sidecar,
    read: (bytes, unknown) => {
      const candidate = face.decode(bytes, input, unknown);
      findInInput?.(candidate, unknown);
      return candidate;
    },
    write: (value, warnings) => face.encode(value as Out, output, warnings), // what the row's own run returned
    looseWarnings: (value, warnings) => {
      if (face.carriesWarnings) return [];
      if (!isMembers(value) || !Array.isArray(value['warnings'])) return warnings;
      return [...value['warnings'].map(String), ...warnings];
    },
  };
}
