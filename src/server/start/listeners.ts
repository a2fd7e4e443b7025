// Starts the listeners: HTTP, HTTP for HTTP/1.0 peers, and gRPC, each on a port of its own, or HTTP and gRPC on one.
import { EngineError } from '../../engine/base/errors.ts';
import { NODE_LAST_REQUESTS_MS } from '../../engine/base/limits.ts';
import { requestIdOf } from '../arrival.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import { includesScope } from '../auth/principal.ts';
import { answerBudget, type ByteBudget, requestBudget } from '../byte-budget.ts';
import type { Services } from '../context.ts';
import type { GrpcFront, GrpcOptions } from '../grpc/front.ts';
import { grpcListener } from '../grpc/listen.ts';
import { grpcHandler } from '../grpc.ts';
import { Cors } from '../http/cors.ts';
import { refusal } from '../http/errors.ts';
import type { ChosenListener } from '../http/listen.ts';
import type { HttpHandler, HttpListener, ListenOptions } from '../http/listener.ts';
import { listenNode } from '../http/node.ts';
import { type Elsewhere, httpHandler } from '../http.ts';
import type { JsonReader } from '../jobs/read-json.ts';
import { isLoopback } from '../loopback.ts';
import { McpFront } from '../mcp/front.ts';
import type { Metrics } from '../metrics.ts';
import { health, healthLive, healthReady } from '../operations/deployment/health.ts';
import { metricsOperation } from '../operations/deployment/metrics.ts';
import { PageGuard } from '../page-guard.ts';
import { TrustedProxies } from '../proxies.ts';
import { Console } from '../site/console.ts';
import type { ConsoleSignIn } from '../site/console-sign-in.ts';
import { documentSite } from '../site/docs.ts';
import type { Wrapper } from '../wrapper.ts';
import type { Starting } from './starting.ts';

export interface Ports {
  readonly http: number;
  readonly grpc: number;
  /** Port of --http10-port. */
  readonly http10: number | undefined;
}

export interface Served {
  readonly services: Pick<Services, 'events' | 'chats' | 'progress'>;
  readonly wrapper: Wrapper;
  readonly authenticator: Authenticator;
  readonly metrics: Metrics;
  readonly bodies: JsonReader;
  /** The ports, once the listeners have them. */
  readonly ports: () => Ports | undefined;
  /** Why another node may have changed keys; undefined while none can. */
  readonly lapsed: () => string | undefined;
  /** Set on a node that has a copy of the control log alone. */
  readonly elsewhere?: Elsewhere | undefined;
}

export interface Listening extends Ports {
  /** Frees the ports soon. Resolves when all requests are answered, at most after `deadlineMs`. */
  readonly drain: (deadlineMs: number) => Promise<void>;
}

/** gRPC closes before HTTP, so that clients that watch its health know first. */
export async function startListeners(starting: Starting, chosen: ChosenListener, served: Served): Promise<Listening> {
  const { config, lifecycle } = starting;
  const options = optionsOf(starting);
  const pages = pageGuardOf(starting);
  const proxies = new TrustedProxies(config.trustedProxies);
  const answers = answerBudget(config.answerMemoryMb);
  const mcp = config.mcp ? new McpFront({ config, wrapper: served.wrapper, proxies, log: starting.log }) : undefined;
  const { elsewhere } = served;
  const serve = httpHandler({
    elsewhere,
    wrapper: served.wrapper,
    pages,
    proxies,
    basePath: config.basePath,
    cors: new Cors(config.corsOrigins),
    mcp,
    signIn: await signInOf(starting),
    sites: [
      ...(config.console ? [new Console(starting.log, config.basePath)] : []),
      ...(config.docs ? [documentSite(starting.log, config.basePath)] : []),
    ],
    extra: [metricsOperation(served.metrics), health, healthLive, healthReady],
    readJson: (bytes) => served.bodies.read(bytes),
    answers,
    services: served.services,
  });
  const { refusal: _, ...shared } = options;
  const grpcOptions: GrpcOptions = {
    ...shared,
    host: config.host,
    port: config.grpcPort,
    answers,
    requestIdOf,
    checkCaller: (header) =>
      pages?.check({ method: 'POST', authority: header(':authority') ?? header('host'), header }),
    allowReflection: reflectionFor(served, proxies),
  };
  const answerRpc = grpcHandler({
    wrapper: served.wrapper,
    proxies,
    elsewhere: elsewhere?.grpc,
    httpPort: () => served.ports()?.http,
    readLong: (rpc, bytes) => served.bodies.readMessage(rpc, bytes),
  });
  const front = config.singlePort
    ? await (await grpcListener('node'))({ ...grpcOptions, otherwise: serve }, answerRpc)
    : undefined;
  const { opened, drain } = drainsOf(starting);
  const http = await listenHttp(starting, chosen, options, serve, front);
  opened('HTTP', http);
  const http10 = await listenHttp10(starting, options, serve);
  if (http10 !== undefined) opened('HTTP/1.0', http10);
  const grpc = front ?? (await (await grpcListener(config.grpc))(grpcOptions, answerRpc));
  opened('gRPC', grpc);
  const { node } = starting.deps;
  if (node !== undefined) {
    node.serve({ http: serve, grpc: answerRpc, requests: options.requests });
    lifecycle.opened('requests of other nodes', () => node.drainPassed(lifecycle.drainMs));
  }
  // Before the listeners: they wait for the ends of its streams.
  if (mcp !== undefined) lifecycle.opened('MCP', () => mcp.close());
  return {
    http: http.port,
    grpc: front === undefined ? grpc.port : http.port,
    http10: http10?.port,
    drain,
  };
}

/** A listener is drained once: by the lifecycle, or before, with the others. */
function drainsOf({ lifecycle }: Starting) {
  const drains: Listening['drain'][] = [];
  const opened = (what: string, listener: Pick<Listening, 'drain'>): void => {
    let draining: Promise<void> | undefined;
    const drain = (deadlineMs: number): Promise<void> => {
      draining ??= listener.drain(deadlineMs);
      return draining;
    };
    drains.push(drain);
    lifecycle.opened(what, () => drain(lifecycle.drainMs));
  };
  const drain = async (deadlineMs: number): Promise<void> => {
    await Promise.all(drains.map((one) => one(deadlineMs)));
  };
  return { opened, drain };
}

type SharedOptions = Omit<ListenOptions, 'host' | 'port'> & { readonly requests: ByteBudget };

/** The options that all listeners share. */
function optionsOf({ config, deps, log, warn }: Starting): SharedOptions {
  const { host, auth, tlsCert, tlsKey, nodeListen } = config;
  if (auth !== 'none' && tlsCert === undefined && !isLoopback(host))
    warn(`keys and data are sent unencrypted on ${host}: set --tls-cert and --tls-key, or use a proxy with TLS`);
  return {
    onError: (error) => log.error({ err: error }, 'error in a listener'),
    refusal,
    requests: requestBudget(config.requestMemoryMb),
    lastRequestsMs: nodeListen === undefined ? 0 : NODE_LAST_REQUESTS_MS,
    sendsAway: deps.node && (() => deps.node?.leads() === false),
    tls: tlsCert === undefined || tlsKey === undefined ? undefined : { certFile: tlsCert, keyFile: tlsKey },
  };
}

/** Its modules are loaded only where people sign in at an issuer. */
async function signInOf({ config, log }: Starting): Promise<ConsoleSignIn | undefined> {
  if (config.oidcClient === undefined) return undefined;
  const { ConsoleSignIn } = await import('../site/console-sign-in.ts');
  return ConsoleSignIn.of(config, log);
}

/** Without keys, only pages of known origins may call. */
function pageGuardOf({ config: { auth, host, allowedHosts, corsOrigins } }: Starting): PageGuard | undefined {
  return auth === 'none' ? new PageGuard({ host, hosts: allowedHosts, origins: corsOrigins }) : undefined;
}

function reflectionFor(
  { authenticator, lapsed }: Pick<Served, 'authenticator' | 'lapsed'>,
  proxies: TrustedProxies,
): GrpcOptions['allowReflection'] {
  return async (call) => {
    const reason = lapsed();
    if (reason !== undefined) throw new EngineError('STO-E002', reason);
    const caller = await authenticator.authenticate({
      authorization: call.only('authorization'),
      apiKey: call.only('x-api-key'),
      from: {
        get remoteAddress() {
          return proxies.clientOf(call);
        },
      },
    });
    if (!includesScope(caller, 'read')) throw new EngineError('AUT-E001', 'this call needs a key with the scope read');
  };
}

/** `front` gets the HTTP/2 connections of a shared port. If the port cannot be opened, `front` is closed here, because nothing else would. */
async function listenHttp(
  { config: { host, httpPort: port } }: Starting,
  { listen }: ChosenListener,
  options: SharedOptions,
  serve: HttpHandler,
  front: GrpcFront | undefined,
): Promise<HttpListener> {
  if (front === undefined) return listen({ ...options, host, port }, serve);
  try {
    return await listen({ ...options, host, port, http2: (connection) => front.inject(connection) }, serve);
  } catch (error) {
    front.close();
    throw error;
  }
}

/** The port for HTTP/1.0 peers, next to a listener without HTTP/1.0. */
async function listenHttp10(
  { config: { host, http10Port: port } }: Starting,
  options: SharedOptions,
  serve: HttpHandler,
): Promise<HttpListener | undefined> {
  return port === undefined ? undefined : listenNode({ ...options, host, port }, serve);
}
