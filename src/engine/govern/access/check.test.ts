import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Access } from './access.ts';
import { checkAccess, type Known, type TupleSource } from './check.ts';
import { checkTuple, type Tuple } from './tuple.ts';

const MEMORY = 'memory:m1';

/** Tuples in a list, as the simplest source. */
function sourceOf(tuples: readonly Tuple[]): TupleSource {
  const subjects = (object: string, relation: string): string[] =>
    tuples.filter((one) => one.object === object && one.relation === relation).map(({ subject }) => subject);
  return {
    subjectsOf: ({ object, relation }) => ({
      has: (subject) => subjects(object, relation).includes(subject),
      usersets: subjects(object, relation).filter((subject) => subject.includes('#')),
    }),
    parents: (object) => subjects(object, 'parent'),
    changed: () => undefined,
  };
}

const parse = (text: string): Tuple => {
  const [object = '', relation = '', ...subject] = text.split(/#(?=[a-z]+@)|(?<=#[a-z]+)@/);
  return checkTuple({ object, relation, subject: subject.join('') });
};
const ask = (tuples: readonly string[], question: string) => {
  const at = question.lastIndexOf('@');
  const [object = '', relation = ''] = question.slice(0, at).split('#');
  return checkAccess(sourceOf(tuples.map(parse)), MEMORY, { object, relation, subject: question.slice(at + 1) });
};

/** Tuples, a question and its answer: the number of tuples on the path, or false. */
const ROWS: readonly (readonly [what: string, tuples: readonly string[], question: string, path: number | false])[] = [
  ['nothing is granted', [], 'memory:m1#viewer@user:ann', false],
  ['the tuple itself', ['memory:m1#viewer@user:ann'], 'memory:m1#viewer@user:ann', 1],
  ['another subject', ['memory:m1#viewer@user:ann'], 'memory:m1#viewer@user:bob', false],
  ['a wildcard', ['memory:m1#viewer@user:*'], 'memory:m1#viewer@user:bob', 1],
  ['a wildcard of another type', ['memory:m1#viewer@agent:*'], 'memory:m1#viewer@user:bob', false],
  ['an owner views', ['memory:m1#owner@user:ann'], 'memory:m1#viewer@user:ann', 1],
  ['an owner audits', ['memory:m1#owner@user:ann'], 'memory:m1#auditor@user:ann', 1],
  ['an admin does not audit', ['memory:m1#admin@user:ann'], 'memory:m1#auditor@user:ann', false],
  ['an admin erases', ['memory:m1#admin@user:ann'], 'memory:m1#eraser@user:ann', 1],
  ['an editor does not erase', ['memory:m1#editor@user:ann'], 'memory:m1#eraser@user:ann', false],
  ['a viewer does not edit', ['memory:m1#viewer@user:ann'], 'memory:m1#editor@user:ann', false],
  [
    'members of a group',
    ['namespace:acme#editor@group:eng#member', 'group:eng#member@user:ann'],
    'namespace:acme#viewer@user:ann',
    2,
  ],
  ['the enclosing path', ['namespace:acme#viewer@user:ann'], 'namespace:acme/prod/bot1#viewer@user:ann', 1],
  ['a path below', ['namespace:acme/prod#viewer@user:ann'], 'namespace:acme#viewer@user:ann', false],
  ['a path that begins alike', ['namespace:acme#viewer@user:ann'], 'namespace:acmeprod#viewer@user:ann', false],
  ['the memory of a top-level name', ['memory:m1#editor@user:ann'], 'namespace:acme/prod#editor@user:ann', 1],
  ['the memory, for a path that begins with a slash', ['memory:m1#editor@user:ann'], 'namespace:/a#editor@user:ann', 1],
  ['another memory', ['memory:m2#editor@user:ann'], 'namespace:acme#editor@user:ann', false],
  [
    'a named parent instead of the enclosing path',
    ['namespace:acme/prod#parent@namespace:vault', 'namespace:acme#viewer@user:ann'],
    'namespace:acme/prod#viewer@user:ann',
    false,
  ],
  [
    'through a named parent',
    ['namespace:acme/prod#parent@namespace:vault', 'namespace:vault#viewer@user:ann'],
    'namespace:acme/prod#viewer@user:ann',
    2,
  ],
  ['the memory of a harness', ['memory:m1#admin@user:ann'], 'harness:bot#manager@user:ann', 1],
  ['an editor manages no harness', ['memory:m1#editor@user:ann'], 'harness:bot#manager@user:ann', false],
  [
    'a named parent of a harness instead of the memory',
    ['harness:bot#parent@namespace:acme', 'memory:m1#owner@user:ann'],
    'harness:bot#manager@user:ann',
    false,
  ],
  [
    "a harness's parent",
    ['harness:bot#parent@memory:m1', 'memory:m1#admin@user:ann'],
    'harness:bot#manager@user:ann',
    2,
  ],
  [
    'a circle of groups',
    ['group:a#member@group:b#member', 'group:b#member@group:a#member', 'memory:m1#viewer@group:a#member'],
    'memory:m1#viewer@user:ann',
    false,
  ],
  [
    'a member behind a circle',
    ['group:a#member@group:b#member', 'group:b#member@group:a#member', 'group:b#member@user:ann'],
    'group:a#member@user:ann',
    2,
  ],
  [
    'a circle of parents',
    ['namespace:a#parent@namespace:b', 'namespace:b#parent@namespace:a'],
    'namespace:a#viewer@user:ann',
    false,
  ],
  ['a userset as subject', ['memory:m1#viewer@group:eng#member'], 'memory:m1#viewer@group:eng#member', 1],
];

for (const [what, tuples, question, path] of ROWS)
  test(`${what}: ${path === false ? 'denied' : `allowed by ${path} tuples`}`, () => {
    const answer = ask(tuples, question);
    assert.deepEqual([answer.allowed, answer.path.length], [path !== false, path === false ? 0 : path]);
    assert.equal(answer.depthExceeded, false);
  });

test('the path leads from the object to the subject', () => {
  const answer = ask(
    ['namespace:acme#viewer@group:eng#member', 'group:eng#member@group:core#member', 'group:core#member@user:ann'],
    'namespace:acme/prod#viewer@user:ann',
  );
  assert.deepEqual(
    answer.path.map(({ subject, object }) => [object, subject]),
    [
      ['namespace:acme', 'group:eng#member'],
      ['group:eng', 'group:core#member'],
      ['group:core', 'user:ann'],
    ],
  );
});

test('a chain of 25 usersets is followed, and a longer one is denied with its reason', () => {
  const chain = (length: number): string[] => [
    ...Array.from({ length }, (_, i) => `group:g${i}#member@group:g${i + 1}#member`),
    `group:g${length}#member@user:ann`,
  ];
  assert.equal(ask(chain(25), 'group:g0#member@user:ann').path.length, 26);
  const beyond = ask(chain(26), 'group:g0#member@user:ann');
  assert.deepEqual([beyond.allowed, beyond.depthExceeded], [false, true]);
});

test('what one check learns does not change the depth of another', () => {
  const tuples = [
    ...Array.from({ length: 30 }, (_, i) => `group:g${i}#member@group:g${i + 1}#member`),
    'group:g30#member@user:ann',
  ].map(parse);
  for (const order of [
    [0, 10, 4],
    [10, 4, 0],
    [4, 0, 10],
  ]) {
    const known: Known = { denied: new Map(), allowed: new Map() };
    for (const from of order) {
      const question = { subject: 'user:ann', relation: 'member', object: `group:g${from}` };
      const { allowed, depthExceeded } = checkAccess(sourceOf(tuples), MEMORY, question, known);
      assert.deepEqual([allowed, depthExceeded], from === 10 ? [true, false] : [false, true], `${order} at ${from}`);
    }
  }
});

test('the checks of many namespaces walk their common groups once', () => {
  const groups = Array.from({ length: 500 }, (_, i) => `group:g${i}#member`);
  for (const holder of [undefined, 'group:g499']) {
    let walked = 0;
    const source: TupleSource = {
      subjectsOf: ({ object, relation }) => {
        walked += 1;
        return {
          has: (subject) => object === holder && relation === 'member' && subject === 'user:ann',
          usersets: object === 'namespace:acme' && relation === 'viewer' ? groups : [],
        };
      },
      parents: () => [],
      changed: () => undefined,
    };
    const view = new Access(source, 'm1').view('user:ann', 'viewer');
    for (let i = 0; i < 200; i++) assert.equal(view.has(`acme/team${i}`), holder !== undefined);
    assert.ok(walked < 3_000, `${walked} objects were walked`);
  }
});

/** The rules of the contract, once more and as plainly as possible: no visited set, only the bound of depth. */
function naive(tuples: readonly Tuple[], question: Tuple, depth: number): boolean {
  const { subject, relation, object } = question;
  const here = tuples.filter((one) => one.object === object && one.relation === relation);
  const type = object.slice(0, object.indexOf(':'));
  const any = `${subject.slice(0, subject.indexOf(':'))}:*`;
  if (here.some((one) => one.subject === subject || (!subject.includes('#') && one.subject === any))) return true;
  if (depth === 0) return false;
  const deeper = (next: { object: string; relation: string }) => naive(tuples, { subject, ...next }, depth - 1);
  for (const { subject: member } of here) {
    const [group, of] = member.split('#');
    if (of !== undefined && deeper({ object: group!, relation: of })) return true;
  }
  const included: Record<string, string[]> = {
    'memory admin': ['owner'],
    'memory editor': ['admin'],
    'memory viewer': ['editor'],
    'memory eraser': ['admin'],
    'memory auditor': ['owner'],
    'namespace viewer': ['editor'],
  };
  for (const other of included[`${type} ${relation}`] ?? []) if (deeper({ object, relation: other })) return true;
  if (type !== 'namespace' || relation === 'parent') return false;
  const named = tuples.filter((one) => one.object === object && one.relation === 'parent').map((one) => one.subject);
  const enclosing = object.includes('/') ? object.slice(0, object.lastIndexOf('/')) : MEMORY;
  const parents = named.length > 0 ? named : [enclosing];
  return parents.some((parent) => deeper({ object: parent, relation }));
}

test('the search answers as the rules do, whatever the tuples', () => {
  const subject = fc.constantFrom(
    ...['user:a', 'user:b', 'agent:a', 'user:*', 'group:x#member', 'group:y#member', 'group:z#member'],
    ...['memory:m1#admin', 'namespace:a#editor'],
  );
  const grants = fc.constantFrom(
    ...['group:x#member', 'group:y#member', 'group:z#member', 'memory:m1#owner', 'memory:m1#admin', 'memory:m1#viewer'],
    ...['memory:m1#editor', 'memory:m1#auditor', 'namespace:a#editor', 'namespace:a#viewer', 'namespace:a/b#viewer'],
    ...['namespace:a/b#eraser', 'namespace:c#editor'],
  );
  const tuple = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(grants, subject).map(([grant, one]) => `${grant}@${one}`) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fc.constantFrom('a', 'a/b', 'c'),
          fc.constantFrom('memory:m1', 'namespace:c', 'namespace:a/b', 'namespace:a'),
        )
        .filter(([name, parent]) => `namespace:${name}` !== parent)
        .map(([name, parent]) => `namespace:${name}#parent@${parent}`),
    },
  );
  fc.assert(
    fc.property(fc.array(tuple, { maxLength: 8 }), (texts) => {
      const tuples = [...new Set(texts)].map(parse);
      for (const asked of ['user:a', 'agent:a', 'group:x#member']) {
        const known: Known = { denied: new Map(), allowed: new Map() };
        for (const place of [
          'memory:m1#viewer',
          'namespace:a/b#viewer',
          'namespace:a/b#eraser',
          'namespace:c#editor',
          'group:z#member',
        ]) {
          const [object = '', relation = ''] = place.split('#');
          const question = { subject: asked, relation, object };
          // Fewer pairs of object and relation than 12 can be reached, so a longer way has a shorter one.
          const wanted = naive(tuples, question, 12);
          for (const learnt of [undefined, known]) {
            const { allowed, path } = checkAccess(sourceOf(tuples), MEMORY, question, learnt);
            assert.equal(allowed, wanted, `${JSON.stringify(question)} ${texts.join(' ')}`);
            for (const used of path)
              assert.ok(
                tuples.some(
                  (one) => one.object === used.object && one.relation === used.relation && one.subject === used.subject,
                ),
              );
          }
        }
      }
    }),
    { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 1) * 200 },
  );
});
