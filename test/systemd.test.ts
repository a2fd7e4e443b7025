// The systemd units of deploy/: what they let the server do, and that the commands in them exist.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { granary } from './support/cli.ts';

const UNITS = join(import.meta.dirname, '..', 'deploy', 'systemd');
const ANALYZE = '/usr/bin/systemd-analyze';
const EXPOSURE_MAX = 2;
const SERVICES = ['granary.service', 'granary-backup.service'];

const read = (name: string): string => readFileSync(join(UNITS, name), 'utf8');

test('the services are exposed by no more than 2.0', (t) => {
  if (!existsSync(ANALYZE)) return t.skip(`${ANALYZE} is not installed`);
  for (const name of SERVICES) {
    const out = execFileSync(ANALYZE, ['security', '--offline=true', '--no-pager', join(UNITS, name)]).toString();
    const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(out)?.[1]);
    assert.ok(exposure <= EXPOSURE_MAX, `${name}: ${exposure}\n${out}`);
  }
});

test('the services start commands and options that exist', async () => {
  for (const name of SERVICES) {
    const [command = '', ...words] = (/^ExecStart=\/usr\/bin\/granary (.+)$/m.exec(read(name))?.[1] ?? '').split(' ');
    const { code, stdout } = await granary([command, '--help']);
    assert.equal(code, 0, `${name}: ${command}`);
    for (const word of words.filter((one) => one.startsWith('--')))
      assert.ok(stdout.includes(`${word} <`), `${name}: ${command} ${word}`);
  }
});

test('the server gives large freed blocks back to the system, as a service and in the image', () => {
  const [setting = ''] = /^MALLOC_\w+=\d+$/m.exec(read('granary.service').replaceAll('Environment=', '')) ?? [];
  assert.notEqual(setting, '');
  for (const name of ['Dockerfile', join('docs', 'limits.md')])
    assert.ok(readFileSync(join(UNITS, '..', '..', name), 'utf8').includes(setting), `${name}: ${setting}`);
});

test('the variables of the services are options of the server, and its folders are writable ones', async () => {
  const { stdout } = await granary(['serve', '--help']);
  for (const name of SERVICES) {
    const unit = read(name);
    const variables = [...unit.matchAll(/^Environment=(GRANARY_\w+)=(\S+)$/gm)];
    assert.ok(variables.length > 0, name);
    for (const [, variable = '', value = ''] of variables) {
      assert.ok(stdout.includes(variable), `${name}: ${variable}`);
      assert.ok(value.startsWith('/var/lib/granary/'), `${name}: ${value}`);
    }
    assert.match(unit, /^StateDirectory=granary /m);
    // The server prints its ready line, ends on SIGTERM and gets as long as its drain may take.
    if (name === 'granary.service') assert.match(unit, /^KillSignal=SIGTERM\nTimeoutStopSec=90$/m);
  }
  assert.match(read('granary-backup.timer'), /^OnCalendar=.+\n.*\nPersistent=yes$/m);
});
