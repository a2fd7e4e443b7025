// `granary mcp install` and `uninstall`: the entry in a client's configuration.
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { VERSION } from '../../../server/version.ts';
import { Failure, usage } from '../../failure.ts';
import { counted, printJson, printLine, printNote } from '../../output.ts';
import type { McpOptions } from '../options.ts';
import { WORKSPACE_VARIABLES } from '../project.ts';
import { CLIENT_NAMES, CLIENTS, type ClientName, type ClientRow, entryOf, type Started } from './clients.ts';
import { ConfigFile } from './config-file.ts';
import { type Entry, entryIn, withEntry } from './edit.ts';
import { recallThrough, type Seen } from './probe.ts';

export interface InstallOptions extends McpOptions {
  readonly file?: string | undefined;
  readonly dryRun?: true | undefined;
}

/** The program as it runs now: its Node, its script and the environment. */
export interface Running {
  readonly node: string;
  readonly script: string;
  readonly variables: NodeJS.ProcessEnv;
}

export async function install(name: string, options: InstallOptions, running: Running): Promise<void> {
  const client = clientOf(name);
  const file = fileOf(client, options, running);
  const started = startedBy(client, options, running);
  const before = file.read();
  const after = edited(file, () => withEntry(before ?? '', client, entryOf(client, started)));
  const former = edited(file, () => entryIn(before ?? '', client));
  const say = sayer(options);
  showChange(file, { before: before ?? '', after }, [options.apiKey, former && apiKeyIn(former)], say);
  if (options.project === 'auto' && !client.tellsFolder)
    printNote(`${client.title} may not report its folder; calls then fail: if they do, give --project NAME instead`);
  if (options.dryRun) {
    say('Nothing was written.');
    if (options.json) printJson({ file: file.path, written: false });
    return;
  }
  if (former === undefined || !isInstalled(file, client, former)) file.keep(before);
  file.write(after);
  say(`Written. The file as it was: ${file.copy}`);
  if (options.apiKey !== undefined && file.isOpenToOthers)
    printNote(`${file.path}: others on this machine may read the key in it (chmod 600)`);
  const seen = await recallThrough(started, probeVariables(options, running)).catch((error: unknown) => {
    const { code, message } = error instanceof Failure ? error : new Failure('SYS-E001', String(error));
    throw new Failure(code, `the entry is written, but a recall through it failed: ${message}`);
  });
  if (options.json) {
    printJson({ file: file.path, written: true, copy: file.copy, ...seen });
    return;
  }
  printLine(`Recalled once through it: ${summaryOf(seen)}.`);
  if (seen.first !== undefined) printLine(`First: ${seen.first}`);
  printLine(`In ${client.title}: ${client.next}.`);
}

function summaryOf({ tools, memory, namespace, grains, hits }: Seen): string {
  const where = [memory && `memory ${memory}`, namespace && `namespace ${namespace}`].filter(Boolean).join(', ');
  return [
    counted(tools, 'tool'),
    grains === undefined ? where : `${where} holds ${counted(grains, 'grain')}`,
    hits === undefined ? 'the tool recall is not offered' : `the recall found ${hits}`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

export function uninstall(name: string, options: InstallOptions, running: Running): void {
  const client = clientOf(name);
  const file = fileOf(client, options, running);
  const text = file.read();
  const entry = text === undefined ? undefined : edited(file, () => entryIn(text, client));
  if (text === undefined || entry === undefined) throw new Failure('FILE', `${file.path} has no entry named granary`);
  const kept = file.kept();
  const isUntouched = kept !== undefined && edited(file, () => withEntry(kept, client, entry)) === text;
  const earlier = edited(file, () => earlierEntry(kept, client));
  const after = isUntouched ? kept : edited(file, () => withEntry(text, client, earlier));
  const say = sayer(options);
  showChange(file, { before: text, after }, [apiKeyIn(entry), earlier && apiKeyIn(earlier)], say);
  if (options.dryRun) {
    say('Nothing was written.');
    if (options.json) printJson({ file: file.path, written: false });
    return;
  }
  if (isUntouched && kept === '') file.remove();
  else file.write(after);
  if (isUntouched) file.dropCopy();
  say(
    isUntouched
      ? `Restored: ${file.path} is as it was before the install.`
      : `Removed. Other changes since the install stay${kept === undefined ? '' : `; the file from before it: ${file.copy}`}.`,
  );
  if (options.json) printJson({ file: file.path, written: true, restored: isUntouched });
}

/**
 * Whether an earlier install wrote the entry, so that its copy stays. An uninstall leaves its copy if the file has changed
 * since the install; that copy is not of the file as it is now.
 */
function isInstalled(file: ConfigFile, client: ClientRow, entry: Entry): boolean {
  const kept = file.kept();
  return kept !== undefined && JSON.stringify(edited(file, () => earlierEntry(kept, client))) !== JSON.stringify(entry);
}

/** An entry of the same name from before the install comes back. */
function earlierEntry(kept: string | undefined, client: ClientRow): Entry | undefined {
  return kept === undefined ? undefined : entryIn(kept, client);
}

function apiKeyIn(entry: Entry): string | undefined {
  const { GRANARY_API_KEY: key } = (entry['env'] ?? {}) as Readonly<Record<string, unknown>>; // an entry's environment
  return typeof key === 'string' ? key : undefined;
}

/** Names the file in a failure of its text. */
function edited<T>(file: ConfigFile, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Failure) throw new Failure(error.code, `${file.path}: ${error.message}`);
    throw error;
  }
}

function clientOf(name: string): ClientRow {
  if (!Object.hasOwn(CLIENTS, name)) throw usage(`unknown client ${name}: use one of ${CLIENT_NAMES.join(', ')}`);
  return CLIENTS[name as ClientName];
}

function fileOf(client: ClientRow, { file }: InstallOptions, { variables }: Running): ConfigFile {
  const machine = { platform: process.platform, home: homedir(), variables };
  return new ConfigFile(file === undefined ? client.file(machine) : resolve(file));
}

/** The same program with the same options, by absolute paths: clients start it in any folder. */
function startedBy(client: ClientRow, options: InstallOptions, { node, script }: Running): Started {
  const { dataDir, url, httpUrl, tlsCa, memory, namespace, user, project, readOnly, tools, profile, apiKey } = options;
  if (project !== undefined && namespace !== undefined)
    throw usage('give --project or --namespace: a project is a namespace');
  const isRemote = url !== undefined || httpUrl !== undefined;
  const words: readonly (readonly [string, string | true | undefined])[] = [
    ['--data-dir', isRemote ? undefined : resolve(dataDir)],
    ['--url', url],
    ['--http-url', httpUrl],
    ['--tls-ca', tlsCa === undefined ? undefined : resolve(tlsCa)],
    ['--memory', memory],
    ['--namespace', namespace],
    ['--user', user],
    ['--project', project],
    ['--read-only', readOnly],
    ['--tools', tools],
    ['--profile', profile === 'default' ? undefined : profile],
  ];
  const args = words.flatMap(([name, value]) => (value === undefined ? [] : value === true ? [name] : [name, value]));
  const env: Record<string, string> = {};
  if (apiKey !== undefined) env['GRANARY_API_KEY'] = apiKey;
  if (project === 'auto' && client.workspace !== undefined) env['GRANARY_WORKSPACE'] = client.workspace;
  // A package of npx is in a cache, which may be emptied.
  const isOfNpx = /[\\/]_npx[\\/]/.test(script);
  return isOfNpx
    ? { command: 'npx', args: ['-y', `granary@${VERSION}`, 'mcp', ...args], env }
    : { command: node, args: [resolve(script), 'mcp', ...args], env };
}

/** A recall before the client runs has the folder of this process in place of the client's. */
function probeVariables({ project }: InstallOptions, { variables }: Running): NodeJS.ProcessEnv {
  if (project !== 'auto' || WORKSPACE_VARIABLES.some((name) => (variables[name] ?? '') !== '')) return variables;
  return { ...variables, CLAUDE_PROJECT_DIR: process.cwd() };
}

/** Text for people. Beside JSON it is a note. */
function sayer({ json }: InstallOptions): (text: string) => void {
  return json === true ? printNote : printLine;
}

/** The lines that change, without the keys of the entries before and after. */
function showChange(
  { path }: ConfigFile,
  { before, after }: { readonly before: string; readonly after: string },
  keys: readonly (string | undefined)[],
  say: (text: string) => void,
): void {
  const hidden = (line: string): string =>
    keys.reduce<string>(
      (text, key) => (key === undefined || key === '' ? text : text.replaceAll(key, `${key.slice(0, 3)}…`)),
      line,
    );
  const [old, next] = [before.split(/\r?\n/), after.split(/\r?\n/)];
  let head = 0;
  while (head < old.length && head < next.length && old[head] === next[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < next.length - head && old.at(-1 - tail) === next.at(-1 - tail)) tail += 1;
  say(path);
  for (const line of old.slice(head, old.length - tail)) say(`- ${hidden(line)}`);
  for (const line of next.slice(head, next.length - tail)) say(`+ ${hidden(line)}`);
}
