// Trees with this server's extensions of the specification.
import fc, { type Arbitrary } from 'fast-check';
import {
  type Assemble,
  type Condition,
  joinedBy,
  type Query,
  type Recall,
  type SetOperation,
  type Stage,
  whereOf,
} from '../ast.ts';
import { withoutPlaces } from './arbitrary.ts';
import { compact, filled, maybe } from './arbitrary-values.ts';

const field = fc.constantFrom('subject', 'relation', 'user_id', 'created_at', 'confidence').map((word) => ({ word }));
const text = filled.map((value) => ({ kind: 'string' as const, value }));
const parameter = fc.constant({ kind: 'parameter' as const, name: 'current_user_id' });

const leaf: Arbitrary<Condition> = fc.oneof(
  fc.record({ field, op: fc.constantFrom('=' as const, '!=' as const, '<' as const, '>=' as const), value: text }),
  fc.record({
    field,
    op: fc.constantFrom('in' as const, 'not_in' as const),
    values: fc.array(fc.oneof(text, parameter), { minLength: 1, maxLength: 3 }),
  }),
);

/** Conditions in canonical form, some of them deep. */
const conditions = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc
      .tuple(fc.constantFrom('or' as const, 'and' as const), fc.array(tie('condition'), { minLength: 2, maxLength: 3 }))
      .map(([op, of]) => joinedBy(op, of)),
    tie('condition').map((of): Condition => ({ op: 'not', of })),
  ),
})).condition;

const direction = maybe(fc.boolean());
const order: Arbitrary<Stage> = fc
  .record({
    field,
    descending: direction,
    next: fc.record({ field, descending: direction }).map((next) => compact(next)),
  })
  .map((stage) => compact<Extract<Stage, { stage: 'order_by' }>>({ stage: 'order_by', ...stage }));

const recall: Arbitrary<Recall> = fc
  .record({ where: conditions, stages: fc.array(order, { maxLength: 1 }) })
  .map(({ where, stages }) => ({
    kind: 'recall',
    grainType: { word: 'beliefs' },
    where: whereOf(where),
    with: [],
    stages,
  }));

const set: Arbitrary<SetOperation> = fc
  .tuple(recall, recall)
  .map((operands) => ({ kind: 'set_op', operator: 'union', operands, stages: [] }));

const assembly: Arbitrary<Assemble> = fc.record({ all: set, value: fc.integer({ min: 1, max: 16_000 }) }).map(
  ({ all, value }): Assemble => ({
    kind: 'assemble',
    sources: [{ label: { word: 'all' }, from: all }],
    budget: { value },
    priority: [],
    with: [],
  }),
);

export const extendedQueries: Arbitrary<Query> = fc
  .oneof(recall, set, assembly)
  .map((statement): Query => withoutPlaces({ lets: [], statement }));
