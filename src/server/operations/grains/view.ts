// Converts a grain to its answer (service contract 4.1, read shape).
import { SENTENCE_CHARS_MAX } from '../../../engine/base/limits.ts';
import { onDemand } from '../../../engine/base/on-demand.ts';
import type * as Sentences from '../../../engine/cal/output/sentence.ts';
import type { GrainView } from '../../../shards/protocol.ts';
import { described, type Static, Type } from '../type.ts';
import { Fields } from './fields.ts';

export const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });

const sentences = onDemand<typeof Sentences>(import.meta.url, '../../../engine/cal/output/sentence');

/** The sentence of a grain. Its code is loaded with the first answer. */
export function sentenceOf(grain: Sentences.SentenceOrParts): string {
  return grain.text ?? sentences().sentenceOf(grain);
}

/** The member `text` of hits, grains and versions. */
export const Sentence = Type.String({
  description: `The grain as one plain sentence, at most ${SENTENCE_CHARS_MAX} characters; a longer one ends with an ellipsis.`,
});

export const GrainOutput = Type.Object({
  blobHash: Type.String({ description: 'Hash of the grain: SHA-256 of its plaintext blob, 64 hexadecimal digits.' }),
  hash: Type.String({ description: 'The same as blob_hash.' }),
  grainType: Type.String({ description: 'Type of the grain.' }),
  text: Sentence,
  fields: described(Fields, 'Every field of the grain, with defaults filled in.'),
  createdAt: Type.Integer({ description: 'Time at which the grain was created, in Unix seconds.' }),
  namespace: Type.String({ description: 'Namespace of the grain.' }),
  userId: Type.Optional(Type.String({ description: 'The data subject; absent where there is none.' })),
  supersededBy: Type.Optional(Type.String({ description: 'Hash of the next version; absent for the current one.' })),
  supersedes: Type.Optional(Type.String({ description: 'Hash of the version before; absent for the first one.' })),
  sources: Type.Optional(Type.Array(Hash, { description: 'Further sources of the grain, the newest first.' })),
  versionStatus: Type.Enum(['current', 'superseded'], {
    description: 'Whether this version is current or superseded.',
  }),
  sizeBytes: Type.Integer({ description: 'Size of the blob in bytes.' }),
});
export type GrainOutput = Static<typeof GrainOutput>;

export function grainOutput(view: GrainView): GrainOutput {
  const { sources, isSuperseded, ...rest } = view;
  return {
    blobHash: view.hash,
    ...rest,
    text: sentenceOf(view),
    sources: sources && [...sources],
    versionStatus: view.supersededBy === undefined && isSuperseded !== true ? 'current' : 'superseded',
  };
}
