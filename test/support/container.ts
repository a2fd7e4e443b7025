// Runs a program as a container engine does, with the tools of util-linux: a tree of files as its root, read-only, with
// folders of the test as volumes; an unprivileged user; processes, network and mounts of its own. Needs root on Linux.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { eventually } from './eventually.ts';

/** Undefined where containers can be run, else the reason. */
export function whyNoContainer(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux';
  const folder = mkdtempSync(join(tmpdir(), 'granary-probe-'));
  const probe = `mount -t overlay -o lowerdir=${folder}:/usr overlay ${folder} && ip link set lo up && setpriv --version`;
  try {
    execFileSync('unshare', [...SPACES, 'sh', '-ec', probe], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `cannot make a container: ${(error as Error).message}`; // of execFileSync
  } finally {
    rmdirSync(folder);
  }
}

const SPACES = ['--mount', '--pid', '--net', '--ipc', '--uts', '--fork', '--kill-child', '--propagation=private'];

export interface ContainerOptions {
  /** An empty folder for the container's root. */
  readonly folder: string;
  /** Holds usr/, which lies over this machine's, and may hold etc/. */
  readonly tree: string;
  /** Commands of a shell that run as root while the root is still writable. */
  readonly setup: readonly string[];
  /** Folders of the container, outermost first, by the folders here that hold their content. */
  readonly volumes: ReadonlyMap<string, string>;
  readonly user: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

export interface Container {
  /** All output so far. */
  output(): string;
  /** Runs another command in it, as the same user. */
  execute(...command: readonly string[]): Promise<{ readonly code: number; readonly output: string }>;
  /** Sends a signal to its first process; resolves to the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** An engine lets a program have no more rights than it starts with. */
const CONFINED = ['setpriv', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];

function script({ folder, tree, setup, volumes, user, environment, command }: ContainerOptions): string {
  const q = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
  const inside = (path: string): string => q(join(folder, path));
  const mounts = [...volumes].flatMap(([path, content]) => [
    // A new volume gets the folder's content and owner from the image.
    `[ -e ${q(content)} ] || cp -a ${inside(path)} ${q(content)}`,
    `mount --bind ${q(content)} ${inside(path)}`,
  ]);
  const variables = Object.entries({ PATH, HOME: '/', ...environment }).map(([name, value]) => q(`${name}=${value}`));
  const [uid = '', gid = uid] = user.split(':');
  const drop = [...CONFINED, `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  return [
    'set -e',
    `mount -t tmpfs -o mode=0755 tmpfs ${q(folder)}`,
    `cd ${q(folder)}`,
    'mkdir -p usr proc dev etc tmp var/lib',
    `mount -t overlay -o lowerdir=${join(tree, 'usr')}:/usr overlay usr`,
    'for link in bin sbin lib lib64; do [ ! -e /$link ] || ln -s usr/$link $link; done',
    `[ ! -d ${q(join(tree, 'etc'))} ] || cp -a ${q(join(tree, 'etc'))}/. etc/`,
    'mount -t proc proc proc',
    'mount --rbind /dev dev',
    ...setup.map((line) => `chroot . /bin/sh -ec ${q(line)}`),
    ...mounts,
    'ip link set lo up',
    'mount -o remount,ro,bind .',
    'mount -o remount,ro .',
    // Groups and capabilities go inside the new root; the program stays process 1.
    `exec chroot . env -i ${variables.join(' ')} ${[...drop, ...command].map(q).join(' ')}`,
  ].join('\n');
}

/** Resolves when its server is ready. It is killed after the test if it still runs. */
export async function startContainer(t: TestContext, options: ContainerOptions): Promise<Container> {
  mkdirSync(options.folder, { recursive: true });
  const child = spawn('unshare', [...SPACES, 'sh', '-c', script(options)], { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const ended = once(child, 'close');
  const container: Container = {
    output: () => said,
    execute: (...command) => execute(firstProcess(child), options, command),
    stop: async (signal) => {
      process.kill(firstProcess(child), signal);
      await ended;
      return child.exitCode;
    },
  };
  await eventually('the container is ready', () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${said}`);
    return said.includes('"ready":true');
  });
  return container;
}

/** The container's process 1 by its number here. */
function firstProcess(child: ChildProcess): number {
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
  const [first] = children;
  if (first === undefined || first === '') throw new Error('the container has no process');
  return Number(first);
}

async function execute(
  pid: number,
  { user, environment }: ContainerOptions,
  command: readonly string[],
): Promise<{ code: number; output: string }> {
  const [uid = '', gid = uid] = user.split(':');
  const variables = Object.entries({ PATH, HOME: '/', ...environment }).map(([name, value]) => `${name}=${value}`);
  const enter = ['--target', String(pid), '--mount', '--pid', '--net', '--ipc', '--uts', '--root', '--wdns=/'];
  const words = [
    ...enter,
    'env',
    '-i',
    ...variables,
    ...CONFINED,
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
  ];
  try {
    const { stdout, stderr } = await promisify(execFile)('nsenter', [...words, ...command]);
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }; // of execFile
    return { code, output: stdout + stderr };
  }
}
