// Runs the commands of a document as a reader would: in a shell, with curl and granary.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { MAIN } from './program.ts';

const ROOT = resolve(import.meta.dirname, '../..');

export interface Block {
  readonly kind: string;
  readonly lines: string;
}

/** The code blocks of a document, by its path from the root. */
export function blocksOf(document: string): readonly Block[] {
  const written = readFileSync(join(ROOT, document), 'utf8');
  return [...written.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, kind = '', lines = '']) => ({ kind, lines }));
}

export const hasCurl = spawnSync('curl', ['--version']).error === undefined;

export class ExampleShell {
  readonly folder: string;
  readonly variables: Record<string, string> = {};

  constructor(folder: string) {
    this.folder = folder;
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const command = join(bin, 'granary');
    const cache = process.env['NODE_COMPILE_CACHE'] ?? '';
    writeFileSync(command, `#!/bin/sh\nNODE_COMPILE_CACHE="${cache}" exec "${process.execPath}" "${MAIN}" "$@"\n`);
    chmodSync(command, 0o755);
    this.variables['PATH'] = [bin, process.env['PATH']].join(delimiter);
  }

  /** The commands talk to this server. */
  use({ http, key }: { readonly http: string; readonly key: string }): void {
    Object.assign(this.variables, { KEY: key, URL: http, GRANARY_URL: http, GRANARY_API_KEY: key });
  }

  /** Standard output of the lines; a command that fails ends them, and the test. */
  async printed(lines: string): Promise<string> {
    const child = spawn('sh', ['-euc', lines], { cwd: this.folder, env: this.variables });
    child.stdin.end();
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise((done) => child.on('close', done)),
    ]);
    assert.equal(code, 0, `${lines}${stdout}${stderr}`);
    return stdout;
  }
}
