// The help of an option that mirrors a member of an operation equals the description in the schema. The texts are
// repeated in the commands because `granary --help` must not load the operations.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { isMembers, type Members, outsideSchema } from '../server/operations/names.ts';
import { OPERATIONS } from '../server/operations/table.ts';
import { registerActions } from './actions.ts';
import { registerAdd } from './add.ts';
import { registerAudit } from './audit.ts';
import { registerCompliance } from './compliance.ts';
import { registerConsent } from './consent.ts';
import { registerEvents } from './events.ts';
import { registerExport } from './export.ts';
import { registerForget } from './forget.ts';
import { registerKeys } from './keys.ts';
import { registerMemories } from './memories.ts';
import { withMemoryOption, withServerOptions } from './options.ts';
import { registerPolicy } from './policy.ts';
import { registerRecall } from './recall.ts';
import { registerRemember } from './remember.ts';
import { registerRestrict } from './restrict.ts';
import { registerRotateKeys } from './rotate-keys.ts';
import { registerScopes } from './scopes.ts';
import { registerSearch } from './search.ts';
import { registerSession } from './session.ts';

const program = new Command('granary');
for (const register of [
  ...[
    registerAdd,
    registerAudit,
    registerCompliance,
    registerConsent,
    registerEvents,
    registerExport,
    registerForget,
    registerKeys,
  ],
  ...[registerMemories, registerPolicy, registerRecall, registerRemember, registerRestrict, registerRotateKeys],
  ...[registerScopes, registerSearch, registerSession, registerActions],
])
  register(program);

/** By the words of a command: its operation, and the member that each option mirrors; `own` for one of the command line. */
const MIRRORS: Readonly<Record<string, readonly [operation: string, options: Readonly<Record<string, string>>]>> = {
  add: ['add', { type: 'grain_type', fields: 'fields', namespace: 'namespace', user: 'own', tag: 'tags' }],
  remember: [
    'remember',
    {
      ...{ sync: 'own', 'drop-source': 'own', 'event-date': 'extract_event_date', namespace: 'namespace' },
      ...{ user: 'user_id', session: 'session_id', tag: 'tags' },
    },
  ],
  search: ['search', { namespace: 'namespace', user: 'user_id', type: 'grain_type', limit: 'limit' }],
  recall: [
    'recall',
    {
      ...{ subject: 'subject', relation: 'relation', object: 'object', entity: 'entity', namespace: 'namespace' },
      ...{ user: 'user_id', type: 'grain_type', tag: 'tags', limit: 'limit', scope: 'scope_path' },
      // Phrases of time become time_start and time_end; the others set more than one field.
      ...{ since: 'own', until: 'own', when: 'own', 'no-time-phrase': 'own', superseded: 'own', explain: 'own' },
      operators: 'own',
    },
  ],
  forget: ['forget', { subject: 'subject', user: 'user_id', reason: 'reason', yes: 'own', proof: 'own' }],
  'consent grant': ['grant_consent', { basis: 'basis', jurisdiction: 'jurisdiction', expires: 'expires_at' }],
  'consent revoke': ['revoke_consent', { reason: 'reason' }],
  'consent status': ['consent_status', { user: 'user_id', purpose: 'purpose' }],
  'restrict user': ['restrict_processing', { reason: 'reason' }],
  'restrict lift': ['lift_restriction', { reason: 'reason' }],
  'policy show': ['policy', { version: 'version' }],
  'policy simulate': ['simulate_policy', policyChange()],
  'policy apply': ['set_policy', policyChange()],
  'scopes erase': ['scope_erase', { reason: 'reason', yes: 'own', proof: 'own' }],
  'audit tail': ['audit', { ...auditConditions(), limit: 'own', verify: 'verify' }],
  'audit export': ['audit', { ...auditConditions(), out: 'own' }],
  events: ['events', { follow: 'own', types: 'types', since: 'own', hook: 'hook_id' }],
  'compliance run': ['verify_compliance', { regulation: 'regulation', all: 'own', latest: 'own' }],
  'compliance violations': ['compliance_violations', { severity: 'severity', group: 'group' }],
  'compliance report': ['compliance_export', { format: 'format', output: 'own' }],
  'keys create': [
    'create_key',
    {
      ...{
        name: 'name',
        principal: 'principal',
        scope: 'scopes',
        memory: 'memory_id',
        namespace: 'namespace',
        user: 'user_id',
      },
      expires: 'expires_at',
    },
  ],
  'memories create': [
    'create_memory',
    {
      ...{ name: 'name', description: 'description', partitions: 'partitions', language: 'language' },
      ...{ policy: 'policies', dedup: 'dedup', 'dedup-threshold': 'dedup_threshold' },
    },
  ],
  session: ['session_context', { budget: 'token_budget', query: 'query', context: 'own', 'actions-limit': 'own' }],
  actions: ['session_actions_chain', { chain: 'own', failed: 'own', limit: 'own' }],
  'memories delete': ['delete_memory', { yes: 'own', proof: 'own' }],
  'rotate-keys': ['rotate_keys', { scope: 'scope', all: 'own' }],
  export: [
    'export_file',
    {
      ...{ namespace: 'namespace', 'grain-type': 'grain_type', current: 'own', out: 'own', format: 'own' },
      ...{ user: 'own', portable: 'own' },
    },
  ],
};

function policyChange() {
  return { add: 'add_policies', remove: 'remove_policies', set: 'own', overrides: 'own', reason: 'reason' };
}

function auditConditions() {
  return {
    ...{ user: 'user', event: 'event_type', grain: 'grain_hash', actor: 'actor', since: 'since', until: 'until' },
  };
}

/** Options of every command. */
const COMMON = new Set(withServerOptions(withMemoryOption(new Command())).options.map(({ long }) => long?.slice(2)));

function commandOf(words: string): Command {
  return words.split(' ').reduce((parent, word) => {
    const child = parent.commands.find((command) => command.name() === word);
    assert.ok(child !== undefined, `there is no command ${words}`);
    return child;
  }, program);
}

/** The member's description; that of the body where the input leaves it open. */
function descriptionOf(operation: string, member: string): string {
  const row = OPERATIONS.find(({ name }) => name === operation);
  assert.ok(row !== undefined, operation);
  for (const schema of [outsideSchema(row.input), row.http[0]?.bodySchema ?? {}]) {
    const properties = schema['properties'] as Members | undefined;
    const found = properties?.[member];
    if (isMembers(found)) return String(found['description']);
  }
  assert.fail(`${operation} has no member ${member}`);
}

/** As help texts are written: without a capital, "Whether" and what follows the first semicolon, which is the default. */
function helpOf(description: string): string {
  const [clause = ''] = description.replace(/\.$/, '').split('; ');
  const text = clause.replace(/^Whether /, '');
  return /^.[A-Z]/.test(text) ? text : `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

/** The help of an option begins with the member's sentence; more may follow. */
function isHelpOf(help: string, description: string): boolean {
  const wanted = helpOf(description);
  return help.startsWith(wanted) && /^($|[;,] )/.test(help.slice(wanted.length));
}

test('a help text is the sentence of its member, alone or followed by more text', () => {
  const description = 'Number of hits at most; the default is 20.';
  assert.ok(isHelpOf('number of hits at most', description));
  assert.ok(isHelpOf('number of hits at most; may be left out', description));
  assert.ok(!isHelpOf('number of hits', description));
  assert.ok(!isHelpOf('number of hits at mostly', description));
  assert.ok(isHelpOf('ISO code', 'ISO code.'));
  assert.ok(isHelpOf('the chain is checked', 'Whether the chain is checked; the default is false.'));
});

for (const [words, [operation, options]] of Object.entries(MIRRORS))
  test(`the options of granary ${words} have the descriptions of the members of ${operation}`, () => {
    const own = commandOf(words).options.filter(({ long }) => {
      const name = long?.slice(2) ?? '';
      return Object.hasOwn(options, name) || !COMMON.has(name);
    });
    assert.deepEqual(own.map(({ long }) => long?.slice(2)).toSorted(), Object.keys(options).toSorted());
    for (const { long, description } of own) {
      const member = options[long?.slice(2) ?? ''];
      if (member === undefined || member === 'own') continue;
      const described = descriptionOf(operation, member);
      assert.ok(
        isHelpOf(description, described),
        `${words} ${long}: "${description}" does not begin with "${described}"`,
      );
    }
  });

test('every command of these files that has options of its own is compared', () => {
  const hasOwn = ({ options }: Command): boolean => options.some(({ long }) => !COMMON.has(long?.slice(2)));
  const named = (command: Command, before: string): string[] => {
    const words = `${before} ${command.name()}`.trim();
    return [...(hasOwn(command) ? [words] : []), ...command.commands.flatMap((child) => named(child, words))];
  };
  const found = program.commands.flatMap((command) => named(command, ''));
  assert.deepEqual(found.toSorted(), Object.keys(MIRRORS).toSorted());
});
