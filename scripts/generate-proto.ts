// Generates src/server/gen from proto/: messages, typed stubs of the services, and the descriptor set for reflection.
// `npm run proto` writes it; a test runs the same steps into another folder and compares.
//
// Messages and stubs go to separate files: stubs load grpc-js, which the server and its threads do not use.
//
// buf includes a compiler, and the plugin runs from node_modules, so nothing is fetched.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const GENERATED = join(ROOT, 'src', 'server', 'gen');
/** The plugin's output for proto/memory/v1/memory.proto, relative to the folder. */
const MESSAGES = join('memory', 'v1', 'memory.ts');
const SERVICES = join('memory', 'v1', 'services.ts');

const PLUGIN_OPTIONS = [
  'env=node',
  // Every 64-bit field is a count or a time in seconds; decoding rejects values over 2^53.
  'forceLong=number',
  // Node runs the sources directly, so imports need the suffix of the file on disk.
  'importSuffix=.ts',
  'snakeToCamel=keys',
  'outputJsonMethods=false',
  'useExactTypes=false',
];

/** Writes the generated files into `folder`, which is emptied first. Throws with buf's output when it fails. */
export function generate(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  runPlugin(folder, 'grpc-js');
  renameSync(join(folder, MESSAGES), join(folder, SERVICES));
  runPlugin(folder, 'generic-definitions');
  const whole = readFileSync(join(folder, SERVICES), 'utf8');
  const messages = readFileSync(join(folder, MESSAGES), 'utf8');
  writeFileSync(join(folder, SERVICES), servicesOf(whole, messages));
  buf('build', 'proto', '--as-file-descriptor-set', '--exclude-source-info', '-o', join(folder, 'memory.binpb'));
}

function runPlugin(folder: string, services: 'grpc-js' | 'generic-definitions'): void {
  const plugin = {
    local: [join(ROOT, 'node_modules', '.bin', 'protoc-gen-ts_proto')],
    out: folder,
    opt: [...PLUGIN_OPTIONS, `outputServices=${services}`],
  };
  buf('generate', 'proto', '--template', JSON.stringify({ version: 'v2', plugins: [plugin] }));
}

function buf(...args: string[]): void {
  execFileSync(join(ROOT, 'node_modules', '.bin', 'buf'), args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** The stubs of a file with messages and stubs, changed to import the messages from their own file. */
function servicesOf(whole: string, messages: string): string {
  const header = between(whole, '', 'import {');
  const library = between(whole, 'import {\n  type CallOptions', ' from "@grpc/grpc-js";\n');
  const stubs = between(whole, 'export type MemoryServiceService', 'type Builtin =');
  const names = [...messages.matchAll(/^export const (\w+): MessageFns</gm)]
    .map(([, name]) => name!)
    .filter((name) => new RegExp(`\\b${name}\\.(?:encode|decode)\\(`).test(stubs));
  return `${header}${library} from "@grpc/grpc-js";\nimport {\n  ${names.join(',\n  ')},\n} from "./memory.ts";\n\n${stubs.trimEnd()}\n`;
}

/** The part of `text` from the first `from` up to the next `to`. */
function between(text: string, from: string, to: string): string {
  const start = text.indexOf(from);
  const end = text.indexOf(to, start + from.length);
  if (start < 0 || end < 0) throw new Error(`the plugin's output has no part from "${from}" to "${to}"`);
  return text.slice(start, end);
}

if (import.meta.main) generate(GENERATED);
