// Clients of both generations of the protocol, behind one interface: the SDK 2 with the revision 2026-07-28, and the SDK 1
// with those of 2025.
import { Client as Client2026, StreamableHTTPClientTransport as Http2026 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2026 } from '@modelcontextprotocol/client/stdio';
import { Client as Client2025 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio2025 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http2025 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as Transport2025 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { MAIN } from '../support/program.ts';

export interface Called {
  readonly isError: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: members are asserted where they are used
  readonly structured: any;
}

export interface TestClient {
  readonly call: (name: string, given?: object) => Promise<Called>;
  readonly tools: () => Promise<readonly { readonly name: string }[]>;
  readonly read: (uri: string) => Promise<string>;
  readonly prompt: (name: string, given?: Record<string, string>) => Promise<string>;
  readonly names: () => Promise<{ readonly prompts: readonly string[]; readonly resources: readonly string[] }>;
  readonly serverName: () => string | undefined;
  readonly close: () => Promise<void>;
}

export interface StdioPlace {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Folders that a client of 2025 tells the server. */
  readonly roots?: readonly string[];
}

export interface HttpPlace {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type Connect<P> = (place: P) => Promise<TestClient>;

export const GENERATIONS = ['2026', '2025'] as const;
const ABOUT = { name: 'granary-test', version: '1.0.0' };

export const overStdio: Readonly<Record<(typeof GENERATIONS)[number], Connect<StdioPlace>>> = {
  2026: async (place) => {
    const client = new Client2026(ABOUT, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new Stdio2026(started(place)));
    return viewOf(client);
  },
  2025: async (place) => {
    const client = new Client2025(ABOUT, { capabilities: place.roots === undefined ? {} : { roots: {} } });
    if (place.roots !== undefined) {
      const roots = place.roots.map((uri) => ({ uri }));
      client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
    }
    await client.connect(new Stdio2025(started(place)) as Transport2025);
    return viewOf(client);
  },
};

export const overHttp: Readonly<Record<(typeof GENERATIONS)[number], Connect<HttpPlace>>> = {
  2026: async ({ url, headers }) => {
    const client = new Client2026(ABOUT, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new Http2026(new URL(url), { requestInit: { headers } }));
    return viewOf(client);
  },
  2025: async ({ url, headers }) => {
    const client = new Client2025(ABOUT);
    await client.connect(new Http2025(new URL(url), { requestInit: { headers } }) as Transport2025);
    return viewOf(client);
  },
};

function started({ args, env = {}, cwd }: StdioPlace) {
  const inherited = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('GRANARY_') ? [] : [[name, value] as const],
    ),
  );
  return {
    command: process.execPath,
    args: [MAIN, 'mcp', ...args],
    env: { ...inherited, ...env },
    stderr: 'pipe' as const,
    ...(cwd === undefined ? {} : { cwd }),
  };
}

function viewOf(client: Client2026 | Client2025): TestClient {
  const one = client as Client2025; // the members that are used are the same
  return {
    async call(name, given = {}) {
      const answer = await one.callTool({ name, arguments: { ...given } });
      const [first] = answer.content as readonly { readonly text?: string }[]; // each answer has one text
      return { isError: answer.isError === true, text: first?.text ?? '', structured: answer.structuredContent };
    },
    tools: async () => (await one.listTools()).tools,
    async read(uri) {
      const [first] = (await one.readResource({ uri })).contents;
      return first !== undefined && 'text' in first ? String(first.text) : '';
    },
    async prompt(name, given = {}) {
      const [first] = (await one.getPrompt({ name, arguments: given })).messages;
      return first?.content.type === 'text' ? first.content.text : '';
    },
    names: async () => ({
      prompts: (await one.listPrompts()).prompts.map(({ name }) => name),
      resources: [
        ...(await one.listResources()).resources.map(({ uri }) => uri),
        ...(await one.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      ],
    }),
    serverName: () => one.getServerVersion()?.name,
    close: () => one.close(),
  };
}
