import { areas, type Evidence, sum } from '../evidence.ts';
import { fail, type Judge, pass, passIf, skip, warn } from '../verdict.ts';

const HMAC_BYTES = 32;
/** Half of the hash, the minimum of RFC 2104 for a truncated HMAC. For word tokens, it makes collisions unlikely. */
const NAME_TOKEN_BYTES_MIN = 16;
const WORD_TOKEN_BYTES_MIN = 8;

const canaries = (evidence: Evidence) => areas(evidence, 'canary');

/** Names searched for in index files: of sampled grains and of canaries. */
function names(evidence: Evidence) {
  const bytes =
    sum(evidence, 'index', (index) => index.bytesSearched) + sum(evidence, 'canary', (canary) => canary.indexBytes);
  const values = sum(evidence, 'index', (index) => index.valuesSearched);
  const found =
    sum(evidence, 'index', (index) => index.valuesFound) + sum(evidence, 'canary', (canary) => canary.indexNamesFound);
  return {
    bytes,
    found,
    detail: `${found} of ${values} sampled names and the canaries' occur in ${bytes} bytes of index files`,
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
  blind_index_token_strength: (evidence) => {
    const tokens = canaries(evidence);
    const name = Math.min(...tokens.map(({ nameTokenBytes }) => nameTokenBytes));
    const word = Math.min(...tokens.map(({ wordTokenBytes }) => wordTokenBytes));
    const detail =
      `tokens of names are HMAC-SHA256 under a key of 32 bytes, of which a row keeps ${name} of 32 bytes; ` +
      `tokens of words are AES-256 of the word, of which a row keeps ${word} bytes`;
    if (!tokens.every(({ tokenIsHmac }) => tokenIsHmac)) return fail('a token does not match HMAC-SHA256');
    if (name < NAME_TOKEN_BYTES_MIN || word < WORD_TOKEN_BYTES_MIN) return fail(detail);
    // The contract requires full HMACs.
    return name === HMAC_BYTES && word === HMAC_BYTES ? pass(detail) : warn(detail);
  },
  blind_index_deterministic: (evidence) => {
    const of = canaries(evidence);
    const every = (name: 'tokenTwice' | 'foundByValue' | 'foundSealed'): boolean => of.every((canary) => canary[name]);
    const strangers = of.filter(({ strangerFound }) => strangerFound).length;
    return passIf(
      every('tokenTwice') && every('foundByValue') && every('foundSealed') && strangers === 0,
      `a second instance gives the canary's name ${every('tokenTwice') ? 'the same' : 'another'} token; by its plain text it ` +
        `is ${every('foundByValue') ? '' : 'not '}found before a seal and ${every('foundSealed') ? '' : 'not '}after it; ` +
        `a name that no grain has finds ${strangers === 0 ? 'nothing' : 'something'}`,
    );
  },
  blind_index_key_separation: (evidence) => {
    const separate = areas(evidence, 'keys').every((keys) => keys.tokenKeyIsSeparate && keys.indexKeyIsSeparate);
    const differs = canaries(evidence).every(({ tokenDiffersElsewhere }) => tokenDiffersElsewhere);
    return passIf(
      separate && differs,
      `the keys of tokens and of indexes ${separate ? 'differ' : 'do not differ'} from all others; another memory's ` +
        `token of the canary name ${differs ? 'differs' : 'is the same'}`,
    );
  },
  blind_index_erasure: (evidence) => {
    const rows = sum(evidence, 'erasures', (erasures) => erasures.rowsLeft);
    const pending = areas(evidence, 'erasures').filter(({ purgePending }) => purgePending).length;
    const canary = sum(evidence, 'canary', ({ grainsLeft }) => grainsLeft);
    return passIf(
      rows === 0 && pending === 0 && canary === 0,
      `${rows} rows lead to erased grains; ${pending} partitions have yet to rewrite their index after an erasure`,
    );
  },
  blind_index_provenance: (evidence) => {
    const sampled = sum(evidence, 'recalls', (recalls) => recalls.sampled);
    const plain = sum(evidence, 'recalls', (recalls) => recalls.unblinded);
    if (sampled === 0) return skip('no records of recalls');
    return passIf(plain === 0, `${plain} of ${sampled} sampled records name a person in plain text`);
  },
};
