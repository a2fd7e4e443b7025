// What a removal would take. It is shown when the command has no --yes.
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { EXIT } from './failure.ts';
import { number, printJson, printLine, printNote, printPairs, utc } from './output.ts';

/** Prints the answer to a dry run. The exit code is that of a usage error: a script must not take the dry run for the removal. */
export function printWouldGo(preview: JsonObject, { json }: { readonly json?: true }): void {
  process.exitCode = EXIT.usage;
  if (json) {
    printJson(preview);
    return;
  }
  const byType = Object.entries((preview['by_type'] ?? {}) as Record<string, number>); // the contract: counts
  const count = Number(preview['count']);
  printLine(`${number(count)} ${count === 1 ? 'grain' : 'grains'} would go.`);
  const times: readonly (readonly [string, unknown])[] = [
    ['oldest', preview['oldest_created_at']],
    ['newest', preview['newest_created_at']],
  ];
  printPairs([
    ...byType.map(([type, count]) => [type, count] as const),
    ...times.flatMap(([name, seconds]) =>
      typeof seconds === 'number' ? ([[name, `${utc(seconds)} UTC`]] as const) : [],
    ),
  ]);
  const missing = Array.isArray(preview['not_found']) ? preview['not_found'] : [];
  for (const hash of missing) printLine(`Not found: ${String(hash)}`);
  printNote('Nothing was removed. A removal cannot be taken back: say --yes.');
}
