// Parses the statements of tier 1, which add grains and never change existing ones, and DEFINE TEMPLATE.
import { defined } from '../../base/defined.ts';
import type { Add, Assignments, DefineTemplate, Revert, Supersede } from '../ast.ts';
import { CalError } from '../errors.ts';
import type { Cursor } from './cursor.ts';
import { parseSections } from './formats.ts';
import { parseSingular } from './reads.ts';
import { parseField, parseReference, parseValue } from './values.ts';

export function parseAdd(cursor: Cursor): Add {
  const first = cursor.expectWord('add');
  const grainType = parseSingular(cursor);
  const set = parseAssignments(cursor);
  return { kind: 'add', grainType, set, reason: parseReason(cursor, true), at: cursor.spanFrom(first) };
}

export function parseSupersede(cursor: Cursor): Supersede {
  const first = cursor.expectWord('supersede');
  const grain = parseReference(cursor);
  const set = parseAssignments(cursor);
  return { kind: 'supersede', grain, set, reason: parseReason(cursor, true), at: cursor.spanFrom(first) };
}

export function parseRevert(cursor: Cursor): Revert {
  const first = cursor.expectWord('revert');
  const grain = parseReference(cursor);
  return { kind: 'revert', grain, reason: parseReason(cursor, false), at: cursor.spanFrom(first) };
}

function parseAssignments(cursor: Cursor): Assignments {
  const set: Assignments[number][] = [];
  while (cursor.takeWord('set')) {
    const field = parseField(cursor);
    cursor.expectSymbol('=');
    set.push({ field, value: parseValue(cursor) });
  }
  return set;
}

/** Parses REASON. Throws E018 if the statement ends without one. */
function parseReason(cursor: Cursor, afterSet: boolean): string {
  const { kind, start, end } = cursor.token;
  if (kind === 'end' || cursor.isSymbol(';'))
    throw new CalError('CAL-E018', 'the statement gives no reason', {
      at: { start, end },
      example: 'REASON "corrected by the user"',
    });
  if (!cursor.takeWord('reason') && !cursor.takeWord('because'))
    cursor.fail([...(afterSet ? ['SET'] : []), 'REASON', 'BECAUSE']);
  return cursor.expectString();
}

export function parseDefineTemplate(cursor: Cursor): DefineTemplate {
  const first = cursor.expectWord('define');
  cursor.expectWord('template');
  const name = cursor.expectIdentifier('a name').text;
  const parent = cursor.takeWord('extends') ? cursor.expectIdentifier('the name of a preset').text : undefined;
  const body = cursor.takeWord('as') ? { text: cursor.expectString() } : { sections: parseSections(cursor) };
  return defined({ kind: 'define_template', name, extends: parent, body, at: cursor.spanFrom(first) });
}
