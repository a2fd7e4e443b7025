// The one table of options: from it come the flags, the environment names, the help text, the defaults and the type.
// Only this file and main.ts read the environment; everybody else is handed a frozen `Config`.
import { availableParallelism } from 'node:os';
import { EngineError } from '../engine/base/errors.ts';
import {
  ANSWER_MEMORY_MB,
  MEMORIES_MAX,
  MEMORY_MB_MIN,
  REQUEST_MEMORY_MB,
  REQUEST_TIMEOUT_MS,
  SHARDS_MAX,
  VECTOR_DIMENSIONS_MAX,
} from '../engine/base/limits.ts';
import { TOKEN_COUNTERS } from '../engine/calls/cal.ts';

interface Option<T> {
  /** What a person sees behind the flag; absent for a switch. */
  readonly argument?: string;
  readonly help: string;
  /** The default; absent: the option is left out of the config unless it is given. */
  readonly fallback?: T;
  /** How the help text tells the default when it is worked out at start. */
  readonly fallbackText?: string;
  /** Read from the environment alone: a secret on a command line is seen by everybody on the machine. */
  readonly secret?: true;
  /** Turns the text of a flag or a variable into a value, or throws an Error that says what was wanted. */
  readonly parse: (text: string) => T;
}

function text(argument: string, help: string, fallback: string): Option<string> {
  return { argument, help, fallback, parse: (value) => value };
}

function optionalText(argument: string, help: string): Option<string | undefined> {
  return { argument, help, parse: (value) => value };
}

function secret(help: string): Option<string | undefined> {
  return { help, secret: true, parse: (value) => value };
}

function integer(
  help: string,
  range: { readonly min: number; readonly max: number; readonly fallback: number; readonly fallbackText?: string },
): Option<number> {
  return {
    argument: 'N',
    help,
    fallback: range.fallback,
    ...(range.fallbackText === undefined ? {} : { fallbackText: range.fallbackText }),
    parse: (value) => {
      const number = Number(value);
      if (value.trim() === '' || !Number.isInteger(number) || number < range.min || number > range.max)
        throw new Error(`wants an integer from ${range.min} to ${range.max}`);
      return number;
    },
  };
}

function optionalInteger(
  help: string,
  range: { readonly min: number; readonly max: number; readonly fallbackText: string },
): Option<number | undefined> {
  const { fallback: _, ...option } = integer(help, { ...range, fallback: range.min });
  return { ...option, fallbackText: range.fallbackText };
}

function choice<const T extends string>(help: string, choices: readonly T[], fallback: T): Option<T> {
  return {
    argument: choices.join('|'),
    help,
    fallback,
    parse: (value) => {
      const found = choices.find((one) => one === value);
      if (found === undefined) throw new Error(`wants one of ${choices.join(', ')}`);
      return found;
    },
  };
}

function onOff(help: string): Option<boolean> {
  return {
    help,
    fallback: false,
    parse: (value) => {
      if (value === 'true' || value === '1' || value === '') return true;
      if (value === 'false' || value === '0') return false;
      throw new Error('wants true or false');
    },
  };
}

function list(argument: string, help: string): Option<readonly string[]> {
  return {
    argument,
    help,
    fallback: Object.freeze([]),
    parse: (value) =>
      Object.freeze(
        value
          .split(',')
          .map((one) => one.trim())
          .filter((one) => one !== ''),
      ),
  };
}

/** Shards of a data directory that is made without saying how many. */
export const SHARDS_DEFAULT = 8;

const OPTIONS = {
  dataDir: text('DIR', 'where everything is kept', './data'),
  host: text('HOST', 'address to listen on', '127.0.0.1'),
  httpPort: integer('port of HTTP; 0 picks a free one', { min: 0, max: 65_535, fallback: 8080 }),
  grpcPort: integer('port of gRPC; 0 picks a free one', { min: 0, max: 65_535, fallback: 50_051 }),
  singlePort: onOff('gRPC answers on the port of HTTP too, which node:http serves then; --grpc-port is not used'),
  shards: optionalInteger('shards of a new data directory; an existing one keeps its own', {
    min: 1,
    max: SHARDS_MAX,
    fallbackText: String(SHARDS_DEFAULT),
  }),
  workers: integer('worker threads, at most one a shard', {
    min: 1,
    max: SHARDS_MAX,
    fallback: Math.min(SHARDS_MAX, Math.max(2, availableParallelism() - 1)),
    fallbackText: 'cores - 1, at least 2',
  }),
  auth: choice('who may call', ['none', 'api-key', 'oidc', 'composite'], 'api-key'),
  http: choice(
    'HTTP listener: node:http, or uWebSockets.js, which takes less time a request and no HTTP/1.0',
    ['node', 'uws'],
    'node',
  ),
  http10Port: optionalInteger('with --http uws: another port, which node:http serves, for peers that speak HTTP/1.0', {
    min: 0,
    max: 65_535,
    fallbackText: 'none',
  }),
  insecure: onOff('allow auth none on an address that others can reach'),
  tlsCert: optionalText('FILE', 'certificate chain (PEM) for both ports'),
  tlsKey: optionalText('FILE', 'private key (PEM) of the certificate'),
  rateLimit: integer('requests a minute a key, burst a sixth of it; 0 is off', {
    min: 0,
    max: 100_000_000,
    fallback: 0,
  }),
  requestMemoryMb: integer(
    'memory for requests while they arrive and are worked on, in MiB; beyond it the slowest are refused',
    {
      min: MEMORY_MB_MIN,
      max: 1_048_576,
      fallback: REQUEST_MEMORY_MB,
    },
  ),
  answerMemoryMb: integer('memory for answers that callers have not taken, in MiB; beyond it the slowest are cut off', {
    min: MEMORY_MB_MIN,
    max: 1_048_576,
    fallback: ANSWER_MEMORY_MB,
  }),
  corsOrigins: list('LIST', 'origins that browsers may call from, separated by commas; * is any'),
  allowedHosts: list('LIST', 'with --auth none: names that this server is called by beside those of loopback'),
  indexHeapMb: integer('heap for index structures kept open, in MiB, over all workers', {
    min: 16,
    max: 1_048_576,
    fallback: 512,
  }),
  vectorHeapMb: integer("heap for memories' vectors kept open, in MiB, over all workers", {
    min: 16,
    max: 1_048_576,
    fallback: 4_096,
  }),
  embedder: choice('what turns texts into vectors', ['builtin', 'remote', 'ngram', 'none'], 'builtin'),
  embeddingUrl: optionalText('URL', "service with OpenAI's embeddings interface, for --embedder remote"),
  embeddingModel: optionalText('NAME', 'model that the embedding service is asked for'),
  embeddingDimensions: optionalInteger("length of that model's vectors", {
    min: 1,
    max: VECTOR_DIMENSIONS_MAX,
    fallbackText: 'the service is asked',
  }),
  embeddingKey: secret('API key of the embedding service'),
  modelUrl: optionalText('URL', "service with OpenAI's chat interface, for hyde and llm_rerank of a recall"),
  model: optionalText('NAME', 'language model that it is asked for'),
  modelKey: secret('API key of that service'),
  rerankUrl: optionalText(
    'URL',
    'service whose /rerank puts hits in order, for rerank of a recall; else that of --model-url',
  ),
  rerankModel: optionalText('NAME', 'reranker that it is asked for'),
  rerankKey: secret('API key of that service'),
  calTier1: onOff('CAL may ADD, SUPERSEDE and REVERT, for keys with the scope write'),
  calTimeoutMs: integer('time after which a CAL query is answered CAL-E031; ASSEMBLE gets twice as long', {
    min: 10,
    max: 300_000,
    fallback: 5_000,
  }),
  calStrict: onOff('CAL refuses what is not in its specification, and keeps its limits to the letter'),
  calAutoToon: onOff('ASSEMBLE without FORMAT may choose toon where its budget gets tight'),
  calTokens: choice(
    'how CAL counts tokens; encodings of models want the package gpt-tokenizer',
    TOKEN_COUNTERS,
    'estimate',
  ),
  calAudit: choice('whether each CAL query leaves an audit entry (its hash, never its text)', ['on', 'off'], 'on'),
  memoriesMax: integer('memories that may exist at once', { min: 1, max: MEMORIES_MAX, fallback: MEMORIES_MAX }),
  requestTimeoutMs: integer('time after which a request is answered SYS-E005', {
    min: 10,
    max: 600_000,
    fallback: REQUEST_TIMEOUT_MS,
  }),
  deployment: text('NAME', 'name of this deployment, as /config tells it', 'self-hosted'),
  logLevel: choice('lines of the log', ['silent', 'error', 'warn', 'info', 'debug'], 'info'),
  masterKeyFile: optionalText('FILE', 'file with the master key; read, never written'),
  bootstrapKey: secret('first admin key (gr_ and 64 hex); without it one is made and kept in keys/bootstrap.key'),
  masterKey: secret('master key (64 hex); without it one is made and kept in keys/master.key'),
} as const satisfies Record<string, Option<unknown>>;

type OptionName = keyof typeof OPTIONS;
type ValueOf<O> = O extends Option<infer T> ? T : never;

/** Everything that can be set from outside, read once and frozen. */
export type Config = Readonly<{ [Name in OptionName]: ValueOf<(typeof OPTIONS)[Name]> }>;

/** An option as a command line shows it. */
export interface OptionLine {
  readonly name: OptionName;
  /** `--data-dir <DIR>`; absent for a secret. */
  readonly flag?: string;
  readonly env: string;
  /** What it does, its default and, where it has a flag, its variable. */
  readonly description: string;
}

function hyphenated(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Every option in the order of the table. */
export function optionLines(): readonly OptionLine[] {
  return names().map((name) => {
    const option: Option<unknown> = OPTIONS[name];
    const env = `GRANARY_${hyphenated(name).replaceAll('-', '_').toUpperCase()}`;
    const shown = option.fallbackText ?? shownDefault(option.fallback);
    const flag = `--${hyphenated(name)}${option.argument === undefined ? '' : ` <${option.argument}>`}`;
    const origins = [...(shown === undefined ? [] : [`default ${shown}`]), ...(option.secret ? [] : [env])];
    return {
      name,
      env,
      description: origins.length === 0 ? option.help : `${option.help} (${origins.join('; ')})`,
      ...(option.secret ? {} : { flag }),
    };
  });
}

function shownDefault(value: unknown): string | undefined {
  if (value === undefined || value === false || (Array.isArray(value) && value.length === 0)) return undefined;
  return String(value);
}

function names(): OptionName[] {
  return Object.keys(OPTIONS) as OptionName[]; // keys of the literal above
}

/** The options as a help text prints them, one a line. */
export function helpText(): string {
  const lines = optionLines();
  const width = Math.max(...lines.map((line) => (line.flag ?? line.env).length));
  return `${lines.map((line) => `  ${(line.flag ?? line.env).padEnd(width)}  ${line.description}`).join('\n')}\n`;
}

/**
 * A config from flags (by camelCase name, as commander gives them; a switch is `true`) and the environment; a flag wins
 * over a variable. Throws EngineError AUT-E003 or VAL-E001 with the option's name.
 */
export function readConfig(
  flags: Readonly<Record<string, string | boolean | number | undefined>>,
  env: Readonly<Record<string, string | undefined>>,
): Config {
  const values: Record<string, unknown> = {};
  for (const line of optionLines()) {
    const option: Option<unknown> = OPTIONS[line.name];
    const flag = option.secret ? undefined : flags[line.name];
    const given = flag === undefined ? env[line.env] : String(flag);
    values[line.name] = given === undefined ? option.fallback : parsed(line, option, given);
  }
  const config = Object.freeze(values) as Config; // every name of the table was just set from its own parser
  checkConfig(config);
  return config;
}

function parsed(line: OptionLine, option: Option<unknown>, given: string): unknown {
  try {
    return option.parse(given);
  } catch (error) {
    const wanted = error instanceof Error ? error.message : 'is not understood';
    throw new EngineError('VAL-E001', `${line.flag?.split(' ')[0] ?? line.env} ${wanted}`);
  }
}

/** True for names and addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

function checkModels({ modelUrl, model, rerankUrl, rerankModel }: Config): void {
  for (const [flag, url] of [
    ['--model-url', modelUrl],
    ['--rerank-url', rerankUrl],
  ] as const)
    if (url !== undefined && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
      throw new EngineError('VAL-E001', `${flag} wants an http or https address`);
  if (model !== undefined && modelUrl === undefined) throw new EngineError('VAL-E001', '--model wants --model-url');
  if (modelUrl !== undefined && model === undefined && rerankModel === undefined)
    throw new EngineError('VAL-E001', '--model-url wants --model or --rerank-model');
  if (rerankUrl !== undefined && rerankModel === undefined)
    throw new EngineError('VAL-E001', '--rerank-url wants --rerank-model');
  if (rerankModel !== undefined && rerankUrl === undefined && modelUrl === undefined)
    throw new EngineError('VAL-E001', '--rerank-model wants --rerank-url or --model-url');
}

function checkConfig(config: Config): void {
  if (config.http10Port !== undefined && (config.http !== 'uws' || config.singlePort))
    throw new EngineError('VAL-E001', '--http10-port goes with --http uws: node:http answers HTTP/1.0 on its own port');
  if (config.auth === 'oidc' || config.auth === 'composite')
    throw new EngineError('AUT-E003', `--auth ${config.auth} is not in this build: use api-key or none`);
  if (config.auth === 'none' && !isLoopback(config.host) && !config.insecure)
    throw new EngineError('AUT-E003', `--auth none on ${config.host} lets anybody in: add --insecure to allow it`);
  if (config.auth === 'none' && config.corsOrigins.includes('*'))
    throw new EngineError('AUT-E003', '--auth none and --cors-origins * let any web page in: name the origins');
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined))
    throw new EngineError('VAL-E001', '--tls-cert and --tls-key go together');
  if (config.embedder === 'remote' && (config.embeddingUrl === undefined || config.embeddingModel === undefined))
    throw new EngineError('VAL-E001', '--embedder remote wants --embedding-url and --embedding-model');
  checkModels(config);
  if (config.bootstrapKey !== undefined && !/^g[rp]_[0-9a-f]{64}$/.test(config.bootstrapKey))
    throw new EngineError('AUT-E003', 'GRANARY_BOOTSTRAP_KEY wants gr_ and 64 hex characters');
}
