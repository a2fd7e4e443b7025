// Trees for property tests. `validQueries` pass the validator. `anyQueries` are trees that a reader can produce; the
// validator refuses most of them. Both include strings that are hard to print.
import fc, { type Arbitrary } from 'fast-check';
import { EXTRACTORS } from '../../calls/cal.ts';
import type { GrainType } from '../../grain/grain.ts';
import {
  type Assemble,
  type Batch,
  DESCRIBE_TARGETS,
  type GrainReference,
  type LetBinding,
  type Query,
  type Recall,
  SET_OPERATORS,
  type SetOperation,
  type Statement,
  type Value,
} from '../ast.ts';
import { CalError } from '../errors.ts';
import { ADDABLE } from '../validate/writes.ts';
import { validate } from '../validate.ts';
import { commonField, TYPE_FIELDS } from '../vocabulary/fields.ts';
import { SINGULARS } from '../vocabulary/grain-types.ts';
import { formatsOf, optionsOf, sections, stagesOf, wildFields } from './arbitrary-clauses.ts';
import { keepsGrains, recallsOf } from './arbitrary-recall.ts';
import {
  compact,
  filled,
  hashes,
  identifiers,
  labels,
  literalOf,
  maybe,
  texts,
  wildValues,
} from './arbitrary-values.ts';

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
    type: GrainType,
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
          .subarray([...ADDABLE.get(type)!.slice(3)])
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

/** Trees that a reader can produce, valid or not. */
export const anyQueries: Arbitrary<Query> = queriesOf(true).map(withoutPlaces);

/** Trees that the validator accepts. */
export const validQueries: Arbitrary<Query> = queriesOf(false).map(withoutPlaces).filter(isValid);

/** True if the validator accepts the tree. */
export function isValid(query: Query): boolean {
  try {
    validate(query);
    return true;
  } catch (error) {
    if (error instanceof CalError) return false;
    throw error;
  }
}

/** The tree without source ranges, so that trees can be compared. */
export function withoutPlaces<T>(node: T): T {
  // The same tree without two members that are optional everywhere.
  return JSON.parse(
    JSON.stringify(node, (key, value: unknown) => (key === 'at' || key === 'places' ? undefined : value)),
  ) as T;
}
