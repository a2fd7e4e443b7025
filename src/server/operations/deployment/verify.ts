// The whole deployment on disk against what it should be: every shard, and the control log.
import { FINDINGS_MAX } from '../../../engine/base/limits.ts';
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';

const Finding = Type.Object({
  /** `shard 3` or `control`. */
  part: Type.String(),
  kind: Type.String(),
  where: Type.String(),
  problem: Type.String(),
});

export const verify = defineOperation({
  name: 'verify',
  summary: 'Check every record, blob, index block, key and audit chain of the deployment.',
  needs: 'admin',
  on: 'memory',
  reach: 'deployment',
  mutates: false,
  slow: true,
  input: Type.Object({}),
  output: Type.Object({
    shards: Type.Integer(),
    records: Type.Integer(),
    grains: Type.Integer(),
    blocks: Type.Integer(),
    auditEntries: Type.Integer(),
    /** All that were counted; `findings` names a bounded number of them. */
    findingCount: Type.Integer(),
    findings: Type.Array(Finding),
  }),
  exec: { command: 'verify' },
  async run(_, { services }) {
    const reports = await services.shards.verify();
    const control = await services.control.verify();
    const findings = [
      ...control.findings.map((finding) => ({ part: 'control', ...finding })),
      ...reports.flatMap((report) =>
        report.findings.map(({ shard, kind, where, problem }) => ({ part: `shard ${shard}`, kind, where, problem })),
      ),
    ];
    const sum = (member: 'records' | 'grains' | 'blocks' | 'auditEntries'): number =>
      reports.reduce((total, report) => total + report[member], 0);
    return {
      shards: reports.length,
      records: sum('records') + control.records,
      grains: sum('grains'),
      blocks: sum('blocks'),
      auditEntries: sum('auditEntries') + control.auditEntries,
      findingCount: findings.length,
      findings: findings.slice(0, FINDINGS_MAX),
    };
  },
});
