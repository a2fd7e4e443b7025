// Serves one client of the Model Context Protocol on stdin and stdout until it closes stdin.
import { once } from 'node:events';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { CallRefused } from '../../mcp/refused.ts';
import { type ClientView, mcpServer } from '../../mcp/server.ts';
import { offeredTools, type Scope, type Session } from '../../mcp/session.ts';
import { Failure } from '../failure.ts';
import { printNote } from '../output.ts';
import { Link } from './link.ts';
import type { McpOptions } from './options.ts';
import { namespaceOfProject, namespaceOfWorkspace } from './project.ts';

const DEFAULT_MEMORY = 'default';

/** The environment. */
type Variables = Readonly<Record<string, string | undefined>>;

export async function serveOnStdio(options: McpOptions, variables: Variables): Promise<void> {
  const tools = toolsOf(options);
  const link = new Link(options);
  const memory = onceDone(async () => options.memory ?? (await memoryOfKey(link)));
  const sessionOf = (client: ClientView): Session => {
    const namespace = onceDone(() => namespaceOf(options, variables, client));
    return {
      api: (request) => link.send(request),
      scope: async (): Promise<Scope> => ({
        namespace: await namespace(),
        memory: await memory(),
        user: options.user,
      }),
      tools,
      readOnly: options.readOnly === true,
    };
  };
  const handle = serveStdio(() => mcpServer(sessionOf), {
    onerror: ({ message }) => printNote(`granary mcp: ${message}`),
  });
  await ended();
  await handle.close();
  await link.close();
}

/** Resolves when the client has closed stdin, or the system ends this process. */
async function ended(): Promise<void> {
  const over = new AbortController();
  const waits = [
    once(process.stdin, 'end', { signal: over.signal }),
    once(process.stdin, 'close', { signal: over.signal }),
    once(process, 'SIGTERM', { signal: over.signal }),
    once(process, 'SIGINT', { signal: over.signal }),
  ];
  for (const wait of waits) wait.catch(() => undefined);
  await Promise.race(waits);
  over.abort();
}

function toolsOf({ profile, readOnly, tools }: McpOptions): Session['tools'] {
  const names = tools
    ?.split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  try {
    return offeredTools({ profile, readOnly, names });
  } catch (error) {
    if (error instanceof CallRefused) throw new Failure('USAGE', error.message);
    throw error;
  }
}

async function namespaceOf(
  { project, namespace }: McpOptions,
  variables: Variables,
  client: ClientView,
): Promise<string | undefined> {
  if (project === undefined) return namespace;
  return project === 'auto' ? namespaceOfWorkspace(variables, client.roots) : namespaceOfProject(project);
}

/** The memory that the key is bound to, if it sees only one; else the default one. */
async function memoryOfKey(link: Link): Promise<string> {
  const { memories } = await link.send({ verb: 'GET', path: '/memories', query: { limit: 2 }, headers: {} });
  const [first, ...others] = Array.isArray(memories) ? (memories as { readonly id?: unknown }[]) : []; // rows of list_memories
  return others.length === 0 && typeof first?.id === 'string' ? first.id : DEFAULT_MEMORY;
}

/** The result of the first run that succeeds. */
function onceDone<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}
