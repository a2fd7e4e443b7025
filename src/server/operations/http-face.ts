// The HTTP face of an operation: its route, how a request becomes the input, and how the output becomes the answer.
import type { TSchema } from 'typebox';
import type { Services } from '../context.ts';
import type { HttpRequest, ResponseHeaders } from '../http/listener.ts';
import { fromQuery, inward, isMembers, type Members, nodeOf, outsideSchema, type SchemaNode } from './names.ts';
import { notesOf } from './notes.ts';
import type { OnMainThread, Sidecar } from './sidecar.ts';
import { compileUnknown, type FindUnknown, type UnknownMember, unknownParameters } from './unknown-members.ts';

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
  /** Names of the parts of the form that are not read. */
  readonly otherParts?: readonly string[] | undefined;
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
      /** An answer that continues after the operation: `open` begins it. */
      readonly kind: 'open';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** Throws EngineError only before it answers. */
      readonly open: (
        services: Pick<Services, 'events' | 'chats' | 'progress'>,
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
      /**
       * Another way to read the body, in the thread that runs the call: the input of a body without unknown members, or
       * undefined to have `read` read it. Takes no part in errors.
       */
      readonly readInShard?: ((body: Uint8Array) => unknown) | undefined;
    };

export interface HttpRow {
  readonly verb: Verb;
  readonly path: string;
  readonly body: 'json' | 'file' | 'none';
  /** True when the query may have members of the input. */
  readonly takesQuery: boolean;
  readonly bodySchema: Members | undefined;
  /** Schema of the answer for each content type; undefined means JSON of the output's own schema. */
  readonly answers: Readonly<Record<string, Members>> | undefined;
  readonly successStatus: number;
  readonly otherStatuses: Readonly<Record<number, string>>;
  readonly onMainThread: OnMainThread;
  readonly sidecar: Sidecar | undefined;
  readonly readInShard: ((body: Uint8Array) => unknown) | undefined;
  /** Appends unknown members and parameters to `unknown`. */
  readonly read: (parts: HttpParts, unknown: UnknownMember[]) => unknown;
  /** Adds the warnings `warnings` to the output's own. */
  readonly reply: (output: unknown, parts: HttpParts, warnings: readonly string[]) => HttpReply;
}

/** Makes the row of a face. */
export function httpRow<Out>(
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
    takesQuery: readsQuery(face),
    bodySchema: face.bodySchema,
    answers: answersOf(face),
    successStatus: typeof status === 'number' ? status : 200,
    otherStatuses: face.otherStatuses ?? {},
    onMainThread: face.onMainThread,
    sidecar: face.sidecar,
    readInShard: face.read === undefined ? undefined : face.readInShard,
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

/** True when the mechanical rules read the query. */
function readsQuery<Out>(face: HttpFace<Out>): boolean {
  return face.read === undefined || face.takesQuery === true;
}

/** Finds the members and parameters of a request that the face does not know. */
function unknownOfHttp<Out>(face: HttpFace<Out>, input: TSchema): (parts: HttpParts, into: UnknownMember[]) => void {
  const outside = outsideSchema(input);
  const inPath = new Set([...face.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
  const names = isMembers(outside['properties']) ? Object.keys(outside['properties']) : [];
  const parameters = new Set(readsQuery(face) ? names.filter((name) => !inPath.has(name)) : []);
  const findInBody =
    face.read === undefined ? compileUnknown(outside) : compileUnknown(face.bodySchema, face.otherNames ?? []);
  const findMore = face.read === undefined ? undefined : face.findUnknown;
  return ({ query, json, file }, into) => {
    unknownParameters(query, parameters, into);
    for (const path of file?.otherParts ?? []) into.push({ path, kind: 'part', nearest: undefined });
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
