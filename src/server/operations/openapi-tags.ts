// The OpenAPI tags and the operations under each, by name in the table.
export interface Tag {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly string[];
}

export const TAGS: readonly Tag[] = [
  {
    name: 'grains',
    description: 'Grains, one by one and in files.',
    operations: [
      ...['add', 'batch_add', 'get', 'get_raw', 'list_grains', 'supersede', 'accumulate', 'remember', 'flush'],
      ...['forget', 'import_file', 'export_file'],
    ],
  },
  {
    name: 'documents',
    description: 'Files of people: their text, and their import as grains.',
    operations: [
      ...['extract_document', 'import_document', 'create_import', 'list_imports', 'get_import', 'stream_import'],
      'cancel_import',
    ],
  },
  {
    name: 'recall',
    description: 'Finding grains, and records of what was found.',
    operations: [
      ...['recall', 'recall_chain', 'search', 'list_provenance', 'provenance_summary', 'get_provenance'],
      ...['graph', 'list_edges'],
    ],
  },
  {
    name: 'sessions',
    description: 'The state, goals and actions of an agent in a session.',
    operations: [
      ...['session_bootstrap', 'session_state', 'session_actions', 'session_actions_summary'],
      ...['session_actions_chain', 'session_failed_actions', 'session_context', 'session_consolidate', 'states_diff'],
      ...['create_goal', 'session_goals', 'session_blocked_goals', 'session_goal_tree', 'move_goal', 'delegate_goal'],
    ],
  },
  {
    name: 'governance',
    description: 'Policy, consent, retention, personal data and scopes of a memory.',
    operations: [
      ...['policy', 'set_policy', 'simulate_policy', 'grant_consent', 'grant_consents', 'revoke_consent'],
      ...['consent_status', 'retention_status', 'enforce_retention', 'detect_pii', 'scope_tree', 'set_scope_tree'],
      ...['grant_access', 'revoke_access', 'check_access'],
      ...['register_agent', 'deactivate_agent', 'agent_identities', 'agent_identity', 'agents', 'agent'],
      ...['delete_scope_tree', 'scope_erase', 'audit', 'export_user_file'],
      ...['open_subject_request', 'list_subject_requests', 'get_subject_request', 'extend_subject_request'],
      ...['report_subject_request', 'erase_subject_request', 'close_subject_request'],
      ...['erasure_proof', 'proof_keys', 'rotate_proof_key'],
    ],
  },
  {
    name: 'compliance',
    description: 'Checks of a memory and what they found.',
    operations: [
      ...['verify_compliance', 'verify_latest', 'compliance_metrics', 'compliance_violations', 'compliance_impact'],
      'compliance_export',
    ],
  },
  {
    name: 'memories',
    description: 'Memories, what they hold, and commands on them.',
    operations: [
      ...['list_memories', 'create_memory', 'get_memory', 'delete_memory', 'stats', 'stats_history', 'tier_info'],
      'exec',
    ],
  },
  {
    name: 'events',
    description: 'Changes of a memory, told as they happen.',
    operations: ['events', 'list_hooks', 'create_hook', 'delete_hook'],
  },
  {
    name: 'chat',
    description: 'Conversations with a model that reads and writes a memory: their threads and messages.',
    operations: [
      'chat_stream',
      'list_threads',
      'create_thread',
      'get_thread',
      'change_thread',
      'delete_thread',
      'list_messages',
    ],
  },
  {
    name: 'harness',
    description: 'Agents that live in a memory: their definitions, tools and conversations.',
    operations: [
      ...['list_harnesses', 'create_harness', 'get_harness', 'change_harness', 'delete_harness', 'provision_harness'],
      ...['bind_tool', 'harness_tools', 'harness_chat', 'harness_resume', 'get_harness_session'],
      ...['cancel_harness_session', 'list_harness_conversations', 'get_harness_conversation'],
    ],
  },
  {
    name: 'models',
    description: 'Providers of models, and the models of the roles.',
    operations: [
      ...['llm_settings', 'set_llm_settings', 'list_providers', 'set_provider', 'delete_provider', 'test_provider'],
      ...['provider_models', 'list_models', 'model_assignments', 'set_model_assignments'],
    ],
  },
  {
    name: 'deployment',
    description: 'The server itself: health, configuration, API keys.',
    operations: [
      ...['health', 'health_live', 'health_ready', 'config', 'ner_status', 'openapi', 'whoami'],
      ...['list_keys', 'create_key'],
      'revoke_key',
    ],
  },
];

const TAG_OF: ReadonlyMap<string, string> = new Map(
  TAGS.flatMap(({ name, operations }) => operations.map((operation) => [operation, name] as const)),
);

/** Operations without a tag fall under the deployment's; a test reports them. */
export function tagOf(operation: string): string {
  return TAG_OF.get(operation) ?? 'deployment';
}
