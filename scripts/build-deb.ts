// Builds the Debian package: the tree of scripts/lay-out.ts with the units of deploy/systemd and the files of deploy/deb.
// `npm run deb` writes granary_VERSION_ARCH.deb into dist-deb/. It needs dpkg-deb.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from './build.ts';
import { copyFile, layOut, ROOT, write } from './lay-out.ts';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const MAINTAINER = 'Granary authors <granary@packages.invalid>';
const UNITS = ['granary.service', 'granary-backup.service', 'granary-backup.timer'];
const SCRIPTS = ['postinst', 'prerm', 'postrm'];

export interface DebOptions {
  /** The built program. */
  readonly dist: string;
  /** Words for dpkg-deb: how it compresses. */
  readonly compression: readonly string[];
}

/** Writes the package into `folder` and returns its path. Throws where dpkg-deb is missing or fails. */
export function buildDeb(folder: string, { dist, compression }: DebOptions): string {
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined) throw new Error(`there is no Debian package for ${process.arch}`);
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }; // ours
  const stage = mkdtempSync(join(tmpdir(), 'granary-deb-'));
  try {
    layOut(stage, dist);
    chmodSync(stage, 0o755);
    addFiles(stage, version);
    writeControl(stage, version, architecture);
    const path = join(folder, `granary_${version}_${architecture}.deb`);
    mkdirSync(folder, { recursive: true });
    execFileSync('dpkg-deb', ['--root-owner-group', ...compression, '--build', stage, path], { stdio: 'pipe' });
    return path;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function addFiles(stage: string, version: string): void {
  for (const unit of UNITS) copy(join('systemd', unit), join(stage, 'usr/lib/systemd/system', unit));
  copy('deb/granary.sysusers', join(stage, 'usr/lib/sysusers.d/granary.conf'));
  copy('deb/granary.env', join(stage, 'etc/granary/granary.env'));
  copy('deb/copyright', join(stage, 'usr/share/doc/granary/copyright'));
  copy('deb/lintian-overrides', join(stage, 'usr/share/lintian/overrides/granary'));
  const date = new Date(1000 * Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT })));
  const entry = `granary (${version}) unstable; urgency=medium\n\n  * See /usr/lib/granary/CHANGELOG.md.\n\n -- ${MAINTAINER}  ${date.toUTCString().replace('GMT', '+0000')}\n`;
  write(join(stage, 'usr/share/doc/granary/changelog.gz'), gzipSync(entry, { level: 9 }));
}

function writeControl(stage: string, version: string, architecture: string): void {
  const files = readdirSync(stage, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(join(stage, file)).isFile())
    .sort();
  const kilobytes = files.reduce((sum, file) => sum + Math.ceil(statSync(join(stage, file)).size / 1024), 0);
  const control = `Package: granary
Version: ${version}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 11), systemd (>= 247)
Section: database
Priority: optional
Description: database server for the memory of AI agents
 Granary stores typed, immutable, content-addressed records of what agents
 learn, finds them again by structure, words and meaning, and can prove what it
 did with them. It answers over gRPC and HTTP JSON. Everything on disk is
 encrypted, with keys that can be destroyed.
 .
 The package brings its own Node.js. It runs the server as user granary, and
 a backup each night.
`;
  write(join(stage, 'DEBIAN/control'), control);
  write(join(stage, 'DEBIAN/conffiles'), '/etc/granary/granary.env\n');
  const sums = files.map(
    (file) =>
      `${createHash('md5')
        .update(readFileSync(join(stage, file)))
        .digest('hex')}  ${file}\n`,
  );
  write(join(stage, 'DEBIAN/md5sums'), sums.join(''));
  for (const name of SCRIPTS) {
    copy(join('deb', name), join(stage, 'DEBIAN', name));
    chmodSync(join(stage, 'DEBIAN', name), 0o755);
  }
}

/** `from` is relative to deploy/. */
function copy(from: string, to: string): void {
  copyFile(join(ROOT, 'deploy', from), to);
}

if (import.meta.main) {
  await build(join(ROOT, 'dist'));
  const path = buildDeb(join(ROOT, 'dist-deb'), { dist: join(ROOT, 'dist'), compression: ['-Zxz', '-z6'] });
  process.stdout.write(`${path}\n`);
}
