// A site of a server that runs from its sources: built once, in a process of its own, into a folder of the cache that
// is named by the contents of all that it is made of. The published package holds the built files instead.
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder above `src`, or in a built package a folder that holds no sources. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules', '.cache');

export interface Recipe {
  /** Names the folder of the cache. */
  readonly name: string;
  /** From the root of the sources: the program, which takes the folder to build into. */
  readonly program: string;
  /** Patterns of the files that the site is made of, besides the program. */
  readonly madeOf: readonly string[];
}

export interface SourceBuild {
  readonly program: string;
  /** The folder of the built files, once they are there. */
  readonly folder: string;
  readonly isThere: boolean;
}

/** Where the site of these sources is built, or is to be. */
export function sourceBuild({ name, program, madeOf }: Recipe): SourceBuild {
  const digest = createHash('sha256');
  for (const file of globSync([...madeOf, program, 'package-lock.json'], { cwd: ROOT }).toSorted()) {
    const path = join(ROOT, file);
    if (statSync(path).isFile()) digest.update(`${file}\0`).update(readFileSync(path)).update('\0');
  }
  const folder = join(CACHE, `granary-${name}`, digest.digest('hex').slice(0, 16));
  return { program, folder, isThere: existsSync(folder) };
}

/** Builds into the folder. Rejects with what the build said when it fails. */
export async function buildFromSources({ program, folder }: SourceBuild): Promise<void> {
  // Another server may build the same at the same time, in this process or in one with the same number elsewhere.
  const making = `${folder}-${randomUUID()}`;
  try {
    await run([program, making]);
    renameSync(making, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** The end of what a failed build printed is enough to see why. */
const SHOWN_CHARS = 4_000;

function run(words: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-SHOWN_CHARS);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(said.trim() || `${words.join(' ')} ended with ${code}`));
    });
  });
}
