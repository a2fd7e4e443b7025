// Input and output schemas of remember.
import { BATCH_GRAINS_MAX } from '../../../engine/base/limits.ts';
import { type Members, outsideSchema } from '../names.ts';
import { type Static, Type } from '../type.ts';

const Message = Type.Object({
  role: Type.String({ minLength: 1, description: 'The speaker: user, assistant, system or tool.' }),
  content: Type.String({ description: 'The text of the message.' }),
  time: Type.Optional(
    Type.Integer({
      description: 'Time of the message in Unix seconds; the default is a second after the message before.',
    }),
  ),
});

export const Input = Type.Object({
  text: Type.Optional(Type.String({ description: 'The text to remember, at most 256 KiB.' })),
  messages: Type.Optional(
    Type.Array(Message, {
      minItems: 1,
      maxItems: BATCH_GRAINS_MAX,
      description: 'The messages in order, in place of a text; at most 1,000.',
    }),
  ),
  userId: Type.Optional(Type.String({ description: 'The data subject.' })),
  namespace: Type.Optional(Type.String({ description: 'Namespace of the grains; the default is default.' })),
  tags: Type.Optional(Type.Array(Type.String(), { description: 'Tags of the source event; the default is none.' })),
  extractMode: Type.Optional(
    Type.Enum(['async', 'sync'], {
      description: 'Whether beliefs are extracted after the answer (async) or before it (sync); the default is async.',
      default: 'async',
    }),
  ),
  keepSource: Type.Optional(
    Type.Boolean({
      description: 'Whether the source is kept after the extraction; the default is true.',
      default: true,
    }),
  ),
  sourceType: Type.Optional(Type.String({ description: 'Kind of the source; the default is user.', default: 'user' })),
  createdAt: Type.Optional(Type.Integer({ description: 'Time of the text in Unix seconds; the default is now.' })),
  confidence: Type.Optional(
    Type.Number({ description: 'Confidence of the source event, from 0 to 1; the default is 1.' }),
  ),
  sessionId: Type.Optional(
    Type.String({ description: 'Session that the text belongs to; messages without one get a new session.' }),
  ),
  extractEventDate: Type.Optional(
    Type.Boolean({
      description: 'Whether the first date in the text sets valid_from where that is unset; the default is false.',
      default: false,
    }),
  ),
  autoRelate: Type.Optional(
    Type.Boolean({
      description:
        'Whether up to 5 similar grains of the same user and namespace become related_to; the default is false.',
      default: false,
    }),
  ),
  purpose: Type.Optional(
    Type.String({ description: 'Purpose of the processing, which consent is checked for; the default is storage.' }),
  ),
});
export type Input = Static<typeof Input>;

export const Output = Type.Object({
  sourceHash: Type.String({ description: 'Hash of the source event; the first one of messages.' }),
  sourceHashes: Type.Optional(
    Type.Array(Type.String(), { description: 'Hashes of the events of messages that were stored, in order.' }),
  ),
  errors: Type.Optional(
    Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Position of the message in the request, from 0.' }),
        code: Type.String({ description: 'Error code.' }),
        error: Type.String({ description: 'Error message.' }),
      }),
      { description: 'The messages that were refused.' },
    ),
  ),
  sessionId: Type.Optional(Type.String({ description: 'Session of the messages.' })),
  mode: Type.String({ description: 'Whether the extraction runs after the answer (async) or ran before it (sync).' }),
  extractedHashes: Type.Array(Type.String(), {
    description: 'Hashes of the beliefs that were extracted; empty while the extraction is pending.',
  }),
  extractedCount: Type.Integer({ description: 'Number of beliefs that were extracted.' }),
  duplicates: Type.Array(Type.String(), { description: 'Hashes of extracted beliefs that the memory held already.' }),
  warnings: Type.Array(Type.String(), { description: 'Parts of the request that were ignored or not fulfilled.' }),
  sourceForgotten: Type.Boolean({ description: 'Whether the source was forgotten after the extraction.' }),
  markerStatus: Type.String({ description: 'State of the extraction: pending, done or failed.' }),
});

const INPUT = outsideSchema(Input);
export const BODY: Members = {
  ...INPUT,
  description: 'text, or content in its place; or messages.',
  properties: {
    ...(INPUT['properties'] as Members), // of an object schema
    content: { type: 'string', description: 'Another name of text.' },
    confidence: { ...Input.properties.confidence, minimum: 0, maximum: 1 },
  },
};
