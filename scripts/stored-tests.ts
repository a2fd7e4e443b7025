// Tests for `npm run test:postgres`: files that hold for every store, and that servers run on PostgreSQL then. Tests of the
// store itself (`src/engine/log/postgres`, `test/nodes.test.ts`, `test/store-*.test.ts` and others) have databases in every run.

/** Missing are tests of files on disk: damage, full disks, restores, formats of earlier versions. */
export const STORED_TESTS: readonly string[] = [
  'src/server/{bound-callers,idempotency,partitions,probes}.test.ts',
  'test/access/*.test.ts',
  'test/cal/**/*.test.ts',
  'test/cli-{agents,bootstrap-key,chat,compliance,documents,events,govern,harness-talk,operation,proof,sessions}.test.ts',
  'test/client/client.test.ts',
  'test/conformance/*.test.ts',
  'test/crash/*.test.ts',
  'test/embedding*.test.ts',
  'test/erasure/*.test.ts',
  'test/events*.test.ts',
  'test/mcp/http.test.ts',
  'test/recall-*.test.ts',
  'test/sim/*.test.ts',
  'test/{chat-sockets,cross-border,deactivated-agents,dry-run,egress,goal-circles,index-wait,name-forms,oidc}.test.ts',
  'test/{paged-lists,principals,provider-compliance,remember,sessions,traces,unknown-members}.test.ts',
  'test/{vectors,webhook-retries}.test.ts',
];

/**
 * The part that CI runs (with `--all`; by itself, `--store=postgres --part`): tests of data that a database stores differently, which are
 * keys and their tombstones, records that are removed or replaced, state, the control log, and the chain of audit entries. Beside it, one
 * transport of `test/conformance/further-targets.test.ts`, the simulation and the kills have databases in every run.
 */
export const STORED_PART: readonly string[] = [
  'src/server/idempotency.test.ts',
  'test/access/erased.test.ts',
  'test/cal/contract/writes.test.ts',
  'test/conformance/{erasure,govern,trail}.test.ts',
  'test/erasure/{answers,guessing,plain-hashes}.test.ts',
  'test/sessions.test.ts',
];
