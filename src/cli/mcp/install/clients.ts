// The clients that `granary mcp install` knows: where each keeps its configuration, and how an entry of it looks.
import { join } from 'node:path';

export const CLIENT_NAMES = ['claude-code', 'claude-desktop', 'cursor', 'vscode', 'codex', 'zed'] as const;
export type ClientName = (typeof CLIENT_NAMES)[number];

/** The place of a file: the system, the home folder and the environment. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** The program that a client starts. */
export interface Started {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface ClientRow {
  readonly title: string;
  readonly format: 'json' | 'jsonc' | 'toml';
  /** The member that holds the servers by name. */
  readonly servers: string;
  readonly file: (machine: Machine) => string;
  /** Members of an entry besides command, args and env. */
  readonly extra?: Readonly<Record<string, string>> | undefined;
  /** A text that the client replaces by the folder that it works in. */
  readonly workspace?: string | undefined;
  /** True for a client that tells its folder by itself. */
  readonly tellsFolder: boolean;
  /** The step after which the client uses its new configuration. */
  readonly next: string;
}

/** The folder where desktop programs keep their settings. */
function settings({ platform, home, variables }: Machine): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return variables['APPDATA'] ?? join(home, 'AppData', 'Roaming');
  return variables['XDG_CONFIG_HOME'] ?? join(home, '.config');
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: clients replace it
const WORKSPACE_FOLDER = '${workspaceFolder}';

export const CLIENTS: Readonly<Record<ClientName, ClientRow>> = {
  'claude-code': {
    title: 'Claude Code',
    format: 'json',
    servers: 'mcpServers',
    file: ({ home, variables }) => join(variables['CLAUDE_CONFIG_DIR'] ?? home, '.claude.json'),
    extra: { type: 'stdio' },
    tellsFolder: true,
    next: 'start a new session; /mcp lists the server',
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    format: 'json',
    servers: 'mcpServers',
    file: (machine) => join(settings(machine), 'Claude', 'claude_desktop_config.json'),
    tellsFolder: false,
    next: 'quit the program and start it again',
  },
  cursor: {
    title: 'Cursor',
    format: 'json',
    servers: 'mcpServers',
    file: ({ home }) => join(home, '.cursor', 'mcp.json'),
    workspace: WORKSPACE_FOLDER,
    tellsFolder: true,
    next: 'turn the server on under Settings, MCP',
  },
  vscode: {
    title: 'Visual Studio Code',
    format: 'jsonc',
    servers: 'servers',
    file: (machine) => join(settings(machine), 'Code', 'User', 'mcp.json'),
    extra: { type: 'stdio' },
    workspace: WORKSPACE_FOLDER,
    tellsFolder: true,
    next: 'run "MCP: List Servers" and start the server',
  },
  codex: {
    title: 'Codex',
    format: 'toml',
    servers: 'mcp_servers',
    file: ({ home, variables }) => join(variables['CODEX_HOME'] ?? join(home, '.codex'), 'config.toml'),
    tellsFolder: false,
    next: 'start a new session',
  },
  zed: {
    title: 'Zed',
    format: 'jsonc',
    servers: 'context_servers',
    file: (machine) =>
      machine.platform === 'win32'
        ? join(settings(machine), 'Zed', 'settings.json')
        : join(machine.variables['XDG_CONFIG_HOME'] ?? join(machine.home, '.config'), 'zed', 'settings.json'),
    tellsFolder: false,
    next: 'open the agent panel; its settings list the server',
  },
};

/** The entry of a client's configuration. */
export function entryOf({ extra }: ClientRow, { command, args, env }: Started): Readonly<Record<string, unknown>> {
  const entry: Record<string, unknown> = { ...extra, command, args: [...args] };
  if (Object.keys(env).length > 0) entry['env'] = { ...env };
  return entry;
}
