// Imported before each test file: ends a file that hangs, for example because a failed test left a server open, and
// prints what it holds. It keeps no file from ending, and its limit exceeds the duration of any file on a slow machine.
// Several files in one process have a limit each (group.ts). The test runner, which imports this too, has none.
import './clean-environment.ts';
import './test-scopes.ts';

const LONGEST_MS = 15 * 60_000;

const isTestFile = process.env['NODE_TEST_CONTEXT'] !== undefined;

function end(): void {
  console.error(`the file did not end in ${LONGEST_MS} ms, it holds: ${process.getActiveResourcesInfo().join(', ')}`);
  process.exit(1);
}

const limit = isTestFile ? setTimeout(end, LONGEST_MS).unref() : undefined;

/** The next file of this process begins. */
export function beginsFile(): void {
  limit?.refresh();
}
