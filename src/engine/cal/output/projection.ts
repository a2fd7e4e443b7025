// Selects the parts of a grain that output shows: a text and a few attributes, by type and level, in a form that does not
// depend on the format. Hashes, namespaces and users are never shown.
import type { JsonObject, JsonValue } from '../../grain/api/json-value.ts';
import type { GrainType } from '../../grain/grain.ts';
import { COMMON_FIELDS, TYPE_FIELDS } from '../vocabulary/fields.ts';
import { typeOfSingular } from '../vocabulary/grain-types.ts';
import { asText, fieldValue, isMap, storedValue } from './fields.ts';
import { type AttributeForm, attributeName, FULL_ATTRIBUTES, FULL_DATA, formOf } from './forms.ts';
import type { CalGrain } from './grain.ts';
import { decimal, humanizeRelation, isoDate, isoInstant, relativeTime } from './humanize.ts';

/** The number of attributes shown. The text is complete at every level. */
export type Level = 'summary' | 'standard' | 'full';

/** PROJECT: the CAL fields for the text and for the attributes, in query order. */
export interface Project {
  readonly content: readonly string[];
  readonly attributes: readonly string[];
}

/** How a grain is shown. */
export interface View {
  readonly level: Level;
  readonly nowMs: number;
  /** True to show times as instants instead of ages. */
  readonly isoTimestamps: boolean;
  readonly project?: Project | undefined;
}

export interface Attribute {
  readonly name: string;
  readonly value: string | number;
}

export interface Projection {
  readonly text: string;
  /** In display order, without attributes that have no value. */
  readonly attributes: readonly Attribute[];
}

/** Functions that make a grain's text, by type. */
const TEXTS: Readonly<Record<GrainType, (grain: CalGrain) => string>> = {
  belief: clause,
  event: said,
  state: planned,
  workflow: steps,
  action: object,
  observation: object,
  goal: object,
  reasoning: field('conclusion'),
  consensus: object,
  consent: field('purpose'),
};

/** The text and the attributes of a grain. */
export function project(grain: CalGrain, view: View): Projection {
  if (view.project !== undefined) {
    const { content, attributes } = view.project;
    const texts = content.map((name) => contentText(grain, name, view)).filter((text) => text !== '');
    return { text: texts.join(' '), attributes: valuesOf(grain, attributes.map(projected), view) };
  }
  const { attributes } = formOf(grain.grainType);
  const wanted = view.level === 'summary' ? attributes.filter(({ isOptional }) => !isOptional) : attributes;
  return {
    text: textOfGrain(grain),
    attributes: valuesOf(grain, view.level === 'full' ? [...wanted, ...FULL_ATTRIBUTES] : wanted, view),
  };
}

/** A grain's fields by CAL name, for the data formats. Keeps lists and maps. */
export function projectData(grain: CalGrain, view: View): JsonObject {
  const data: JsonObject = { type: grain.grainType };
  for (const name of dataFields(grain, view)) {
    const value = dataValue(grain, name, view);
    if (value !== undefined) data[name] = value;
  }
  return data;
}

function dataFields(grain: CalGrain, { level, project: parts }: View): readonly string[] {
  if (parts !== undefined) return [...parts.content, ...parts.attributes];
  const { data } = formOf(grain.grainType);
  if (level === 'summary') return data.filter((name) => !name.endsWith('?'));
  const all = data.map((name) => name.replace('?', ''));
  return level === 'full' ? [...all, ...FULL_DATA] : all;
}

function dataValue(grain: CalGrain, name: string, view: View): JsonValue | undefined {
  if (TIMES.has(name)) return shownTime(grain, name, view);
  if (name === 'object' && grain.grainType === 'event') return contentOf(grain);
  const value = name === 'content' ? contentOf(grain) : storedValue(grain, name);
  if (value !== undefined) return Array.isArray(value) && value.length === 0 ? undefined : value;
  return name === 'plan' ? stateData(grain) : undefined;
}

/** The text of a grain. A grain of an unknown type shows its object, or else its content. */
export function textOfGrain(grain: CalGrain): string {
  const type = typeOfSingular(grain.grainType);
  return type === undefined ? object(grain) || said(grain) : TEXTS[type](grain);
}

function projected(name: string): AttributeForm {
  return { name: attributeName(name), field: name, isOptional: false };
}

function valuesOf(grain: CalGrain, rows: readonly AttributeForm[], view: View): Attribute[] {
  const attributes: Attribute[] = [];
  for (const { name, field: of } of rows) {
    const value = attributeValue(grain, of, view);
    if (value !== undefined && value !== '') attributes.push({ name, value });
  }
  return attributes;
}

/** The fields that hold times. No two types share the name of a field. */
const TIMES: ReadonlySet<string> = new Set(
  [...COMMON_FIELDS, ...Object.values(TYPE_FIELDS).flat()].flatMap(({ name, type }) =>
    type === 'temporal' ? [name] : [],
  ),
);

function shownTime(grain: CalGrain, name: string, view: View): string | undefined {
  const value = fieldValue(grain, name);
  if (typeof value !== 'number') return undefined;
  if (name !== 'time') return isoDate(value);
  return view.isoTimestamps ? isoInstant(value) : relativeTime(value, view.nowMs);
}

function attributeValue(grain: CalGrain, name: string, view: View): string | number | undefined {
  if (TIMES.has(name)) return shownTime(grain, name, view);
  const value = fieldValue(grain, name);
  if (name === 'consent_action' && value !== undefined) return value === 'withdraw' ? 'withdrawn' : 'granted';
  if (typeof value === 'object') return value.join(',');
  return typeof value === 'boolean' ? String(value) : value;
}

/** A field in the text of PROJECT. */
function contentText(grain: CalGrain, name: string, view: View): string {
  if (name === 'content') return contentOf(grain) ?? '';
  const value = attributeValue(grain, name, view);
  if (typeof value === 'number') return decimal(value);
  return name === 'relation' && value !== undefined ? humanizeRelation(value) : (value ?? '');
}

function field(name: string): (grain: CalGrain) => string {
  return (grain) => textOf(fieldValue(grain, name));
}

function object(grain: CalGrain): string {
  return textOf(fieldValue(grain, 'object'));
}

function textOf(value: ReturnType<typeof fieldValue>): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return decimal(value);
  return typeof value === 'object' ? value.join('; ') : String(value);
}

/** Relation and object as the end of a sentence. */
function clause(grain: CalGrain): string {
  const relation = grain.fields['relation'];
  const what = object(grain);
  return typeof relation === 'string' ? `${humanizeRelation(relation)} ${what}`.trim() : what;
}

function said(grain: CalGrain): string {
  return contentOf(grain) ?? clause(grain);
}

/** The content of an event, or the joined texts of its blocks; undefined if both are empty. */
function contentOf({ fields }: CalGrain): string | undefined {
  const { content, content_blocks: blocks } = fields;
  if (typeof content === 'string' && content !== '') return content;
  if (content !== undefined && content !== null && content !== '') return asText(content);
  if (!Array.isArray(blocks)) return undefined;
  const texts = blocks.map((block) => (isMap(block) ? block['text'] : undefined));
  const joined = texts.filter((text) => typeof text === 'string').join(' ');
  return joined === '' ? undefined : joined;
}

/** The plan of a state. Without a plan its data, because an empty element is useless. */
function planned(grain: CalGrain): string {
  const plan = fieldValue(grain, 'plan');
  if (plan !== undefined) return textOf(plan);
  const data = stateData(grain);
  return data === undefined ? '' : asText(data);
}

function stateData({ fields }: CalGrain): JsonValue | undefined {
  const { data } = fields;
  return isMap(data) && Object.keys(data).length > 0 ? data : undefined;
}

function steps(grain: CalGrain): string {
  const value = fieldValue(grain, 'steps');
  if (typeof value !== 'object') return textOf(value);
  return value.map((step, i) => `${i + 1}. ${step}`).join('  ');
}
