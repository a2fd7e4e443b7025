// Prints the result of a CAL query: grains, groups and versions as tables, formatted text as it is.

import { stringifyJson } from '../engine/grain/api/json.ts';
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import { text } from './grain-view.ts';
import { clipped, printable, printLine, printPairs, printTable, terminalColumns, utc } from './output.ts';

/** Terminal columns of every table column except the grain's text. */
const FIXED_COLUMNS = 56;

export function printResult(result: JsonObject): void {
  switch (result['type']) {
    case 'count':
      printLine(text(result['count']));
      return;
    case 'values':
      for (const value of list(result['values'])) printLine(printable(text(value)));
      return;
    case 'groups':
      printGroups(list(result['groups']));
      return;
    case 'history':
      printGrains(list(result['versions']));
      return;
    case 'diff':
      printTable(
        [{ title: 'field' }, { title: 'from' }, { title: 'to' }],
        list(result['changes'])
          .map(object)
          .map(({ field, from, to }) => [text(field), text(from), text(to)]),
      );
      return;
    case 'batch':
      for (const [label, slot] of Object.entries(object(result['results']))) {
        printLine(`${printable(label)}:`);
        printResult(object(slot));
      }
      return;
    case 'describe':
      printValue(result['info']);
      return;
    case 'explain':
      printValue(result['plan']);
      return;
    case undefined:
      printValue(result['error'] ?? result);
      return;
    default:
      printContents(result);
  }
}

function printContents(result: JsonObject): void {
  const { content, formats, grains } = result;
  if (content !== undefined) printContent(content);
  else if (formats !== undefined) {
    for (const [key, one] of Object.entries(object(formats))) {
      printLine(`${printable(key)}:`);
      printContent(one);
    }
  } else if (grains !== undefined) {
    printGrains(list(grains));
    const total = Number(result['total'] ?? 0);
    if (total > list(grains).length) printLine(`${list(grains).length} of ${total}`);
  } else {
    const { _cal: _, type: __, ...rest } = result;
    printValue(rest);
  }
}

function printContent(content: JsonValue): void {
  if (typeof content === 'string') printLine(printable(content));
  else printValue(content);
}

function printGrains(grains: readonly JsonValue[]): void {
  if (grains.length === 0) {
    printLine('Nothing was found.');
    return;
  }
  printTable(
    [
      { title: 'score', align: 'right' },
      { title: 'at (UTC)' },
      { title: 'hash' },
      { title: 'type' },
      { title: 'says' },
    ],
    grains.map(object).map(({ score, hash, grain_type: type, text: sentence, fields, created_at: createdAt }) => {
      const shown = object(fields);
      const at = createdAt ?? shown['created_at'];
      return [
        typeof score === 'number' ? score.toFixed(3) : '',
        typeof at === 'number' ? utc(at).slice(0, 16) : '',
        text(hash).slice('sha256:'.length, 'sha256:'.length + 12),
        text(type),
        clipped(typeof sentence === 'string' ? sentence : stringifyJson(shown), terminalColumns() - FIXED_COLUMNS),
      ];
    }),
  );
}

function printGroups(groups: readonly JsonValue[]): void {
  if (groups.length === 0) {
    printLine('Nothing was found.');
    return;
  }
  printTable(
    [{ title: 'group' }, { title: 'grains', align: 'right' }],
    groups.map(object).map(({ key, count }) => [text(key), Number(count)]),
  );
}

/** Prints a list of objects as a table, an object as pairs, and anything else as JSON. */
function printValue(value: JsonValue | undefined): void {
  if (Array.isArray(value) && isTable(value)) printObjects(value.map(object));
  else if (isObject(value)) printMembers(Object.entries(value));
  else printLine(printable(typeof value === 'string' ? value : stringifyJson(value ?? null)));
}

/** Prints short members as pairs, then tables and longer texts under their names. */
function printMembers(members: readonly (readonly [name: string, value: JsonValue])[]): void {
  const isLong = (value: JsonValue): boolean => isTable(value) || (typeof value === 'string' && value.includes('\n'));
  const short = members.filter(([, value]) => !isLong(value));
  if (short.length > 0) printPairs(short.map(([name, value]) => [name, text(value)]));
  for (const [name, value] of members) {
    if (!isLong(value)) continue;
    if (members.length > 1) printLine(`${name}:`);
    printValue(value);
  }
}

function printObjects(rows: readonly JsonObject[]): void {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  printTable(
    names.map((title) => ({ title })),
    rows.map((row) =>
      names.map((name) => (Array.isArray(row[name]) ? row[name].map(text).join(' ') : text(row[name]))),
    ),
  );
}

function isTable(value: JsonValue): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isObject);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function object(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
