// An access tuple in requests and answers. Each member has a second name, as other systems call it.
import { EngineError } from '../../../engine/base/errors.ts';
import { missing } from '../grains/fields.ts';
import { type Static, Type } from '../type.ts';

export const TupleInput = {
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'The holder of the relation: TYPE:ID such as user:alice, the members of a relation such as group:eng#member, or everyone of a type such as agent:*.',
    }),
  ),
  relation: Type.Optional(
    Type.String({ minLength: 1, description: 'The relation to the object, such as viewer or editor.' }),
  ),
  object: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'The object: memory:ID, namespace:PATH, group:ID or harness:SLUG.',
    }),
  ),
  user: Type.Optional(Type.String({ minLength: 1, description: 'Another name for subject.' })),
  permission: Type.Optional(Type.String({ minLength: 1, description: 'Another name for relation.' })),
  resource: Type.Optional(Type.String({ minLength: 1, description: 'Another name for object.' })),
};
const TupleInputObject = Type.Object(TupleInput);

export const Tuple = Type.Object({
  subject: Type.String({ description: 'The holder of the relation.' }),
  relation: Type.String({ description: 'The relation to the object.' }),
  object: Type.String({ description: 'The object of the relation.' }),
});

/** VAL-E003 for a missing member, VAL-E001 where a member and its other name differ. */
export function tupleOf(input: Static<typeof TupleInputObject>): Static<typeof Tuple> {
  return {
    subject: oneOf('subject', input.subject, 'user', input.user),
    relation: oneOf('relation', input.relation, 'permission', input.permission),
    object: oneOf('object', input.object, 'resource', input.resource),
  };
}

function oneOf(name: string, value: string | undefined, other: string, otherValue: string | undefined): string {
  const given = value ?? otherValue;
  if (given === undefined) throw missing(name);
  if (otherValue !== undefined && given !== otherValue)
    throw new EngineError('VAL-E001', `\`${name}\` and \`${other}\` are two names of one member: send one`, {
      details: [{ field: other, issue: `differs from ${name}` }],
    });
  return given;
}
