// The table of options. Flags, environment names, help text, defaults and the type are derived from it. Only this file
// and main.ts read the environment; other code gets a frozen `Config`.
import { availableParallelism } from 'node:os';
import { parseDatabaseUrl } from '../engine/base/database-url.ts';
import { defined } from '../engine/base/defined.ts';
import { EngineError } from '../engine/base/errors.ts';
import {
  ANSWER_MEMORY_MB,
  LEASE_MS_MIN,
  MEMORIES_MAX,
  MEMORY_MB_MIN,
  REQUEST_MEMORY_MB,
  REQUEST_TIMEOUT_MS,
  SHARDS_MAX,
  STOP_MS,
  VECTOR_DIMENSIONS_MAX,
} from '../engine/base/limits.ts';
import { TOKEN_COUNTERS } from '../engine/calls/cal.ts';
import { isIssuerUrl } from './auth/issuer-keys.ts';
import { parseBasePath } from './base-path.ts';
import { DEFAULT_BACKEND, EARLIER_WORDS } from './embedding/backends.ts';
import { parseHostPort } from './host-port.ts';
import { isLoopback } from './loopback.ts';
import {
  choice,
  integer,
  list,
  type Option,
  onByDefault,
  onOff,
  optionalChecked,
  optionalInteger,
  optionalText,
  secret,
  text,
} from './option.ts';
import { TrustedProxies } from './proxies.ts';

/** Shards of a new data directory when the option is not set. */
export const SHARDS_DEFAULT = 8;

const OPTIONS = {
  dataDir: {
    ...text('DIR', 'directory of all data; with --store, of a cache', './data'),
    parse: notAnAddress,
  },
  store: optionalChecked(
    'URL',
    'PostgreSQL database that holds the data (postgres://…); give a password by the variable',
    parseDatabaseUrl,
  ),
  keyStore: optionalChecked(
    'URL',
    'second PostgreSQL database for the wrapped keys of the store; give a password by the variable',
    parseDatabaseUrl,
  ),
  storeLeaseMs: integer('how long a node that ends without notice keeps its shards', {
    min: LEASE_MS_MIN,
    max: 600_000,
    fallback: 10_000,
  }),
  storeStartMs: integer('how long a start waits for the store and for the shards that another node holds', {
    min: 0,
    max: 3_600_000,
    fallback: 30_000,
  }),
  nodeListen: optionalChecked(
    'HOST:PORT',
    'address for the other nodes of the store (port 0 picks a free one); makes this server one of several nodes',
    parseHostPort,
  ),
  advertise: optionalChecked(
    'HOST:PORT',
    'where the other nodes reach --node-listen; default: the same address. They reach HTTP and gRPC on its host',
    parseHostPort,
  ),
  nodeWeight: integer('weight of this node when the shards are shared out among the nodes', {
    min: 1,
    max: 100,
    fallback: 1,
  }),
  host: text('HOST', 'address to listen on', '127.0.0.1'),
  httpPort: integer('HTTP port; 0 picks a free one', { min: 0, max: 65_535, fallback: 8080 }),
  grpcPort: integer('gRPC port; 0 picks a free one', { min: 0, max: 65_535, fallback: 50_051 }),
  singlePort: onOff('serve gRPC on the HTTP port too, with node:http; --grpc-port is then unused'),
  shards: optionalInteger('shards of a new data directory; an existing one keeps its number', {
    min: 1,
    max: SHARDS_MAX,
    fallbackText: String(SHARDS_DEFAULT),
  }),
  workers: integer('worker threads for the shards, at most one per shard; 0 serves them in the main thread', {
    min: 0,
    max: SHARDS_MAX,
    fallback: Math.min(SHARDS_MAX, Math.max(2, availableParallelism() - 1)),
    fallbackText: 'cores - 1, at least 2',
  }),
  auth: {
    ...choice('authentication of callers', ['none', 'api-key', 'oidc', 'composite'], 'api-key'),
    fallbackText: 'api-key, or composite with --oidc-issuer',
  },
  oidcIssuer: optionalText('URL', 'issuer whose tokens are accepted, as its tokens name it'),
  oidcAudience: list('LIST', 'audiences, separated by commas, of which a token must name one'),
  http: choice(
    'HTTP listener: node:http, or uWebSockets.js, which needs less CPU per request and does not speak HTTP/1.0',
    ['node', 'uws'],
    'node',
  ),
  grpc: choice(
    'gRPC listener: native, the HTTP/2 of Granary over node:net; node, which is node:http2 and needs four times its CPU per call; or grpc-js',
    ['native', 'node', 'grpc-js'],
    'native',
  ),
  console: onByDefault('serve no console at /console'),
  mcp: onByDefault('serve no Model Context Protocol at /mcp'),
  mcpUrl: optionalText('URL', "public address of /mcp, for clients that sign in by OAuth; default: the request's host"),
  docs: onByDefault('serve no documentation at /docs'),
  http10Port: optionalInteger(
    'with --http uws: an additional port, served by node:http, for peers that speak HTTP/1.0',
    {
      min: 0,
      max: 65_535,
      fallbackText: 'none',
    },
  ),
  basePath: {
    argument: 'PATH',
    help: 'path under which a proxy serves Granary, such as /granary; paths without it are answered too',
    fallback: '',
    parse: parseBasePath,
  },
  trustedProxies: list(
    'LIST',
    'addresses and networks (10.1.0.0/16), separated by commas, of proxies whose X-Forwarded-For or Forwarded is trusted',
  ),
  oidcClient: optionalText('ID', 'client id of the console at the issuer: people sign in there, with PKCE'),
  oidcScopes: list('LIST', 'scopes that the console asks the issuer for besides openid, separated by commas'),
  insecure: onOff('allow --auth none on an address that other machines can reach'),
  tlsCert: optionalText('FILE', 'certificate chain (PEM) for both ports'),
  tlsKey: optionalText('FILE', 'private key (PEM) of the certificate'),
  rateLimit: integer('requests per minute per key, of which a sixth may come at once; 0 is no limit', {
    min: 0,
    max: 100_000_000,
    fallback: 0,
  }),
  requestMemoryMb: integer(
    'memory (MiB) for requests while they arrive and are processed; above it the slowest are rejected',
    {
      min: MEMORY_MB_MIN,
      max: 1_048_576,
      fallback: REQUEST_MEMORY_MB,
    },
  ),
  answerMemoryMb: integer('memory (MiB) for answers that clients have not read; above it the slowest are cut off', {
    min: MEMORY_MB_MIN,
    max: 1_048_576,
    fallback: ANSWER_MEMORY_MB,
  }),
  corsOrigins: list('LIST', 'origins that browsers may call from, separated by commas; * allows any'),
  allowPrivateWebhooks: onOff('allow webhooks to addresses of private networks; those of this machine too'),
  allowedHosts: list(
    'LIST',
    'host names of this server besides those of loopback, for --auth none and for /mcp, separated by commas',
  ),
  indexHeapMb: integer('heap (MiB) for open index structures, over all workers', {
    min: 16,
    max: 1_048_576,
    fallback: 512,
  }),
  openedCacheMb: integer(
    'part of the index heap (MiB), at most half, for decrypted grains that answers showed lately; 0 keeps none',
    {
      min: 0,
      max: 1_048_576,
      fallback: 128,
    },
  ),
  vectorHeapMb: integer('heap (MiB) for loaded vectors, over all workers', {
    min: 16,
    max: 1_048_576,
    fallback: 4_096,
  }),
  embedder: choice(
    'source of vectors',
    ['use-lite-int8', 'use-lite', 'onnx', 'remote', 'ngram', 'none'],
    DEFAULT_BACKEND,
    EARLIER_WORDS,
  ),
  embedderModel: optionalText(
    'NAME',
    'model for --embedder onnx: a name in models/ of the data directory, or a folder',
  ),
  embeddingUrl: optionalText('URL', "service with OpenAI's embeddings interface, for --embedder remote"),
  embeddingModel: optionalText('NAME', 'model to request from the embedding service'),
  embeddingDimensions: optionalInteger("length of that model's vectors", {
    min: 1,
    max: VECTOR_DIMENSIONS_MAX,
    fallbackText: "from the service's answer",
  }),
  embeddingKey: secret('API key of the embedding service'),
  modelUrl: optionalText('URL', "service with OpenAI's chat interface: the first provider of the roles chat and hyde"),
  model: optionalText('NAME', 'language model of that service'),
  modelKey: secret('API key of the chat service'),
  modelRegion: optionalText('NAME', 'region where the services of these options process texts, as policies name it'),
  executors: optionalText('FILE', 'JSON file of the programs that tools of harnesses may run, by name'),
  modelHosts: list(
    'LIST',
    'hosts and networks (10.1.0.0/16) of private addresses where model providers may be, separated by commas',
  ),
  extractionRate: integer(
    'calls a minute that one memory may make to the model of the role extraction; 0 is no limit',
    {
      min: 0,
      max: 1_000_000,
      fallback: 60,
    },
  ),
  extractionBudget: integer('characters a day that one memory may send to that model; 0 is no limit', {
    min: 0,
    max: 1_000_000_000_000,
    fallback: 10_000_000,
  }),
  rerankUrl: optionalText('URL', 'service with /rerank: the first provider of the role rerank; default: --model-url'),
  rerankModel: optionalText('NAME', 'reranker of that service'),
  rerankKey: secret('API key of the rerank service'),
  calTier1: onOff('allow ADD, SUPERSEDE and REVERT in CAL, for keys with the scope write'),
  calTimeoutMs: integer('time limit of a CAL query, which then fails with CAL-E031; ASSEMBLE gets twice as long', {
    min: 10,
    max: 300_000,
    fallback: 5_000,
  }),
  calStrict: onOff('reject CAL syntax outside the specification, and apply its limits exactly'),
  calAutoToon: onOff('ASSEMBLE without FORMAT may choose toon when its budget is tight'),
  calTokens: choice(
    'how CAL counts tokens; model encodings need the package gpt-tokenizer',
    TOKEN_COUNTERS,
    'estimate',
  ),
  calAudit: choice('write an audit entry for each CAL query (its hash, never its text)', ['on', 'off'], 'on'),
  memoriesMax: integer('maximum number of memories', { min: 1, max: MEMORIES_MAX, fallback: MEMORIES_MAX }),
  requestTimeoutMs: integer('time limit of a request, which then fails with SYS-E005', {
    min: 10,
    max: 600_000,
    fallback: REQUEST_TIMEOUT_MS,
  }),
  stopMs: integer('how long the server may take to stop after a signal; then the process kills itself', {
    min: 1_000,
    max: 3_600_000,
    fallback: STOP_MS,
  }),
  deployment: text('NAME', 'name of this deployment, shown by /config', 'self-hosted'),
  logLevel: choice('minimum level of log lines', ['silent', 'error', 'warn', 'info', 'debug'], 'info'),
  masterKeyFile: optionalText('FILE', 'file with the master key; never written'),
  bootstrapKey: secret('first admin key (gr_ and 64 hex); default: generated and stored in keys/bootstrap.key'),
  masterKey: secret('master key (64 hex); default: generated and stored in keys/master.key'),
} as const satisfies Record<string, Option<unknown>>;

function notAnAddress(text: string): string {
  if (/^postgres(ql)?:/.test(text))
    throw new Error('must be a directory: set GRANARY_STORE to the address of a database');
  return text;
}

type OptionName = keyof typeof OPTIONS;
type ValueOf<O> = O extends Option<infer T> ? T : never;

/** All settings, read once and frozen. */
export type Config = Readonly<{ [Name in OptionName]: ValueOf<(typeof OPTIONS)[Name]> }>;

/** An option as a command line shows it. */
export interface OptionLine {
  readonly name: OptionName;
  /** For example `--data-dir <DIR>`; absent for a secret. */
  readonly flag?: string | undefined;
  readonly env: string;
  /** Meaning, default and, for options with a flag, the variable. */
  readonly description: string;
}

function hyphenated(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Every option in table order. */
export function optionLines(): readonly OptionLine[] {
  return names().map((name) => {
    const option: Option<unknown> = OPTIONS[name];
    const env = `GRANARY_${hyphenated(name).replaceAll('-', '_').toUpperCase()}`;
    const shown = option.fallbackText ?? shownDefault(option.fallback);
    const isOff = option.fallback === true;
    const flag = `--${isOff ? 'no-' : ''}${hyphenated(name)}${option.argument === undefined ? '' : ` <${option.argument}>`}`;
    const origins = [
      ...(shown === undefined ? [] : [`default ${shown}`]),
      ...(option.secret ? [] : [isOff ? `${env}=false` : env]),
    ];
    return defined({
      name,
      env,
      description: origins.length === 0 ? option.help : `${option.help} (${origins.join('; ')})`,
      flag: option.secret ? undefined : flag,
    });
  });
}

function shownDefault(value: unknown): string | undefined {
  const isEmpty = value === '' || (Array.isArray(value) && value.length === 0);
  if (value === undefined || typeof value === 'boolean' || isEmpty) return undefined;
  return String(value);
}

function names(): OptionName[] {
  return Object.keys(OPTIONS) as OptionName[]; // keys of the literal above
}

/** The options as help text, one per line. */
export function helpText(): string {
  const lines = optionLines();
  const width = Math.max(...lines.map((line) => (line.flag ?? line.env).length));
  return `${lines.map((line) => `  ${(line.flag ?? line.env).padEnd(width)}  ${line.description}`).join('\n')}\n`;
}

/**
 * Reads the config from flags (camelCase names, as commander gives them; a switch is `true`) and the environment; a
 * flag overrides its variable. Throws EngineError AUT-E003 or VAL-E001 that names the option.
 */
export function readConfig(
  flags: Readonly<Record<string, string | boolean | number | undefined>>,
  env: Readonly<Record<string, string | undefined>>,
): Config {
  const values: Record<string, unknown> = {};
  for (const line of optionLines()) {
    const option: Option<unknown> = OPTIONS[line.name];
    const set = option.secret ? undefined : flags[line.name];
    // The parser of a flag `--no-x` says true where it is not given.
    const flag = option.fallback === true && set === true ? undefined : set;
    const given = flag === undefined ? env[line.env] : String(flag);
    values[line.name] =
      given === undefined
        ? option.fallback
        : parsed(flag === undefined ? variableOf(line) : flagOf(line), option, given);
  }
  // Naming an issuer turns its tokens on; API keys go on beside them.
  if (values['oidcIssuer'] !== undefined && flags['auth'] === undefined && env['GRANARY_AUTH'] === undefined)
    values['auth'] = 'composite';
  const config = Object.freeze(values) as Config; // the loop above set every name of the table
  checkConfig(config);
  return config;
}

/** The flag alone. */
function flagOf({ flag = '' }: OptionLine): string {
  return flag.split(' ')[0]!; // split returns one element at least
}

/** The variable, with the flag where there is one. */
function variableOf(line: OptionLine): string {
  return line.flag === undefined ? line.env : `${line.env} (${flagOf(line)})`;
}

/** `source`: where the value was given. */
function parsed(source: string, option: Option<unknown>, given: string): unknown {
  try {
    return option.parse(given);
  } catch (error) {
    const wanted = error instanceof Error ? error.message : 'is not valid';
    throw new EngineError('VAL-E001', `${source} ${wanted}`);
  }
}

function checkModels({ modelUrl, model, rerankUrl, rerankModel }: Config): void {
  for (const [flag, url] of [
    ['--model-url', modelUrl],
    ['--rerank-url', rerankUrl],
  ] as const)
    if (url !== undefined && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
      throw new EngineError('VAL-E001', `${flag} must be an http or https URL`);
  if (model !== undefined && modelUrl === undefined) throw new EngineError('VAL-E001', '--model needs --model-url');
  if (modelUrl !== undefined && model === undefined && rerankModel === undefined)
    throw new EngineError('VAL-E001', '--model-url needs --model or --rerank-model');
  if (rerankUrl !== undefined && rerankModel === undefined)
    throw new EngineError('VAL-E001', '--rerank-url needs --rerank-model');
  if (rerankModel !== undefined && rerankUrl === undefined && modelUrl === undefined)
    throw new EngineError('VAL-E001', '--rerank-model needs --rerank-url or --model-url');
}

function checkMcpUrl({ mcpUrl }: Config): void {
  if (mcpUrl === undefined) return;
  const { protocol, pathname, search, hash, username } = URL.canParse(mcpUrl) ? new URL(mcpUrl) : new URL('none:');
  if (!/^https?:$/.test(protocol) || !pathname.endsWith('/mcp') || `${search}${hash}${username}` !== '')
    throw new EngineError('VAL-E001', '--mcp-url must be an http or https URL that ends in /mcp');
}

function checkIssuer({ auth, oidcIssuer, oidcAudience, oidcClient }: Config): void {
  if (auth !== 'oidc' && auth !== 'composite') {
    if (oidcIssuer !== undefined || oidcAudience.length > 0 || oidcClient !== undefined)
      throw new EngineError(
        'AUT-E003',
        `--oidc-issuer, --oidc-audience and --oidc-client need --auth oidc or composite, not ${auth}`,
      );
    return;
  }
  // Without an audience, a token that the issuer made for any other application would open this one.
  if (oidcIssuer === undefined || oidcAudience.length === 0)
    throw new EngineError('AUT-E003', `--auth ${auth} needs --oidc-issuer and --oidc-audience`);
  if (!isIssuerUrl(oidcIssuer))
    throw new EngineError('AUT-E003', '--oidc-issuer must be an https URL; http is allowed for this machine only');
}

function checkNode({ nodeListen, advertise, store, keyStore, http10Port }: Config): void {
  if (keyStore !== undefined && store === undefined)
    throw new EngineError('VAL-E001', '--key-store needs --store: it holds the keys of a store');
  if (nodeListen === undefined) {
    if (advertise !== undefined) throw new EngineError('VAL-E001', '--advertise needs --node-listen');
    return;
  }
  if (store === undefined)
    throw new EngineError('VAL-E001', '--node-listen needs --store: several nodes share the data of a database');
  if (http10Port !== undefined)
    throw new EngineError(
      'VAL-E001',
      '--http10-port cannot be combined with --node-listen: nodes pass only HTTP and gRPC on to one another',
    );
  const { host } = parseHostPort(advertise ?? nodeListen);
  if (host === '0.0.0.0' || host === '::')
    throw new EngineError(
      'VAL-E001',
      `--advertise must name the address at which other nodes reach this one, not ${host}`,
    );
}

function checkConfig(config: Config): void {
  new TrustedProxies(config.trustedProxies);
  if (config.http10Port !== undefined && (config.http !== 'uws' || config.singlePort))
    throw new EngineError(
      'VAL-E001',
      '--http10-port needs --http uws without --single-port: node:http answers HTTP/1.0 on its own port',
    );
  checkNode(config);
  checkIssuer(config);
  checkMcpUrl(config);
  if (config.auth === 'none' && !isLoopback(config.host) && !config.insecure)
    throw new EngineError('AUT-E003', `--auth none on ${config.host} lets anyone in: add --insecure to allow it`);
  if (config.auth === 'none' && config.corsOrigins.includes('*'))
    throw new EngineError(
      'AUT-E003',
      '--auth none with --cors-origins * lets any web page in: list the allowed origins',
    );
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined))
    throw new EngineError('VAL-E001', '--tls-cert and --tls-key must be set together');
  if ((config.embedder === 'onnx') !== (config.embedderModel !== undefined))
    throw new EngineError('VAL-E001', '--embedder onnx and --embedder-model must be set together');
  if (config.embedder === 'remote' && (config.embeddingUrl === undefined || config.embeddingModel === undefined))
    throw new EngineError('VAL-E001', '--embedder remote needs --embedding-url and --embedding-model');
  checkModels(config);
  if (config.bootstrapKey !== undefined && !/^g[rp]_[0-9a-f]{64}$/.test(config.bootstrapKey))
    throw new EngineError('AUT-E003', 'GRANARY_BOOTSTRAP_KEY must be gr_ and 64 hex characters');
}
