// `granary add`: one grain.
import type { Command } from 'commander';
import { parseJson, stringifyJson } from '../engine/grain/api/json.ts';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import type { GrainType } from '../engine/grain/grain.ts';
import { usage } from './failure.ts';
import { gather, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printLine } from './output.ts';

interface AddOptions extends ServerOptions {
  readonly memory: string;
  readonly type: string;
  readonly fields?: string | undefined;
  readonly namespace?: string | undefined;
  readonly user?: string | undefined;
  readonly tag?: readonly string[] | undefined;
}

export function registerAdd(program: Command): void {
  const command = program
    .command('add')
    .description('Add a grain: a belief of three words, a text, or any type with --fields')
    .argument('[words...]', 'SUBJECT RELATION OBJECT for a belief, or the text of an event')
    .option('--type <type>', 'type of the grain, such as event or goal', 'belief')
    .option(
      '--fields <json>',
      'fields of the grain: those of its type, common fields, and any others, which are kept; a JSON object',
    )
    .option('--namespace <name>', 'namespace of the grain')
    .option('--user <id>', 'the data subject')
    .option('--tag <tag>', 'tags of the grain; repeat the option for more', gather)
    .addHelpText(
      'after',
      `
Examples:
  granary add ada likes tea
  granary add --type event "Met Ada at the station"
  granary add --type goal --fields '{"description":"find the keys","priority":"high"}'`,
    );
  withServerOptions(withMemoryOption(command)).action(add);
}

async function add(words: string[], options: AddOptions): Promise<void> {
  const fields = { ...fieldsOf(words, options) };
  if (options.namespace !== undefined) fields['namespace'] = options.namespace;
  if (options.user !== undefined) fields['user_id'] = options.user;
  if (options.tag !== undefined) fields['tags'] = [...options.tag];
  const [{ withConnection }, { RPC }] = await Promise.all([import('./connection.ts'), import('./rpcs.ts')]);
  const { memory } = options;
  const { hash } = await withConnection(
    options,
    (connection) =>
      connection.call(RPC.add, { grainType: options.type, fieldsJson: stringifyJson(fields) }, { memory }),
    { mayCreate: true },
  );
  if (options.json) return printJson({ hash });
  printLine(hash);
}

function fieldsOf(words: readonly string[], { type, fields }: AddOptions): JsonObject {
  const given = fields === undefined ? {} : objectOf(fields);
  if (words.length === 0) {
    if (fields === undefined) throw usage('nothing to add: give words, or --fields');
    return given;
  }
  if (type === 'belief') {
    const [subject, relation, object, ...more] = words;
    if (subject === undefined || relation === undefined || object === undefined)
      throw usage('a belief needs SUBJECT RELATION OBJECT: granary add ada likes tea');
    // Only the caller knows which of the three parts the extra words belong to.
    if (more.length > 0)
      throw usage(
        `a belief has three parts, not ${words.length}: quote words that belong together, as in granary add ${quoted(subject)} ${quoted(relation)} ${quoted([object, ...more].join(' '))}`,
      );
    return { ...given, subject, relation, object };
  }
  const field = Object.hasOwn(WORDS_FIELD, type) ? WORDS_FIELD[type as GrainType] : undefined;
  if (field === undefined)
    throw usage(`a grain of type ${type} needs --fields, not words: granary add --type ${type} --fields '{…}'`);
  return { ...given, [field]: words.join(' ') };
}

/** The field that the words of the command become, by type; undefined: one field of words does not make a grain. */
const WORDS_FIELD: Readonly<Record<GrainType, string | undefined>> = {
  belief: undefined,
  event: 'content',
  state: undefined,
  workflow: undefined,
  action: undefined,
  observation: 'content',
  goal: 'description',
  reasoning: 'conclusion',
  consensus: undefined,
  consent: undefined,
};

/** Quotes text so that a shell reads it as one word. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `"${word.replace(/["\\$`]/g, '\\$&')}"`;
}

function objectOf(text: string): JsonObject {
  try {
    const value = parseJson(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // The error is thrown below.
  }
  throw usage(`--fields must be a JSON object, as in '{"content":"Met Ada"}'`);
}
