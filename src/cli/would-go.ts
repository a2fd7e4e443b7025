// Shows what a removal would take, when the command has no --yes.
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { EXIT } from './exit-codes.ts';
import { counted, printJson, printLine, printNote, printPairs, utc } from './output.ts';

/**
 * Prints the result of a dry run. Its exit code is that of a usage error, so that a script does not mistake it for a
 * removal.
 */
export function printWouldGo(preview: JsonObject, { json }: { readonly json?: true | undefined }): void {
  process.exitCode = EXIT.usage;
  if (json) {
    printJson(preview);
    return;
  }
  const byType = Object.entries((preview['by_type'] ?? {}) as Record<string, number>); // the contract: counts
  const count = Number(preview['count']);
  printLine(`${counted(count, 'grain')} would be removed.`);
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
  printNote('Nothing was removed. A removal is permanent: give --yes to carry it out.');
}
