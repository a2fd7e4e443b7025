// Checks the arguments of a tool against its schema. A model gets the error as text, so the error says what to do.
import { EngineError } from '../engine/base/errors.ts';
import { compileCheck } from '../server/operations/validate.ts';
import { CallRefused } from './refused.ts';
import { SCOPE_MEMBERS, type Tool } from './tool.ts';

type Check = ReturnType<typeof compileCheck>;

const checks = new WeakMap<Tool, Check>();

/** The arguments as an object. Throws CallRefused for others than the schema allows. */
export function checkedArguments(tool: Tool, given: unknown = {}): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new CallRefused('VAL-E001', `the arguments of ${tool.name} must be an object`);
  for (const name of Object.keys(given)) refuseUnknown(tool, name);
  const check = checks.get(tool) ?? compileCheck(tool.inputSchema, { paged: false });
  checks.set(tool, check);
  try {
    check(given);
  } catch (error) {
    if (error instanceof EngineError) throw new CallRefused(error.code, plainMessage(error));
    throw error;
  }
  return given as Readonly<Record<string, unknown>>; // an object, as checked above
}

function refuseUnknown({ name: tool, inputSchema }: Tool, name: string): void {
  if (Object.hasOwn(inputSchema.properties, name)) return;
  if (SCOPE_MEMBERS.has(name)) throw outsideScope(name);
  const known = Object.keys(inputSchema.properties);
  throw new CallRefused(
    'VAL-E001',
    `${tool} has no argument \`${name}\`; ${known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`}`,
  );
}

export function outsideScope(name: string): CallRefused {
  return new CallRefused(
    'AUT-E001',
    `\`${name}\` is not an argument: memory, namespace and user come from the key and the options of this connection`,
  );
}

/** EngineError messages begin with their code. */
function plainMessage({ code, message }: EngineError): string {
  return message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message;
}
