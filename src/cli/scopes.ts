// `granary scopes`: a memory's scope tree, and the erasure of a scope.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { parseJson } from '../engine/grain/api/json.ts';
import { isJsonObject, type JsonObject, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import { Failure, usage } from './failure.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { number, printJson, printLine, printPairs, printTable, utc } from './output.ts';
import { withProofFile } from './proof-file.ts';
import { printWouldGo } from './would-go.ts';

interface ScopeOptions extends ServerOptions {
  readonly memory: string;
  readonly reason?: string | undefined;
  readonly yes?: true | undefined;
  readonly proof?: string | undefined;
}

export function registerScopes(program: Command): void {
  const scopes = program.command('scopes').description('Show, set and clear the scopes of a memory; erase one');
  const part = (name: string, about: string): Command => scopes.command(name).description(about);
  const withOptions = (command: Command): Command => withServerOptions(withMemoryOption(command));
  withOptions(scopes.command('show', { isDefault: true }).description('Print the tree, one path per line')).action(
    show,
  );
  withOptions(
    part('set', 'Set or replace the tree').argument('<file>', 'JSON: {"name","children":[…]}; "-" is standard input'),
  ).action(set);
  withOptions(part('delete', 'Clear the tree; the grains stay')).action(remove);
  withOptions(
    part('erase', 'Erase a scope and all scopes below it: their keys are destroyed')
      .argument('<path>', 'names joined by slashes; without a tree, a namespace')
      .option('--reason <text>', 'why the scope is erased')
      .option('--yes', 'carry it out; without --yes, only show what would be removed')
      .option('--proof <file>', 'write the signed proof to this new file, as JSON'),
  ).action(erase);
}

async function ask(options: ScopeOptions, verb: 'GET' | 'PUT' | 'DELETE' | 'POST', route: string, json?: JsonObject) {
  const { withConnection } = await import('./connection.ts');
  const path = `/memories/${encodeURIComponent(options.memory)}/${route}`;
  return withConnection(options, (connection) => connection.json(verb, path, defined({ json })));
}

async function show(options: ScopeOptions): Promise<void> {
  const tree = await ask(options, 'GET', 'scope-tree');
  if (options.json) return printJson(tree);
  printTree(tree);
}

async function set(file: string, options: ScopeOptions): Promise<void> {
  const tree = await ask(options, 'PUT', 'scope-tree', readTree(file));
  if (options.json) return printJson(tree);
  printTree(tree);
}

async function remove(options: ScopeOptions): Promise<void> {
  const answer = await ask(options, 'DELETE', 'scope-tree');
  if (options.json) return printJson(answer);
  printLine('The tree is cleared; the grains stay.');
}

async function erase(path: string, options: ScopeOptions): Promise<void> {
  const { reason, proof, json } = options;
  const body: JsonObject = defined({ scope_path: path, reason });
  if (options.yes !== true)
    return printWouldGo(await ask(options, 'POST', 'scope-erase', { ...body, dry_run: true }), options);
  const perform = (): Promise<JsonObject> => ask(options, 'POST', 'scope-erase', body);
  let answer: JsonObject = {};
  const proven = async (): Promise<JsonObject> => {
    answer = await perform();
    return objectOf(answer['signed_proof']);
  };
  if (proof === undefined) await proven();
  else await withProofFile(proof, proven);
  if (json) return printJson(answer);
  printPairs([
    ['scope', String(answer['scope_path'])],
    ['scopes erased', Number(answer['scopes_erased'])],
    ['grains erased', Number(answer['count'])],
    ['at', `${utc(Number(answer['timestamp']))} UTC`],
  ]);
  const proofs = objectsOf(answer['proofs']);
  if (proofs.length === 0) return;
  printLine();
  printTable(
    [{ title: 'scope' }, { title: 'grains' }, { title: 'key fingerprint' }],
    proofs.map(({ scope_path, count, key_fingerprint }) => [
      String(scope_path),
      number(Number(count)),
      String(key_fingerprint),
    ]),
  );
}

function readTree(file: string): JsonObject {
  let value: unknown;
  try {
    value = parseJson(readFileSync(file === '-' ? 0 : file, 'utf8'));
  } catch (error) {
    throw new Failure('FILE', `${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isJsonObject(value)) throw usage('a tree must be {"name": …, "children": […]}');
  return value;
}

function printTree(tree: JsonObject): void {
  printLine(String(tree['name']));
  const walk = (node: JsonObject, above: string): void => {
    for (const child of objectsOf(node['children'])) {
      // checked by the server
      const path = above === '' ? String(child['name']) : `${above}/${String(child['name'])}`;
      printLine(`  ${path}`);
      walk(child, path);
    }
  };
  walk(tree, '');
}
