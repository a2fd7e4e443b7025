// Edits of a client's configuration as text: only the entry changes, and comments, order and layout stay. Each edit is
// checked: both texts are parsed, and must differ in the entry alone.
import * as imported from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { Failure } from '../../failure.ts';
import type { ClientRow } from './clients.ts';

// The package is a CommonJS module where the sources run, and its ESM form in the build.
const jsonc = (Reflect.get(imported, 'default') ?? imported) as typeof imported;

/** The name of the entry. */
export const SERVER = 'granary';

export type Entry = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, unknown>>;
type Form = Pick<ClientRow, 'format' | 'servers'>;

/** The entry in a configuration. Throws Failure for a text that is none. */
export function entryIn(text: string, form: Form): Entry | undefined {
  const entry = serversIn(parsed(text, form), form)[SERVER];
  return isMembers(entry) ? (JSON.parse(JSON.stringify(entry)) as Entry) : undefined; // a plain object
}

/** The configuration with the entry set, or removed if it is undefined. Throws Failure. */
export function withEntry(text: string, form: Form, entry: Entry | undefined): string {
  const before = parsed(text, form);
  serversIn(before, form);
  const bom = text.startsWith(BOM) ? BOM : '';
  const bare = text.slice(bom.length);
  const after = bom + (form.format === 'toml' ? tomlWith(bare, form, entry) : jsonWith(bare, form, entry));
  const isSame =
    outside(parsed(after, form), form) === outside(before, form) &&
    JSON.stringify(entryIn(after, form)) === JSON.stringify(entry);
  if (!isSame)
    throw new Failure('FILE', 'the configuration cannot be edited safely and was not changed: add the entry by hand');
  return after;
}

const BOM = '\uFEFF';

/** Everything except the entry, as text. An empty list of servers counts as none. */
function outside(config: Members, form: Form): string {
  const { [SERVER]: _, ...others } = serversIn(config, form);
  const { [form.servers]: __, ...rest } = config;
  return JSON.stringify([rest, others]);
}

function serversIn(config: Members, { servers }: Form): Members {
  const found = config[servers] ?? {};
  if (!isMembers(found)) throw new Failure('FILE', `\`${servers}\` in it is not an object; the file was not changed`);
  return found;
}

function parsed(text: string, { format }: Form): Members {
  const bare = text.startsWith(BOM) ? text.slice(BOM.length) : text;
  if (bare.trim() === '') return {};
  const value = format === 'toml' ? parsedToml(bare) : parsedJson(bare, format);
  if (!isMembers(value)) throw new Failure('FILE', 'it holds no object; the file was not changed');
  return value;
}

function parsedToml(text: string): unknown {
  try {
    return parseToml(text);
  } catch (error) {
    throw new Failure('FILE', `it is not TOML (${firstLine(error)}); the file was not changed`);
  }
}

function parsedJson(text: string, format: 'json' | 'jsonc'): unknown {
  const errors: imported.ParseError[] = [];
  const lax = format === 'jsonc';
  const value: unknown = jsonc.parse(text, errors, { allowTrailingComma: lax, disallowComments: !lax });
  const [first] = errors;
  if (first === undefined) return value;
  const line = text.slice(0, first.offset).split('\n').length;
  const kind = lax ? 'JSON with comments' : 'JSON';
  throw new Failure(
    'FILE',
    `it is not ${kind} (line ${line}: ${jsonc.printParseErrorCode(first.error)}); the file was not changed`,
  );
}

/** The entry stands first among the servers: behind the last one may be a comma or a comment. */
function jsonWith(text: string, { servers }: Form, entry: Entry | undefined): string {
  const bare = text.trim() === '' ? '{}\n' : text;
  if (entry === undefined) return jsonc.applyEdits(bare, jsonc.modify(bare, [servers, SERVER], undefined, {}));
  const eol = bare.includes('\r\n') ? '\r\n' : '\n';
  const indent = /^([ \t]+)\S/m.exec(bare)?.[1] ?? '  ';
  const shown = (value: unknown, depth: number): string =>
    JSON.stringify(value, null, indent).replaceAll('\n', eol + indent.repeat(depth));
  const root = jsonc.parseTree(bare, undefined, { allowTrailingComma: true });
  const list = root === undefined ? undefined : jsonc.findNodeAtLocation(root, [servers]);
  if (root === undefined || list === undefined)
    return withFirst(bare, root, { text: `"${servers}": ${shown({ [SERVER]: entry }, 1)}`, eol, indent, depth: 1 });
  const own = jsonc.findNodeAtLocation(list, [SERVER]);
  if (own !== undefined) return bare.slice(0, own.offset) + shown(entry, 2) + bare.slice(own.offset + own.length);
  return withFirst(bare, list, { text: `"${SERVER}": ${shown(entry, 2)}`, eol, indent, depth: 2 });
}

/** The text with a member set before the others of an object. */
function withFirst(
  text: string,
  object: imported.Node | undefined,
  { text: member, eol, indent, depth }: { text: string; eol: string; indent: string; depth: number },
): string {
  const at = (object?.offset ?? 0) + 1;
  const hasMembers = (object?.children?.length ?? 0) > 0;
  const end = hasMembers ? ',' : eol + indent.repeat(depth - 1);
  const rest = text.slice(at);
  return `${text.slice(0, at)}${eol}${indent.repeat(depth)}${member}${end}${hasMembers ? rest : rest.replace(/^\s+(?=\})/, '')}`;
}

/** The tables of the entry are replaced as a whole, and stand at the end. */
function tomlWith(text: string, { servers }: Form, entry: Entry | undefined): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const own = new RegExp(`^\\s*\\[\\s*${servers}\\s*\\.\\s*(?:${SERVER}|"${SERVER}"|'${SERVER}')\\s*[.\\]]`);
  const kept: string[] = [];
  let isOwn = false;
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*\[/.test(line)) isOwn = own.test(line);
    if (!isOwn) kept.push(line);
  }
  const rest = kept.join(eol).replace(/\s+$/, '');
  if (entry === undefined) return rest === '' ? '' : `${rest}${eol}`;
  const lines = Object.entries(entry).map(([name, value]) => `${name} = ${tomlValue(value)}`);
  const table = [`[${servers}.${SERVER}]`, ...lines].join(eol);
  return `${rest === '' ? '' : `${rest}${eol}${eol}`}${table}${eol}`;
}

/** A value of TOML. Strings are escaped as in JSON, which TOML reads alike. */
function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (isMembers(value))
    return `{ ${Object.entries(value)
      .map(([name, one]) => `${JSON.stringify(name)} = ${tomlValue(one)}`)
      .join(', ')} }`;
  return JSON.stringify(value);
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
