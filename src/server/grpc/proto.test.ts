import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { generate } from '../../../scripts/generate-proto.ts';
import { MemoryBatchServiceService, MemoryServiceService } from '../gen/memory/v1/services.ts';
import { toSnake } from '../operations/names.ts';
import { OPERATIONS } from '../operations/table.ts';
import { SERVICES } from './services.ts';

const GENERATED = join(import.meta.dirname, '..', 'gen');
const FILES = ['memory.binpb', join('memory', 'v1', 'memory.ts'), join('memory', 'v1', 'services.ts')];

const descriptor = fromBinary(FileDescriptorSetSchema, readFileSync(join(GENERATED, 'memory.binpb')));

/** Each message's fields as "number name", in the order of the file. */
const fieldsOf = new Map(
  descriptor.file.flatMap((file) =>
    file.messageType.map((message) => [
      message.name,
      message.field.map((field) => `${field.number} ${field.name}${field.proto3Optional ? '?' : ''}`),
    ]),
  ),
);

test('the generated files are what proto/ generates', () => {
  const folder = mkdtempSync(join(tmpdir(), 'granary-proto-'));
  try {
    generate(folder);
    for (const file of FILES) {
      assert.ok(readFileSync(join(folder, file)).equals(readFileSync(join(GENERATED, file))), `${file} is out of date`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the services that are served are those of the descriptor', () => {
  assert.deepEqual(
    SERVICES,
    descriptor.file.flatMap((file) =>
      file.service.map((service) => ({
        name: `${file.package}.${service.name}`,
        methods: service.method.map(({ name }) => name),
      })),
    ),
  );
});

test('the services have exactly the methods of the contract, all unary', () => {
  const methods = [
    'Add Get Forget Recall RecallChain Supersede Accumulate Remember Flush Stats Health GrantConsent RevokeConsent',
    'RestrictProcessing LiftRestriction ForgetUser ExportUser ExportPortability VerifyCompliance DetectPii',
    'DetectPiiDetailed GetHistory CalQuery GetMetrics ListProvenance GetProvenance ProvenanceSummary GetPolicyResolved',
    'ListHarnessTemplates',
  ]
    .join(' ')
    .split(' ');
  assert.equal(methods.length, 29);
  assert.deepEqual(
    Object.values(MemoryServiceService).map(({ path }) => path),
    methods.map((method) => `/memory.v1.MemoryService/${method}`),
  );
  assert.deepEqual(
    Object.values(MemoryBatchServiceService).map(({ path }) => path),
    ['/memory.v1.MemoryBatchService/BatchAdd'],
  );
  for (const method of [...Object.values(MemoryServiceService), ...Object.values(MemoryBatchServiceService)]) {
    assert.equal(method.requestStream || method.responseStream, false, method.path);
  }
});

// Written by hand from the contract. Field numbers must not change: clients depend on them. `?` means proto3's
// `optional`.
const BINDING: Record<string, string> = {
  AddOptions: '1 extract_event_date? 2 auto_relate? 3 extract_memories? 4 sync?',
  AddRequest: '1 grain_type 2 fields_json 3 options?',
  AddResponse: '1 hash',
  GetRequest: '1 hash',
  GetResponse: '1 hash 2 grain_type 3 fields_json 4 text?',
  ForgetRequest: '1 hash',
  ForgetResponse: '',
  SupersedeRequest: '1 old_hash 2 grain_type 3 fields_json',
  SupersedeResponse: '1 new_hash',
  RecallResponse:
    '1 count 2 results 3 sources 4 total_candidates? 5 topic_coverage? 6 recall_id? 7 warnings 8 entity_count? ' +
    '9 entities 10 exhaustive_metadata? 11 session_census_metadata? 12 session_coverage_ratio?',
  GetHistoryResponse: '1 versions',
  CalQueryResponse: '1 query 2 query_hash 3 result_json 4 warnings 5 statement_type 6 execution_time_ms 7 result_count',
  GetMetricsResponse: '1 computed_at 2 domain 3 metrics_json 4 total 5 green 6 yellow 7 red 8 not_computed',
};

/** Members of an input that its message does not have, by rpc: they are asked for over HTTP and app/exec alone. */
const WITHOUT_FIELD: Readonly<Record<string, string>> = {
  Add: 'purpose',
  BatchAdd: 'options purpose',
  CalQuery: 'wait_for_index_ms',
  DetectPii: 'detailed',
  Flush: 'vectors wait_for_index_ms',
  Forget: 'dry_run hashes reason subject user_id',
  ForgetUser: 'dry_run reason',
  GetHistory: 'cursor',
  GetProvenance: 'explain',
  GrantConsent: 'basis expires_at grantee_did jurisdiction',
  LiftRestriction: 'reason',
  ListProvenance: 'offset order',
  Recall: 'query_mode wait_for_index_ms',
  RecallChain: 'query_mode wait_for_index_ms',
  Remember: 'messages purpose',
  RevokeConsent: 'reason',
  Supersede: 'reason',
};

test('each request message has the members of its operation, but for those that are listed here', () => {
  const requests = new Map(
    descriptor.file.flatMap((file) =>
      file.service.flatMap(({ method }) =>
        method.map(({ name, inputType }) => [name, inputType.split('.').at(-1) ?? ''] as const),
      ),
    ),
  );
  const missing: Record<string, string> = {};
  for (const { grpc, input } of OPERATIONS) {
    if (grpc === undefined) continue;
    const { properties = {} } = input as { readonly properties?: object }; // a schema of an object
    const members = new Set(Object.keys(properties).map(toSnake));
    const fields = (fieldsOf.get(requests.get(grpc.rpc) ?? '') ?? []).map((field) =>
      field
        .replace(/^\d+ /, '')
        .replace(/\?$/, '')
        .replace(/_json$/, ''),
    );
    for (const field of fields) assert.ok(members.has(field), `${grpc.rpc}: ${field}`);
    const without = [...members].filter((member) => !fields.includes(member));
    if (without.length > 0) missing[grpc.rpc] = without.sort().join(' ');
  }
  assert.deepEqual(missing, WITHOUT_FIELD);
});

test('published messages keep their field numbers', () => {
  for (const [message, fields] of Object.entries(BINDING)) {
    const expected = fields === '' ? [] : fields.split(/ (?=\d)/);
    assert.deepEqual(fieldsOf.get(message), expected, message);
  }
});

test('RecallRequest has its sixty numbered fields', () => {
  const names = [
    'query subject relation object namespace user_id grain_type time_start? time_end? confidence_threshold?',
    'importance_threshold? limit temporal_expr tags exclude_tags detect_contradictions scope_path include_siblings',
    'deduplicate deduplicate_threshold? subject_contains? object_contains? exclude_superseded? include_contradicted?',
    'embedding candidate_limit? min_score? score_breakdown explanation recency_weight? conflict_resolution',
    'record_provenance? entity? rerank diversity_lambda? query_expansion hyde llm_rerank temporal_field?',
    'include_sources annotate_relative_time reference_date? session_affinity_boost? subject_affinity_boost? multi_hop?',
    'target_date? target_date_weight? query_decompose conflict_similarity_threshold? count_entities min_per_namespace?',
    'max_namespaces? exhaustive exhaustive_max_rounds? session_census session_census_min_per_session?',
    'session_census_min_score? session_census_max_queries? aggregation_intent preference_enrichment?',
  ]
    .join(' ')
    .split(' ');
  assert.equal(names.length, 60);
  assert.deepEqual(
    fieldsOf.get('RecallRequest'),
    names.map((name, at) => `${at + 1} ${name}`),
  );
});
