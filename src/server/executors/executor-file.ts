// The file of named executors (--executors): commands on this machine that tools of harnesses may run. A client names an
// executor; what it runs, with which arguments, environment and bounds, is the operator's choice alone.
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { EngineError } from '../../engine/base/errors.ts';
import {
  EXECUTOR_FILE_BYTES_MAX,
  EXECUTOR_OUTPUT_BYTES_MAX,
  EXECUTORS_MAX,
  TOOL_CALL_MS,
} from '../../engine/base/limits.ts';

export interface HostExecutor {
  readonly name: string;
  /** Absolute path of the program. */
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly directory?: string | undefined;
  readonly timeoutMs: number;
  readonly outputBytesMax: number;
}

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MEMBERS = ['command', 'env', 'directory', 'timeout_ms', 'output_bytes_max'];
/** A program finds its own helpers, whatever environment the server has. */
const PATH_DEFAULT = '/usr/local/bin:/usr/bin:/bin';

export type Executors = ReadonlyMap<string, HostExecutor>;

/** Reads and checks the file at start. VAL-E001 names the executor and what is wrong with it. */
export function readExecutors(file: string | undefined): Executors {
  if (file === undefined) return new Map();
  let text: string;
  try {
    if (statSync(file).size > EXECUTOR_FILE_BYTES_MAX) throw bad(`is larger than ${EXECUTOR_FILE_BYTES_MAX} bytes`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw bad(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw bad('is not JSON');
  }
  return executorsOf(parsed);
}

/** The executors of a parsed file: an object of them, by name. */
export function executorsOf(parsed: unknown): Executors {
  if (!isMembers(parsed)) throw bad('must contain an object of executors by name');
  const entries = Object.entries(parsed);
  if (entries.length > EXECUTORS_MAX) throw bad(`names more than ${EXECUTORS_MAX} executors`);
  return new Map(entries.map(([name, given]) => [name, executorOf(name, given)]));
}

function executorOf(name: string, given: unknown): HostExecutor {
  const wrong = (issue: string): EngineError => bad(`${JSON.stringify(name)}: ${issue}`);
  if (!NAME.test(name)) throw wrong('a name has 1 to 64 letters, digits, dots, hyphens and underscores');
  if (!isMembers(given)) throw wrong('must be an object');
  for (const member of Object.keys(given))
    if (!MEMBERS.includes(member)) throw wrong(`has the unknown member ${member}; it may have ${MEMBERS.join(', ')}`);
  const { command, env = {}, directory } = given;
  if (!isTexts(command) || command.length === 0)
    throw wrong('`command` must be a list of strings: the program and its arguments');
  const [program = '', ...args] = command;
  if (!isAbsolute(program)) throw wrong('`command` must begin with the absolute path of a program');
  if (!isMembers(env) || !Object.entries(env).every(([key, value]) => VARIABLE.test(key) && typeof value === 'string'))
    throw wrong('`env` must be an object of strings by variable');
  if (directory !== undefined && (typeof directory !== 'string' || !isAbsolute(directory)))
    throw wrong('`directory` must be an absolute path');
  return {
    name,
    program,
    args,
    env: { PATH: PATH_DEFAULT, ...(env as Record<string, string>) }, // checked above
    directory,
    timeoutMs: integerIn(given['timeout_ms'], TOOL_CALL_MS, () =>
      wrong(`\`timeout_ms\` must be an integer from 1 to ${TOOL_CALL_MS}`),
    ),
    outputBytesMax: integerIn(given['output_bytes_max'], EXECUTOR_OUTPUT_BYTES_MAX, () =>
      wrong(`\`output_bytes_max\` must be an integer from 1 to ${EXECUTOR_OUTPUT_BYTES_MAX}`),
    ),
  };
}

/** At most `max`, which is also the default. */
function integerIn(value: unknown, max: number, wrong: () => EngineError): number {
  if (value === undefined) return max;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > max) throw wrong();
  return value;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string' && !one.includes('\u0000'));
}

function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bad(issue: string): EngineError {
  return new EngineError('VAL-E001', `--executors: the file ${issue}`);
}
