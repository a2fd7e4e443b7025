// The checks of compliance on a memory: run now, and the last result.
import { EngineError } from '../../../engine/base/errors.ts';
import { keptRun, type Run, runChecks, shownCheck, tallyOf } from '../../compliance/run.ts';
import { VerifyRequest, VerifyResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation, rpc } from '../define.ts';
import { type Static, Type } from '../type.ts';

export const Citation = Type.Object({ regulation: Type.String(), article: Type.String() });

const Check = Type.Object({
  id: Type.String(),
  group: Type.String(),
  regulations: Type.Array(Citation),
  severity: Type.String(),
  description: Type.String(),
  status: Type.String(),
  detail: Type.String(),
});

export const VerifyResult = Type.Object({
  total: Type.Integer(),
  pass: Type.Integer(),
  fail: Type.Integer(),
  warn: Type.Integer(),
  skip: Type.Integer(),
  passRate: Type.Number(),
  runId: Type.String(),
  regulation: Type.Union([Type.String(), Type.Null()]),
  startedAt: Type.Integer(),
  finishedAt: Type.Integer(),
  checks: Type.Array(Check),
});

function shown({ runId, regulation, startedAt, finishedAt, checks }: Run): Static<typeof VerifyResult> {
  return { ...tallyOf(checks), runId, regulation, startedAt, finishedAt, checks: checks.map(shownCheck) };
}

export const verifyCompliance = defineOperation({
  name: 'verify_compliance',
  summary: 'Run the checks of compliance on a memory: all, or those of one regulation.',
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  slow: true,
  input: Type.Object({ regulation: Type.Optional(Type.String()) }),
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
  run: async ({ regulation }, context) => shown(await runChecks(context, regulation)),
});

export const verifyLatest = defineOperation({
  name: 'verify_latest',
  summary: 'The last result of the checks of compliance on a memory.',
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  input: Type.Object({}),
  output: VerifyResult,
  errors: ['VER-E001', 'AUT-E001'],
  http: [{ verb: 'GET', path: 'M/verify/latest' }],
  async run(_, context) {
    const run = keptRun(context, 'latest');
    if (run === undefined) throw new EngineError('VER-E001');
    return shown(run);
  },
});
