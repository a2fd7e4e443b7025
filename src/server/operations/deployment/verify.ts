// Verifies the files of the whole deployment: every shard, and the control log.
import { FINDINGS_MAX } from '../../../engine/base/limits.ts';
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';

const Finding = Type.Object({
  part: Type.String({ description: 'Part of the deployment: a shard by its number, or control.' }),
  kind: Type.String({ description: 'Kind of the finding.' }),
  where: Type.String({ description: 'Place of the finding.' }),
  problem: Type.String({ description: 'The fault at that place.' }),
});

export const verify = defineOperation({
  name: 'verify',
  summary: 'Check every record, blob, index block, key and audit chain of the deployment.',
  description: 'It reads everything and changes nothing.',
  example: {},
  needs: 'admin',
  on: 'memory',
  reach: 'deployment',
  mutates: false,
  slow: true,
  input: Type.Object({}),
  output: Type.Object({
    shards: Type.Integer({ description: 'Number of shards that were checked.' }),
    records: Type.Integer({ description: 'Number of log records that were checked.' }),
    grains: Type.Integer({ description: 'Number of grains that were checked.' }),
    blocks: Type.Integer({ description: 'Number of index blocks that were checked.' }),
    auditEntries: Type.Integer({ description: 'Number of audit entries that were checked.' }),
    findingCount: Type.Integer({ description: 'Number of all findings, of which findings lists a bounded number.' }),
    findings: Type.Array(Finding, { description: 'The findings, empty where everything is sound.' }),
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
