// The namespace of a project: from the root of the repository that the client works in.
import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CallRefused } from '../../mcp/refused.ts';

/** Variables in which clients name the folder that they work in; the first one that names a folder counts. */
export const WORKSPACE_VARIABLES = ['GRANARY_WORKSPACE', 'CLAUDE_PROJECT_DIR', 'WORKSPACE_FOLDER_PATHS'] as const;

const NAME_CHARS_MAX = 64;

/** The namespace of a project that is named. */
export function namespaceOfProject(name: string): string {
  return `projects/${name}`;
}

/**
 * The namespace of the folder that the client works in: the name of its repository, with a part of the hash of its path,
 * so that two repositories of one name stay apart. The folder of this process says nothing: clients start it anywhere.
 * Throws CallRefused if the client names no folder.
 */
export async function namespaceOfWorkspace(
  variables: Readonly<Record<string, string | undefined>>,
  roots: () => Promise<readonly string[]>,
): Promise<string> {
  const folder = fromVariables(variables) ?? fromRoots(await roots());
  if (folder === undefined)
    throw new CallRefused(
      'USAGE',
      `--project auto: the client names no folder. Set GRANARY_WORKSPACE to the project's folder in the client's ` +
        'configuration, or give --project NAME',
    );
  const root = projectRoot(realpathSync(folder));
  const name = basename(root)
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .slice(0, NAME_CHARS_MAX)
    .toWellFormed();
  return namespaceOfProject(`${name || 'root'}-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`);
}

function fromVariables(variables: Readonly<Record<string, string | undefined>>): string | undefined {
  for (const name of WORKSPACE_VARIABLES) {
    // Some clients list several folders. A client that does not know the variable of its configuration leaves it as text.
    const listed = (variables[name] ?? '').split(',').map((one) => one.trim());
    const folder = listed.find(isFolder);
    if (folder !== undefined) return folder;
  }
  return undefined;
}

function fromRoots(roots: readonly string[]): string | undefined {
  return roots
    .filter((uri) => uri.startsWith('file://') && URL.canParse(uri))
    .flatMap((uri) => {
      try {
        return [fileURLToPath(uri)];
      } catch {
        return []; // a host, or bytes that are no path here
      }
    })
    .find(isFolder);
}

function isFolder(path: string): boolean {
  return isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The folder of the repository that holds `folder`, else `folder` itself. Work trees belong to their repository. */
function projectRoot(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    const git = join(at, '.git');
    const found = statSync(git, { throwIfNoEntry: false });
    if (found?.isDirectory()) return at;
    if (found?.isFile()) return repositoryOf(git) ?? at;
    if (dirname(at) === at) return folder;
  }
}

/** The repository of a work tree; undefined for a submodule, which is a project of its own. */
function repositoryOf(file: string): string | undefined {
  const directory = /^gitdir: (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1]?.trim();
  if (directory === undefined) return undefined;
  const [, repository] = /^(.*)[\\/]\.git[\\/]worktrees[\\/][^\\/]+$/.exec(resolve(dirname(file), directory)) ?? [];
  return repository;
}
