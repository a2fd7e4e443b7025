// The Debian package: what it holds, what Debian's own tools say of it, and its server, after its scripts ran in a root of
// their own.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { build } from '../scripts/build.ts';
import { buildDeb } from '../scripts/build-deb.ts';
import { startContainer, whyNoContainer } from './support/container.ts';
import { BUILT } from './support/program.ts';

const ROOT = join(import.meta.dirname, '..');
const DEPLOY = join(ROOT, 'deploy');
const DPKG = '/usr/bin/dpkg-deb';
const LINTIAN = '/usr/bin/lintian';
const isHere = existsSync(DPKG);
const skip = !isHere && `${DPKG} is not installed`;

const directory = mkdtempSync(join(tmpdir(), 'granary-deb-test-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const root = join(directory, 'root');
let deb = '';

before(async () => {
  if (!isHere) return;
  const dist = BUILT === undefined ? join(directory, 'dist') : join(BUILT, 'dist');
  if (BUILT === undefined) await build(dist);
  // Compressing takes longer than all else here, and only lintian wants it.
  deb = buildDeb(directory, { dist, compression: existsSync(LINTIAN) ? ['-Zgzip', '-z1'] : ['-Znone'] });
  mkdirSync(root);
  execFileSync(DPKG, ['--raw-extract', deb, root]);
});

test('the package names its version, its architecture and the libraries that it needs', { skip }, () => {
  const field = (name: string): string => execFileSync(DPKG, ['--field', deb, name]).toString().trim();
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }; // ours
  assert.deepEqual([field('Package'), field('Version')], ['granary', version]);
  assert.match(field('Depends'), /libc6 .*libstdc\+\+6 /);
  assert.equal(field('Architecture'), execFileSync('dpkg', ['--print-architecture']).toString().trim());
  assert.equal(readFileSync(join(root, 'DEBIAN/conffiles'), 'utf8'), '/etc/granary/granary.env\n');
});

test('the package holds files of the system alone, all of root, and the units of deploy/', { skip }, () => {
  const lines = execFileSync(DPKG, ['--contents', deb], { maxBuffer: 1 << 24 })
    .toString()
    .trim()
    .split('\n');
  for (const line of lines)
    assert.match(line, /^\S+ root\/root .* \.\/(usr\/.*|etc\/|etc\/granary\/(granary\.env)?)?$/);
  for (const name of readdirSync(join(DEPLOY, 'systemd')))
    assert.deepEqual(
      readFileSync(join(root, 'usr/lib/systemd/system', name)),
      readFileSync(join(DEPLOY, 'systemd', name)),
    );
});

/** Slow checks of lintian none of whose findings is an error. */
const NO_ERRORS = ['binaries/spelling', 'languages/javascript/embedded', 'languages/php/pear/embedded'];

test('lintian finds no error', (t) => {
  const lintian = installed(t, LINTIAN);
  if (lintian === undefined || !isHere) return;
  const options = [
    '--profile',
    'debian',
    '--allow-root',
    '--dont-check-part',
    NO_ERRORS.join(','),
    '--fail-on',
    'error',
  ];
  execFileSync(lintian, [...options, deb], { stdio: 'pipe' });
});

const script = (name: string, action: string): string =>
  `export DPKG_MAINTSCRIPT_PACKAGE=granary; set -- ${action}\n${readFileSync(join(root, 'DEBIAN', name), 'utf8')}`;
/** The accounts of every Debian system. */
const BASE = ['passwd', 'group'].map((name) => `cp /usr/share/base-passwd/${name}.master /etc/${name}`).join(' && ');
/** As systemd makes it before the server starts. */
const STATE = 'install -d -m 0700 -o granary -g granary /var/lib/granary /var/lib/granary/data';
/** The variables of the service, and those of its file. */
function environment(): Record<string, string> {
  const lines = ['usr/lib/systemd/system/granary.service', 'etc/granary/granary.env'].flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/^(?:Environment=)?([A-Z_]+)=(\S+)$/gm)].map(
      ([, name = '', value = '']) => [name, value] as const,
    ),
  );
  return Object.fromEntries(lines);
}

test('after the scripts the server runs as granary, with the master key apart from the data', async (t) => {
  const reason = isHere ? whyNoContainer() : skip || undefined;
  if (reason !== undefined) return t.skip(reason);
  const state = join(directory, 'state');
  const variables = environment();
  assert.equal(variables['GRANARY_MASTER_KEY_FILE'], '/etc/granary/master.key');
  const server = await startContainer(t, {
    folder: join(directory, 'mounted'),
    tree: root,
    setup: [BASE, script('postinst', 'configure'), script('postinst', 'configure'), STATE],
    volumes: new Map([['/var/lib/granary', state]]),
    user: 'granary:granary',
    environment: variables,
    command: ['/usr/bin/granary', 'serve'],
  });
  const modes = await server.execute(
    'stat',
    '-c',
    '%a %U %n',
    '/etc/granary',
    '/etc/granary/granary.env',
    '/etc/granary/master.key',
  );
  assert.equal(
    modes.output,
    '750 root /etc/granary\n640 root /etc/granary/granary.env\n400 granary /etc/granary/master.key\n',
  );
  const wanted = await server.execute('sh', '-c', 'cd /etc/systemd/system && ls *.wants');
  assert.equal(
    wanted.output,
    'multi-user.target.wants:\ngranary.service\n\ntimers.target.wants:\ngranary-backup.timer\n',
  );
  const health = await server.execute('granary', 'health');
  assert.match(health.output, /^status +ok$/m);
  const doctor = await server.execute('granary', 'doctor');
  assert.match(doctor.output, /The master key is kept apart from the data/);
  assert.equal(await server.stop('SIGTERM'), 0, server.output());
  assert.ok(!existsSync(join(state, 'data/keys/master.key')));
  assert.ok(existsSync(join(state, 'data/keys/bootstrap.key')));
});

/** The output of lines of a shell as root, while the root is writable. Undefined where the test is skipped. */
async function shell(t: TestContext, ...lines: readonly string[]): Promise<string | undefined> {
  const reason = isHere ? whyNoContainer() : skip || undefined;
  if (reason !== undefined) {
    t.skip(reason);
    return undefined;
  }
  const container = await startContainer(t, {
    folder: mkdtempSync(join(directory, 'shell-')),
    tree: root,
    setup: [BASE, ...lines],
    volumes: new Map(),
    user: 'root:root',
    environment: {},
    command: ['sh', '-c', `echo '{"ready":true}' && exec sleep 600`],
  });
  return container.output();
}

test('a purge keeps the data and the master key', async (t) => {
  const kept = ['/var/lib/granary/data/layout.json', '/etc/granary/master.key'];
  const setup = [script('postinst', 'configure'), STATE, 'touch /var/lib/granary/data/layout.json'];
  const removal = ['remove', 'purge'].map((action) => script('postrm', action));
  const output = await shell(t, ...setup, ...removal, `ls ${kept.join(' ')}`);
  if (output === undefined) return;
  for (const path of kept) assert.ok(output.includes(`${path}\n`), output);
  assert.match(output, /To remove them: rm -r \/var\/lib\/granary \/etc\/granary\/master\.key/);
});

test('systemd accepts the units where the package is installed, and finds them little exposed', async (t) => {
  if (installed(t, '/usr/bin/systemd-analyze') === undefined) return;
  const security = 'systemd-analyze security --offline=true --threshold=20 --no-pager';
  const services = ['granary.service', 'granary-backup.service'].map((name) => `/usr/lib/systemd/system/${name}`);
  const verify = `systemd-analyze verify --man=no granary.service granary-backup.timer`;
  const output = await shell(
    t,
    script('postinst', 'configure'),
    'mkdir -p /run/systemd',
    verify,
    `${security} ${services.join(' ')}`,
  );
  if (output === undefined) return;
  assert.equal(output.match(/Overall exposure level for granary(-backup)?\.service: [01]\.\d/g)?.length, 2, output);
});

/** The path, or undefined, and then the test is marked as skipped. */
function installed(t: TestContext, path: string): string | undefined {
  if (existsSync(path) && isHere) return path;
  t.skip(`${isHere ? path : DPKG} is not installed`);
  return undefined;
}
