// The verdict on a load that has ended: every acknowledged grain is there, no other one is, every history is linearizable, and audit
// chains and data verify.
import { CHAIN, type ChainCall } from '../../linear/chain-model.ts';
import { checkHistory, describeFailure, type Operation } from '../../linear/checker.ts';
import type { Callers } from './caller.ts';
import type { Load, RecordedChain } from './load.ts';

export interface Counts {
  readonly acknowledged: number;
  readonly lost: number;
  /** Grains that nobody wrote, or that were written twice. */
  readonly twice: number;
  /** Chains whose history was checked, and their calls. */
  readonly histories: number;
  readonly calls: number;
  /** How often an attempt was answered with each code, or not at all. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Concurrent looks for grains. */
const LOOKS = 24;

export async function verdictOn(
  load: Load,
  callers: Callers,
): Promise<Counts & { readonly problems: readonly string[] }> {
  const { lost, twice } = await countGrains(load, callers);
  const { histories, calls, problems } = checkChains(load);
  if (lost > 0) problems.push(`${lost} acknowledged grains are lost`);
  if (twice > 0) problems.push(`${twice} grains are there that nobody wrote, or twice`);
  problems.push(...load.problems, ...callers.problems, ...(await verify(load, callers)));
  const failures = Object.fromEntries(callers.failures);
  return { acknowledged: load.acknowledged, lost, twice, histories, calls, failures, problems };
}

/** Looks for each grain that was answered as written, and compares their number with that of all grains. */
async function countGrains(load: Load, callers: Callers): Promise<{ lost: number; twice: number }> {
  let lost = 0;
  const there = new Map(load.memories.map((memory) => [memory, 0]));
  const look = async (memory: string, hash: string, word: string): Promise<boolean> => {
    const answer = await callers.ask('GET', `/memories/${memory}/grains/${hash}`);
    const isThere = answer?.status === 200 && answer.body.fields.object === word;
    if (isThere) there.set(memory, there.get(memory)! + 1);
    return isThere;
  };
  await inParallel(load.singles, async ({ memory, hash, word }) => {
    if (!(await look(memory, hash, word))) lost += 1;
  });
  // Removed chains are not there: the checker of histories knows which may be absent.
  const versions = load.chains.flatMap(({ memory, hashes }) => hashes.map((hash) => ({ memory, hash })));
  await inParallel(versions, ({ memory, hash }) => look(memory, hash, load.words.get(hash)!));
  let twice = 0;
  for (const [memory, count] of there) {
    const stats = await callers.ask('GET', `/memories/${memory}/stats`);
    twice += stats!.body.total_grains - count;
  }
  return { lost, twice };
}

function checkChains(load: Load) {
  const problems: string[] = [];
  let calls = 0;
  for (const chain of load.chains) {
    calls += chain.records.length;
    const failure = failureOf(chain, load.words);
    if (failure !== undefined) problems.push(`${chain.subject} in ${chain.memory}: ${failure}`);
  }
  return { problems, calls, histories: load.chains.length };
}

/** A description of a history that no single store would give. Undefined when it is linearizable. */
function failureOf(chain: RecordedChain, words: ReadonlyMap<string, string>): string | undefined {
  const unnamed = [...chain.mentioned].filter((hash) => !words.has(hash));
  let failure: string | undefined;
  for (const names of namings(unnamed, chain.unsureWords)) {
    const history = decided(chain.history(new Map([...words, ...names])));
    const verdict = checkHistory(CHAIN, history);
    if (verdict.isLinearizable) return undefined;
    failure ??= describeFailure(CHAIN, history, verdict);
  }
  return failure ?? `versions that nobody wrote: ${unnamed.join()}`;
}

/**
 * The history without doubts that its other answers settle, because each doubt doubles the orders to try. A write that left open
 * whether it took effect did, if its version is in another answer. If not, nothing tells it from one that did nothing.
 */
function decided(history: readonly Operation<ChainCall>[]): readonly Operation<ChainCall>[] {
  const seen = new Set(history.flatMap(({ call }) => seenIn(call)));
  return history.flatMap((operation) => {
    const { call } = operation;
    const isInDoubt = (call.kind === 'supersede' || call.kind === 'accumulate') && (call.unsure === true || call.answer === 'unknown'); // biome-ignore format: one row
    if (!isInDoubt) return [operation];
    return seen.has(call.word) ? [{ ...operation, call: { ...call, answer: 'unknown', unsure: undefined } }] : [];
  });
}

/** Words of versions that an answer shows, besides the one that the call made. */
function seenIn(call: ChainCall): readonly string[] {
  switch (call.kind) {
    case 'add':
      return [];
    case 'supersede':
      return call.answer === 'done' ? [call.old] : [];
    case 'accumulate':
      return typeof call.answer === 'object' ? [call.answer.old] : [];
    case 'forget':
      return call.removed === 'unknown' ? [] : call.removed;
    case 'current':
      return call.found === undefined ? [] : [call.found.word];
    case 'get':
      return call.found === undefined ? [] : [call.word];
  }
}

/**
 * Every way to name versions whose writers were not told their addresses: a write that took effect, was sent again, and was refused
 * because the version had been removed meanwhile.
 */
function* namings(
  hashes: readonly string[],
  words: readonly string[],
): Generator<readonly (readonly [string, string])[]> {
  const [first, ...rest] = hashes;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const word of words)
    for (const others of namings(
      rest,
      words.filter((other) => other !== word),
    ))
      yield [[first, word], ...others];
}

async function verify(load: Load, callers: Callers): Promise<readonly string[]> {
  const problems: string[] = [];
  const run = async (memory: string, command: string) =>
    (await callers.ask('POST', `/memories/${memory}/app/exec`, { command, args: {} }))?.body;
  const report = await run('default', 'verify');
  if (report?.result?.finding_count !== 0) problems.push(`verify: ${JSON.stringify(report)}`);
  for (const memory of load.memories) {
    const audit = await run(memory, 'verify_audit_chain');
    if (audit?.result?.valid !== true) problems.push(`audit of ${memory}: ${JSON.stringify(audit)}`);
  }
  return problems;
}

async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: LOOKS }, async () => {
      while (next < items.length) await act(items[next++]!);
    }),
  );
}
