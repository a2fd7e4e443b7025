// Imported before each test file: ends one that hangs, as a file does whose failed test left a server open, and says what it
// holds. It keeps no file from ending, and is longer than any takes on a slow machine. The runner itself, which imports this too,
// takes as long as it takes.
import './clean-environment.ts';

const LONGEST_MS = 15 * 60_000;

const isTestFile = process.env['NODE_TEST_CONTEXT'] !== undefined;

function end(): void {
  console.error(`the file did not end in ${LONGEST_MS} ms, it holds: ${process.getActiveResourcesInfo().join(', ')}`);
  process.exit(1);
}

if (isTestFile) setTimeout(end, LONGEST_MS).unref();
