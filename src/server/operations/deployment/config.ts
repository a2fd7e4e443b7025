import {
  BATCH_GRAINS_MAX,
  BLOB_BYTES_MAX,
  MESSAGE_BYTES_MAX,
  PAGE_LIMIT_MAX,
  RECALL_LIMIT_MAX,
  UPLOAD_BYTES_MAX,
} from '../../../engine/base/limits.ts';
import { VERSION } from '../../version.ts';
import { defineOperation } from '../define.ts';
import { EmbeddingOutput } from '../memories/stats.ts';
import { described, Type } from '../type.ts';

const Open = Type.Unsafe<Record<string, string | number | boolean>>({ type: 'object' });

/** The gRPC port, for callers that know only the HTTP address. */
function grpcOf(port: number | undefined): { grpc_port?: number } {
  return port === undefined ? {} : { grpc_port: port };
}

export const config = defineOperation({
  name: 'config',
  summary: 'Show the features and limits of this deployment.',
  description: 'A client reads here how to authenticate and what a request may hold.',
  example: {},
  needs: 'public',
  on: 'deployment',
  reach: 'nothing',
  onAnyNode: true,
  mutates: false,
  input: Type.Object({}),
  output: Type.Object({
    authMode: Type.String({ description: 'Authentication mode: none, api-key, oidc or composite.' }),
    oidc: Type.Optional(
      Type.Object(
        {
          issuer: Type.String({ description: 'Issuer whose tokens are accepted.' }),
          audience: Type.Array(Type.String(), { description: 'Audiences, of which a token must name one.' }),
          signsIn: Type.Boolean({ description: 'Whether people may sign in to the console at the issuer.' }),
        },
        { description: 'Tokens that are accepted; absent where none are.' },
      ),
    ),
    version: Type.String({ description: 'Version of the server.' }),
    deployment: Type.String({ description: 'Name of the deployment.' }),
    features: described(Open, 'Features of this deployment: whether each is available, or its value.'),
    limits: described(Open, 'Limits of this deployment, by name; members end in their unit.'),
    embedding: described(EmbeddingOutput, 'Embedder of the memories that name no other.'),
  }),
  http: [{ verb: 'GET', path: '/config' }],
  async run(_, { services }) {
    const embedding = services.embedders.status('');
    const {
      auth,
      deployment,
      memoriesMax,
      oidcAudience,
      oidcClient,
      oidcIssuer,
      rateLimit,
      requestTimeoutMs,
      tlsCert,
    } = services.config;
    return {
      authMode: auth,
      oidc:
        oidcIssuer === undefined
          ? undefined
          : { issuer: oidcIssuer, audience: [...oidcAudience], signsIn: oidcClient !== undefined },
      version: VERSION,
      deployment,
      features: {
        batch_add: true,
        text_recall: true,
        vectors: embedding.state !== 'none',
        cal: services.cal.switches.enabled,
        chat: services.providers.has('chat'),
        http_listener: services.httpListener(),
        grpc_listener: services.grpcListener(),
        ...grpcOf(services.grpcPort()),
        tls: tlsCert !== undefined,
        shards: services.shards.shardCount,
      },
      limits: {
        batch_grains: BATCH_GRAINS_MAX,
        blob_bytes: BLOB_BYTES_MAX,
        message_bytes: MESSAGE_BYTES_MAX,
        upload_bytes: UPLOAD_BYTES_MAX,
        recall_limit: RECALL_LIMIT_MAX,
        page_limit: PAGE_LIMIT_MAX,
        memories: memoriesMax,
        rate_limit_per_minute: rateLimit,
        request_timeout_ms: requestTimeoutMs,
      },
      embedding,
    };
  },
});
