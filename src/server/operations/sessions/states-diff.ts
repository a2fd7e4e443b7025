import { EngineError } from '../../../engine/base/errors.ts';
import { objectOf } from '../../../engine/grain/api/json-value.ts';
import type { GrainView, JsonObject, JsonValue } from '../../../shards/protocol.ts';
import { defineOperation } from '../define.ts';
import { bodyOf } from '../grains/fields.ts';
import { Hash } from '../grains/view.ts';
import { outsideSchema } from '../names.ts';
import { described, Type } from '../type.ts';
import { diffData } from './data-diff.ts';

const Input = Type.Object({
  oldHash: described(Hash, 'Hash of the state to compare from, in any version; from is an alias.'),
  newHash: described(Hash, 'Hash of the state to compare with, in any version; to is an alias.'),
});

const Value = Type.Unsafe<JsonValue>({ description: 'Any JSON value.' });
const paths = (description: string) => Type.Array(Type.String(), { description });

export const statesDiff = defineOperation({
  name: 'states_diff',
  summary: 'Compare the data of two states.',
  description:
    'Nested data is compared by path, such as plan.steps[0]; each entry stands at the highest path for which it is true.',
  example: {
    old_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    new_hash: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752',
  },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  input: Input,
  output: Type.Object({
    oldHash: Type.String({ description: 'Hash of the state that was compared from.' }),
    newHash: Type.String({ description: 'Hash of the state that it was compared with.' }),
    added: paths('Paths that only the new state has.'),
    removed: paths('Paths that only the old state has.'),
    changed: Type.Array(
      Type.Object({
        key: Type.String({ description: 'Path of the value.' }),
        old: described(Value, 'The value in the old state.'),
        new: described(Value, 'The value in the new state.'),
      }),
      { description: 'Paths with different values.' },
    ),
    unchanged: paths('Paths with equal values.'),
    truncated: Type.Optional(
      Type.Literal(true, { description: 'True when there are more than 10,000 entries; the others are left out.' }),
    ),
  }),
  errors: ['MEM-E001', 'VAL-E001'],
  http: [
    {
      verb: 'POST',
      path: 'M/states/diff',
      bodySchema: outsideSchema(Input),
      otherNames: ['from', 'to'],
      read: ({ json }) => {
        const body = bodyOf(json);
        return { oldHash: body['old_hash'] ?? body['from'], newHash: body['new_hash'] ?? body['to'] };
      },
    },
  ],
  async run({ oldHash, newHash }, context) {
    const [old, next] = await Promise.all([
      context.call('get', { hash: oldHash }),
      context.call('get', { hash: newHash }),
    ]);
    const { cut, ...diff } = diffData(dataOf(old, 'old_hash'), dataOf(next, 'new_hash'));
    return {
      oldHash,
      newHash,
      added: [...diff.added],
      removed: [...diff.removed],
      changed: [...diff.changed],
      unchanged: [...diff.unchanged],
      truncated: cut || undefined,
    };
  },
});

function dataOf({ grainType, fields }: GrainView, field: string): JsonObject {
  const data = fields['data'];
  if (grainType === 'state') return objectOf(data);
  const issue = `names a ${grainType}, not a state`;
  throw new EngineError('VAL-E001', `\`${field}\` ${issue}`, { details: [{ field, issue }] });
}
