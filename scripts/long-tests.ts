// Which tests are long, and which of them a run takes.

/**
 * Tests that kill, damage, flood, restart or measure, that start nodes or a server in a process, or that take more than three
 * seconds of CPU, by file or folder: CONTRIBUTING.md has the rule, and what it leaves. They take longer than all others
 * together: `npm run test:long` runs them, and `npm test` does not.
 */
export const LONG: readonly string[] = [
  'src/embed/builtin/encoder.test.ts',
  'src/embed/builtin/model-file.test.ts',
  'src/embed/onnx/onnx.test.ts',
  'src/engine/log/postgres/postgres-log.test.ts',
  'src/server/compliance/broken.test.ts',
  'src/server/documents/documents.test.ts',
  'src/server/documents/hostile.test.ts',
  'src/server/grpc/grpc-js/front.test.ts',
  'src/server/grpc/node/front.test.ts',
  'src/server/http/listener-waits.test.ts',
  'src/server/http/listener.test.ts',
  'src/server/jobs/read-text.test.ts',
  'src/server/nodes/node-server.test.ts',
  'src/server/subject-requests/report/pdf-reports.test.ts',
  'src/server/subject-requests/report/pdf.test.ts',
  'src/shards/nodes/link/link.test.ts',
  'src/shards/nodes/ownership.test.ts',
  'test/access/bound-twins.test.ts',
  'test/access/hidden-twins.test.ts',
  'test/behind-proxies.test.ts',
  'test/bench-compare.test.ts',
  'test/bench-smoke.test.ts',
  'test/cal/cli.test.ts',
  'test/cal/contract/assemble.test.ts',
  'test/cal/contract/lexical.test.ts',
  'test/cal/likeness.test.ts',
  'test/cal/naive.test.ts',
  'test/cal/server.test.ts',
  'test/chat-sockets.test.ts',
  'test/cli-bootstrap-key.test.ts',
  'test/cli-directory.test.ts',
  'test/cli-dsr.test.ts',
  'test/cli-hands.test.ts',
  'test/cli-proof.test.ts',
  'test/cli-server.test.ts',
  'test/cli-upgrade.test.ts',
  'test/client/client.test.ts',
  'test/client/package.test.ts',
  'test/client/runtimes.test.ts',
  'test/clock-steps.test.ts',
  'test/compose-nodes.test.ts',
  'test/conformance/chat.test.ts',
  'test/conformance/compliance-of-models.test.ts',
  'test/conformance/compliance.test.ts',
  'test/conformance/documents.test.ts',
  'test/conformance/extraction.test.ts',
  'test/conformance/further-targets.test.ts',
  'test/conformance/govern.test.ts',
  'test/conformance/harness-turns.test.ts',
  'test/conformance/harnesses.test.ts',
  'test/conformance/hooks.test.ts',
  'test/conformance/imports.test.ts',
  'test/conformance/lists.test.ts',
  'test/conformance/model-extraction.test.ts',
  'test/conformance/monitor.test.ts',
  'test/conformance/scopes.test.ts',
  'test/conformance/sessions.test.ts',
  'test/conformance/subject-requests.test.ts',
  'test/conformance/threads.test.ts',
  'test/console/',
  'test/copies-of-control.test.ts',
  'test/crash/',
  'test/cross-border.test.ts',
  'test/cut-commands.test.ts',
  'test/deactivated-agents.test.ts',
  'test/deb.test.ts',
  'test/documents/',
  'test/dsr-restore.test.ts',
  'test/earlier-formats.test.ts',
  'test/embedding-failures.test.ts',
  'test/embedding-roles.test.ts',
  'test/erasure/',
  'test/event-numbers-restore.test.ts',
  'test/events-hostile.test.ts',
  'test/examples.test.ts',
  'test/faults/',
  'test/further-sources-model.test.ts',
  'test/further-sources.test.ts',
  'test/goal-circles.test.ts',
  'test/held-restore.test.ts',
  'test/hostile/',
  'test/image.test.ts',
  'test/import-backup.test.ts',
  'test/install.test.ts',
  'test/known-across-partitions.test.ts',
  'test/known-twins.test.ts',
  'test/lost-ports.test.ts',
  'test/mcp/',
  'test/model-examples.test.ts',
  'test/nodes-rotation.test.ts',
  'test/nodes-tls.test.ts',
  'test/nodes.test.ts',
  'test/own-models.test.ts',
  'test/package.test.ts',
  'test/postgres-tls.test.ts',
  'test/provider-compliance.test.ts',
  'test/provider-keys.test.ts',
  'test/proxy-variables.test.ts',
  'test/recall-bounds.test.ts',
  'test/recall-input.test.ts',
  'test/recall-likeness.test.ts',
  'test/restore-keys.test.ts',
  'test/rotated-restore.test.ts',
  'test/same-rankings.test.ts',
  'test/serve-output.test.ts',
  'test/serve-signals.test.ts',
  'test/sessions.test.ts',
  'test/sim/',
  'test/store-move.test.ts',
  'test/store-server.test.ts',
  'test/stored-segments.test.ts',
  'test/support/postgres.test.ts',
  'test/synced-backup.test.ts',
  'test/traces.test.ts',
];

export function isLong(file: string): boolean {
  return LONG.some((path) => file.startsWith(path));
}

/** The files of a share, `3/6` for the third of six, in their order. Every file is in one of the shares. */
export function shareOf(files: readonly string[], share: string): readonly string[] {
  const [, number, count] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(share)?.map(Number) ?? [];
  if (number === undefined || count === undefined || number > count)
    throw new Error(`a share is a number of a count, such as 3/6, not ${share}`);
  // Neighbours are of one folder, and take about as long: they go to different shares.
  return files.filter((_, i) => i % count === number - 1);
}

/** The long ones of the files (`only`), all but those (`none`), those and a share of the long ones (`3/6`), or all. */
export function chosen(files: readonly string[], long: string | undefined): readonly string[] {
  if (long === undefined) return files;
  if (long === 'only' || long === 'none') return files.filter((file) => isLong(file) === (long === 'only'));
  const share = new Set(shareOf(files.filter(isLong), long));
  return files.filter((file) => !isLong(file) || share.has(file));
}
