// Health of the deployment. HTTP needs no key and gRPC any valid key, so there are two rows with the same answer.
import { HEALTH_WAIT_MS } from '../../../engine/base/limits.ts';
import type { ShardHealth } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { withoutFolders } from '../../folders.ts';
import { HealthRequest, HealthResponse } from '../../gen/memory/v1/memory.ts';
import { VERSION } from '../../version.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import type { HttpFace } from '../http-face.ts';
import { objectOf, oneOf, TEXT, TEXTS } from '../json-schema.ts';
import { described, type Static, Type } from '../type.ts';

const Output = Type.Object({
  status: Type.Enum(['ok', 'unavailable'], { description: 'Whether the deployment answers and takes writes.' }),
  version: Type.String({ description: 'Version of the server.' }),
  uptimeSeconds: Type.Integer({ description: 'Time since the server started, in seconds.' }),
  reasons: Type.Array(Type.String(), { description: 'The faults, whether or not they stop the deployment.' }),
});

async function healthOf({ services }: Context): Promise<Static<typeof Output>> {
  const shards = await inTime(services.shards.health());
  const control = services.control.refusing;
  const disks = services.disks();
  const reasons = [...disks, ...(control === undefined ? [] : [`control log: writes are refused: ${control}`])];
  if (services.isEnding()) reasons.push('the server is shutting down');
  for (const { shard, reasons: own } of shards ?? [])
    for (const reason of own) reasons.push(`shard ${shard}: ${reason}`);
  if (shards === undefined) reasons.push(`shards did not answer within ${HEALTH_WAIT_MS} ms`);
  const takesWrites = control === undefined && disks.length === 0 && shards?.every(({ ok }) => ok) === true;
  const isOk = !services.isEnding() && takesWrites;
  return {
    status: isOk ? 'ok' : 'unavailable',
    version: VERSION,
    uptimeSeconds: Math.max(0, Math.floor((services.clock.nowMs() - services.startedAtMs) / 1000)),
    // The caller needs no key. The log has the whole text.
    reasons: reasons.map((reason) => withoutFolders(reason, services.config.dataDir)),
  };
}

/** The answer, or undefined after HEALTH_WAIT_MS, because a health check must not hang. */
async function inTime(answer: Promise<readonly ShardHealth[]>): Promise<readonly ShardHealth[] | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), HEALTH_WAIT_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function healthFace(path: string): HttpFace<Static<typeof Output>> {
  return {
    verb: 'GET',
    path,
    write: ({ status, version, reasons }) => ({ status, version, reasons: reasons.length === 0 ? undefined : reasons }),
    answer: objectOf(
      {
        status: described(oneOf('ok', 'unavailable'), 'Whether the deployment answers and takes writes.'),
        version: described(TEXT, 'Version of the server.'),
      },
      { reasons: described(TEXTS, 'The faults, whether or not they stop the deployment.') },
    ),
    successStatus: ({ status }) => (status === 'ok' ? 200 : 503),
    otherStatuses: { 503: 'Requests should go elsewhere, for these reasons.' },
  };
}

/** The members that every operation about health shares. */
const ASKED = { example: {}, on: 'deployment', reach: 'nothing', mutates: false, input: Type.Object({}) } as const;

export const health = defineOperation({
  name: 'health',
  summary: 'Show whether the deployment is healthy; 503 with the reasons when it is not.',
  description: 'A deployment that refuses writes, for example on a full disk, is unavailable.',
  ...ASKED,
  needs: 'public',
  output: Output,
  http: [healthFace('/health')],
  run: (_, context) => healthOf(context),
});

/** HTTP serves it with and without /api, because load balancers expect conventional paths. */
export const healthLive = defineOperation({
  name: 'health_live',
  summary: 'Show whether the process answers; it waits for nothing.',
  description: 'It is meant for a supervisor that restarts the process.',
  ...ASKED,
  needs: 'public',
  onAnyNode: true,
  output: Type.Object({
    status: Type.Enum(['ok'], { description: 'Always ok: the process answers.' }),
    version: Type.String({ description: 'Version of the server.' }),
  }),
  http: [{ verb: 'GET', path: '/health/live' }],
  run: async () => ({ status: 'ok' as const, version: VERSION }),
});

export const healthReady = defineOperation({
  name: 'health_ready',
  summary: 'Show whether the deployment takes requests; 503 with the reasons when it does not.',
  description: 'It is meant for a load balancer.',
  ...ASKED,
  needs: 'public',
  output: Output,
  http: [healthFace('/health/ready')],
  run: (_, context) => healthOf(context),
});

export const healthRpc = defineOperation({
  name: 'health_rpc',
  summary: 'Show whether the deployment is healthy.',
  description: 'Over HTTP, GET /health answers the same without a key.',
  ...ASKED,
  needs: 'key',
  output: Output,
  grpc: rpc({ rpc: 'Health', request: HealthRequest, response: HealthResponse }),
  run: (_, context) => healthOf(context),
});
