// Extracts from a grain what the indexes store: its text, its triple, its session.
import { unreachable } from '../../base/assert.ts';
import { toNfc } from '../../base/nfc.ts';
import type { GrainType } from '../grain.ts';
import { isMap } from '../rules/validate.ts';
import { Float, type Value, type ValueMap } from '../value.ts';
import type { GrainFields } from './output.ts';

/** Subject, relation and object for the triple index; absent ones are not indexed. All in NFC, trimmed, never empty. */
export interface Triple {
  readonly subject?: string | undefined;
  readonly relation?: string | undefined;
  readonly object?: string | undefined;
}

/** The form in which subjects, relations and objects are compared: NFC, trimmed, case kept. Queries use it too. */
export function tripleForm(text: string): string {
  return toNfc(text).trim();
}

/**
 * The text for words and vectors. `embedding_text` replaces the type's own text; the name of an event's speaker (extra
 * field `speaker`) precedes either; so do the file and the headings that a document's chunk comes from. Maps contribute keys and scalars in sorted key order, so a grain has the same text
 * whether it comes from a request or from its blob.
 */
export function searchText(grain: GrainFields): string {
  const { type, fields } = grain;
  const { speaker } = fields;
  const parts: string[] = [];
  if (type === 'event' && typeof speaker === 'string' && speaker !== '') parts.push(speaker);
  if (type === 'event') collectDocumentPath(fields['context'], parts);
  const override = fields['embedding_text'];
  if (typeof override === 'string' && override !== '') parts.push(override);
  else collectType(grain, parts);
  return parts.join(' ');
}

/** True for a belief whose `searchText` is its triple, with a space between two sides, as that of most is. */
export function isSearchedByTriple(grain: GrainFields): grain is TripleGrain {
  const { subject, relation, object, embedding_text: override } = grain.fields;
  return grain.type === 'belief' && isText(subject) && isText(relation) && isText(object) && !isText(override);
}

/** A grain with all three sides. */
export interface TripleGrain extends GrainFields {
  readonly fields: ValueMap & { readonly subject: string; readonly relation: string; readonly object: string };
}

function isText(value: Value | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

/**
 * The file's name and the headings above a chunk of a document. A sentence such as "Thirty days." is found by what it is
 * about.
 */
function collectDocumentPath(context: Value | undefined, parts: string[]): void {
  const document = isMap(context) ? context['document'] : undefined;
  if (!isMap(document)) return;
  collect(document['file_name'], parts);
  collect(document['headings'], parts);
}

function collectType({ type, fields }: GrainFields, parts: string[]): void {
  switch (type) {
    case 'belief':
      collectFields(fields, ['subject', 'relation', 'object'], parts);
      break;
    case 'event':
      collectEvent(fields, parts);
      break;
    case 'state':
      collect(fields['context'], parts);
      break;
    case 'workflow':
      collectFields(fields, ['trigger', fields['nodes'] === undefined ? 'steps' : 'nodes'], parts);
      break;
    case 'action':
      collectFields(fields, ['tool_name', 'content'], parts);
      break;
    case 'observation':
      collectFields(fields, ['observer_id', 'observer_type', 'subject', 'object', 'content'], parts);
      break;
    case 'goal':
      collectFields(fields, ['description', 'criteria'], parts);
      break;
    case 'reasoning':
      collectFields(fields, ['conclusion', 'premises'], parts);
      break;
    case 'consensus':
      collect(fields['agreed_content'], parts);
      break;
    case 'consent':
      collect(fields['subject_did'], parts);
      parts.push(fields['is_withdrawal'] === true ? 'withdraws' : 'grants');
      collect(fields['grantee_did'], parts);
      break;
    default:
      unreachable(type);
  }
}

/** An event's text: its content, else the texts of its blocks, else its triple. */
function collectEvent(fields: ValueMap, parts: string[]): void {
  const { content, content_blocks: blocks } = fields;
  if (typeof content === 'string' && content !== '') {
    parts.push(content);
    return;
  }
  const before = parts.length;
  if (Array.isArray(blocks)) for (const block of blocks) if (isMap(block)) collect(block['text'], parts);
  if (parts.length === before) collectFields(fields, ['subject', 'relation', 'object'], parts);
}

function collectFields(fields: ValueMap, names: readonly string[], parts: string[]): void {
  for (const name of names) collect(fields[name], parts);
}

/** Collects every key and scalar of a value, depth first. GRAIN_DEPTH_MAX bounds the recursion. */
function collect(value: Value | undefined, parts: string[]): void {
  if (value === undefined || value === null || value === '') return;
  if (typeof value === 'string') parts.push(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, parts);
  else if (isMap(value)) collectMap(value, parts);
  else if (value instanceof Float) parts.push(String(value.value));
  else if (!(value instanceof Uint8Array)) parts.push(String(value));
}

function collectMap(map: ValueMap, parts: string[]): void {
  for (const key of Object.keys(map).sort()) {
    const value = map[key];
    if (value === undefined || value === null) continue;
    parts.push(key);
    collect(value, parts);
  }
}

/**
 * The grain's entry in the triple index. A belief has all three sides; another type has its subject and object, if any,
 * with its relation or else its type's name. The index omits objects that are maps.
 */
export function triple({ type, fields }: GrainFields): Triple {
  const subject = tripleSide(fields['subject']);
  const object = tripleSide(fields['object']);
  if (type !== 'belief' && subject === undefined && object === undefined) return {};
  return { subject, relation: tripleRelation(type, fields, subject ?? object), object };
}

/** The relation of the entry, whose subject or else object is `other`. */
export function tripleRelation(type: GrainType, fields: ValueMap, other: string | undefined): string | undefined {
  const relation = tripleSide(fields['relation']);
  if (type === 'belief') return relation;
  return other === undefined ? undefined : (relation ?? type);
}

/** A side of the entry; undefined for a value that is not indexed. */
export function tripleSide(value: Value | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  const form = tripleForm(value);
  return form === '' ? undefined : form;
}

/** The session that the grain names, or undefined. */
export function sessionOf({ fields }: GrainFields): string | undefined {
  const session = fields['session_id'];
  return typeof session === 'string' && session !== '' ? session : undefined;
}
