// An operation is one thing to do: a row of the table. Its faces are the ways to ask for it: an rpc, a route, an
// app/exec command. What a row reads and writes is pure: a worker that is sent raw bytes can run the same row code.
import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from '../../engine/base/errors.ts';
import type { Input, MemoryCalls, Output } from '../../shards/protocol.ts';
import type { Scope } from '../auth/principal.ts';
import { type Reach, requireReach } from '../auth/reach.ts';
import type { Context, Services } from '../context.ts';
import type { MemoryRecord } from '../control/records.ts';
import type { DeepPartial, MessageFns } from '../gen/memory/v1/memory.ts';
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

/** A request of HTTP as data: nothing of the socket. */
export interface HttpParts {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, readonly string[]>>;
  /** The parsed body; undefined without one. */
  readonly json: unknown;
  readonly file: UploadedFile | undefined;
  /** `If-None-Match`, for what has an ETag. */
  readonly ifNoneMatch: string | undefined;
}

export interface UploadedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** What an answer of HTTP may be beside JSON. */
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
    };

export type Verb = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';

export type HttpFace<Out> = HttpReading &
  HttpWriting<Out> & {
    readonly verb: Verb;
    /** Relative to /api; a leading `M` is `/memories/{id}`. */
    readonly path: string;
    /** The body that the route takes; by default JSON for all but GET. */
    readonly body?: 'json' | 'file' | 'none';
    readonly successStatus?: number | ((output: Out) => number);
    /** Other statuses that are no error of the contract, and what they mean; with the body of a success, but for 304. */
    readonly otherStatuses?: Readonly<Record<number, string>>;
    readonly staysHere?: StaysHere;
    readonly beside?: Beside | undefined;
  };

/** How the output becomes the answer, and what OpenAPI says of that. */
type HttpWriting<Out> =
  /** The output under the mechanical rules; `answer` tells more of it than its own schema, which leaves members open. */
  | { readonly write?: undefined; readonly reply?: undefined; readonly answer?: Members }
  | {
      /** From the output to the JSON body. */
      readonly write: (output: Out) => unknown;
      /** The body under its outside names. */
      readonly answer: Members;
      readonly reply?: undefined;
    }
  | {
      /** For answers that are not JSON, or not only. `parts` is the request that asked. */
      readonly reply: (output: Out, parts: HttpParts) => HttpReply;
      /** By content type. */
      readonly answers: Readonly<Record<string, Members>>;
      readonly write?: undefined;
    };

/** Of a body that has no members of its own. */
export const NO_MEMBERS: Members = { type: 'object', properties: {} };

/** How a request becomes the input, and which of its members are known: what is not known is told or refused. */
type HttpReading =
  /** Query, parameters and body under the mechanical rules. */
  | { readonly read?: undefined; readonly bodySchema?: undefined }
  | {
      readonly read: (parts: HttpParts) => unknown;
      /** The body under its outside names; `additionalProperties` leaves it open. */
      readonly bodySchema: Members;
      /** Names that members of the body have beside those of the schema. */
      readonly otherNames?: readonly string[];
      /** True when the query is read as under the mechanical rules; else no parameter is known. */
      readonly takesQuery?: true;
      /** Finds unknown members where `bodySchema` leaves the body open. */
      readonly findUnknown?: FindUnknown;
    };

/** An rpc, with its codecs. Made by `rpc()`, which keeps the message types together. */
export interface GrpcFace<Out> {
  readonly rpc: string;
  /** Fields that the message does not have go into `unknown`. */
  readonly decode: (bytes: Uint8Array, input: SchemaNode, unknown: UnknownMember[]) => unknown;
  /** `told` are warnings beside the output's own; a message with no place for them leaves them out. */
  readonly encode: (output: Out, node: SchemaNode, told: readonly string[]) => Uint8Array;
  /** True when the message has a place for warnings; otherwise they travel as trailing metadata. */
  readonly carriesWarnings: boolean;
  readonly staysHere: StaysHere;
  readonly beside: Beside | undefined;
}

/** True for a request that is read on the main thread though its row's others go to a worker as they came. */
export type StaysHere = ((bytes: Uint8Array, services: Services) => boolean) | undefined;

/**
 * What the main thread makes for a request that goes to a worker as it came, and sends along: bytes for the row's
 * `withBeside`, or nothing. `here` for a request that is read on the main thread all the same.
 */
export type Beside = (
  bytes: Uint8Array,
  asked: { readonly services: Services; readonly memory: MemoryRecord; readonly deadlineMs: number },
) => 'here' | undefined | Promise<Uint8Array>;

/** `read` and `write` only where the mechanical rules do not do. */
export function rpc<Req extends object, Res extends object, Out>(face: {
  readonly rpc: string;
  readonly request: MessageFns<Req>;
  readonly response: MessageFns<Res>;
  readonly read?: (message: Req) => unknown;
  readonly write?: (output: Out) => DeepPartial<Res>;
  readonly staysHere?: StaysHere;
  readonly beside?: Beside;
}): GrpcFace<Out> {
  const shape = face.response.create() as Members; // a message is a plain object of its members
  return {
    rpc: face.rpc,
    carriesWarnings: 'warnings' in shape,
    staysHere: face.staysHere,
    beside: face.beside,
    decode: (bytes, input, unknown) => {
      const message = decodeMessage(face.request, bytes, unknown);
      return face.read === undefined ? fromMessage(input, message as Members) : face.read(message); // a plain object
    },
    encode: (output, node, told) => {
      const partial =
        face.write === undefined
          ? (toMessage(node, isMembers(output) ? output : {}, shape) as DeepPartial<Res>) // members that `shape` has
          : face.write(output);
      const encoded = face.response.encode(face.response.fromPartial(partial)).finish();
      if (told.length === 0 || !('warnings' in shape)) return encoded;
      // Of a list, what a later message has is added to what an earlier one had.
      const more = { warnings: told } as unknown as DeepPartial<Res>; // `shape` has them
      return Buffer.concat([encoded, face.response.encode(face.response.fromPartial(more)).finish()]);
    },
  };
}

/** Who may call: everybody, any valid key, or a key with a scope. */
export type Needs = 'public' | 'key' | Scope;

export type Definition<In extends TSchema, Out extends TSchema> = Described<In, Out> &
  Change & {
    run(input: Static<In>, context: Context): Promise<Static<Out>>;
  };

/** Whether a call changes something: Idempotency-Key works there. */
export type Change =
  | { readonly mutates: false }
  | {
      readonly mutates: true;
      /**
       * What becomes of a request with members that are not known. `refuse` wherever something is deleted, erased, restricted or
       * governed: what the caller meant by them is not what would happen. Else they are named in the answer's warnings.
       */
      readonly onUnknown: 'warn' | 'refuse';
      /** True when the call can tell what it would do: `dry_run`, or the header `x-dry-run: 1`. */
      readonly dryRun?: true;
    };

interface Described<In extends TSchema, Out extends TSchema> {
  readonly name: string;
  readonly summary: string;
  /** What the summary leaves out, in a sentence or two. */
  readonly description: string;
  /** A request under outside names: the members of path, query and body together, or the arguments of the command. */
  readonly example: Members;
  readonly needs: Needs;
  /** Beside keys with the scope, callers that may create memories. */
  readonly orMayCreateMemories?: true;
  /** What the call is about: one memory, or the deployment. */
  readonly on: 'memory' | 'deployment';
  /** How far it reaches: a caller bound or narrowed to less is refused (AUT-E001). Where that depends on the input, a function of it. */
  readonly reach: Reach | ((input: Static<In>) => Reach);
  /** Known to take long: the deployment's request timeout is not for it. */
  readonly slow?: true;
  /** True when the input has `limit`, `cursor` and `offset` of a list. */
  readonly paged?: true;
  readonly input: In;
  readonly output: Out;
  readonly http?: readonly HttpFace<Static<Out>>[];
  readonly grpc?: GrpcFace<Static<Out>>;
  readonly exec?: { readonly command: string };
  /** Members of the output that are shown once: a replayed answer does not have them. */
  readonly shownOnce?: readonly string[];
  /** True when the memory's shards keep its answer for a repeat, so that nobody else has to. */
  readonly keptByShards?: true;
  /** Codes of its own that OpenAPI tells. */
  readonly errors?: readonly ErrorCode[];
  /** Finds unknown members in what the schema leaves open, such as a grain's fields. Its input is not yet checked. */
  readonly findUnknown?: FindUnknown;
}

/**
 * A row that is one call on its memory. Both steps are pure: a worker that is sent the raw request takes them itself
 * (codecs.ts). Both throw EngineError.
 */
export interface SingleCall<In, Out, M extends keyof MemoryCalls> {
  readonly method: M;
  readonly ask: (input: In) => Asked<M>;
  /** `input` is what was asked with. */
  readonly answer: (output: Output<M>, input: In) => Out;
  /** The request with what was made beside it. */
  readonly withBeside?: (input: In, beside: Uint8Array) => In;
  /**
   * Does what the row does beside the one call, for requests that stay on the main thread; `perform` makes the call. A
   * worker never comes here.
   */
  readonly around?: (input: In, context: Context, perform: (input: In) => Promise<Out>) => Promise<Out>;
}

export interface Asked<M extends keyof MemoryCalls> {
  readonly input: Input<M>;
  readonly purpose?: string | undefined;
}

/** A checked request of such a row, with its types folded away. */
export interface Planned {
  readonly method: keyof MemoryCalls;
  readonly asked: Asked<keyof MemoryCalls>;
  /** From the shard's output to the row's. */
  readonly answer: (output: unknown) => unknown;
}

/** A row with its types folded away, as the table, the transports and the wrapper hold it. */
export interface Operation {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly example: Members;
  readonly needs: Needs;
  readonly orMayCreateMemories: boolean;
  readonly on: 'memory' | 'deployment';
  /** `input`: where it depends on that. */
  readonly reach: Exclude<Reach, object> | 'input';
  readonly mutates: boolean;
  readonly onUnknown: 'warn' | 'refuse';
  readonly dryRun: boolean;
  /** Of the input; undefined for a row whose schema leaves nothing open. */
  readonly findUnknown: FindUnknown | undefined;
  readonly slow: boolean;
  readonly paged: boolean;
  readonly input: TSchema;
  readonly output: TSchema;
  readonly http: readonly HttpRow[];
  readonly grpc: GrpcRow | undefined;
  readonly exec: { readonly command: string } | undefined;
  readonly shownOnce: readonly string[];
  readonly keptByShards: boolean;
  readonly errors: readonly ErrorCode[];
  /** Checks `candidate` against the input schema, then runs. */
  readonly perform: (candidate: unknown, context: Context) => Promise<unknown>;
  /** There when the row is one call on its memory: checks, and says which. */
  readonly plan: ((candidate: unknown, beside?: Uint8Array) => Planned) | undefined;
  /** For app/exec: JSON args in, JSON result out. */
  readonly readArgs: (args: unknown, unknown: UnknownMember[]) => unknown;
  readonly writeResult: (output: unknown) => unknown;
}

export interface HttpRow {
  readonly verb: Verb;
  readonly path: string;
  readonly body: 'json' | 'file' | 'none';
  readonly bodySchema: Members | undefined;
  /** What OpenAPI says of the answer, by content type; undefined: JSON of the output's own schema. */
  readonly answers: Readonly<Record<string, Members>> | undefined;
  readonly successStatus: number;
  readonly otherStatuses: Readonly<Record<number, string>>;
  readonly staysHere: StaysHere;
  readonly beside: Beside | undefined;
  /** Members and parameters that are not known go into `unknown`. */
  readonly read: (parts: HttpParts, unknown: UnknownMember[]) => unknown;
  /** `told` are warnings beside the output's own. */
  readonly reply: (output: unknown, parts: HttpParts, told: readonly string[]) => HttpReply;
}

export interface GrpcRow {
  readonly rpc: string;
  readonly staysHere: StaysHere;
  readonly beside: Beside | undefined;
  /** From the request's bytes to the input, not yet checked. Fields that are not known go into `unknown`. */
  readonly read: (bytes: Uint8Array, unknown: UnknownMember[]) => unknown;
  /** `told` are warnings beside the output's own. */
  readonly write: (output: unknown, told: readonly string[]) => Uint8Array;
  /** Warnings that the output's message has no place for. */
  readonly looseWarnings: (output: unknown, told: readonly string[]) => readonly string[];
}

/** Makes a row. The static types of `run`, `read` and `write` follow from the schemas. */
export function defineOperation<In extends TSchema, Out extends TSchema>(row: Definition<In, Out>): Operation {
  const input = nodeOf(row.input);
  const output = nodeOf(row.output);
  const check: Validate<In> = compileCheck(row.input, { paged: row.paged ?? false });
  const writeJson = (value: unknown): unknown => outward(output, value);
  const findInBody = compileUnknown(outsideSchema(row.input));
  const { reach } = row;
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
    paged: row.paged ?? false,
    input: row.input,
    output: row.output,
    errors: row.errors ?? [],
    exec: row.exec,
    shownOnce: row.shownOnce ?? [],
    keptByShards: row.keptByShards ?? false,
    http: (row.http ?? []).map((face) => httpRow(face, row.input, writeJson, row.findUnknown)),
    grpc: row.grpc === undefined ? undefined : grpcRow(row.grpc, input, output, row.findUnknown),
    perform: (candidate, context) => {
      if (typeof reach !== 'function') requireReach(context.principal, reach);
      const checked = check(candidate);
      if (typeof reach === 'function') requireReach(context.principal, reach(checked));
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

/** Makes a row that is one call on its memory. */
export function defineCall<In extends TSchema, Out extends TSchema, M extends keyof MemoryCalls>(
  row: Omit<Described<In, Out>, 'on'> &
    Change & {
      /** A worker that answers the raw request knows the binding, and nothing of what the row asks for. */
      readonly reach: 'binding';
      readonly call: SingleCall<Static<In>, Static<Out>, M>;
    },
): Operation {
  const { call, ...rest } = row;
  const check: Validate<In> = compileCheck(row.input, { paged: row.paged ?? false });
  const operation = defineOperation({
    ...rest,
    on: 'memory',
    run: (input, context) => {
      const perform = async (wanted: Static<In>): Promise<Static<Out>> => {
        const { input: asked, purpose } = call.ask(wanted);
        const output = await context.call(call.method, asked, purpose === undefined ? {} : { purpose });
        return call.answer(output, wanted);
      };
      return call.around === undefined ? perform(input) : call.around(input, context, perform);
    },
  });
  const plan = (candidate: unknown, beside?: Uint8Array): Planned => {
    const checked = check(candidate);
    const input = beside === undefined || call.withBeside === undefined ? checked : call.withBeside(checked, beside);
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
    staysHere: face.staysHere,
    beside: face.beside,
    read: (parts, unknown) => {
      const candidate = read(parts);
      findUnknown(parts, unknown);
      findInInput?.(candidate, unknown);
      return candidate;
    },
    reply: (value, parts, told) => {
      const output = value as Out; // what the row's own run returned
      if (face.reply !== undefined) return withNotes(face.reply(output, parts), told);
      const json = face.write === undefined ? writeJson(output) : face.write(output);
      return { kind: 'json', status: typeof status === 'number' ? status : status(output), value: warned(json, told) };
    },
  };
}

function answersOf<Out>(face: HttpFace<Out>): HttpRow['answers'] {
  if (face.reply !== undefined) return face.answers;
  return face.answer === undefined ? undefined : { 'application/json': face.answer };
}

/** What of a request the face does not know. */
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

/** An answer of JSON with what is told beside it. */
function warned(json: unknown, told: readonly string[]): unknown {
  if (told.length === 0 || !isMembers(json)) return json;
  const own = json['warnings'];
  return { ...json, warnings: Array.isArray(own) ? [...(own as readonly unknown[]), ...told] : told };
}

/** An answer that is no JSON has its warnings in a header. */
function withNotes(reply: HttpReply, told: readonly string[]): HttpReply {
  if (told.length === 0) return reply;
  if (reply.kind === 'json') return { ...reply, value: warned(reply.value, told) };
  return { ...reply, headers: { ...reply.headers, 'x-warnings': encodeURI(notesOf(told)) } };
}

/** Query, then body, then path parameters: a path says most surely what is meant. */
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
    staysHere: face.staysHere,
    beside: face.beside,
    read: (bytes, unknown) => {
      const candidate = face.decode(bytes, input, unknown);
      findInInput?.(candidate, unknown);
      return candidate;
    },
    write: (value, told) => face.encode(value as Out, output, told), // what the row's own run returned
    looseWarnings: (value, told) => {
      if (face.carriesWarnings) return [];
      if (!isMembers(value) || !Array.isArray(value['warnings'])) return told;
      return [...value['warnings'].map(String), ...told];
    },
  };
}
