// Reads the JSON form, one object for each statement, into the same tree as the text form.
import { defined } from '../../base/defined.ts';
import {
  type Assemble,
  type AssembleSource,
  type Assignments,
  type Batch,
  type BatchStatement,
  DESCRIBE_TARGETS,
  type Describe,
  type Explain,
  type History,
  type HistoryDiff,
  type HistoryOfPair,
  type LetBinding,
  type Query,
  type Recall,
  SET_OPERATORS,
  type SetOperation,
  type Statement,
  type Word,
  whereOf,
} from '../ast.ts';
import { CalError } from '../errors.ts';
import { checkSource } from '../lexer.ts';
import { ENTRY_WORDS } from '../parser/cursor.ts';
import { takeExtractor } from '../parser/extract.ts';
import { unknownType } from '../parser/recall.ts';
import { typeOfPlural, typeOfSingular } from '../vocabulary/grain-types.ts';
import {
  readCondition,
  readExtract,
  readFormatChoice,
  readInClause,
  readOptions,
  readSections,
  readStages,
} from './clauses.ts';
import { asInteger, asWord, JsonNode, refused } from './node.ts';
import { asField, asIdentifier, asLabel, asReference, asValue } from './words.ts';

/**
 * Reads a query in its JSON form. Does not check fields and values. Throws `CalError`: E001 and E070 like the text
 * form, E002 for invalid JSON and unknown keys, and otherwise the code that the text form has for the same error.
 */
export function readJson(source: string): Query {
  checkSource(source);
  const node = new JsonNode(parseJson(source), 'the query');
  const version = node.take('cal_version');
  if (version !== undefined && version !== 1)
    throw new CalError('CAL-E100', 'only cal_version 1 is supported', { validValues: ['1'] });
  const lets = node.list('let').map((value) => readLet(new JsonNode(value, 'let')));
  const statement = readStatement(node);
  node.end();
  return { lets, statement };
}

function parseJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    throw new CalError('CAL-E002', 'the query starts with { but is not valid JSON', {
      expected: ['a JSON object'],
      suggestion: 'Write the query as text, or as one JSON object.',
    });
  }
}

function readLet(node: JsonNode): LetBinding {
  const name = node.required('name');
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) throw refused(node.at('name'), 'the name of a parameter');
  const inner = new JsonNode(node.take('query'), node.at('query'));
  const bound = takeExtractor(readRecall(inner));
  const extract = readExtract(node) ?? bound.extract;
  node.end();
  return defined({ name, recall: bound.recall, extract });
}

const STATEMENTS = [
  'recall',
  'set_op',
  'assemble',
  'exists',
  'history',
  'explain',
  'describe',
  'batch',
  'coalesce',
  'define_template',
  'add',
  'supersede',
  'revert',
] as const;

/** Reads the statement's own keys. The caller reads all other keys first and ends the node. */
function readStatement(node: JsonNode): Statement {
  const kind = asWord(node.take('statement'), STATEMENTS, node.at('statement'));
  switch (kind) {
    case 'recall':
      return recallOf(node);
    case 'set_op':
      return setOperationOf(node);
    case 'assemble':
      return assembleOf(node);
    case 'exists':
      return { kind, grain: asReference(node.take('hash'), node, 'hash') };
    case 'history':
      return historyOf(node);
    case 'explain':
      return { kind, statement: explainedOf(node) };
    case 'describe':
      return describeOf(node);
    case 'batch':
      return batchOf(node);
    case 'coalesce':
      return { kind, branches: node.list('branches').map((value) => readRecall(node.inside(value, 'branches'))) };
    case 'define_template': {
      const parent = node.take('extends');
      return defined({
        kind,
        name: asIdentifier(node.take('name'), node.at('name')),
        extends: parent === undefined ? undefined : asIdentifier(parent, node.at('extends')),
        body: node.has('text') ? { text: node.required('text') } : { sections: readSections(node) },
      });
    }
    case 'add':
      return { kind, grainType: singularOf(node), set: assignmentsOf(node), reason: reasonOf(node) };
    case 'supersede':
      return {
        kind,
        grain: asReference(node.take('hash'), node, 'hash'),
        set: assignmentsOf(node),
        reason: reasonOf(node),
      };
    case 'revert':
      return { kind, grain: asReference(node.take('hash'), node, 'hash'), reason: reasonOf(node) };
  }
}

/** Reads a whole object, which must be a recall. */
function readRecall(node: JsonNode): Recall {
  asWord(node.take('statement'), ['recall'], node.at('statement'));
  const recall = recallOf(node);
  node.end();
  return recall;
}

function recallOf(node: JsonNode): Recall {
  const type = node.string('grain_type')?.toLowerCase();
  if (type !== undefined && typeOfPlural(type) === undefined) throw unknownType(type, { plural: true });
  const my = node.boolean('my');
  const namespace = readInClause(node);
  const about = node.string('about');
  const like = node.string('like');
  const since = sinceOf(node);
  const between = node.has('between') ? betweenOf(node) : undefined;
  const thread = node.has('thread') ? threadOf(node) : undefined;
  const where = node
    .list('where')
    .flatMap((value) => whereOf(readCondition(new JsonNode(value, node.at('where'), node.depth), readRecall)));
  const options = readOptions(node);
  const stages = readStages(node);
  const recent = node.integer('recent');
  const contradictions = node.boolean('contradictions');
  const format = readFormatChoice(node, 'as');
  return defined({
    kind: 'recall',
    my: my || undefined,
    grainType: type === undefined ? undefined : { word: type },
    in: namespace,
    about,
    like,
    since,
    between,
    thread,
    where,
    with: options,
    stages,
    recent,
    contradictions: contradictions || undefined,
    format,
  });
}

function sinceOf(node: JsonNode): Recall['since'] {
  const value = node.string('since');
  return value === undefined ? undefined : { kind: 'string', value };
}

function betweenOf(node: JsonNode): NonNullable<Recall['between']> {
  const [low, high, ...more] = node.list('between').map((value) => asValue(value, node, 'between'));
  if (low === undefined || high === undefined || more.length > 0)
    throw refused(node.at('between'), 'a list of two values');
  return [low, high];
}

function threadOf(node: JsonNode): NonNullable<Recall['thread']> {
  const value = node.take('thread');
  if (typeof value === 'string') return { session: node.required('thread') };
  const inner = new JsonNode(value, node.at('thread'), node.depth);
  const from = asReference(inner.take('from'), inner, 'from');
  inner.end();
  return { from };
}

function sourceQueryOf(node: JsonNode): Recall | SetOperation {
  const kind = asWord(node.take('statement'), ['recall', 'set_op'], node.at('statement'));
  const query = kind === 'recall' ? recallOf(node) : setOperationOf(node);
  node.end();
  return query;
}

function setOperationOf(node: JsonNode): SetOperation {
  const operator = asWord(node.take('op'), SET_OPERATORS, node.at('op'));
  const operands = node.list('operands').map((value) => {
    return sourceQueryOf(node.inside(value, 'operands'));
  });
  return { kind: 'set_op', operator, operands, stages: readStages(node) };
}

function assembleOf(node: JsonNode): Assemble {
  const name = node.take('name');
  const intent = node.string('for');
  const sources = node.list('from').map((value) => sourceOf(new JsonNode(value, node.at('from'), node.depth)));
  const budget = budgetOf(node);
  const priority = node.list('priority').map((value) => asLabel(value, node.at('priority')));
  const format = readFormatChoice(node, 'format');
  const stream = node.node('stream');
  return defined({
    kind: 'assemble',
    name: name === undefined ? undefined : asIdentifier(name, node.at('name')),
    for: intent,
    sources,
    budget,
    priority,
    format,
    stream: stream === undefined ? undefined : streamOf(stream),
    with: readOptions(node),
  });
}

function sourceOf(node: JsonNode): AssembleSource {
  const label = node.take('label');
  const bound = node.take('let');
  const from: AssembleSource['from'] =
    bound === undefined
      ? sourceQueryOf(node.inside(node.take('query'), 'query'))
      : { kind: 'parameter', name: parameterName(bound, node.at('let')) };
  node.end();
  return defined({ label: label === undefined ? undefined : asLabel(label, node.at('label')), from });
}

function parameterName(value: unknown, path: string): string {
  if (typeof value !== 'string' || !/^[A-Za-z][A-Za-z0-9_]*$/.test(value))
    throw refused(path, 'the name of a parameter');
  return value;
}

function budgetOf(node: JsonNode): Assemble['budget'] {
  if (typeof node.peek('budget') === 'number') return { value: asInteger(node.take('budget'), node.at('budget')) };
  const inner = node.node('budget');
  if (inner === undefined) return undefined;
  const value = asInteger(inner.take('value'), inner.at('value'));
  const unit = inner.take('unit');
  inner.end();
  return defined({
    value,
    unit: unit === undefined ? undefined : asWord(unit, ['tokens', 'grains'], inner.at('unit')),
  });
}

function streamOf(node: JsonNode): NonNullable<Assemble['stream']> {
  const events = node.list('events').map((value) => ({ word: asLabel(value, node.at('events')).word.toLowerCase() }));
  const chunkSize = node.integer('chunk_size');
  node.end();
  return defined({ events, chunkSize });
}

function historyOf(node: JsonNode): History | HistoryDiff | HistoryOfPair {
  if (node.has('hash')) {
    const grain = asReference(node.take('hash'), node, 'hash');
    const to = node.take('diff');
    if (to === undefined) return { kind: 'history', grain };
    return { kind: 'history_diff', from: grain, to: asReference(to, node, 'diff') };
  }
  const namespace = readInClause(node);
  const asOf = node.string('as_of');
  return defined({
    kind: 'history_of_pair',
    in: namespace,
    subject: asValue(node.take('subject'), node, 'subject'),
    relation: asValue(node.take('relation'), node, 'relation'),
    asOf,
  });
}

const EXPLAINABLE = ['recall', 'assemble', 'set_op', 'batch', 'coalesce', 'add', 'supersede', 'revert'] as const;

function explainedOf(node: JsonNode): Explain['statement'] {
  const inner = new JsonNode(node.take('query'), node.at('query'), node.depth);
  asWord(inner.take('statement'), EXPLAINABLE, inner.at('statement'));
  const statement = readStatement(inner) as Explain['statement']; // Its word was just checked.
  inner.end();
  return statement;
}

function describeOf(node: JsonNode): Describe {
  const target = asWord(node.take('target'), DESCRIBE_TARGETS, node.at('target'));
  if (target !== 'fields' || !node.has('grain_type')) return { kind: 'describe', target };
  return { kind: 'describe', target, grainType: singularOf(node) };
}

function singularOf(node: JsonNode): Word {
  const type = node.required('grain_type').toLowerCase();
  if (typeOfSingular(type) === undefined) throw unknownType(type, { plural: false });
  return { word: type };
}

function batchOf(node: JsonNode): Batch {
  const entries = node.list('entries').map((value) => {
    const entry = new JsonNode(value, node.at('entries'), node.depth);
    const label = asLabel(entry.take('label'), entry.at('label'));
    const inner = entry.inside(entry.take('query'), 'query');
    asWord(inner.take('statement'), ENTRY_WORDS, inner.at('statement'));
    const statement = readStatement(inner) as BatchStatement; // Its word was just checked.
    inner.end();
    entry.end();
    return { label, statement };
  });
  return { kind: 'batch', entries };
}

/** The members of `set`, in their order. */
function assignmentsOf(node: JsonNode): Assignments {
  const value = node.take('set');
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused(node.at('set'), 'an object');
  return Object.entries(value).map(([name, member]) => ({
    field: asField(name, node.at('set')),
    value: asValue(member, node, 'set'),
  }));
}

/** The reason. Throws E018 if absent. */
function reasonOf(node: JsonNode): string {
  if (!node.has('reason')) throw new CalError('CAL-E018', 'the statement gives no reason');
  return node.required('reason');
}
