// Conditions, options, stages and formats for property tests: valid ones by the tables, and any that a reader can
// produce.
import fc, { type Arbitrary } from 'fast-check';
import { COMPARATORS, EXTRACTORS } from '../../calls/cal.ts';
import type { QueryField } from '../../grain/types/query-field.ts';
import {
  CATEGORIES,
  type Condition,
  DISCLOSURE_LEVELS,
  type Format,
  type FormatChoice,
  type Recall,
  SECTIONS,
  type Stage,
  type Value,
  type WithOption,
  type Word,
} from '../ast.ts';
import { rawEnd } from '../lexer.ts';
import { FORMAT_WORDS } from '../parser/formats.ts';
import { DOMAIN_PROFILES } from '../vocabulary/fields.ts';
import { isReserved } from '../vocabulary/words.ts';
import { compact, identifiers, literalOf, maybe, numbers, texts, wildValues, word } from './arbitrary-values.ts';

export function conditionsOn(field: QueryField, subqueries: Arbitrary<Recall> | undefined): Arbitrary<Condition> {
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

export const domainConditions: Arbitrary<Condition> = fc
  .tuple(
    fc.constantFrom(...DOMAIN_PROFILES.keys()),
    fc.stringMatching(/^[a-z][a-z0-9_]{0,6}$/),
    fc.constantFrom(...COMPARATORS),
    texts,
  )
  .map(([prefix, name, op, value]) => ({ field: { word: `${prefix}:${name}` }, op, value: { kind: 'string', value } }));

export const wildFields = fc
  .oneof(
    identifiers.map((name) => name.toLowerCase()),
    fc.constantFrom('threshold', 'scope', 'hc:order', 'x:y'),
  )
  .filter((name) => !isReserved(name) || name === 'threshold' || name === 'scope')
  .map((name): Word => ({ word: name }));

export function wildConditions(subqueries: Arbitrary<Recall>): Arbitrary<Condition> {
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

export function optionsOf(fields: Arbitrary<Word>, isWild: boolean): Arbitrary<readonly WithOption[]> {
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

export function stagesOf(fields: readonly Word[] | undefined, isWild: boolean): Arbitrary<readonly Stage[]> {
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

/** Possible bodies of a section in braces. */
const bodies = fc
  .oneof(
    fc.constantFrom(
      '- {{grain.content}}',
      '{{grain.subject}}: {a}',
      '\n',
      ' \t',
      '\n x\n\n',
      ' \r\n\t',
      'x\r',
      '\r\n  x\n ',
    ),
    texts,
  )
  .filter((text) => rawEnd(`${text}}`, 0) === text.length);
export const sections = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...SECTIONS), bodies), {
    minLength: 1,
    maxLength: 3,
    selector: ([name]) => name,
  })
  .map((entries) => Object.fromEntries(entries));

export function formatsOf(isWild: boolean): Arbitrary<FormatChoice> {
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
