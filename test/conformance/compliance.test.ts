// The compliance checks on a running server: over both HTTP listeners and gRPC, with one partition and with four.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { refused } from './contract.ts';
import type { ParsedJson } from './driver.ts';
import type { HttpClient } from './http-client.ts';
import { serveSuite } from './http-suite.ts';

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, () => {
    const { http, memory, shared } = serveSuite(listener, partitions);

    const byId = (run: ParsedJson): ReadonlyMap<string, ParsedJson> =>
      new Map(run['checks'].map((check: ParsedJson) => [check['id'], check]));

    test('a run judges all checks, is stored, and leaves only audit entries', async () => {
      const path = await memory();
      await refused(http.get(`${path}/verify/latest`), 'VER-E001');
      for (const user of ['ada', 'bob'])
        await http.post(`${path}/add`, { subject: user, relation: 'likes', object: 'green tea', user_id: user });
      await http.post(`${path}/forget`, { user_id: 'bob', reason: 'asked for' });
      const before = await http.get(`${path}/stats`);
      const run = await http.post(`${path}/verify/run`, {});
      assert.deepEqual([run.total, run.checks.length, run.pass + run.fail + run.warn + run.skip], [88, 88, 88]);
      assert.match(run.run_id, /^vrf_[a-z2-7]{24}$/);
      const failing = run.checks.filter(({ status }: ParsedJson) => status === 'fail').map(({ id }: ParsedJson) => id);
      // The purge after an erasure takes time.
      assert.deepEqual(
        failing.filter((id: string) => id !== 'blind_index_erasure'),
        ['gdpr_record_of_processing'],
      );
      const checks = byId(run);
      assert.deepEqual(checks.get('encryption_at_rest')?.['regulations'], [
        { regulation: 'gdpr', article: 'Art. 32' },
        { regulation: 'hipaa', article: '45 CFR 164.312(a)(2)(iv)' },
        { regulation: 'soc2', article: 'CC6.1' },
        { regulation: 'lgpd', article: 'Art. 46' },
        { regulation: 'pipl', article: 'Art. 51' },
      ]);
      assert.equal(checks.get('hipaa_integrity')?.['detail'], 'preset not active');
      assert.deepEqual(await http.get(`${path}/verify/latest`), run);
      const {
        audit_entries: entriesAfter,
        disk_space_bytes: _,
        purge_pending: _a,
        ...stats
      } = await http.get(`${path}/stats`);
      const { audit_entries: __, disk_space_bytes: ___, purge_pending: _b, ...statsBefore } = before;
      assert.deepEqual(stats, statsBefore);
      assert.ok(entriesAfter > 0);
      const { entries } = await http.get(`${path}/audit?event_type=verify.*`);
      const events = entries.map(({ event_type }: ParsedJson) => event_type);
      assert.equal(events.filter((event: string) => event === 'verify.canary').length, partitions);
      assert.equal(events.filter((event: string) => event === 'verify.run').length, 1);
    });

    test('a run can be limited to a regulation, and adds its own checks', async () => {
      const path = await memory();
      const run = await http.post(`${path}/verify/run`, { regulation: 'EU-AI-Act' });
      assert.equal(run.regulation, 'eu_ai_act');
      assert.ok(run.total < 88 && run.total > 16);
      // Requested by name, it is judged without its preset.
      assert.equal(byId(run).get('euai_robustness')?.['status'], 'pass');
      await refused(http.post(`${path}/verify/run`, { regulation: 'gdpr2' }), 'VER-E002');
      await refused(http.post(`${path}/verify/run`, {}, { headers: { 'x-user-id': 'ada' } }), 'AUT-E001');
    });

    test('checks of a law run when its preset is active, over gRPC too', async () => {
      const path = await memory();
      const presets = ['gdpr', 'hipaa', 'eu_ai_act', 'soc2', 'ccpa', 'lgpd', 'pipl', 'strict_deletion'];
      const controller = { name: 'Example', contact: 'dpo@example.org' };
      await http.call('PUT', `${path}/policy`, {
        json: {
          add_policies: presets,
          overrides: {
            'records.controller': controller,
            'records.purposes': ['support'],
            'ai.risk_class': 'high',
            'ai.impact_assessment': { answers: { processes: 'chat' }, reviewed_at: Math.floor(Date.now() / 1000) },
          },
          reason: 'test',
        },
      });
      const grpc = shared.grpc.with({ 'x-memory-id': path.split('/').at(-1)! });
      const run = await grpc.call('VerifyCompliance', {});
      assert.deepEqual([run.total, run.checks.length], [88, 88]);
      const checks = new Map<string, ParsedJson>(run.checks.map((check: ParsedJson) => [check['id'], check]));
      const statuses = (...ids: readonly string[]) => ids.map((id) => checks.get(id)?.['status']);
      assert.deepEqual(
        statuses('policy_enforced_on_write', 'policy_deletion_control', 'hipaa_phi_write_gate', 'ccpa_opt_out'),
        ['pass', 'pass', 'pass', 'pass'],
        JSON.stringify(run.checks.filter(({ status }: ParsedJson) => status === 'fail')),
      );
      assert.deepEqual(statuses('policy_seal_intact', 'policy_change_audited', 'soc2_change_management'), [
        'pass',
        'pass',
        'pass',
      ]);
      assert.equal(checks.get('euai_impact_assessment')?.['status'], 'warn');
      assert.ok(![...checks.values()].some(({ detail }) => detail === 'preset not active'));
      await refused(grpc.call('VerifyCompliance', { regulation: 'sox' }), 'VER-E002');
      const { entries } = await http.get(`${path}/audit?event_type=impact.updated`);
      assert.ok(entries.length > 0 && entries[0].details.version > 0);
      const { assessments } = await http.get(`${path}/compliance/impact?framework=EU-AI-Act`);
      assert.deepEqual([assessments.length, assessments[0].status], [1, 'incomplete']);
      const report = await http.get(`${path}/compliance/export`);
      assert.deepEqual(report.record_of_processing.controller, controller);
    });

    test('the checks of metrics judge the whole memory and its server, whatever the caller sees', async () => {
      const path = await memory();
      const checksOf = async (by: HttpClient, regulation: string) =>
        byId(await by.post(`${path}/verify/run`, { regulation }));
      const unused = (await checksOf(http, 'eu_ai_act')).get('euai_accuracy_metrics');
      assert.equal(unused?.['status'], 'fail', 'nothing was observed yet');
      const { raw_key: key } = await http.post('/auth/keys', { memory_id: path.split('/').at(-1), scopes: ['read'] });
      for (const by of [http, http.with(key)]) {
        const monitored = (await checksOf(by, 'soc2')).get('soc2_monitoring');
        assert.match(String(monitored?.['detail']), /^\d+ metrics green, \d+ yellow, \d+ red, \d+ without enough data/);
        assert.notEqual(monitored?.['status'], 'skip');
      }
      const other = await memory();
      await http.post(`${other}/batch-add`, {
        grains: Array.from({ length: 30 }, (_, at) => ({
          grain_type: 'belief',
          fields: { subject: `s${at}`, relation: 'is', object: `o${at}`, confidence: at < 12 ? 0.1 : 0.9 },
        })),
      });
      const used = byId(await http.post(`${other}/verify/run`, { regulation: 'eu_ai_act' })).get(
        'euai_accuracy_metrics',
      );
      assert.equal(used?.['status'], 'warn');
      assert.match(String(used?.['detail']), /red intel\.low_confidence_pct 40 %/);
    });

    test('counts, violations, impact and reports come from the last full run', async () => {
      const path = await memory();
      await http.post(`${path}/add`, { subject: 'ada', relation: 'likes', object: 'tea', user_id: 'ada' });
      const metrics = await http.get(`${path}/compliance/metrics`);
      assert.equal(metrics.total, 88);
      assert.equal(metrics.by_group.encryption.total, 10);
      assert.ok(metrics.by_regulation.gdpr.total > 30);
      const latest = await http.get(`${path}/verify/latest`);
      assert.equal(latest.run_id, metrics.run_id);
      const { violations, total } = await http.get(`${path}/compliance/violations`);
      assert.equal(total, latest.fail);
      assert.equal(violations[0].severity, 'high');
      assert.ok(violations.every(({ remediation }: ParsedJson) => remediation.length > 0));
      const high = await http.get(`${path}/compliance/violations?severity=high&group=records`);
      assert.deepEqual(
        high.violations.map(({ id }: ParsedJson) => id),
        ['gdpr_record_of_processing'],
      );
      await refused(http.get(`${path}/compliance/violations?severity=worst`), 'VAL-E001');
      const { assessments } = await http.get(`${path}/compliance/impact`);
      assert.deepEqual(
        assessments.map(({ framework, status }: ParsedJson) => [framework, status]),
        [
          ['eu_ai_act', 'not_required'],
          ['colorado_ai_act', 'not_required'],
        ],
      );
      await refused(http.get(`${path}/compliance/impact?framework=none`), 'VAL-E001');
      const report = await http.get(`${path}/compliance/export`);
      assert.deepEqual([report.run_id, report.checks.length, report.policy.version], [metrics.run_id, 88, 0]);
      assert.deepEqual(Object.keys(report.record_of_processing), [
        'controller',
        'purposes',
        'categories',
        'recipients',
        'transfers',
        'retention',
        'measures',
      ]);
      await refused(http.get(`${path}/compliance/export?format=pdf`), 'VAL-E001');
      await refused(http.get(`${path}/compliance/export?run_id=vrf_none`), 'VER-E001');
      for (const [format, type] of [
        ['csv', 'text/csv'],
        ['text', 'text/plain'],
      ] as const) {
        const answer = await fetch(`${http.base}/api${path}/compliance/export?format=${format}`, {
          headers: { authorization: `Bearer ${http.key}` },
        });
        assert.ok(answer.headers.get('content-type')?.startsWith(type));
        const text = await answer.text();
        if (format === 'csv') assert.equal(text.split('\r\n').length, 90);
        assert.ok(text.includes('encryption_at_rest'));
      }
    });
  });
