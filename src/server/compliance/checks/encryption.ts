import { areas, type Evidence, policyOf, seedsOf, sum } from '../evidence.ts';
import { fail, type Judge, pass, passIf, skip, warn, within } from '../verdict.ts';

const DAY_SECONDS = 86_400;

const sampled = (evidence: Evidence): number => sum(evidence, 'blobs', (blobs) => blobs.sampled);

export const ENCRYPTION: Readonly<Record<string, Judge>> = {
  encryption_at_rest: (evidence) => {
    const looked = sampled(evidence);
    const envelopes = sum(evidence, 'blobs', (blobs) => blobs.envelopes);
    const plaintext = sum(evidence, 'blobs', (blobs) => blobs.plaintext);
    const canaries = sum(evidence, 'canary', (canary) => canary.envelopes);
    const wanted = sum(evidence, 'canary', (canary) => canary.envelopesWanted);
    return passIf(
      envelopes === looked && plaintext === 0 && canaries === wanted && wanted > 0,
      `${envelopes} of ${looked} sampled grains are envelopes, ${plaintext} are plaintext; ` +
        `${canaries} of ${wanted} canaries (seed ${seedsOf(evidence)})`,
    );
  },
  encryption_algorithm: (evidence) => {
    const looked = sampled(evidence);
    const conforming = sum(evidence, 'blobs', (blobs) => blobs.conforming);
    const keys = sum(evidence, 'keys', (area) => area.checked);
    const odd = sum(evidence, 'keys', (area) => area.unwrappable);
    return passIf(
      conforming === looked && keys > 0 && odd === 0,
      `AES-256-GCM, nonce 12 and tag 16 bytes: ${conforming} of ${looked} sampled envelopes; ` +
        `${keys - odd} of ${keys} keys have 32 bytes`,
    );
  },
  encryption_roundtrip: (evidence) => {
    const back = sum(evidence, 'canary', (canary) => canary.roundTrips);
    const wanted = sum(evidence, 'canary', (canary) => canary.roundTripsWanted);
    return passIf(wanted > 0 && back === wanted, `${back} of ${wanted} canaries were read back under their keys`);
  },
  encryption_tamper_detection: (evidence) => {
    const tried = sum(evidence, 'canary', (canary) => canary.tampered);
    const opened = sum(evidence, 'canary', (canary) => canary.tamperedOpened);
    return passIf(tried > 0 && opened === 0, `${opened} of ${tried} envelopes with a flipped bit opened`);
  },
  encryption_nonce_uniqueness: (evidence) => {
    const real = sum(evidence, 'blobs', (blobs) => blobs.nonces);
    const compared = real + sum(evidence, 'canary', (canary) => canary.nonces);
    const repeated =
      sum(evidence, 'blobs', (blobs) => blobs.repeatedNonces) +
      sum(evidence, 'canary', (canary) => canary.repeatedNonces);
    if (repeated > 0) return fail(`${repeated} nonces are repeated among ${compared} envelopes`);
    if (real < 2) return skip(`${real} envelopes`);
    return pass(`no nonce is repeated among ${compared} envelopes`);
  },
  encryption_key_isolation: (evidence) => {
    const crossed = sum(evidence, 'canary', (canary) => canary.crossed);
    const opened = sum(evidence, 'canary', (canary) => canary.crossedOpened);
    return passIf(crossed > 0 && opened === 0, `${opened} of ${crossed} canaries opened under another user's key`);
  },
  encryption_per_user_keys: (evidence) => {
    const users = sum(evidence, 'keys', (keys) => keys.users);
    const several = sum(evidence, 'keys', (keys) => keys.usersWithSeveral);
    const foreign = sum(evidence, 'blobs', (blobs) => blobs.foreignKeys);
    const withUser = sum(evidence, 'blobs', (blobs) => blobs.withUser);
    const left = sum(evidence, 'erasures', (erasures) => erasures.keysLeft);
    const crossed = sum(evidence, 'canary', (canary) => canary.crossed);
    return passIf(
      several === 0 && foreign === 0 && left === 0 && users + crossed > 0,
      `${users} users with a key, ${several} with several; ${foreign} of ${withUser} sampled grains under another key; ` +
        `${left} keys of erased users`,
    );
  },
  encryption_key_wrapping: (evidence) => {
    const checked = sum(evidence, 'keys', (keys) => keys.checked);
    const bad = sum(evidence, 'keys', (keys) => keys.unwrappable);
    const clear = sum(evidence, 'keys', (keys) => keys.inClear);
    return passIf(
      checked > 0 && bad === 0 && clear === 0,
      `${checked} keys: ${bad} do not unwrap, ${clear} are stored unencrypted`,
    );
  },
  encryption_key_rotation: (evidence) => {
    const days = policyOf(evidence).rules['encryption.key_rotation_days'];
    if (days === null) return skip('the policy sets no key_rotation_days');
    const madeMs = Math.min(...areas(evidence, 'keys').map(({ newestMadeMs }) => newestMadeMs));
    const age = (evidence.deployment.nowSeconds - madeMs / 1000) / DAY_SECONDS;
    const detail = `the key for grains without a user is ${age.toFixed(1)} days old, the policy requires at most ${days}`;
    const verdict = within(age, days, days * 1.25, detail);
    const oldestMs = Math.min(
      ...areas(evidence, 'keys').map((keys) => keys.oldestUserKeyMs ?? Number.POSITIVE_INFINITY),
    );
    const oldest = (evidence.deployment.nowSeconds - oldestMs / 1000) / DAY_SECONDS;
    if (verdict.status === 'fail' || oldest <= days) return verdict;
    // Erasing a user destroys their key, so it has no versions: a rotation only wraps it again.
    return warn(
      `${detail}; the oldest key of a user is ${oldest.toFixed(1)} days old: rotations wrap users' keys again and create no new ones`,
    );
  },
  encryption_master_key_source: (evidence) => {
    const { masterKeySource, masterKeyInDataDirectory, masterKeyIsGuessable } = evidence.deployment;
    if (masterKeyIsGuessable) return fail(`from ${masterKeySource}: a pattern, not a random key`);
    if (masterKeySource !== 'own' && !masterKeyInDataDirectory) return pass(`256 bits, from ${masterKeySource}`);
    const made = masterKeySource === 'own' ? 'made by the server' : 'from a file';
    const detail = `256 bits, ${made} and stored in the data directory: a copy of the directory includes both`;
    return policyOf(evidence).rules['encryption.required'] ? fail(detail) : warn(detail);
  },
};
