// The program: its commands and its exit code. Only the file of the requested command is loaded, because loading all
// takes longer than most commands run.
import { Command, CommanderError } from 'commander';
import { VERSION } from '../server/version.ts';
import { EXIT, exitCodesText } from './exit-codes.ts';
import { exitCodeOf, failureOf, withoutPasswords } from './failure.ts';

type Register = (program: Command) => void;

/** In the order of the help text. */
const COMMANDS: Readonly<Record<string, () => Promise<Register>>> = {
  serve: async () => (await import('./serve.ts')).registerServe,
  health: async () => (await import('./health.ts')).registerHealth,
  memories: async () => (await import('./memories.ts')).registerMemories,
  keys: async () => (await import('./keys.ts')).registerKeys,
  import: async () => (await import('./import.ts')).registerImport,
  export: async () => (await import('./export.ts')).registerExport,
  recall: async () => (await import('./recall.ts')).registerRecall,
  search: async () => (await import('./search.ts')).registerSearch,
  ask: async () => (await import('./ask.ts')).registerAsk,
  chat: async () => (await import('./chat.ts')).registerChat,
  cal: async () => (await import('./cal.ts')).registerCal,
  session: async () => (await import('./session.ts')).registerSession,
  actions: async () => (await import('./actions.ts')).registerActions,
  goals: async () => (await import('./goals.ts')).registerGoals,
  agents: async () => (await import('./agents.ts')).registerAgents,
  harnesses: async () => (await import('./harnesses.ts')).registerHarnesses,
  providers: async () => (await import('./providers.ts')).registerProviders,
  models: async () => (await import('./models.ts')).registerModels,
  model: async () => (await import('./model.ts')).registerModel,
  hooks: async () => (await import('./hooks.ts')).registerHooks,
  graph: async () => (await import('./graph.ts')).registerGraph,
  add: async () => (await import('./add.ts')).registerAdd,
  remember: async () => (await import('./remember.ts')).registerRemember,
  get: async () => (await import('./get.ts')).registerGet,
  history: async () => (await import('./history.ts')).registerHistory,
  forget: async () => (await import('./forget.ts')).registerForget,
  consent: async () => (await import('./consent.ts')).registerConsent,
  restrict: async () => (await import('./restrict.ts')).registerRestrict,
  policy: async () => (await import('./policy.ts')).registerPolicy,
  grant: async () => (await import('./access.ts')).registerGrant,
  revoke: async () => (await import('./access.ts')).registerRevoke,
  check: async () => (await import('./access.ts')).registerCheck,
  tuples: async () => (await import('./access.ts')).registerTuples,
  scopes: async () => (await import('./scopes.ts')).registerScopes,
  audit: async () => (await import('./audit.ts')).registerAudit,
  events: async () => (await import('./events.ts')).registerEvents,
  dsr: async () => (await import('./dsr.ts')).registerDsr,
  proof: async () => (await import('./proof.ts')).registerProof,
  report: async () => (await import('./report.ts')).registerReport,
  compliance: async () => (await import('./compliance.ts')).registerCompliance,
  stats: async () => (await import('./stats.ts')).registerStats,
  metrics: async () => (await import('./metrics.ts')).registerMetrics,
  verify: async () => (await import('./verify.ts')).registerVerify,
  backup: async () => (await import('./backup.ts')).registerBackup,
  restore: async () => (await import('./restore.ts')).registerRestore,
  doctor: async () => (await import('./doctor.ts')).registerDoctor,
  store: async () => (await import('./store.ts')).registerStore,
  nodes: async () => (await import('./nodes.ts')).registerNodes,
  node: async () => (await import('./nodes.ts')).registerNode,
  upgrade: async () => (await import('./upgrade.ts')).registerUpgrade,
  'rebuild-indexes': async () => (await import('./rebuild-indexes.ts')).registerRebuildIndexes,
  compact: async () => (await import('./compact.ts')).registerCompact,
  'rotate-keys': async () => (await import('./rotate-keys.ts')).registerRotateKeys,
  bench: async () => (await import('./bench.ts')).registerBench,
  mcp: async () => (await import('./mcp.ts')).registerMcp,
  grain: async () => (await import('./grain.ts')).registerGrain,
};

/** Runs a command line, without the names of node and the script. Resolves to the exit code; never rejects. */
export async function runProgram(words: readonly string[]): Promise<number> {
  hideSecrets(words);
  // A closed pipe (`| head`) is no error: the command completes its work, also when nobody can read its notes.
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  try {
    const program = await buildProgram(words[0]);
    await program.parseAsync([...words], { from: 'user' });
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    return await report(error, words.includes('--json'));
  }
}

/** The program with the command of the first word; with every command, if no command has this name. */
export async function buildProgram(first: string | undefined): Promise<Command> {
  const program = new Command('granary')
    .description('A database server for the memory of AI agents')
    .version(VERSION, '-V, --version', 'print the version')
    .configureHelp({ minWidthToWrap: HELP_WIDTH_MIN })
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(withoutPasswords(text)) })
    .showHelpAfterError('(granary help COMMAND shows details)')
    .addHelpText('after', EXAMPLES);
  for (const name of wantedCommands(first)) (await COMMANDS[name]!())(program);
  inheritExit(program);
  return program;
}

/** Commands to load for the first word. The help text needs all of them. */
function wantedCommands(first: string | undefined): readonly string[] {
  if (first === '-V' || first === '--version') return [];
  return first !== undefined && Object.hasOwn(COMMANDS, first) ? [first] : Object.keys(COMMANDS);
}

/** Descriptions are wrapped if they have at least so many columns beside the names. */
const HELP_WIDTH_MIN = 24;

const EXAMPLES = `
Examples:
  granary serve
  granary import chats.jsonl --memory-from conv
  granary recall "where did we park last 7 days" --memory default
  granary backup /backups/monday

Commands connect to the server given by --url or DATA_DIR/server.json. If no server runs, they open the data directory
themselves. Errors are one line on stderr (granary: CODE: text); with --json also an object on stdout.
${exitCodesText('every command')}`;

/** Takes the command line from the view of other users when it holds a key, or the password of a database. */
function hideSecrets(words: readonly string[]): void {
  if (words.some((word) => word === '--api-key' || word.startsWith('--api-key='))) process.title = 'granary';
  for (const [at, word] of words.entries()) {
    const [, joined, rest] = /^(--(?:key-)?store)=(.*)$/s.exec(word) ?? [];
    if (!holdsPassword(rest ?? word)) continue;
    process.title = 'granary';
    const option = joined ?? words[at - 1];
    const variable = option === undefined ? undefined : PASSWORD_VARIABLES.get(option);
    if (variable === undefined) continue;
    process.stderr.write(
      `Warning: ${option} contains a password, which other users of this machine could read on the command line: set ${variable} instead.\n`,
    );
  }
}

function holdsPassword(word: string): boolean {
  return /^postgres(ql)?:/.test(word) && URL.canParse(word) && new URL(word).password !== '';
}

/** Of the options that may contain a password. */
const PASSWORD_VARIABLES: ReadonlyMap<string, string> = new Map([
  ['--store', 'GRANARY_STORE'],
  ['--key-store', 'GRANARY_KEY_STORE'],
]);

/** Commands added before `exitOverride` do not inherit it. */
function inheritExit(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritExit(child);
  }
}

async function report(error: unknown, asJson: boolean): Promise<number> {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok;
    // commander has printed the message already.
    if (asJson) tellJson('USAGE', withoutPasswords(error.message).replace(/^error: /, ''));
    return EXIT.usage;
  }
  const { code, text: whole } = failureOf(error);
  const text = withoutPasswords(whole);
  // Loaded on demand: --version does not need it.
  const { printNote } = await import('./output.ts');
  printNote(`granary: ${code}: ${text}`);
  if (asJson) tellJson(code, text);
  return exitCodeOf(error);
}

function tellJson(code: string, message: string): void {
  process.stdout.write(`${JSON.stringify({ error: { code, message } })}\n`);
}
