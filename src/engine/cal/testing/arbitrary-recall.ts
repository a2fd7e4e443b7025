// Recalls for property tests.
import fc, { type Arbitrary } from 'fast-check';
import type { GrainType } from '../../grain/grain.ts';
import { type Condition, fieldConditions, type Recall, type Stage, type Value } from '../ast.ts';
import { fieldNamed, fieldsOf } from '../vocabulary/fields.ts';
import { pluralOf, SINGULARS } from '../vocabulary/grain-types.ts';
import {
  conditionsOn,
  domainConditions,
  formatsOf,
  optionsOf,
  stagesOf,
  wildConditions,
  wildFields,
} from './arbitrary-clauses.ts';
import { compact, hashes, maybe, texts, word } from './arbitrary-values.ts';

interface RecallShape {
  readonly isWild: boolean;
  /** Maximum nesting of recalls below this one. */
  readonly depth: number;
  /** True if the stages must return grains, without a format. */
  readonly isOperand?: boolean;
}

/** Recalls with at most one clause for each of time, order and search, because more would contradict each other. */
export function recallsOf({ isWild, depth, isOperand = false }: RecallShape): Arbitrary<Recall> {
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

export function keepsGrains({ stage }: Stage): boolean {
  return !['count', 'subjects', 'objects', 'hashes', 'group_by'].includes(stage);
}

/** The recall without clauses that the rules refuse in combination with its other clauses. */
function withoutConflicts(recall: Recall, type: GrainType | undefined): Recall {
  const { about, like, since, between, thread, recent, format, ...rest } = recall;
  const has = (name: string): boolean =>
    fieldConditions(rest.where).some(({ field }) => fieldNamed(field.word) === name);
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
