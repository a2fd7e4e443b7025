// Descriptions in the schemas, which OpenAPI, `docs/recall.md` and the help of the CLI reuse.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/schema';
import { planOf } from '../../engine/cal/run/plans.ts';
import type { Operation } from './define.ts';
import { isMembers, type Members, outsideSchema } from './names.ts';
import { fullPath, openApiDocument } from './openapi.ts';
import { OPERATIONS } from './table.ts';
import type { UnknownMember } from './unknown-members.ts';
import { compileCheck } from './validate.ts';

const DESCRIPTION_CHARS_MAX = 240;

/** Every member of an object within `schema`, by its path. */
function* membersOf(schema: unknown, path: string): Generator<readonly [path: string, member: Members]> {
  if (!isMembers(schema)) return;
  const { properties, items, anyOf, additionalProperties, patternProperties } = schema;
  for (const [name, member] of Object.entries(isMembers(properties) ? properties : {})) {
    assert.ok(isMembers(member), `${path}.${name}`);
    yield [`${path}.${name}`, member];
    yield* membersOf(member, `${path}.${name}`);
  }
  yield* membersOf(items, `${path}[]`);
  yield* membersOf(additionalProperties, `${path}.*`);
  for (const value of Object.values(isMembers(patternProperties) ? patternProperties : {}))
    yield* membersOf(value, `${path}.*`);
  for (const one of Array.isArray(anyOf) ? anyOf : []) yield* membersOf(one, path);
}

function membersOfRow({ name, input, output, http }: Operation): (readonly [string, Members])[] {
  const schemas = [
    [`${name} input`, input],
    [`${name} output`, output],
    ...http.flatMap(({ path, bodySchema, answers }) => [
      [`${name} body of ${path}`, bodySchema],
      ...Object.entries(answers ?? {}).map(([type, answer]) => [`${name} ${type} of ${path}`, answer]),
    ]),
  ] as const;
  return schemas.flatMap(([path, schema]) => [...membersOf(schema, String(path))]);
}

/** Undefined if `text` is a sentence that fits a table. */
function problemOf(text: unknown): string | undefined {
  if (typeof text !== 'string') return 'has no description';
  if (!/^[A-Z0-9"].*\.$/.test(text)) return `is not described by a sentence: ${text}`;
  if (/^(?:Who|What|Whose|Whom|Whoever|Whatever|Of whom)\b/.test(text)) return `begins with a clause: ${text}`;
  return text.length > DESCRIPTION_CHARS_MAX ? `has a description of ${text.length} characters` : undefined;
}

function problemsOf(members: Iterable<readonly [string, Members]>): string[] {
  return [...members].flatMap(([path, { description }]) => {
    const problem = problemOf(description);
    return problem === undefined ? [] : [`${path} ${problem}`];
  });
}

test('a member without a description is found, wherever it stands', () => {
  const leaf = { type: 'string' };
  const bare = { type: 'object', properties: { a: leaf } };
  const described = { ...bare, description: 'A bare object.' };
  const schema = {
    properties: {
      list: { items: bare, description: 'A list.' },
      either: { anyOf: [leaf, bare], description: 'One of two.' },
      map: { additionalProperties: bare, description: 'A map.' },
      described,
    },
  };
  const missing = ['x.list[].a', 'x.either.a', 'x.map.*.a', 'x.described.a'].map(
    (path) => `${path} has no description`,
  );
  assert.deepEqual(problemsOf(membersOf(schema, 'x')), missing);
});

test('every member of every input, output, body and answer is described by a sentence', () => {
  assert.deepEqual(
    OPERATIONS.flatMap((row) => problemsOf(membersOfRow(row))),
    [],
  );
});

test('every default is a value of its own schema', () => {
  let defaults = 0;
  for (const row of OPERATIONS)
    for (const [path, member] of membersOfRow(row)) {
      if (!('default' in member)) continue;
      defaults += 1;
      assert.ok(Compile(member).Check(member['default']), path);
    }
  assert.ok(defaults > 0);
});

test('OpenAPI describes every operation, parameter, body and answer', () => {
  const { paths, components } = openApiDocument(OPERATIONS) as Record<string, Record<string, Members>>;
  const shared = Object.entries(components?.['schemas'] ?? {});
  const problems = shared.flatMap(([name, schema]) => problemsOf(membersOf(schema, name)));
  for (const [path, item] of Object.entries(paths ?? {}))
    for (const [verb, operation] of Object.entries(item)) {
      const where = `${verb} ${path}`;
      const { summary, description, parameters, requestBody, responses } = operation as Members;
      for (const text of [summary, description])
        if (problemOf(text) !== undefined) problems.push(`${where} ${problemOf(text)}`);
      for (const parameter of parameters as readonly Members[])
        problems.push(...problemsOf([[`${where} ${String(parameter['name'])}`, parameter]]));
      for (const holder of [requestBody, ...Object.values(responses as Members)])
        for (const { schema } of Object.values((isMembers(holder) ? (holder['content'] ?? {}) : {}) as Members[]))
          problems.push(...problemsOf(membersOf(schema, where)));
    }
  assert.deepEqual(problems, []);
});

/** The example as a request of this face. */
function partsOf({ example }: Operation, { path, body }: Operation['http'][number]) {
  const inPath = [...fullPath(path).matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
  const members = Object.entries(example);
  const rest = members.filter(([name]) => !inPath.includes(name));
  const query = rest.map(([name, value]) => [name, (Array.isArray(value) ? value : [value]).map(String)]);
  return {
    params: Object.fromEntries(
      members.filter(([name]) => inPath.includes(name)).map(([name, value]) => [name, String(value)]),
    ),
    query: body === 'none' ? Object.fromEntries(query) : {},
    json: body === 'json' ? Object.fromEntries(rest) : undefined,
    file: body === 'file' ? { name: 'ada.mg', bytes: new Uint8Array(1) } : undefined,
    ifNoneMatch: undefined,
  };
}

test('every example is a valid request for its operation, on each of its faces', () => {
  for (const row of OPERATIONS) {
    const check = compileCheck(row.input, { paged: row.paged });
    const unknown: UnknownMember[] = [];
    for (const face of row.http) {
      const parts = partsOf(row, face);
      check(face.read(parts, unknown));
      if (parts.json === undefined) continue;
      const body = Compile(face.bodySchema ?? outsideSchema(row.input));
      assert.ok(body.Check(row.example), `${row.name}: ${JSON.stringify(body.Errors(row.example)[1])}`);
    }
    if (row.http.length === 0) check(row.readArgs(row.example, unknown));
    assert.deepEqual(unknown, [], row.name);
  }
});

test('the example of a CAL query is a valid query', () => {
  const { example } = OPERATIONS.find(({ name }) => name === 'cal')!;
  assert.doesNotThrow(() => planOf(String(example['query']), true));
});
