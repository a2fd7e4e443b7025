// Detects personal data in a caller's text. The text is not stored and does not leave the process.
import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { REMEMBER_TEXT_BYTES_MAX } from '../../../engine/base/limits.ts';
import type { PiiFinding } from '../../../engine/text/pii/finding.ts';
import type { Context } from '../../context.ts';
import {
  DetectPiiDetailedRequest,
  DetectPiiDetailedResponse,
  DetectPiiRequest,
  DetectPiiResponse,
} from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { bodyOf, missing, textMember } from '../grains/fields.ts';
import { rpc } from '../grpc-face.ts';
import { either } from '../json-schema.ts';
import { outsideSchema } from '../names.ts';
import { type Static, Type } from '../type.ts';

const Input = Type.Object({ text: Type.String({ description: 'The text to search, at most 256 KiB.' }) });
const Simple = Type.Object({
  detections: Type.Array(Type.String(), { description: 'Categories of personal data in the text, each one once.' }),
});
const Match = Type.Object({
  category: Type.String({ description: 'Category of personal data.' }),
  matchedText: Type.String({ description: 'The part of the text that matched.' }),
  start: Type.Integer({ description: 'First byte of the match in the UTF-8 text, from 0.' }),
  end: Type.Integer({ description: 'Byte after the match in the UTF-8 text.' }),
  confidence: Type.Number({ description: 'Confidence in the match from 0 to 1.' }),
  source: Type.String({ description: 'The method that found the match: regex, checksum, dictionary or ner.' }),
});
const Detailed = Type.Object({
  matches: Type.Array(Match, { description: 'The matches, in order of the text.' }),
  count: Type.Integer({ description: 'Number of matches.' }),
});

async function findingsIn(text: string, { services }: Context): Promise<readonly PiiFinding[]> {
  if (Buffer.byteLength(text) > REMEMBER_TEXT_BYTES_MAX)
    throw new EngineError('VAL-E001', `the text has more than ${REMEMBER_TEXT_BYTES_MAX} bytes`, {
      details: [{ field: 'text', issue: 'too long' }],
    });
  const { findings = [] } = await services.readText({ text, wants: 'pii', nowMs: services.clock.nowMs() });
  return findings;
}

const textOf = ({ text }: { readonly text: string }) => {
  if (text === '') throw missing('text');
  return { text };
};

/** One route gives the simple and the detailed answer; the body selects one. */
export const detectPii = defineOperation({
  name: 'detect_pii',
  summary: 'Find the kinds of personal data in a text.',
  description: 'Nothing is stored, and the text stays in the process.',
  example: { text: 'Call Ada at +44 20 7946 0958.', detailed: true },
  needs: 'read',
  on: 'memory',
  reach: 'nothing',
  mutates: false,
  slow: true,
  input: Type.Object({
    ...Input.properties,
    detailed: Type.Optional(
      Type.Boolean({
        description: 'Whether the answer gives each match in place of the categories; the default is false.',
        default: false,
      }),
    ),
  }),
  output: Type.Union([Simple, Detailed]),
  grpc: rpc({
    rpc: 'DetectPii',
    request: DetectPiiRequest,
    response: DetectPiiResponse,
    read: textOf,
    write: (output: Static<typeof Simple> | Static<typeof Detailed>) => ('detections' in output ? output : {}),
  }),
  http: [
    {
      verb: 'POST',
      path: 'M/detect-pii',
      read: ({ json }) => {
        const body = bodyOf(json);
        const text = textMember(body, 'text') ?? textMember(body, 'content');
        if (text === undefined) throw missing('text');
        return defined({ text, detailed: body['detailed'] });
      },
      bodySchema: {
        type: 'object',
        required: ['text'],
        properties: {
          text: { type: 'string', description: 'The text to search, at most 256 KiB.' },
          content: { type: 'string', description: 'Another name of text.' },
          detailed: {
            type: 'boolean',
            description: 'Whether the answer gives each match in place of the categories; the default is false.',
            default: false,
          },
        },
      },
      answer: either(outsideSchema(Simple), outsideSchema(Detailed)),
      write: (output) =>
        'detections' in output
          ? output
          : {
              matches: output.matches.map(({ matchedText, ...match }) => ({ ...match, matched_text: matchedText })),
              count: output.count,
            },
    },
  ],
  async run({ text, detailed = false }, context) {
    const findings = await findingsIn(text, context);
    if (detailed) return { matches: findings.map((finding) => ({ ...finding })), count: findings.length };
    return { detections: [...new Set(findings.map(({ category }) => category))] };
  },
});

export const detectPiiDetailed = defineOperation({
  name: 'detect_pii_detailed',
  summary: 'Find each piece of personal data in a text, with its kind and confidence.',
  description: 'Nothing is stored, and the text stays in the process.',
  example: { text: 'Call Ada at +44 20 7946 0958.' },
  needs: 'read',
  on: 'memory',
  reach: 'nothing',
  mutates: false,
  slow: true,
  input: Input,
  output: Detailed,
  grpc: rpc({
    rpc: 'DetectPiiDetailed',
    request: DetectPiiDetailedRequest,
    response: DetectPiiDetailedResponse,
    read: textOf,
  }),
  async run({ text }, context) {
    const findings = await findingsIn(text, context);
    return { matches: findings.map((finding) => ({ ...finding })), count: findings.length };
  },
});
