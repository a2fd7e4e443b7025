// Every fenced block of the README and the documents is run, or has a reason why it is not. Blocks marked `run` and those of
// RUN are run here, against one server; other tests run the blocks of the documents that they name; a new block that is neither
// fails. A reason that no block needs fails too.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { HttpClient } from './conformance/http-client.ts';
import { ExampleShell, hasCurl } from './support/example-shell.ts';
import { memoryFolder } from './support/memory-files.ts';
import { startTestServer, type TestServer } from './support/server.ts';

const ROOT = join(import.meta.dirname, '..');

interface Block {
  readonly file: string;
  /** The words after the fence, such as `json request`. */
  readonly kind: string;
  readonly lines: string;
}

const HAS_PYTHON = spawnSync('python3', ['--version']).error === undefined;

function blocksIn(file: string): Block[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/^( *)```([^\n]*)\n([\s\S]*?)^\1```$/gm)].map(([, indent = '', kind = '', lines = '']) => ({
    file,
    kind: kind.trim(),
    lines: lines.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

const FILES = ['README.md', ...globSync('docs/{*.md,paths/*.md,reference/*.md}', { cwd: ROOT }).toSorted()];
const BLOCKS = FILES.flatMap(blocksIn);

interface ElsewhereRow {
  readonly file: string;
  readonly kinds: RegExp;
  /** Only blocks that begin so. */
  readonly begins?: string;
  readonly test: string;
}

/** Documents whose blocks of some kinds another test runs. It names the document. */
const RUN_ELSEWHERE: readonly ElsewhereRow[] = [
  { file: 'README.md', kinds: /^sh$/, begins: 'npm run -s granary -- providers', test: 'test/model-examples.test.ts' },
  { file: 'docs/cal.md', kinds: /^cal/, test: 'src/engine/cal/docs.test.ts' },
  { file: 'docs/cal-output.md', kinds: /^cal$/, test: 'test/cal/output.test.ts' },
  { file: 'docs/cal-primer.md', kinds: /^cal$/, test: 'test/cal/docs.test.ts' },
  { file: 'docs/chat.md', kinds: /^(?:sh|console)$/, test: 'test/model-examples.test.ts' },
  { file: 'docs/client.md', kinds: /^ts$/, test: 'test/client/package.test.ts' },
  { file: 'docs/documents.md', kinds: /^(?:json)?$/, test: 'test/document-examples.test.ts' },
  { file: 'docs/erasure.md', kinds: /^python$/, test: 'test/cli-proof.test.ts' },
  { file: 'docs/harness.md', kinds: /^/, test: 'test/harness-docs.test.ts' },
  { file: 'docs/mcp.md', kinds: /^(?:json|sh)$/, test: 'test/mcp/docs.test.ts' },
  { file: 'docs/metrics.md', kinds: /^(?:js|sh)$/, test: 'test/otel-example.test.ts' },
  // Docker is not there: its steps are taken with processes.
  { file: 'docs/nodes.md', kinds: /^sh$/, test: 'test/compose-nodes.test.ts' },
  { file: 'docs/providers.md', kinds: /^$/, test: 'test/model-examples.test.ts' },
  { file: 'docs/remember.md', kinds: /^$/, test: 'test/document-examples.test.ts' },
  { file: 'docs/subject-requests.md', kinds: /^sh$/, test: 'test/cli-dsr.test.ts' },
];

/** Blocks that are run here without a mark, by how they begin. The README shows none of our marks. */
const RUN: readonly { readonly file: string; readonly begins: string }[] = [
  { file: 'README.md', begins: 'KEY=$(cat' },
  { file: 'README.md', begins: 'npm run -s granary -- add' },
  { file: 'docs/access.md', begins: 'granary grant' },
  { file: 'docs/agents.md', begins: 'granary agents register' },
  { file: 'docs/events.md', begins: 'curl -H' },
  { file: 'docs/graph.md', begins: 'curl -H' },
  { file: 'docs/sessions.md', begins: 'curl -H' },
  { file: 'docs/trail.md', begins: 'granary audit tail' },
  { file: 'docs/trail.md', begins: 'granary export' },
];

/** Why a block is not run. A test below compares the reason with the block. */
const REASONS = {
  output: 'shows what something answers or prints',
  outside: 'needs a program or a service that this machine lacks',
  configuration: 'is a part of a file of configuration',
  endless: 'runs until it is stopped',
  installs: 'installs or starts the server, as every test does by other means',
} as const;

const NOT_RUN: readonly {
  readonly file: string;
  readonly begins: string;
  readonly because: keyof typeof REASONS;
}[] = [
  { file: 'README.md', begins: 'npm ci && npm start', because: 'installs' },
  { file: 'README.md', begins: 'npm ci && npm test', because: 'installs' },
  { file: 'README.md', begins: 'grpcurl', because: 'outside' },
  { file: 'docs/access.md', begins: 'granary serve --oidc-issuer', because: 'outside' },
  { file: 'docs/access.md', begins: 'granary check', because: 'output' },
  { file: 'docs/agents.md', begins: 'trust = ', because: 'output' },
  { file: 'docs/configuration.md', begins: "import { startServer } from 'granary'", because: 'installs' },
  { file: 'docs/embedders.md', begins: 'granary model list', because: 'outside' },
  { file: 'docs/store.md', begins: 'export GRANARY_STORE', because: 'outside' },
  { file: 'docs/embedders.md', begins: 'granary model pull', because: 'outside' },
  { file: 'docs/erasure.md', begins: '{"user_id"', because: 'output' },
  { file: 'docs/events.md', begins: '{"id"', because: 'output' },
  { file: 'docs/events.md', begins: 'curl -N', because: 'endless' },
  { file: 'docs/events.md', begins: 'retry: ', because: 'output' },
  { file: 'docs/events.md', begins: '{"events"', because: 'output' },
  { file: 'docs/graph.md', begins: 'granary graph ada --direction both --dot | dot', because: 'outside' },
  { file: 'docs/install.md', begins: 'npx granary serve', because: 'installs' },
  { file: 'docs/install.md', begins: 'docker build', because: 'outside' },
  { file: 'docs/install.md', begins: 'cd deploy/compose', because: 'outside' },
  { file: 'docs/install.md', begins: 'apt install', because: 'outside' },
  { file: 'docs/install.md', begins: 'kubectl create', because: 'outside' },
  { file: 'docs/operation.md', begins: 'npm install --global granary', because: 'installs' },
  { file: 'docs/operation.md', begins: 'GRANARY_MASTER_KEY_FILE=', because: 'configuration' },
  { file: 'docs/operation.md', begins: 'systemctl enable', because: 'outside' },
  { file: 'docs/operation.md', begins: 'sudo -u granary', because: 'outside' },
  { file: 'docs/operation.md', begins: 'export GRANARY_MASTER_KEY_FILE', because: 'outside' },
  { file: 'docs/operation.md', begins: 'granary upgrade --check', because: 'outside' },
  { file: 'docs/operation.md', begins: 'systemctl stop', because: 'outside' },
  { file: 'docs/sessions.md', begins: '{"old_hash"', because: 'output' },
  { file: 'docs/webhooks.md', begins: 'curl -X POST', because: 'outside' },
  { file: 'docs/webhooks.md', begins: 'import hashlib, hmac', because: 'endless' },
];

const isMarked = ({ kind }: Block): boolean => / run$/.test(kind);
const isIn =
  (block: Block) =>
  ({ file, begins }: { readonly file: string; readonly begins: string }): boolean =>
    block.file === file && block.lines.startsWith(begins);

const isOf =
  (block: Block) =>
  ({ file, kinds, begins = '' }: ElsewhereRow): boolean =>
    block.file === file && kinds.test(block.kind) && block.lines.startsWith(begins);

test('every block is run, or has a reason why it is not', () => {
  assert.ok(BLOCKS.length > 80, `${BLOCKS.length} blocks`);
  for (const block of BLOCKS) {
    const ways = [
      isMarked(block),
      block.kind === 'json request' && block.file.startsWith('docs/reference/'),
      RUN_ELSEWHERE.some(isOf(block)),
      RUN.some(isIn(block)),
      NOT_RUN.some(isIn(block)),
    ].filter(Boolean).length;
    assert.equal(ways, 1, `${block.file}: run this block, or give a reason why not:\n${block.lines}`);
  }
});

test('no row is left over, and tests name the documents that they run', () => {
  for (const row of [...RUN, ...NOT_RUN])
    assert.ok(
      BLOCKS.some((block) => isIn(block)(row)),
      `${row.file} has no block that begins with ${row.begins}`,
    );
  for (const row of RUN_ELSEWHERE) {
    const { file, test: at } = row;
    assert.ok(
      BLOCKS.some((block) => isOf(block)(row)),
      file,
    );
    const name = file.replace('docs/', '');
    assert.ok(readFileSync(join(ROOT, at), 'utf8').includes(name), `${at} does not name ${name}`);
  }
});

test('reasons hold: output is no command, and what is outside names another program or place', () => {
  for (const { file, begins, because } of NOT_RUN) {
    const block = BLOCKS.find((one) => isIn(one)({ file, begins }))!;
    if (because === 'output') assert.ok(!/^(?:curl|npm|sh)\b/.test(block.lines), begins);
    if (because === 'outside')
      assert.match(
        block.lines,
        /grpcurl|example\.com|granary model pull|\| dot|systemctl|docker|\/etc\/granary/,
        begins,
      );
    if (because === 'configuration' && block.lines.startsWith('{'))
      assert.equal(typeof JSON.parse(block.lines), 'object', begins);
    else if (because === 'configuration') assert.match(block.lines, /^(?:[A-Z_]+=.*\n)+$/, begins);
    if (because === 'endless') assert.match(block.lines, /curl -N|serve_forever/, begins);
    if (because === 'installs') assert.match(block.lines, /npm ci|npm install|npx|startServer/, begins);
  }
});

test('the requests of the reference are JSON objects', () => {
  const requests = BLOCKS.filter(({ kind }) => kind === 'json request');
  assert.ok(requests.length > 50, `${requests.length} requests`);
  for (const { file, lines } of requests) assert.equal(typeof JSON.parse(lines), 'object', file);
});

describe('blocks against a server', { concurrency: false }, () => {
  const shell = new ExampleShell(memoryFolder());
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
    shell.use(server);
  });
  after(() => server.close());

  /** The lines of a document about its own server, for this one. */
  const here = (lines: string): string =>
    lines
      .replace('KEY=$(cat data/keys/bootstrap.key)', 'set -e')
      .replaceAll(/curl -s(?=[ ])/g, 'curl -sf')
      .replaceAll(/(?:http:\/\/127\.0\.0\.1|localhost):8080/g, server.http)
      .replaceAll('npm run -s granary --', 'granary')
      // A poll for events after the last one waits for the next.
      .replaceAll('since=41', 'since=0');

  for (const file of FILES) {
    const blocks = BLOCKS.filter((block) => block.file === file && (isMarked(block) || RUN.some(isIn(block))));
    if (blocks.length === 0) continue;
    test(`${file}: ${blocks.length} blocks`, async (t) => {
      for (const { kind, lines } of blocks) {
        if (kind.startsWith('python')) {
          if (!HAS_PYTHON) return t.skip('python3 is not installed');
          writeFileSync(join(shell.folder, 'memory.py'), lines);
          const printed = await shell.printed('python3 memory.py');
          assert.match(printed, /Oslo/);
        } else if (lines.includes('curl ') && !hasCurl) return t.skip('curl is not installed');
        else await shell.printed(here(lines));
      }
      const http = new HttpClient(server.http, server.key);
      if (file === 'docs/quickstart-curl.md')
        assert.deepEqual((await http.get('/memories/default/grains?user_id=ada')).grains, []);
    });
  }
});
