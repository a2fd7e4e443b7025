// Compliance checks of a memory: run them, and show the last result.
import { EngineError } from '../../../engine/base/errors.ts';
import type { Run } from '../../compliance/run.ts';
import { VerifyRequest, VerifyResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { type Static, Type } from '../type.ts';
import { inRun } from './checks.ts';

export const Citation = Type.Object({
  regulation: Type.String({ description: 'Code of the regulation, such as gdpr.' }),
  article: Type.String({ description: 'Article or section of the regulation.' }),
});

const Check = Type.Object({
  id: Type.String({ description: 'Id of the check.' }),
  group: Type.String({ description: 'Group of the check.' }),
  regulations: Type.Array(Citation, { description: 'Articles that the check serves.' }),
  severity: Type.String({ description: 'Severity of the check: critical, high, medium or low.' }),
  description: Type.String({ description: 'The property that the check verifies.' }),
  status: Type.String({ description: 'Outcome of the check: pass, fail, warn or skip.' }),
  detail: Type.String({ description: 'The measurement of the check, in words.' }),
});

export const VerifyResult = Type.Object({
  total: Type.Integer({ description: 'Number of checks in the run.' }),
  pass: Type.Integer({ description: 'Number of checks that passed.' }),
  fail: Type.Integer({ description: 'Number of checks that failed.' }),
  warn: Type.Integer({ description: 'Number of checks that ended with a warning.' }),
  skip: Type.Integer({ description: 'Number of checks that did not apply.' }),
  passRate: Type.Number({ description: 'Share of the checks that were not skipped and passed, from 0 to 1.' }),
  runId: Type.String({ description: 'Id of the run.' }),
  regulation: Type.Union([Type.String(), Type.Null()], {
    description: 'The regulation whose checks ran; null for all checks.',
  }),
  startedAt: Type.Integer({ description: 'Time at which the run began, in Unix seconds.' }),
  finishedAt: Type.Integer({ description: 'Time at which the run ended, in Unix seconds.' }),
  checks: Type.Array(Check, { description: 'Every check of the run with its outcome.' }),
});

function shown({ runId, regulation, startedAt, finishedAt, checks }: Run): Static<typeof VerifyResult> {
  const { shownCheck, tallyOf } = inRun();
  return { ...tallyOf(checks), runId, regulation, startedAt, finishedAt, checks: checks.map(shownCheck) };
}

export const verifyCompliance = defineOperation({
  name: 'verify_compliance',
  summary: 'Run the compliance checks on a memory: all, or those of one regulation.',
  description: 'There are 88 checks; those of a regulation without an active preset are skipped.',
  example: { regulation: 'gdpr' },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: ['viewer', 'auditor'],
  mutates: false,
  slow: true,
  input: Type.Object({
    regulation: Type.Optional(
      Type.String({
        description:
          'Only the checks of this regulation: gdpr, hipaa, eu_ai_act, soc2, ccpa, lgpd or pipl; the default is all 88.',
      }),
    ),
  }),
  output: VerifyResult,
  errors: ['VER-E002', 'AUT-E001'],
  http: [{ verb: 'POST', path: 'M/verify/run' }],
  grpc: rpc({
    rpc: 'VerifyCompliance',
    request: VerifyRequest,
    response: VerifyResponse,
    write: ({ total, pass, fail, warn, skip, checks }: Static<typeof VerifyResult>) => ({
      total,
      pass,
      fail,
      warn,
      skip,
      checks: checks.map(({ id, group, description, status, detail }) => ({ id, group, description, status, detail })),
    }),
  }),
  run: async ({ regulation }, context) => shown(await inRun().runChecks(context, regulation)),
});

export const verifyLatest = defineOperation({
  name: 'verify_latest',
  summary: 'Show the last result of the compliance checks on a memory.',
  description: 'It runs no checks; before the first run it fails.',
  example: {},
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: ['viewer', 'auditor'],
  mutates: false,
  input: Type.Object({}),
  output: VerifyResult,
  errors: ['VER-E001', 'AUT-E001'],
  http: [{ verb: 'GET', path: 'M/verify/latest' }],
  async run(_, context) {
    const run = inRun().keptRun(context, 'latest');
    if (run === undefined) throw new EngineError('VER-E001');
    return shown(run);
  },
});
