// Pages of docs/reference from the operation table, and the error codes, and docs/llms.txt from the index of
// the documents. scripts/generate-docs.ts writes them; a test compares.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_MEANINGS, type ErrorCode } from '../src/engine/base/errors.ts';
import type { Operation } from '../src/server/operations/define.ts';
import { isMembers, type Members, outsideSchema } from '../src/server/operations/names.ts';
import { fullPath } from '../src/server/operations/openapi.ts';
import { TAGS, type Tag } from '../src/server/operations/openapi-tags.ts';
import { OPERATIONS } from '../src/server/operations/table.ts';
import { GRPC_STATUS, STATUS } from '../src/server/status.ts';

/** Tags of OpenAPI, and the operations that HTTP offers as commands alone. */
const GROUPS: readonly Tag[] = [
  ...TAGS,
  {
    name: 'commands',
    description: 'Commands of `POST /api/memories/{id}/app/exec` that have no route of their own.',
    operations: OPERATIONS.map(({ name }) => name).filter(
      (name) => !TAGS.some(({ operations }) => operations.includes(name)),
    ),
  },
];

const DOCS = join(import.meta.dirname, '..', 'docs');
const MADE = '<!-- Made by `npm run docs`. Do not edit. -->';

const NEEDS: Readonly<Record<Operation['needs'], string>> = {
  public: 'no key',
  key: 'any key',
  metrics: 'scope `metrics` or `admin`',
  read: 'scope `read`',
  write: 'scope `write`',
  admin: 'scope `admin`',
};

/** Content by path below docs/. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ['reference/operations.md', operationsPage()],
    ...GROUPS.map(({ name }): [string, string] => [`reference/${name}.md`, tagPage(name)]),
    ['reference/errors.md', errorsPage()],
    ['llms.txt', llmsText()],
  ]);
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map(cell).join(' | ')} |`;
}

function facesOf(operation: Operation): string[] {
  return [
    ...operation.http.map(({ verb, path }) => `\`${verb} /api${fullPath(path)}\``),
    ...(operation.grpc === undefined ? [] : [`gRPC \`${operation.grpc.rpc}\``]),
    ...(operation.exec === undefined ? [] : [`app/exec \`${operation.exec.command}\``]),
  ];
}

function rowNamed(name: string): Operation {
  const found = OPERATIONS.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`the operation table has no row ${name}`);
  return found;
}

/** The rows of a tag that the table has: health and metrics are served beside it. */
function rowsOf(tag: string): readonly Operation[] {
  const names = GROUPS.find(({ name }) => name === tag)?.operations ?? [];
  return names.filter((name) => OPERATIONS.some((operation) => operation.name === name)).map(rowNamed);
}

function operationsPage(): string {
  const parts = GROUPS.map(({ name, description }) =>
    [
      `## [${titleOf(name)}](${name}.md)`,
      description,
      '| operation | what it does | ways |\n| --- | --- | --- |\n' +
        rowsOf(name)
          .map((operation) => row(`\`${operation.name}\``, operation.summary, facesOf(operation).join(', ')))
          .join('\n'),
    ].join('\n\n'),
  );
  const head =
    'Every operation of the server. `/api/openapi.json` says the same to programs. Each group links to its page, with members, ' +
    'examples and errors.';
  return `# Operations\n\n${MADE}\n\n${head}\n\n${parts.join('\n\n')}\n`;
}

function titleOf(tag: string): string {
  return tag.charAt(0).toUpperCase() + tag.slice(1);
}

function tagPage(tag: string): string {
  const { description } = GROUPS.find(({ name }) => name === tag)!;
  const links = 'See [all operations](operations.md) and [errors](errors.md).';
  return `# Operations: ${tag}\n\n${MADE}\n\n${description} ${links}\n\n${rowsOf(tag).map(operationPart).join('\n\n')}\n`;
}

function operationPart(operation: Operation): string {
  const { name, summary, description, needs, on, mutates, dryRun, paged, errors, input, example } = operation;
  const facts = [
    `Needs ${NEEDS[needs]}`,
    on === 'memory' ? 'on a memory' : 'on the deployment',
    ...(mutates ? ['changes data'] : []),
    ...(dryRun ? ['takes `dry_run`'] : []),
    ...(paged ? ['answers in pages'] : []),
  ];
  const { properties, required = [] } = outsideSchema(input) as {
    readonly properties?: Members;
    readonly required?: readonly string[];
  }; // the schema of an object
  const members = Object.entries(properties ?? {}).map(([member, schema]) => memberRow(member, schema, required));
  return [
    `## ${name}`,
    `${summary} ${description}`.replaceAll('<', '&lt;').trim(),
    `${facts.join(', ')}. ${facesOf(operation).join(', ')}.`,
    ...(members.length === 0 ? [] : [`| member | takes | meaning |\n| --- | --- | --- |\n${members.join('\n')}`]),
    ...(Object.keys(example).length === 0 ? [] : [`\`\`\`json request\n${JSON.stringify(example, null, 2)}\n\`\`\``]),
    ...(errors.length === 0 ? [] : [`Errors: ${errors.map((code) => `\`${code}\``).join(', ')}.`]),
  ].join('\n\n');
}

function memberRow(name: string, schema: unknown, required: readonly string[]): string {
  const { description } = isMembers(schema) ? schema : {};
  const takes = `${typeName(schema)}${required.includes(name) ? ', required' : ''}`;
  return row(`\`${name}\``, takes, String(description ?? ''));
}

function typeName(schema: unknown): string {
  if (!isMembers(schema)) return '';
  const { type, enum: values, items, anyOf, minimum, maximum } = schema;
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(', ');
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(typeName))].join(' or ');
  if (type === 'array') return `list of ${typeName(items) || 'value'}s`;
  if ('const' in schema) return `\`${String(schema['const'])}\``;
  const bounds = [
    ...(typeof minimum === 'number' && minimum >= 0 ? [`from ${minimum}`] : []),
    ...(typeof maximum === 'number' && maximum < 1e9 ? [`to ${maximum}`] : []),
  ];
  return [typeof type === 'string' ? type : 'value', ...bounds].join(' ');
}

function errorsPage(): string {
  const names = new Map(Object.entries(GRPC_STATUS).map(([name, number]) => [number, name]));
  const rows = (Object.keys(ERROR_MEANINGS) as ErrorCode[]) // its own keys
    .map((code) =>
      row(`\`${code}\``, ERROR_MEANINGS[code], `${STATUS[code].http}`, names.get(STATUS[code].grpc) ?? ''),
    );
  const head =
    'An error is `{"error": {"code", "message", "details", "request_id"}}` over HTTP. gRPC has the code in the message and in ' +
    'the trailers. A published code keeps its meaning.';
  return `# Error codes\n\n${MADE}\n\n${head}\n\n| code | meaning | HTTP | gRPC |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

/** The index of docs/README.md in the form of llms.txt. Links lead to Markdown beside the pages of the site. */
function llmsText(): string {
  const index = readFileSync(join(DOCS, 'README.md'), 'utf8');
  const [head = '', ...parts] = index.split(/^## /m);
  const [, title, about] = /^# (.+)\n\n([\s\S]+)$/.exec(head.trim()) ?? [];
  const sections = parts.map((part) => {
    const links = [...part.matchAll(/^- \[([^\]]+)\]\(([\w/-]+\.md)\)(.*)$/gm)].filter(
      ([, , page]) => !page!.startsWith('decisions'),
    );
    return `## ${part.slice(0, part.indexOf('\n'))}\n\n${links.map(([, text, page, more]) => `- [${text}](/docs/${page})${more}`).join('\n')}`;
  });
  return `# ${title}\n\n> ${about?.replaceAll('\n', ' ')}\n\n${sections.join('\n\n')}\n`;
}
