// Asks the questions of a labelled set of a real engine with vectors, and describes the best candidates of each by what
// the text leg already knows. Neither age nor place in the session is among the features.
import type { Embedder } from '../../src/embed/embedder.ts';
import { windowsOf } from '../../src/embed/windows.ts';
import type { CallContext } from '../../src/engine/calls/context.ts';
import type { Candidate } from '../../src/engine/calls/recall.ts';
import { packVectors } from '../../src/engine/index/vectors/transfer.ts';
import { shareOf } from '../../src/engine/recall/legs/evidence.ts';
import { SCORE_MAX, TextLeg, WEIGHTS } from '../../src/engine/recall/legs/text-leg.ts';
import { addAll, batchesOf, contextOf, makeMemories, type OpenShard, openShard } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import type { LabelledSet, LabelledText } from './sets.ts';

/** Candidates of a question that are described. */
export const DEPTH = 150;
/** Hits of each leg, as many as a recall of twenty hits takes. */
const CANDIDATE_LIMIT = 100;
const PAGE_GRAINS = 500;
const FIRST_SECOND = 1_700_000_000;

export const FEATURES = [
  'formula',
  'bm25',
  'phrase',
  'vector',
  'near',
  'answer',
  'session',
  'pooled',
  'notAssistant',
  'speaker',
  'time',
  'self',
  'cosine',
  'cosineBehind',
  'covered',
  'coveredBehind',
  'holdsTerms',
  'wordsRank',
  'vectorRank',
  'questionTerms',
  'bestCosine',
  'bestCovered',
  'isTurn',
] as const;

export interface DescribedCandidate {
  readonly unit: string;
  readonly gain: number;
  /** In the order of FEATURES. */
  readonly features: Float64Array;
}

export interface DescribedQuestion {
  readonly memory: string;
  /** The gains of all judged units, also of those that are no candidates. */
  readonly gains: readonly number[];
  /** Best first by the formula. */
  readonly candidates: readonly DescribedCandidate[];
}

export async function describe(set: LabelledSet, embedder: Embedder): Promise<DescribedQuestion[]> {
  return inFolder(async (folder) => {
    const shard = await openShard(folder);
    try {
      return await asked(set, shard, embedder);
    } finally {
      await shard.close();
    }
  });
}

async function asked(set: LabelledSet, shard: OpenShard, embedder: Embedder): Promise<DescribedQuestion[]> {
  const { engine } = shard;
  const numbers = new Map([...set.memories.keys()].map((memory, at) => [memory, at + 1]));
  await makeMemories(engine, 1, numbers.size);
  for (const [memory, texts] of set.memories) {
    const items = texts.filter(({ text }) => text.trim() !== '').map(itemOf);
    await addAll(shard, batchesOf(numbers.get(memory)!, items));
  }
  await embedAll(shard, embedder);
  const described: DescribedQuestion[] = [];
  for (const { memory, text, judged } of set.questions) {
    const [vector] = await embedder.embed([text], { priority: 'query' });
    const context = contextOf(numbers.get(memory)!);
    const candidates = vector === undefined ? [] : candidatesOf(shard, context, text, vector);
    const unitOf = new Map(set.memories.get(memory)!.map(({ id, unit = id }) => [id, unit]));
    described.push({
      memory,
      gains: [...judged.values()],
      candidates: candidates.map(({ hash, features }) => {
        const { fields } = engine.read('get', context, { hash });
        const unit = unitOf.get(String(fields['_id']))!;
        return { unit, gain: judged.get(unit) ?? 0, features };
      }),
    });
  }
  return described;
}

function itemOf({ id, text, session, role }: LabelledText, at: number) {
  const fields = { content: text, _id: id, created_at: FIRST_SECOND + at };
  const placed = session === undefined ? fields : { ...fields, session_id: session };
  return { grainType: 'event' as const, fields: role === undefined ? placed : { ...placed, role } };
}

async function embedAll({ engine }: OpenShard, embedder: Embedder): Promise<void> {
  const stamp = { name: embedder.name, dimensions: embedder.dimensions };
  for (;;) {
    const { pages } = engine.read('embedPages', contextOf(0), { embedders: { '': stamp }, grainsMax: PAGE_GRAINS });
    if (pages.length === 0) return;
    for (const page of pages) {
      const grains: { ordinal: number; vectors: Uint8Array }[] = [];
      for (const { ordinal, text } of page.grains) {
        const vectors = (await embedder.embed(windowsOf(text))).filter((one) => one !== undefined);
        grains.push({ ordinal, vectors: packVectors(vectors) });
      }
      await engine.write('keepVectors', contextOf(0), { ...page, embedder: stamp, grains });
    }
  }
}

interface Described {
  readonly hash: string;
  readonly features: Float64Array;
}

function candidatesOf(
  { engine }: OpenShard,
  context: CallContext,
  text: string,
  vector: Float32Array,
): readonly Described[] {
  const query = {
    query: text,
    vector: { bytes: packVectors([vector]), of: text },
    filter: {},
    limit: DEPTH,
    candidateLimit: CANDIDATE_LIMIT,
    structural: false,
  };
  const statistics = engine.read('recallStatistics', context, query);
  const { candidates, termShares, vectorsBehind } = engine.read('recallCandidates', context, { query, statistics });
  if (vectorsBehind !== undefined) throw new Error('some texts have no vectors');
  return describedOf(candidates, termShares).slice(0, DEPTH);
}

/** The text leg's candidates with their features, best first by its formula. */
export function describedOf(candidates: readonly Candidate[], termShares: readonly number[]): Described[] {
  const covered = ({ matchedTerms = [] }: Candidate): number => shareOf(matchedTerms, termShares);
  const leg = new TextLeg(candidates, covered);
  const bestCosine = Math.max(0, ...candidates.map(({ cosine = 0 }) => cosine));
  const bestCovered = Math.max(0, ...candidates.map(covered));
  const wordsRanks = ranks(candidates.map(({ bm25 = 0 }) => bm25));
  const vectorRanks = ranks(candidates.map(({ cosine = 0 }) => cosine));
  const described = candidates.map((candidate, i) => {
    const { turn, cosine = 0, matchedTerms = [] } = candidate;
    const terms = leg.terms(candidate);
    const value = (term: keyof typeof WEIGHTS): number => (terms[term] * SCORE_MAX) / WEIGHTS[term];
    const score = leg.score(candidate) * SCORE_MAX;
    const values: Record<(typeof FEATURES)[number], number> = {
      formula: score,
      bm25: value('bm25'),
      phrase: value('phrase'),
      vector: value('vector'),
      near: value('near'),
      answer: value('answer'),
      session: value('session'),
      pooled: value('pooled'),
      notAssistant: value('role'),
      speaker: value('speaker'),
      time: value('time'),
      self: value('self'),
      cosine,
      cosineBehind: bestCosine - cosine,
      covered: covered(candidate),
      coveredBehind: bestCovered - covered(candidate),
      holdsTerms: matchedTerms.length,
      wordsRank: Math.log(wordsRanks[i]!),
      vectorRank: Math.log(vectorRanks[i]!),
      questionTerms: termShares.length,
      bestCosine,
      bestCovered,
      isTurn: turn === undefined ? 0 : 1,
    };
    const features = Float64Array.from(FEATURES, (name) => values[name]);
    return { hash: candidate.hash, createdAtMs: candidate.createdAtMs, score, features };
  });
  return described.sort((a, b) => b.score - a.score || b.createdAtMs - a.createdAtMs || (a.hash < b.hash ? -1 : 1));
}

/** Places from 1 by falling value; equals share the better one. */
function ranks(values: readonly number[]): number[] {
  const falling = values.toSorted((a, b) => b - a);
  const first = new Map<number, number>();
  for (const [at, value] of falling.entries()) if (!first.has(value)) first.set(value, at + 1);
  return values.map((value) => first.get(value)!);
}
