// The conformance suite of the protocol against /mcp, on both listeners. Many of its scenarios ask for tools of a reference
// server, such as one that answers an image; they do not apply. The rest must pass, and every message must be valid.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestServer } from '../support/server.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const SUITE = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** Scenarios that ask for nothing but the protocol. */
const APPLY = {
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'prompts-list',
    'dns-rebinding-protection',
    'caching',
    'http-header-validation',
    'input-required-result-unsupported-methods',
    'server-sse-multiple-streams',
  ],
  '2025-11-25': [
    'server-initialize',
    'server-session-lifecycle',
    'ping',
    'tools-list',
    'resources-list',
    'prompts-list',
    'dns-rebinding-protection',
    'server-sse-multiple-streams',
  ],
} as const;

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

/** Checks of a scenario that need a tool of the reference server. */
const NEEDS_REFERENCE = /^Not testable: server does not list the diagnostic tool/;

for (const http of ['node', 'uws'])
  for (const [version, scenarios] of Object.entries(APPLY))
    test(`the conformance suite passes for ${version} (${http})`, async (t) => {
      if (!existsSync(SUITE)) return t.skip('the conformance suite is not installed');
      const server = await startTestServer({ http, auth: 'none' });
      t.after(() => server.close());
      const folder = temporaryDirectory(t);
      const words = [
        'server',
        '--url',
        `${server.http}/mcp`,
        '--spec-version',
        version,
        '--suite',
        'all',
        '-o',
        folder,
      ];
      // It exits with 1, since scenarios that do not apply fail.
      await new Promise<void>((done) => execFile(process.execPath, [SUITE, ...words], () => done()));
      const results = new Map(
        readdirSync(folder).map((name) => [
          name.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, ''),
          JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as readonly Check[], // the suite's own form
        ]),
      );
      let passed = 0;
      for (const scenario of scenarios) {
        const checks = results.get(scenario);
        assert.ok(checks !== undefined, `${scenario} did not run; there are ${[...results.keys()].join(', ')}`);
        for (const { id, status, errorMessage = '' } of checks) {
          if (status === 'SUCCESS') passed += 1;
          assert.ok(status !== 'FAILURE' || NEEDS_REFERENCE.test(errorMessage), `${scenario} ${id}: ${errorMessage}`);
        }
      }
      for (const [scenario, checks] of results)
        for (const { id, status, errorMessage } of checks)
          if (id === 'wire-schema-valid') assert.equal(status, 'SUCCESS', `${scenario}: ${errorMessage}`);
      t.diagnostic(`${passed} checks passed`);
      assert.ok(passed >= (version === '2026-07-28' ? 50 : 12), `${passed} checks passed`);
    });
