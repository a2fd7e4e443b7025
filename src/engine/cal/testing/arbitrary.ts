// Trees for property tests. `validQueries` pass the validator; `anyQueries` are only such as a reader can give, so that
// most would be refused. Both hold strings that are hard to write down.
import fc, { type Arbitrary } from 'fast-check';
import {
  type Assemble,
  type Batch,
  CATEGORIES,
  COMPARATORS,
  type Condition,
  DESCRIBE_TARGETS,
  DISCLOSURE_LEVELS,
  EXTRACTORS,
  type Format,
  type FormatChoice,
  type GrainReference,
  type LetBinding,
  type Query,
  type Recall,
  SECTIONS,
  SET_OPERATORS,
  type SetOperation,
  type Stage,
  type Statement,
  type Value,
  type WithOption,
  type Word,
} from '../ast.ts';
import { CalError } from '../errors.ts';
import { rawEnd } from '../lexer.ts';
import { FORMAT_WORDS } from '../parser/formats.ts';
import { ADDABLE } from '../validate/writes.ts';
import { validate } from '../validate.ts';
import { commonField, DOMAIN_PROFILES, type Field, fieldsOf, TYPE_FIELDS } from '../vocabulary/fields.ts';
import { type CalGrainType, pluralOf, SINGULARS } from '../vocabulary/grain-types.ts';
import { CATEGORY_RELATIONS } from '../vocabulary/relations.ts';
import { isReserved } from '../vocabulary/words.ts';

const BIDI = /[\u202A-\u202E\u2066-\u2069]/g;

/** Any text that a literal can hold: in NFC, without direction controls. */
export const texts: Arbitrary<string> = fc
  .oneof(
    fc.constantFrom('alice', 'mg:prefers', 'last week', '\\', '"', '\\"', '--', "'", '{{', 'é', '\n', 'e\u0301'),
    fc.string({ unit: 'binary', maxLength: 12 }),
  )
  .map((text) => text.replace(BIDI, '').normalize('NFC'));

const filled = texts.filter((text) => text.trim() !== '');
const identifiers = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,8}$/).filter((name) => !isReserved(name.toLowerCase()));
const labels: Arbitrary<Word> = fc
  .oneof(identifiers, fc.constantFrom('history', 'recent', 'facts', 'Goals', 'observation', 'int'))
  .map((word) => ({ word }));
const hashes: Arbitrary<GrainReference> = fc.stringMatching(/^[0-9a-f]{8,64}$/).map((hex) => ({ kind: 'hash', hex }));
const numbers = fc
  .oneof(fc.integer({ min: -5, max: 2_000_000_000 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .map((value) => (value === 0 ? 0 : value));
const times = fc.oneof(
  fc.constantFrom('today', 'yesterday', 'last week', 'last 3 days', '2 hours ago', 'this month', '2026-03-01'),
  fc.integer({ min: 0, max: 2_000_000_000_000 }),
);

/** A plain object without the members that are undefined: what the readers give. */
function compact<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T; // The same, less.
}

function maybe<T>(arbitrary: Arbitrary<T>): Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined, freq: 3 });
}

const wildValues: Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    texts.map((value): Value => ({ kind: 'string', value })),
    numbers.map((value): Value => ({ kind: 'number', value })),
    fc.boolean().map((value): Value => ({ kind: 'boolean', value })),
    hashes,
    identifiers.map((name): Value => ({ kind: 'parameter', name })),
    fc.array(tie('value'), { maxLength: 3 }).map((items): Value => ({ kind: 'array', items })),
  ),
})).value;

/** A value of the field's own type, and one of its words where it has some. */
function literalOf(field: Field): Arbitrary<Value> {
  const strings = (from: Arbitrary<string>): Arbitrary<Value> => from.map((value) => ({ kind: 'string', value }));
  switch (field.type) {
    case 'string':
      return field.name === 'relation'
        ? strings(fc.oneof(texts, fc.constantFrom(...Object.values(CATEGORY_RELATIONS).flat())))
        : strings(texts);
    case 'array':
      return strings(texts);
    case 'enum':
      return strings(fc.constantFrom(...field.values!));
    case 'grain_type':
      return strings(fc.constantFrom(...SINGULARS));
    case 'number':
      return fc
        .double({ min: 0, max: 1, noNaN: true })
        .map((value) => ({ kind: 'number', value: value === 0 ? 0 : value }));
    case 'boolean':
      return fc.boolean().map((value) => ({ kind: 'boolean', value }));
    case 'temporal':
      return times.map((value) => (typeof value === 'string' ? { kind: 'string', value } : { kind: 'number', value }));
    case 'hash':
      return hashes;
  }
}

function word(field: { readonly name: string }): Word {
  return { word: field.name };
}

function conditionsOn(field: Field, subqueries: Arbitrary<Recall> | undefined): Arbitrary<Condition> {
  return fc.constantFrom(...field.operators).chain((operator): Arbitrary<Condition> => {
    const value = literalOf(field);
    switch (operator) {
      case 'IS':
        return fc.constantFrom(...CATEGORIES).map((category) => ({ field: word(field), op: 'is', category }));
      case 'BETWEEN':
        return fc.tuple(value, value).map((pair) => ({ field: word(field), op: 'between', value: pair }));
      case 'IN': {
        const listed = fc
          .array(value, { minLength: 1, maxLength: 4 })
          .map((values): Condition => ({ field: word(field), op: 'in', values }));
        if (subqueries === undefined) return listed;
        return fc.oneof(
          { weight: 3, arbitrary: listed },
          {
            weight: 1,
            arbitrary: fc
              .tuple(subqueries, fc.constantFrom(...EXTRACTORS))
              .map(([recall, extract]): Condition => ({ field: word(field), op: 'in', recall, extract })),
          },
        );
      }
      case 'INCLUDE':
      case 'EXCLUDE': {
        const op = operator === 'INCLUDE' ? 'include' : 'exclude';
        return fc.array(value, { minLength: 1, maxLength: 3 }).map((values) => ({ field: word(field), op, values }));
      }
      default:
        return value.map((one) => ({ field: word(field), op: operator, value: one }));
    }
  });
}

const domainConditions: Arbitrary<Condition> = fc
  .tuple(
    fc.constantFrom(...DOMAIN_PROFILES.keys()),
    fc.stringMatching(/^[a-z][a-z0-9_]{0,6}$/),
    fc.constantFrom(...COMPARATORS),
    texts,
  )
  .map(([prefix, name, op, value]) => ({ field: { word: `${prefix}:${name}` }, op, value: { kind: 'string', value } }));

const wildFields = fc
  .oneof(
    identifiers.map((name) => name.toLowerCase()),
    fc.constantFrom('threshold', 'scope', 'hc:order', 'x:y'),
  )
  .filter((name) => !isReserved(name) || name === 'threshold' || name === 'scope')
  .map((name): Word => ({ word: name }));

function wildConditions(subqueries: Arbitrary<Recall>): Arbitrary<Condition> {
  return fc.oneof(
    fc.record({ field: wildFields, op: fc.constantFrom(...COMPARATORS), value: wildValues }),
    fc.record({ field: wildFields, op: fc.constant('between' as const), value: fc.tuple(wildValues, wildValues) }),
    fc.record({
      field: wildFields,
      op: fc.constant('in' as const),
      values: fc.array(wildValues, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      field: wildFields,
      op: fc.constant('exclude' as const),
      values: fc.array(wildValues, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ field: wildFields, op: fc.constant('is' as const), category: fc.constantFrom(...CATEGORIES) }),
    fc.record({
      field: wildFields,
      op: fc.constant('in' as const),
      recall: subqueries,
      extract: fc.constantFrom(...EXTRACTORS),
    }),
  );
}

function optionsOf(fields: Arbitrary<Word>, isWild: boolean): Arbitrary<readonly WithOption[]> {
  const share = isWild ? numbers : fc.constantFrom(0, 0.25, 1);
  const option: Arbitrary<WithOption> = fc.oneof(
    fc
      .constantFrom(
        'superseded',
        'score_breakdown',
        'explanation',
        'provenance',
        'contradiction_detection',
        'summarize',
        'iso_timestamps',
      )
      .map((name): WithOption => ({ option: name })),
    maybe(fc.constantFrom(...DISCLOSURE_LEVELS)).map((level) =>
      compact<WithOption>({ option: 'progressive_disclosure', level }),
    ),
    maybe(share).map((lambda) => compact<WithOption>({ option: 'diversity', by: 'mmr', lambda })),
    share.map((threshold): WithOption => ({ option: 'diversity', by: 'threshold', threshold })),
    fc.constantFrom('eventual', 'linearizable').map((level): WithOption => ({ option: 'consistency', level })),
    share.map((bound): WithOption => ({ option: 'consistency', level: 'bounded', bound })),
    fields.map((field): WithOption => ({ option: 'dedup', field })),
    texts.map((locale): WithOption => ({ option: 'locale', locale })),
    fc.nat().map((ttl): WithOption => ({ option: 'cache', ttl })),
    fc
      .array(
        texts.map((value): Value => ({ kind: 'string', value })),
        { maxLength: 2 },
      )
      .map((values): WithOption => ({ option: 'vendor', name: 'x_hint', values })),
  );
  return fc.uniqueArray(option, {
    maxLength: 3,
    selector: (one) => (one.option === 'vendor' ? one.name : one.option),
  });
}

function stagesOf(fields: readonly Word[] | undefined, isWild: boolean): Arbitrary<readonly Stage[]> {
  const field = fields === undefined ? wildFields : fc.constantFrom(...fields);
  const some = fc.array(field, { minLength: 1, maxLength: 3 });
  const counts = isWild ? fc.integer({ min: -3, max: 5_000 }) : fc.integer({ min: 1, max: 1_000 });
  const keeping: Arbitrary<Stage> = fc.oneof(
    some.map((fields): Stage => ({ stage: 'select', fields })),
    fc
      .tuple(field, maybe(fc.boolean()))
      .map(([one, descending]) => compact<Stage>({ stage: 'order_by', field: one, descending })),
    counts.map((count): Stage => ({ stage: 'limit', count })),
    (isWild
      ? fc.oneof(
          counts,
          identifiers.map((name) => ({ kind: 'parameter' as const, name })),
        )
      : counts
    ).map((count): Stage => ({ stage: 'offset', count })),
    fc.constant<Stage>({ stage: 'first' }),
    fc
      .array(fc.record({ into: fc.constantFrom('content' as const, 'attr' as const), fields: some }), {
        minLength: 1,
        maxLength: 2,
      })
      .map((parts): Stage => ({ stage: 'project', parts })),
  );
  const ending: Arbitrary<Stage> = fc.oneof(
    fc.constantFrom('count' as const, ...EXTRACTORS).map((stage): Stage => ({ stage })),
    field.map((one): Stage => ({ stage: 'group_by', field: one })),
  );
  return fc
    .tuple(fc.array(keeping, { maxLength: 3 }), maybe(ending))
    .map(([stages, end]) => (end === undefined ? stages : [...stages, end]));
}

/** Bodies that a section in braces can have. */
const bodies = fc
  .oneof(fc.constantFrom('- {{grain.content}}', '{{grain.subject}}: {a}', '\n', ' \t', '\n x\n\n'), texts)
  .filter((text) => rawEnd(`${text}}`, 0) === text.length && !/^[ \t]+[\r\n]|[\r\n][ \t]+$/.test(text));
const sections = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...SECTIONS), bodies), {
    minLength: 1,
    maxLength: 3,
    selector: ([name]) => name,
  })
  .map((entries) => Object.fromEntries(entries));

function formatsOf(isWild: boolean): Arbitrary<FormatChoice> {
  const named: Arbitrary<Format> = fc.constantFrom(...FORMAT_WORDS).map((name) => ({ kind: 'named', name }));
  const format: Arbitrary<Format> = isWild
    ? fc.oneof(
        named,
        identifiers.map((name): Format => ({ kind: 'template_reference', name })),
        texts.map((text): Format => ({ kind: 'template_text', text })),
        sections.map((some): Format => ({ kind: 'template_sections', sections: some })),
      )
    : fc.oneof(named, fc.constant<Format>({ kind: 'template_text', text: '- {{grain.content}}\n' }));
  const alias = identifiers.map((name) => name.toLowerCase());
  return fc.oneof(
    format.map((one): FormatChoice => ({ kind: 'one', format: one })),
    fc
      .array(
        fc
          .tuple(format, maybe(alias))
          .map(([one, name]) => compact<{ format: Format; alias?: string }>({ format: one, alias: name })),
        { minLength: 1, maxLength: 3 },
      )
      .map((formats): FormatChoice => ({ kind: 'list', formats })),
  );
}

interface RecallShape {
  readonly isWild: boolean;
  /** How many recalls may stand within one another below this one. */
  readonly depth: number;
  /** The stages leave grains, and nothing formats them. */
  readonly isOperand?: boolean;
}

/** The time, the order and the search of a recall can each be asked for in one way: it has one of these at most. */
function recallsOf({ isWild, depth, isOperand = false }: RecallShape): Arbitrary<Recall> {
  const inner = depth === 0 ? undefined : recallsOf({ isWild, depth: depth - 1, isOperand: true });
  return maybe(fc.constantFrom(...SINGULARS)).chain((type) => {
    const fields = fieldsOf(type);
    const subqueries = inner?.map(
      (recall): Recall => (isWild ? recall : { ...recall, grainType: { word: 'beliefs' }, where: [] }),
    );
    const condition: Arbitrary<Condition> = isWild
      ? wildConditions(inner ?? fc.constant<Recall>({ kind: 'recall', where: [], with: [], stages: [] }))
      : fc.oneof(
          { weight: 5, arbitrary: fc.constantFrom(...fields).chain((field) => conditionsOn(field, subqueries)) },
          { weight: 1, arbitrary: domainConditions },
        );
    const able = fields.filter((field) => field.projectable && field.sortable && field.groupable).map(word);
    const stages = stagesOf(isWild ? undefined : able, isWild).map((some) =>
      isOperand ? some.filter(keepsGrains) : some,
    );
    return fc
      .record({
        my: maybe(fc.constant(true)),
        in: maybe(
          fc
            .tuple(texts, maybe(fc.constant(true)))
            .map(([name, scope]) => compact<NonNullable<Recall['in']>>({ name, scope })),
        ),
        about: maybe(texts),
        like: maybe(texts),
        since: maybe(fc.constantFrom('today', 'last 3 days').map((value): Value => ({ kind: 'string', value }))),
        between: maybe(
          fc.constant<readonly [Value, Value]>([
            { kind: 'number', value: 1 },
            { kind: 'string', value: '2026-03-01' },
          ]),
        ),
        thread: maybe(
          fc.oneof(
            texts.map((session) => ({ session })),
            hashes.map((from) => ({ from })),
          ),
        ),
        where: fc.array(condition, { maxLength: 3 }),
        with: optionsOf(isWild ? wildFields : fc.constantFrom(...able), isWild),
        stages,
        recent: maybe(fc.integer({ min: 1, max: 1_000 })),
        contradictions: maybe(fc.constant(true)),
        format: isOperand && !isWild ? fc.constant(undefined) : maybe(formatsOf(isWild)),
      })
      .map((draft) => compact<Recall>({ kind: 'recall', grainType: type && { word: pluralOf(type) }, ...draft }))
      .map((recall) => (isWild ? recall : withoutConflicts(recall, type)));
  });
}

function keepsGrains({ stage }: Stage): boolean {
  return !['count', 'subjects', 'objects', 'hashes', 'group_by'].includes(stage);
}

/** The recall without the clauses that the rules refuse beside others of its own. */
function withoutConflicts(recall: Recall, type: CalGrainType | undefined): Recall {
  const { about, like, since, between, thread, recent, format, ...rest } = recall;
  const has = (name: string): boolean => rest.where.some(({ field }) => field.word === name);
  const orders = rest.stages.some(({ stage }) => stage === 'order_by' || stage === 'limit');
  const threads =
    (type === undefined || type === 'event') &&
    !has('session_id') &&
    !rest.stages.some(({ stage }) => stage === 'order_by');
  const stages = rest.stages.filter(({ stage }) => type === 'belief' || (stage !== 'subjects' && stage !== 'objects'));
  return compact<Recall>({
    ...rest,
    stages,
    my: has('user_id') ? undefined : rest.my,
    about,
    like: about !== undefined || has('query') ? undefined : like,
    since: has('time') ? undefined : since,
    between: has('time') || since !== undefined ? undefined : between,
    thread: threads ? thread : undefined,
    recent: orders || (threads && thread !== undefined) ? undefined : recent,
    format: stages.every(keepsGrains) ? format : undefined,
  });
}

function referencesOf(isWild: boolean): Arbitrary<GrainReference> {
  return isWild
    ? fc.oneof(
        hashes,
        identifiers.map((name) => ({ kind: 'parameter' as const, name })),
      )
    : hashes;
}

function setOperationsOf(isWild: boolean, depth: number): Arbitrary<SetOperation> {
  const recall = recallsOf({ isWild, depth: 0, isOperand: true });
  const operand = depth === 0 ? recall : fc.oneof(recall, setOperationsOf(isWild, depth - 1));
  return fc
    .tuple(
      fc.constantFrom(...SET_OPERATORS),
      fc.array(operand, { minLength: 2, maxLength: 2 }),
      stagesOf(isWild ? undefined : [{ word: 'subject' }], isWild),
    )
    .map(([operator, operands, stages]) => ({
      kind: 'set_op',
      operator,
      operands: operands.map((one): Recall | SetOperation =>
        isWild || one.kind === 'recall' ? one : { ...one, stages: one.stages.filter(keepsGrains) },
      ),
      stages: isWild ? stages : stages.filter(({ stage }) => stage !== 'subjects' && stage !== 'objects'),
    }));
}

function assembliesOf(isWild: boolean): Arbitrary<Assemble> {
  const source = recallsOf({ isWild, depth: 1, isOperand: true }).map((from) => ({ from }));
  const sources = fc
    .tuple(
      fc.array(source, { minLength: 1, maxLength: 3 }),
      fc.uniqueArray(labels, { selector: ({ word }) => word, maxLength: 3 }),
    )
    .map(([some, names]) =>
      some.map((one, index) => compact<Assemble['sources'][number]>({ label: names[index], from: one.from })),
    );
  return fc
    .record({
      name: maybe(identifiers),
      for: maybe(texts),
      sources,
      budget: maybe(
        fc.record({
          value: fc.integer({ min: 1, max: isWild ? 99_999 : 200 }),
          unit: fc.constantFrom('tokens' as const, 'grains' as const),
        }),
      ),
      prioritised: fc.boolean(),
      format: maybe(formatsOf(isWild)),
      stream: isWild
        ? maybe(
            fc
              .tuple(
                fc.uniqueArray(fc.constantFrom('progress', 'budget', 'all', 'other'), { maxLength: 3 }),
                maybe(fc.integer({ min: 1, max: 99 })),
              )
              .map(([events, chunkSize]) =>
                compact<NonNullable<Assemble['stream']>>({ events: events.map((one) => ({ word: one })), chunkSize }),
              ),
          )
        : fc.constant(undefined),
      with: optionsOf(isWild ? wildFields : fc.constant({ word: 'subject' }), isWild),
    })
    .map(({ prioritised, ...rest }) => {
      const ranked = rest.sources.flatMap(({ label }) => (label ? [label] : []));
      return compact<Assemble>({ kind: 'assemble', ...rest, priority: prioritised ? ranked : [] });
    });
}

function readsOf(isWild: boolean): Arbitrary<Batch['entries'][number]['statement']> {
  const reference = referencesOf(isWild);
  const pair = isWild ? wildValues : texts.map((value): Value => ({ kind: 'string', value }));
  return fc.oneof(
    recallsOf({ isWild, depth: 1 }),
    reference.map((grain) => ({ kind: 'exists' as const, grain })),
    reference.map((grain) => ({ kind: 'history' as const, grain })),
    fc.tuple(reference, reference).map(([from, to]) => ({ kind: 'history_diff' as const, from, to })),
    fc
      .tuple(pair, pair, maybe(fc.constantFrom('yesterday', '2026-03-01T10:00:00Z')))
      .map(([subject, relation, asOf]) =>
        compact<Extract<Statement, { kind: 'history_of_pair' }>>({ kind: 'history_of_pair', subject, relation, asOf }),
      ),
    fc.constantFrom(...DESCRIBE_TARGETS).map((target) => ({ kind: 'describe' as const, target })),
    fc
      .constantFrom(...SINGULARS)
      .map((type) => ({ kind: 'describe' as const, target: 'fields' as const, grainType: { word: type } })),
    fc
      .array(recallsOf({ isWild, depth: 0, isOperand: true }), { minLength: 2, maxLength: 3 })
      .map((branches) => ({ kind: 'coalesce' as const, branches })),
  );
}

const batches = (isWild: boolean): Arbitrary<Batch> =>
  fc
    .uniqueArray(fc.record({ label: labels, statement: readsOf(isWild) }), {
      minLength: 1,
      maxLength: 4,
      selector: ({ label }) => label.word,
    })
    .map((entries) => ({ kind: 'batch', entries }));

function writesOf(isWild: boolean): Arbitrary<Extract<Statement, { kind: 'add' | 'supersede' | 'revert' }>> {
  const assigned = (
    name: string,
    type: CalGrainType,
  ): Arbitrary<Statement & { kind: 'add' } extends { set: readonly (infer A)[] } ? A : never> => {
    const field = commonField(name) ?? TYPE_FIELDS[type].find((one) => one.name === name)!;
    const list = field.type === 'array' || name === 'depends_on';
    const value = list
      ? fc.array(literalOf(field), { maxLength: 2 }).map((items): Value => ({ kind: 'array', items }))
      : literalOf(field);
    return (isWild ? wildValues : value).map((one) => ({ field: { word: name }, value: one }));
  };
  const add = fc.constantFrom('belief' as const, 'observation' as const, 'goal' as const).chain((type) =>
    fc
      .tuple(
        fc
          .subarray([...ADDABLE[type]!.slice(3)])
          .chain((more) => fc.tuple(...['subject', 'relation', 'object', ...more].map((name) => assigned(name, type)))),
        filled,
      )
      .map(([set, reason]): Statement & { kind: 'add' } => ({ kind: 'add', grainType: { word: type }, set, reason })),
  );
  const supersede = fc
    .tuple(
      referencesOf(isWild),
      fc
        .subarray(['object', 'confidence', 'tags'], { minLength: 1 })
        .chain((names) => fc.tuple(...names.map((name) => assigned(name, 'belief')))),
      filled,
    )
    .map(([grain, set, reason]) => ({ kind: 'supersede' as const, grain, set, reason }));
  const revert = fc
    .tuple(referencesOf(isWild), filled)
    .map(([grain, reason]) => ({ kind: 'revert' as const, grain, reason }));
  return fc.oneof(add, supersede, revert);
}

function statementsOf(isWild: boolean): Arbitrary<Statement> {
  const explained = fc.oneof(
    recallsOf({ isWild, depth: 1 }),
    assembliesOf(isWild),
    setOperationsOf(isWild, 0),
    batches(isWild),
    writesOf(isWild),
  );
  return fc.oneof(
    { weight: 6, arbitrary: recallsOf({ isWild, depth: 2 }) },
    { weight: 2, arbitrary: setOperationsOf(isWild, 1) },
    { weight: 3, arbitrary: assembliesOf(isWild) },
    { weight: 2, arbitrary: readsOf(isWild) },
    { weight: 2, arbitrary: batches(isWild) },
    { weight: 1, arbitrary: explained.map((statement): Statement => ({ kind: 'explain', statement })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          identifiers,
          isWild ? maybe(identifiers) : fc.constantFrom(undefined, 'readable'),
          isWild
            ? fc.oneof(
                texts.map((text) => ({ text })),
                sections.map((some) => ({ sections: some })),
              )
            : fc.constant({ text: '{{grain.content}}' }),
        )
        .map(([name, parent, body]) =>
          compact<Extract<Statement, { kind: 'define_template' }>>({
            kind: 'define_template',
            name,
            extends: parent,
            body,
          }),
        ),
    },
    { weight: 1, arbitrary: writesOf(isWild) },
  );
}

function queriesOf(isWild: boolean): Arbitrary<Query> {
  const binding = fc
    .tuple(recallsOf({ isWild, depth: 0, isOperand: true }), maybe(fc.constantFrom(...EXTRACTORS)))
    .map(([recall, extract]) =>
      compact<Omit<LetBinding, 'name'>>({ recall: { ...recall, grainType: { word: 'beliefs' } }, extract }),
    );
  const lets = fc
    .array(binding, { maxLength: 2 })
    .map((some) => some.map((one, index): LetBinding => ({ name: `bound${index}`, ...one })));
  return fc.record({
    lets: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: lets }),
    statement: statementsOf(isWild),
  });
}

/** Trees that a reader can give, right or wrong. */
export const anyQueries: Arbitrary<Query> = queriesOf(true).map(withoutPlaces);

/** Trees that the validator passes. */
export const validQueries: Arbitrary<Query> = queriesOf(false).map(withoutPlaces).filter(isValid);

/** True when the validator passes the tree. */
export function isValid(query: Query): boolean {
  try {
    validate(query);
    return true;
  } catch (error) {
    if (error instanceof CalError) return false;
    throw error;
  }
}

/** The tree without the places where things stood: two that are equal then say the same. */
export function withoutPlaces<T>(node: T): T {
  // The same tree less two members that are optional everywhere.
  return JSON.parse(
    JSON.stringify(node, (key, value: unknown) => (key === 'at' || key === 'places' ? undefined : value)),
  ) as T;
}
