// `granary stats`: what a memory holds.
import type { Command } from 'commander';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { bytes, printJson, printPairs } from './output.ts';

export function registerStats(program: Command): void {
  const command = program.command('stats').description('Show the contents of a memory in numbers');
  withServerOptions(withMemoryOption(command)).action(stats);
}

async function stats(options: ServerOptions & { readonly memory: string }): Promise<void> {
  const [{ withConnection }, { RPC }] = await Promise.all([import('./connection.ts'), import('./rpcs.ts')]);
  const { memory } = options;
  const answer = await withConnection(options, (connection) => connection.call(RPC.stats, {}, { memory }));
  const types = JSON.parse(answer.typeCountsJson) as JsonObject; // the contract: an object
  if (options.json) {
    const { typeCountsJson: _, ...rest } = answer;
    const outside = Object.entries(rest).map(([name, value]) => [snake(name), value]);
    return printJson({ memory, ...Object.fromEntries(outside), type_counts: types });
  }
  printPairs([
    ['memory', memory],
    ['grains', Number(answer.totalGrains)],
    ...Object.entries(types)
      .filter(([, count]) => Number(count) > 0)
      .map(([type, count]): [string, number] => [`  ${type}`, Number(count)]),
    ['superseded', Number(answer.supersededGrains)],
    ['users', Number(answer.userCount)],
    ['triples', Number(answer.triples)],
    ['vectors', Number(answer.vectors)],
    ...(Number(answer.indexLag) > 0
      ? [['awaiting embedding', Number(answer.indexLag)] satisfies [string, number]]
      : []),
    ['namespaces', namespacesOf(answer.namespaces)],
    ['audit entries', Number(answer.auditEntries ?? 0)],
    ['on disk', bytes(Number(answer.diskSpaceBytes))],
    ['pending writes', Number(answer.pendingWrites)],
  ]);
}

const NAMESPACES_SHOWN = 20;

function namespacesOf(names: readonly string[]): string {
  const rest = names.length - NAMESPACES_SHOWN;
  return names.slice(0, NAMESPACES_SHOWN).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
