// Runs two linters over the document of GET /api/openapi.json: `npm run lint-openapi`. They are not dependencies
// because they weigh 80 MB and 200 packages; npm fetches them into its own cache. test/conformance/openapi.test.ts
// checks the same rules without them, and compares the document with real answers.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiDocument } from '../src/server/operations/openapi.ts';
import { OPERATIONS } from '../src/server/operations/table.ts';

const LINTERS = [
  { package: '@redocly/cli@2.77.0', command: ['redocly', 'lint', 'openapi.json', '--extends=recommended'] },
  {
    package: '@stoplight/spectral-cli@6.16.3',
    command: ['spectral', 'lint', 'openapi.json', '--ruleset', 'spectral.json', '--fail-severity', 'warn'],
  },
];

const folder = mkdtempSync(join(tmpdir(), 'granary-openapi-'));
let isClean = true;
try {
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(openApiDocument(OPERATIONS), undefined, 2));
  writeFileSync(join(folder, 'spectral.json'), JSON.stringify({ extends: ['spectral:oas'] }));
  for (const { package: name, command } of LINTERS) {
    const { status } = spawnSync('npm', ['exec', '--yes', '--ignore-scripts', `--package=${name}`, '--', ...command], {
      cwd: folder,
      stdio: 'inherit',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    });
    isClean &&= status === 0;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = isClean ? 0 : 1;
