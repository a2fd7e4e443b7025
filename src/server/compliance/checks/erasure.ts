import { areas, type Evidence, sum } from '../evidence.ts';
import { fail, type Judge, passIf } from '../verdict.ts';

/** True when it holds for all canaries; false without any. */
const canaries = (evidence: Evidence, holds: (canary: ReturnType<typeof canariesOf>[number]) => boolean): boolean =>
  canariesOf(evidence).every(holds);
const canariesOf = (evidence: Evidence) => areas(evidence, 'canary');
const erased = (evidence: Evidence): number => sum(evidence, 'erasures', (erasures) => erasures.erased);

export const ERASURE: Readonly<Record<string, Judge>> = {
  erasure_crypto: (evidence) => {
    const tried = sum(evidence, 'canary', (canary) => canary.keysTried);
    const opened = sum(evidence, 'canary', (canary) => canary.keysOpened);
    return passIf(
      tried > 0 && opened === 0 && canaries(evidence, ({ keyGone }) => keyGone),
      `${opened} of ${tried} remaining keys open data copied before the canary's erasure`,
    );
  },
  erasure_completeness: (evidence) => {
    const left = sum(evidence, 'erasures', (erasures) => erasures.grainsLeft);
    const before = sum(evidence, 'canary', (canary) => canary.rowsBefore);
    const rows = sum(evidence, 'canary', (canary) => canary.grainsLeft);
    const threads = sum(evidence, 'canary', (canary) => canary.threadsLeft);
    return passIf(
      left + rows + threads === 0 &&
        canaries(evidence, ({ rowsBefore, threadsBefore }) => rowsBefore > 0 && threadsBefore > 0),
      `${left} grains of ${erased(evidence)} erased users, threads and messages included; ${before} rows (by user, ` +
        `subject, address) led to the canary before its erasure, ${rows} do after it, and ${threads} threads and messages`,
    );
  },
  erasure_proof: (evidence) => {
    const proofs = sum(evidence, 'erasures', (erasures) => erasures.proofs);
    const broken = sum(evidence, 'erasures', (erasures) => erasures.brokenProofs);
    return passIf(
      broken === 0 && canaries(evidence, ({ proof, proofRepeats, proofEntry }) => proof && proofRepeats && proofEntry),
      `${proofs - broken} of ${proofs} erasures have a complete proof; the canary's was checked with its audit entry, and requested again`,
    );
  },
  erasure_key_destruction: (evidence) => {
    const left = sum(evidence, 'erasures', (erasures) => erasures.keysLeft);
    const untold = sum(evidence, 'erasures', (erasures) => erasures.withoutKeyEntry);
    return passIf(
      left === 0 && untold === 0 && canaries(evidence, ({ keyGone, keyEntry }) => keyGone && keyEntry),
      `${erased(evidence)} erased users: ${left} keys left, ${untold} without a key.destroyed entry`,
    );
  },
  erasure_data_inaccessible: (evidence) => {
    const tried = sum(evidence, 'canary', (canary) => canary.readsTried);
    const served = canariesOf(evidence).flatMap(({ servedBy }) => servedBy);
    const silent = canariesOf(evidence).flatMap(({ silentBefore }) => silentBefore);
    if (silent.length > 0) return fail(`no evidence: ${silent.join(', ')} returned nothing before the erasure either`);
    return passIf(
      tried > 0 && served.length === 0,
      served.length === 0
        ? `${tried} read paths served the canary before its erasure, and serve nothing after it`
        : `served by ${served.join(', ')}`,
    );
  },
  erasure_memory_clean: (evidence) => {
    const cached = sum(evidence, 'erasures', (erasures) => erasures.cached);
    const tried = sum(evidence, 'canary', (canary) => canary.cachesTried);
    const left = canariesOf(evidence).flatMap(({ cachesLeft }) => cachesLeft);
    const empty = canariesOf(evidence).flatMap(({ cachesEmptyBefore }) => cachesEmptyBefore);
    if (empty.length > 0) return fail(`no evidence: ${empty.join(', ')} held nothing before the erasure either`);
    return passIf(
      cached === 0 && tried > 0 && left.length === 0,
      `${cached} keys of ${erased(evidence)} erased users are cached; ${tried} caches held data of the canary ` +
        `before its erasure, ${left.length === 0 ? 'none does' : `${left.join(', ')} still do`} after it`,
    );
  },
};
