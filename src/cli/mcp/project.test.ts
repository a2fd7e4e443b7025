import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { CallRefused } from '../../mcp/refused.ts';
import { namespaceOfWorkspace } from './project.ts';

const none = async (): Promise<readonly string[]> => [];

test('a folder within a repository, a link to it and a work tree of it have one namespace', async (t) => {
  const folder = temporaryDirectory(t);
  const repository = join(folder, 'my project');
  mkdirSync(join(repository, '.git', 'worktrees', 'side'), { recursive: true });
  mkdirSync(join(repository, 'src', 'deep'), { recursive: true });
  const tree = join(folder, 'side');
  mkdirSync(join(tree, 'src'), { recursive: true });
  writeFileSync(join(tree, '.git'), `gitdir: ${join(repository, '.git', 'worktrees', 'side')}\n`);
  symlinkSync(repository, join(folder, 'link'));
  const of = (path: string) => namespaceOfWorkspace({ GRANARY_WORKSPACE: path }, none);
  const namespace = await of(repository);
  assert.match(namespace, /^projects\/my-project-[0-9a-f]{8}$/);
  for (const path of [join(repository, 'src', 'deep'), join(folder, 'link', 'src'), tree, join(tree, 'src')])
    assert.equal(await of(path), namespace, path);
});

test('repositories of one name, and submodules, stay apart', async (t) => {
  const folder = temporaryDirectory(t);
  const at = (...names: string[]): string => {
    const path = join(folder, ...names);
    mkdirSync(join(path, '.git'), { recursive: true });
    return path;
  };
  const paths = [at('a', 'app'), at('b', 'app')];
  const module = join(paths[0]!, 'module');
  mkdirSync(module);
  writeFileSync(join(module, '.git'), 'gitdir: ../.git/modules/module\n');
  const names = await Promise.all(
    [...paths, module].map((path) => namespaceOfWorkspace({ CLAUDE_PROJECT_DIR: path }, none)),
  );
  assert.equal(new Set(names).size, 3, names.join());
});

test('the variable wins over the folders of the client, and a variable that names no folder counts for nothing', async (t) => {
  const folder = temporaryDirectory(t);
  const [one, two] = [join(folder, 'one'), join(folder, 'two')];
  for (const path of [one, two]) mkdirSync(path);
  const roots = async () => ['https://example.com/x', pathToFileURL(two).href];
  assert.match(await namespaceOfWorkspace({ WORKSPACE_FOLDER_PATHS: `${one},${two}` }, roots), /^projects\/one-/);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a client that does not know the variable leaves it as text
  const left = { GRANARY_WORKSPACE: '${workspaceFolder}', CLAUDE_PROJECT_DIR: '.' };
  assert.match(await namespaceOfWorkspace(left, roots), /^projects\/two-/);
  await assert.rejects(
    () => namespaceOfWorkspace(left, none),
    (error) => error instanceof CallRefused && /names no folder.*GRANARY_WORKSPACE/.test(error.message),
  );
});
