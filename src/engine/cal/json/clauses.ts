// The parts of statements in the JSON form: conditions, options, stages, formats.

import { COMPARATORS, EXTRACTORS } from '../../calls/cal.ts';
import {
  CATEGORIES,
  type Condition,
  DISCLOSURE_LEVELS,
  type FieldCondition,
  type Format,
  type FormatChoice,
  type InClause,
  joinedBy,
  type Recall,
  SECTIONS,
  type SectionName,
  type Sections,
  type Stage,
  type Value,
  type WithOption,
  type Word,
} from '../ast.ts';
import { CalError } from '../errors.ts';
import { rawEnd } from '../lexer.ts';
import { takeExtractor } from '../parser/extract.ts';
import { FORMAT_WORDS } from '../parser/formats.ts';
import { WITH_OPTIONS } from '../vocabulary/words.ts';
import { asInteger, asNumber, asString, asWord, JsonNode, refused } from './node.ts';
import { asField, asIdentifier, asValue } from './words.ts';

/** The same limit as in the text form. */
const JUNCTION_DEPTH_MAX = 16;
const OPERATORS = [...COMPARATORS, 'in', 'not_in', 'between', 'include', 'exclude', 'is'] as const;

/** Reads one object of `where`. `readRecall` reads a subquery. */
export function readCondition(node: JsonNode, readRecall: (node: JsonNode) => Recall, depth = 0): Condition {
  const member = (value: unknown, key: string): Condition => {
    if (depth >= JUNCTION_DEPTH_MAX)
      throw new CalError('CAL-E007', `${node.at(key)} is nested more than ${JUNCTION_DEPTH_MAX} deep`);
    return readCondition(new JsonNode(value, node.at(key), node.depth), readRecall, depth + 1);
  };
  for (const op of ['or', 'and'] as const) {
    if (!node.has(op)) continue;
    const of = node.list(op).map((value) => member(value, op));
    node.end();
    if (of.length === 0) throw refused(node.at(op), 'a list of one condition or more');
    return joinedBy(op, of);
  }
  if (node.has('not')) {
    const of = member(node.take('not'), 'not');
    node.end();
    return { op: 'not', of };
  }
  return readFieldCondition(node, readRecall);
}

function readFieldCondition(node: JsonNode, readRecall: (node: JsonNode) => Recall): FieldCondition {
  const field = asField(node.take('field'), node.at('field'));
  const op = asWord(node.take('op'), OPERATORS, node.at('op'));
  const condition = readOperands(node, { field, op }, readRecall);
  node.end();
  return condition;
}

function readOperands(
  node: JsonNode,
  { field, op }: { readonly field: FieldCondition['field']; readonly op: (typeof OPERATORS)[number] },
  readRecall: (node: JsonNode) => Recall,
): FieldCondition {
  switch (op) {
    case 'is':
      return { field, op, category: asWord(node.take('value'), CATEGORIES, node.at('value')) };
    case 'between': {
      const [low, high, ...more] = node.list('value').map((value) => asValue(value, node, 'value'));
      if (low === undefined || high === undefined || more.length > 0)
        throw refused(node.at('value'), 'a list of two values');
      return { field, op, value: [low, high] };
    }
    case 'in':
    case 'not_in': {
      const inner = node.node('query');
      if (inner === undefined) return { field, op, values: readValues(node) };
      const bound = takeExtractor(readRecall(inner));
      const extract = readExtract(node) ?? bound.extract;
      if (extract === undefined) throw refused(node.at('extract'), 'subjects, objects or hashes', EXTRACTORS);
      return { field, op, recall: bound.recall, extract };
    }
    case 'include':
    case 'exclude':
      if (node.has('value') && !Array.isArray(node.peek('value')))
        throw new CalError('CAL-E020', `${node.at('value')} is not a list`, { example: '["a", "b"]' });
      return { field, op, values: readValues(node) };
    default:
      return { field, op, value: asValue(node.take('value'), node, 'value') };
  }
}

function readValues(node: JsonNode): readonly Value[] {
  if (!node.has('value')) throw refused(node.at('value'), 'a list');
  return node.list('value').map((value) => asValue(value, node, 'value', node.depth + 1));
}

/** The extractor of a binding or a subquery; undefined if there is none. */
export function readExtract(node: JsonNode): (typeof EXTRACTORS)[number] | undefined {
  const value = node.take('extract');
  return value === undefined ? undefined : asWord(value, EXTRACTORS, node.at('extract'));
}

export function readInClause(node: JsonNode): InClause | undefined {
  const value = node.take('in');
  if (value === undefined) return undefined;
  if (typeof value === 'string') return { name: asString(value, node.at('in')) };
  const inner = new JsonNode(value, node.at('in'));
  const name = inner.required('scope');
  inner.end();
  return { name, scope: true };
}

const FLAGS = [
  'superseded',
  'score_breakdown',
  'explanation',
  'provenance',
  'contradiction_detection',
  'summarize',
  'iso_timestamps',
] as const;

/** Reads `with`. Each element is a word, or an object with one key. */
export function readOptions(node: JsonNode): readonly WithOption[] {
  const seen = new Set<string>();
  return node.list('with').map((value) => {
    const [name, setting] = oneKey(value, node.at('with'));
    if (seen.has(name)) throw new CalError('CAL-E002', `${node.at('with')}: ${name} occurs twice`);
    seen.add(name);
    return readOption(name, setting, node);
  });
}

function readOption(name: string, setting: unknown, node: JsonNode): WithOption {
  const path = `${node.at('with')}.${name}`;
  const flag = FLAGS.find((one) => one === name);
  if (flag !== undefined) {
    if (setting !== undefined) throw refused(path, 'an option without a value');
    return { option: flag };
  }
  switch (name) {
    case 'progressive_disclosure':
      if (setting === undefined) return { option: name };
      return { option: name, level: asWord(setting, DISCLOSURE_LEVELS, path) };
    case 'diversity':
      return readDiversity(setting, path);
    case 'consistency':
      return readConsistency(setting, path);
    case 'dedup':
      return { option: name, field: asField(setting, path) };
    case 'locale':
      return { option: name, locale: asString(setting, path) };
    case 'cache': {
      const inner = new JsonNode(setting, path);
      const ttl = asInteger(inner.take('ttl'), inner.at('ttl'));
      inner.end();
      return { option: name, ttl };
    }
  }
  if (!/^x_[a-z][a-z0-9_]*$/.test(name)) throw refused(path, 'an option', WITH_OPTIONS);
  if (setting === undefined) return { option: 'vendor', name, values: [] };
  if (!Array.isArray(setting) || setting.length === 0) throw refused(path, 'a list of values');
  return { option: 'vendor', name, values: setting.map((value) => asValue(value, node, 'with', node.depth + 1)) };
}

function readDiversity(setting: unknown, path: string): WithOption {
  if (setting === 'mmr') return { option: 'diversity', by: 'mmr' };
  const [by, value] = oneKey(setting, path);
  if (by === 'mmr') return { option: 'diversity', by, lambda: asNumber(value, path) };
  if (by === 'threshold') return { option: 'diversity', by, threshold: asNumber(value, path) };
  throw refused(path, 'mmr or threshold', ['mmr', 'threshold']);
}

function readConsistency(setting: unknown, path: string): WithOption {
  if (setting === 'eventual' || setting === 'linearizable') return { option: 'consistency', level: setting };
  const [level, bound] = oneKey(setting, path);
  if (level !== 'bounded') throw refused(path, 'a consistency', ['eventual', 'bounded', 'linearizable']);
  return { option: 'consistency', level, bound: asNumber(bound, path) };
}

/** Reads `pipeline`. */
export function readStages(node: JsonNode): readonly Stage[] {
  return node.list('pipeline').map((value): Stage => {
    if (typeof value === 'string')
      return { stage: asWord(value, ['count', 'first', ...EXTRACTORS], node.at('pipeline')) };
    const stage = new JsonNode(value, node.at('pipeline'), node.depth);
    const read = readStage(stage);
    stage.end();
    return read;
  });
}

function readStage(node: JsonNode): Stage {
  if (node.has('select')) return { stage: 'select', fields: readFields(node, 'select') };
  if (node.has('order_by')) {
    const key = readSortKey(node);
    const after = node.take('next');
    if (after === undefined) return { stage: 'order_by', ...key };
    const inner = new JsonNode(after, node.at('next'), node.depth);
    const next = readSortKey(inner);
    inner.end();
    return { stage: 'order_by', ...key, next };
  }
  if (node.has('limit')) return { stage: 'limit', count: asInteger(node.take('limit'), node.at('limit')) };
  if (node.has('offset')) {
    const value = asValue(node.take('offset'), node, 'offset');
    if (value.kind === 'parameter') return { stage: 'offset', count: value };
    if (value.kind !== 'number') throw refused(node.at('offset'), 'a whole number');
    return { stage: 'offset', count: asInteger(value.value, node.at('offset')) };
  }
  if (node.has('group_by')) return { stage: 'group_by', field: asField(node.take('group_by'), node.at('group_by')) };
  if (!node.has('project'))
    throw refused(node.path, 'a stage', ['select', 'order_by', 'limit', 'offset', 'group_by', 'project']);
  const parts = node.list('project').map((value) => {
    const part = node.inside(value, 'project');
    const into = part.has('attr') ? 'attr' : 'content';
    const fields = readFields(part, into);
    part.end();
    return { into, fields } as const;
  });
  if (parts.length === 0) throw refused(node.at('project'), 'a list of one part or more');
  return { stage: 'project', parts };
}

function readSortKey(node: JsonNode): { readonly field: Word; readonly descending?: boolean } {
  const field = asField(node.take('order_by'), node.at('order_by'));
  const direction = node.take('dir');
  if (direction === undefined) return { field };
  return { field, descending: asWord(direction, ['asc', 'desc'], node.at('dir')) === 'desc' };
}

function readFields(node: JsonNode, key: string): readonly Word[] {
  const fields = node.list(key).map((value) => asField(value, node.at(key)));
  if (fields.length === 0) throw refused(node.at(key), 'a list of one field or more');
  return fields;
}

/** Reads a format's name, a template, or a list of both; undefined if `key` is absent. */
export function readFormatChoice(node: JsonNode, key: string): FormatChoice | undefined {
  const value = node.take(key);
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return { kind: 'one', format: readFormat(value, node.at(key)) };
  const formats = value.map((entry) => {
    if (typeof entry === 'string') return { format: readFormat(entry, node.at(key)) };
    const inner = new JsonNode(entry, node.at(key));
    const format = readFormat(inner.take('format'), inner.at('format'));
    const alias = inner.take('alias');
    inner.end();
    if (alias === undefined) return { format };
    const name = asIdentifier(alias, inner.at('alias'));
    if (name !== name.toLowerCase()) throw refused(inner.at('alias'), 'an alias in lower case');
    return { format, alias: name };
  });
  return { kind: 'list', formats };
}

function readFormat(value: unknown, path: string): Format {
  if (typeof value === 'string') return { kind: 'named', name: asWord(value, FORMAT_WORDS, path) };
  const node = new JsonNode(value, path);
  const template = new JsonNode(node.take('template'), node.at('template'));
  node.end();
  const read = readTemplate(template);
  template.end();
  return read;
}

function readTemplate(node: JsonNode): Format {
  if (node.has('name')) return { kind: 'template_reference', name: asIdentifier(node.take('name'), node.at('name')) };
  if (node.has('text')) return { kind: 'template_text', text: node.required('text') };
  return { kind: 'template_sections', sections: readSections(node) };
}

/** Reads `sections`. Throws E094 for a body that the text form could not close. */
export function readSections(node: JsonNode): Sections {
  const inner = new JsonNode(node.take('sections'), node.at('sections'));
  const sections: Partial<Record<SectionName, string>> = {};
  for (const name of SECTIONS) {
    const text = inner.string(name);
    if (text === undefined) continue;
    if (rawEnd(`${text}}`, 0) !== text.length)
      throw new CalError('CAL-E094', `${inner.at(name)}: the braces are not balanced`);
    sections[name] = text;
  }
  inner.end();
  if (Object.keys(sections).length === 0) throw refused(inner.path, 'an object of one section or more', SECTIONS);
  return sections;
}

/** The name and setting of a word (without setting) or of an object with one key. */
function oneKey(value: unknown, path: string): readonly [name: string, setting: unknown] {
  if (typeof value === 'string') return [value.toLowerCase(), undefined];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused(path, 'a word or an object');
  const [entry, ...more] = Object.entries(value);
  if (entry === undefined || more.length > 0) throw refused(path, 'an object of one key');
  return entry;
}
