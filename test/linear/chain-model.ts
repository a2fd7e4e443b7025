// One chain of a memory as an object: a grain, its later versions, their counts, and its end. Versions are named by a word that
// only they have.
import type { Model } from './checker.ts';

interface Version {
  readonly word: string;
  readonly visits: number;
}

/** Versions from the first to the current one. Empty: the chain is not there, or was removed. */
export type Chain = readonly Version[];

/**
 * A call and its answer. `old`: the version that the answer says was current before. `unsure`: the answer leaves open whether it
 * took effect, as for a request that was sent again after its first answer was lost, and is refused because of itself.
 */
export type ChainCall =
  | { readonly kind: 'add'; readonly word: string; readonly visits: number; readonly unsure?: true | undefined }
  | {
      readonly kind: 'supersede';
      readonly old: string;
      readonly word: string;
      readonly visits: number;
      readonly answer: 'done' | 'refused' | 'unknown';
      readonly unsure?: true | undefined;
    }
  | {
      readonly kind: 'accumulate';
      /** The version that was asked for: any of the chain. */
      readonly at: string;
      readonly word: string;
      readonly delta: number;
      readonly answer: { readonly old: string } | 'refused' | 'unknown';
      readonly unsure?: true | undefined;
    }
  /** `removed`: the words of the answer, in any order. */
  | {
      readonly kind: 'forget';
      readonly removed: readonly string[] | 'unknown';
      readonly unsure?: true | undefined;
    }
  /** The current version by its subject. */
  | { readonly kind: 'current'; readonly found: Version | undefined }
  /** A version by its address, and whether it says that there is a later one. */
  | {
      readonly kind: 'get';
      readonly word: string;
      readonly found: { readonly visits: number; readonly isCurrent: boolean } | undefined;
    };

export const CHAIN: Model<Chain, ChainCall> = {
  initial: [],
  step: (chain, call) => {
    const next = after(chain, call);
    // It took effect before, and this answer is about a later state; or it never did.
    if ('unsure' in call && call.unsure === true) return distinct([...next, ...after(chain, unknown(call)), chain]);
    return next;
  },
  keyOf: (chain) => JSON.stringify(chain.map(({ word, visits }) => [word, visits])),
  describe: (call) => JSON.stringify(call),
};

function after(chain: Chain, call: ChainCall): readonly Chain[] {
  const tip = chain.at(-1);
  switch (call.kind) {
    case 'add':
      return tip === undefined ? [[{ word: call.word, visits: call.visits }]] : [];
    case 'supersede': {
      const isDue = tip?.word === call.old;
      if (call.answer === 'refused') return isDue ? [] : [chain];
      return isDue ? [[...chain, { word: call.word, visits: call.visits }]] : [];
    }
    case 'accumulate': {
      const { answer } = call;
      const isThere = tip !== undefined && chain.some(({ word }) => word === call.at);
      if (answer === 'refused') return isThere ? [] : [chain];
      if (!isThere || (answer !== 'unknown' && answer.old !== tip.word)) return [];
      return [[...chain, { word: call.word, visits: tip.visits + call.delta }]];
    }
    case 'forget':
      if (call.removed === 'unknown') return [[]];
      return isSame(call.removed, chain) ? [[]] : [];
    case 'current':
      return tip?.word === call.found?.word && tip?.visits === call.found?.visits ? [chain] : [];
    case 'get': {
      const version = chain.find(({ word }) => word === call.word);
      const { found } = call;
      if (version === undefined || found === undefined)
        return version === undefined && found === undefined ? [chain] : [];
      return version.visits === found.visits && (version === tip) === found.isCurrent ? [chain] : [];
    }
  }
}

/** The same call without its answer. */
function unknown(call: ChainCall): ChainCall {
  if (call.kind === 'supersede' || call.kind === 'accumulate') return { ...call, answer: 'unknown' };
  return call.kind === 'forget' ? { ...call, removed: 'unknown' } : call;
}

function isSame(words: readonly string[], chain: Chain): boolean {
  return words.length === chain.length && chain.every(({ word }) => words.includes(word));
}

function distinct(chains: readonly Chain[]): readonly Chain[] {
  return [...new Map(chains.map((chain) => [CHAIN.keyOf(chain), chain])).values()];
}
