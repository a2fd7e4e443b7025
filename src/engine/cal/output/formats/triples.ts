// The triples format: subject, relation and object, separated by tabs, of each grain that has all three.
import { trimmedLine } from '../clean.ts';
import { asText, storedValue } from '../fields.ts';
import type { CalGrain } from '../grain.ts';
import { humanizeRelation } from '../humanize.ts';
import { type Format, textsOf, unbroken } from './format.ts';

export function triplesFormat(): Format {
  return {
    showsUse: false,
    element(grain) {
      const [subject, relation, object] = ['subject', 'relation', 'object'].map((field) => part(grain, field));
      if (subject === undefined || relation === undefined || object === undefined) return undefined;
      return `${subject}\t${humanizeRelation(relation)}\t${object}\n`;
    },
    document: (groups) => unbroken(textsOf(groups)),
  };
}

function part(grain: CalGrain, field: string): string | undefined {
  const value = storedValue(grain, field);
  if (value === undefined) return undefined;
  const text = trimmedLine(asText(value));
  return text === '' ? undefined : text;
}
