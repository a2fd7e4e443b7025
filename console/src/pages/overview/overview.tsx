import type { GranaryError, Output } from 'granary-client';
import { type Asked, useAsk } from '../../ask.ts';
import type { PageProps } from '../../page.ts';
import { Card, Cards, Fact, Facts } from '../../parts/cards.tsx';
import { Code } from '../../parts/empty.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { count, ExactTime } from '../../parts/grain.tsx';
import { Icon } from '../../parts/icon.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { SERVER } from '../../place.ts';
import { allowed, type Deployment, useSession } from '../../session.ts';

export default function Overview({ page }: PageProps) {
  const { client } = useSession();
  const config = useAsk('config', (signal) => client.operations.config({}, { signal }));
  const health = useAsk('health', (signal) => client.operations.health({}, { signal, retries: 0 }));
  const memories = useAsk(allowed.value.has('listMemories') ? 'count' : undefined, (signal) =>
    client.operations.listMemories({ limit: 1 }, { signal }),
  );
  const again = (): void => {
    for (const asked of [config, health, memories]) asked.again();
  };
  return (
    <PageFrame
      page={page}
      actions={
        <button type="button" onClick={again}>
          <Icon name="again" /> Refresh
        </button>
      }
    >
      {config.error !== undefined && <ErrorBox error={config.error} again={config.again} />}
      <Health health={health} memories={memories.value} />
      {config.value !== undefined && <Offered deployment={config.value} />}
      <div class="columns">
        <You />
        <FirstCalls />
      </div>
    </PageFrame>
  );
}

interface HealthProps {
  readonly health: Asked<Output<'health'>>;
  readonly memories: Output<'listMemories'> | undefined;
}

function Health({ health, memories }: HealthProps) {
  const { error } = health;
  // A server that no longer says how it is may be so no longer.
  const value = error === undefined ? health.value : undefined;
  return (
    <>
      <Cards>
        <Card label="Status">
          {value === undefined ? <Status error={error} /> : <span class="good">{value.status}</span>}
        </Card>
        <Card label="Version">{value?.version ?? '–'}</Card>
        {memories !== undefined && (
          <Card label="Memories">{memories.total === null ? '–' : count(memories.total)}</Card>
        )}
      </Cards>
      {value?.reasons !== undefined && <Reasons reasons={value.reasons} />}
      {error !== undefined && <ErrorBox error={error} again={health.again} />}
    </>
  );
}

/** An unhealthy server answers 503, which the client gives as an error. */
function Status({ error }: { readonly error: GranaryError | undefined }) {
  if (error === undefined) return <>–</>;
  return <span class="bad">{error.status === 503 ? 'unavailable' : 'not known'}</span>;
}

function Reasons({ reasons }: { readonly reasons: readonly string[] }) {
  return (
    <ul class="notes">
      {reasons.map((reason) => (
        <li key={reason}>{reason}</li>
      ))}
    </ul>
  );
}

function Offered({ deployment }: { readonly deployment: Deployment }) {
  const { authMode, embedding, features, limits } = deployment;
  const facts = Object.entries({ authentication: authMode, vectors: embedding.backend, ...features });
  return (
    <div class="columns">
      <section class="section">
        <h2>Features</h2>
        <Values of={facts} />
      </section>
      <section class="section">
        <h2>Limits</h2>
        <Values of={Object.entries(limits)} />
      </section>
    </div>
  );
}

function Values({ of }: { readonly of: readonly (readonly [name: string, value: unknown])[] }) {
  return (
    <Facts>
      {of.map(([name, value]) => (
        <Fact key={name} name={name.replaceAll('_', ' ')}>
          {valueText(name, value)}
        </Fact>
      ))}
    </Facts>
  );
}

/** Names of numbers end in their unit. */
function valueText(name: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'number' || name.endsWith('_port')) return String(value);
  if (value === 0 && name === 'rate_limit_per_minute') return 'none';
  return count(value);
}

function You() {
  const { caller, isOpen } = useSession();
  const { actor, scopes, keyId, memoryIds, namespace, userId, agentId, expiresAt } = caller;
  return (
    <section class="section">
      <h2>You</h2>
      <Facts>
        <Fact name="Name in the audit trail">{actor}</Fact>
        <Fact name="Scopes">{scopes.join(', ')}</Fact>
        <Fact name="Key">{keyId ?? (isOpen ? 'none: this server asks for no key' : 'a token')}</Fact>
        <Fact name="Memories">{memoryIds?.join(', ') ?? 'all'}</Fact>
        <Fact name="Namespace">{namespace ?? 'all'}</Fact>
        <Fact name="User">{userId ?? 'all'}</Fact>
        {agentId !== undefined && <Fact name="Agent">{agentId}</Fact>}
        <Fact name="Ends">{expiresAt === undefined ? 'never' : <ExactTime at={expiresAt} />}</Fact>
      </Facts>
    </section>
  );
}

function FirstCalls() {
  const call = `curl ${SERVER}api/memories/default/remember \\
  -H "authorization: Bearer $GRANARY_API_KEY" -H "content-type: application/json" \\
  -d '{"text": "Ada moved to Oslo in May and drinks green tea.", "user_id": "ada"}'`;
  return (
    <section class="section">
      <h2>Remember something</h2>
      <Code text={call} what="the call" />
    </section>
  );
}
