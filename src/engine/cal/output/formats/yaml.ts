// The YAML format: the data of the JSON format in block style.

import { stringifyJson } from '../../../grain/api/json.ts';
import type { JsonObject, JsonValue } from '../../../grain/api/json-value.ts';
import { isMap } from '../fields.ts';
import { decimal } from '../humanize.ts';
import { projectData } from '../projection.ts';
import { type Format, type Setting, textsOf, unbroken, viewOf } from './format.ts';

/** Deeper values are written as JSON, which is valid YAML. */
const DEPTH_MAX = 16;

export function yamlFormat(setting: Setting): Format {
  return {
    showsUse: false,
    element: (grain, manner) => `- ${block(projectData(grain, viewOf(setting, manner)), 1).trimStart()}\n`,
    document: (groups) => unbroken(textsOf(groups)) || '[]',
  };
}

/** The lines of a map or list, indented by depth. */
function block(value: JsonObject | JsonValue[], depth: number): string {
  const indent = '  '.repeat(depth);
  if (Array.isArray(value)) return value.map((item) => `${indent}- ${below(item, depth).trimStart()}`).join('\n');
  return Object.keys(value)
    .map((key) => {
      const item = value[key]!;
      const isBlock = typeof item === 'object' && item !== null && isFilled(item) && depth < DEPTH_MAX;
      return `${indent}${scalar(key)}:${isBlock ? '\n' : ' '}${below(item, depth)}`;
    })
    .join('\n');
}

function below(value: JsonValue, depth: number): string {
  if (typeof value !== 'object' || value === null) return scalar(value);
  if (!isFilled(value) || depth >= DEPTH_MAX) return quotedBreaks(stringifyJson(value));
  return block(value, depth + 1);
}

function isFilled(value: JsonObject | JsonValue[]): boolean {
  return (isMap(value) ? Object.keys(value) : value).length > 0;
}

// Strings that need no quotes: a letter first, then only characters that have no meaning in YAML.
const PLAIN = /^\p{L}[\p{L}\p{N} _./()'-]*$/u;
const WORDS = /^(?:true|false|yes|no|on|off|null|y|n)$/i;

function scalar(value: string | number | bigint | boolean | null): string {
  if (typeof value === 'number') return Number.isFinite(value) ? decimal(value) : 'null';
  if (typeof value !== 'string') return String(value);
  if (PLAIN.test(value) && !value.endsWith(' ') && !WORDS.test(value)) return value;
  return quotedBreaks(JSON.stringify(value.toWellFormed()));
}

// Characters that YAML treats as line breaks or as unprintable, and that JSON does not escape.
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

function quotedBreaks(json: string): string {
  return json.replace(UNPRINTABLE, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
