// Generates src/server/gen from proto/: messages, typed clients and the descriptor set that reflection serves.
// `npm run proto` writes it; a test runs the same steps into another folder and compares.
//
// buf carries its own compiler, and the plugin runs from node_modules, so nothing is fetched.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const GENERATED = join(ROOT, 'src', 'server', 'gen');

const PLUGIN_OPTIONS = [
  'env=node',
  'outputServices=grpc-js',
  // Every 64-bit field is a count or a time in seconds; one beyond 2^53 is refused while decoding.
  'forceLong=number',
  // Node runs the sources as they are, and wants the suffix that is on disk.
  'importSuffix=.ts',
  'snakeToCamel=keys',
  'outputJsonMethods=false',
  'useExactTypes=false',
];

/** Writes the generated files under `folder`, which is emptied first. Throws with buf's words when it fails. */
export function generate(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const bin = join(ROOT, 'node_modules', '.bin');
  const template = {
    version: 'v2',
    plugins: [{ local: [join(bin, 'protoc-gen-ts_proto')], out: folder, opt: PLUGIN_OPTIONS }],
  };
  const buf = (...args: string[]): void => {
    execFileSync(join(bin, 'buf'), args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  buf('generate', 'proto', '--template', JSON.stringify(template));
  buf('build', 'proto', '--as-file-descriptor-set', '--exclude-source-info', '-o', join(folder, 'memory.binpb'));
}

if (import.meta.main) generate(GENERATED);
