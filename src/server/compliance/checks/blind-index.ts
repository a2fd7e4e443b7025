import { areas, type Evidence, sum } from '../evidence.ts';
import { type Judge, passIf, skip } from '../verdict.ts';

const canaries = (evidence: Evidence) => areas(evidence, 'canary');

/** Names that stand in index files: of sampled grains, and of canaries. */
function names(evidence: Evidence) {
  const bytes =
    sum(evidence, 'index', (index) => index.bytesSearched) + sum(evidence, 'canary', (canary) => canary.indexBytes);
  const values = sum(evidence, 'index', (index) => index.valuesSearched);
  const found =
    sum(evidence, 'index', (index) => index.valuesFound) + sum(evidence, 'canary', (canary) => canary.indexNamesFound);
  return {
    bytes,
    found,
    detail: `${found} of ${values} sampled names and the canaries' stand in ${bytes} bytes of index files`,
  };
}

export const BLIND_INDEX: Readonly<Record<string, Judge>> = {
  blind_index_enabled: (evidence) => {
    const { bytes, found, detail } = names(evidence);
    return passIf(bytes > 0 && found === 0 && canaries(evidence).every(({ foundByValue }) => foundByValue), detail);
  },
  blind_index_no_plaintext: (evidence) => {
    const { bytes, found, detail } = names(evidence);
    return passIf(bytes > 0 && found === 0, detail);
  },
  blind_index_token_strength: (evidence) =>
    passIf(
      canaries(evidence).every(({ tokenIsHmac }) => tokenIsHmac),
      'HMAC-SHA256 (64 hex digits) under a key of 32 bytes, of which an index row keeps the first 32 digits',
    ),
  blind_index_deterministic: (evidence) =>
    passIf(
      canaries(evidence).every(({ tokenTwice, foundByValue }) => tokenTwice && foundByValue),
      'the canary name was given its token twice and looked for by its plain text',
    ),
  blind_index_key_separation: (evidence) => {
    const separate = areas(evidence, 'keys').every((keys) => keys.tokenKeyIsSeparate && keys.indexKeyIsSeparate);
    const differs = canaries(evidence).every(({ tokenDiffersElsewhere }) => tokenDiffersElsewhere);
    return passIf(
      separate && differs,
      `the keys of tokens and of indexes ${separate ? 'are' : 'are not'} apart from all others; another memory's ` +
        `token of the canary name ${differs ? 'differs' : 'is the same'}`,
    );
  },
  blind_index_erasure: (evidence) => {
    const rows = sum(evidence, 'erasures', (erasures) => erasures.rowsLeft);
    const pending = areas(evidence, 'erasures').filter(({ purgePending }) => purgePending).length;
    const canary = sum(evidence, 'canary', ({ grainsLeft }) => grainsLeft);
    return passIf(
      rows === 0 && pending === 0 && canary === 0,
      `${rows} rows lead to erased grains; ${pending} partitions have still to write their index anew after an erasure`,
    );
  },
  blind_index_provenance: (evidence) => {
    const sampled = sum(evidence, 'recalls', (recalls) => recalls.sampled);
    const plain = sum(evidence, 'recalls', (recalls) => recalls.unblinded);
    if (sampled === 0) return skip('no records of recalls');
    return passIf(plain === 0, `${plain} of ${sampled} sampled records name somebody in plain text`);
  },
};
