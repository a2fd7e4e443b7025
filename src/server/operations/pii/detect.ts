// Personal data in a text that a caller sends. Nothing is stored, and nothing leaves the process.
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
import { defineOperation, rpc } from '../define.ts';
import { bodyOf, missing, textMember } from '../grains/fields.ts';
import { either } from '../json-schema.ts';
import { outsideSchema } from '../names.ts';
import { type Static, Type } from '../type.ts';

const Input = Type.Object({ text: Type.String() });
const Simple = Type.Object({ detections: Type.Array(Type.String()) });
const Match = Type.Object({
  category: Type.String(),
  matchedText: Type.String(),
  start: Type.Integer(),
  end: Type.Integer(),
  confidence: Type.Number(),
  source: Type.String(),
});
const Detailed = Type.Object({ matches: Type.Array(Match), count: Type.Integer() });

async function findingsIn(text: string, { services }: Context): Promise<readonly PiiFinding[]> {
  if (Buffer.byteLength(text) > REMEMBER_TEXT_BYTES_MAX)
    throw new EngineError('VAL-E001', `a text has at most ${REMEMBER_TEXT_BYTES_MAX} bytes`, {
      details: [{ field: 'text', issue: 'too long' }],
    });
  const { findings = [] } = await services.readText({ text, wants: 'pii', nowMs: services.clock.nowMs() });
  return findings;
}

const textOf = ({ text }: { readonly text: string }) => {
  if (text === '') throw missing('text');
  return { text };
};

/** The simple answer and the other are one route: the body says which is wanted. */
export const detectPii = defineOperation({
  name: 'detect_pii',
  summary: 'Which kinds of personal data are in a text.',
  needs: 'read',
  on: 'memory',
  reach: 'nothing',
  mutates: false,
  slow: true,
  input: Type.Object({ ...Input.properties, detailed: Type.Optional(Type.Boolean()) }),
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
        return { text, ...(body['detailed'] === undefined ? {} : { detailed: body['detailed'] }) };
      },
      bodySchema: {
        type: 'object',
        required: ['text'],
        properties: { text: { type: 'string' }, content: { type: 'string' }, detailed: { type: 'boolean' } },
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
  summary: 'Where in a text there is personal data, of which kind, and how sure that is.',
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
