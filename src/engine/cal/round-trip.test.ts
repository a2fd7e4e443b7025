import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { readJson } from './json/read.ts';
import { writeJson } from './json/write.ts';
import { parseText } from './parse.ts';
import { printQuery } from './print.ts';
import { anyQueries, isValid, validQueries, withoutPlaces } from './testing/arbitrary.ts';
import { extendedQueries } from './testing/arbitrary-extended.ts';

test('a printed query parses to the same tree', () => {
  fc.assert(
    fc.property(anyQueries, (query) => {
      assert.deepEqual(withoutPlaces(parseText(printQuery(query)).query), query);
    }),
    { numRuns: runs(150) },
  );
});

test('D-37: the JSON form parses to the same tree, and text to JSON to text loses nothing', () => {
  fc.assert(
    fc.property(anyQueries, (query) => {
      const json = JSON.stringify(writeJson(query));
      assert.deepEqual(readJson(json), query);
      const text = printQuery(readJson(json));
      assert.deepEqual(withoutPlaces(parseText(text).query), query);
    }),
    { numRuns: runs(150) },
  );
});

test('trees that the validator passes print to queries that it passes', () => {
  fc.assert(
    fc.property(validQueries, (query) => {
      assert.ok(isValid(parseText(printQuery(query)).query));
    }),
    { numRuns: runs(80) },
  );
});

test('extensions print and parse to the same tree, as text and as JSON', () => {
  fc.assert(
    fc.property(extendedQueries, (query) => {
      assert.deepEqual(withoutPlaces(parseText(printQuery(query)).query), query);
      assert.deepEqual(readJson(JSON.stringify(writeJson(query))), query);
    }),
    { numRuns: runs(150) },
  );
});
