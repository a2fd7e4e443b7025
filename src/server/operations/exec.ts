// POST app/exec: runs operations without a route by command name (service contract 7.9).
import { EngineError } from '../../engine/base/errors.ts';
import type { Context } from '../context.ts';
import { defineOperation, type Operation } from './define.ts';
import type { Members } from './names.ts';
import { Type } from './type.ts';
import { type UnknownMember, unknownRefusal, unknownWarnings } from './unknown-members.ts';

/** Also refuses unknown members outside `args` if the command refuses them: the caller meant them for the command. */
function refuseUnknown(row: Operation, unknown: readonly UnknownMember[], context: Context): void {
  const all = [...context.unknown, ...unknown];
  if (all.length > 0 && (context.strict || row.onUnknown === 'refuse')) throw unknownRefusal(all);
  context.warnings.push(...unknownWarnings(unknown));
  if (context.dryRun && !row.dryRun)
    throw new EngineError('VAL-E001', `${row.name} has no dry run`, {
      details: [{ field: 'x-dry-run', issue: 'not for this command' }],
    });
}

/** The row of app/exec, which offers the rows that name a command. */
export function execOperation(rows: readonly Operation[]): Operation {
  const commands = new Map(rows.flatMap((row) => (row.exec === undefined ? [] : [[row.exec.command, row] as const])));
  const names = ['help', ...commands.keys()].sort();
  return defineOperation({
    name: 'exec',
    summary: 'Run a command on a memory; help lists them.',
    description: 'Each command is an operation that has no route of its own, with its own scope.',
    example: { command: 'history', args: { hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' } },
    // Each command checks its own scope.
    needs: 'key',
    on: 'memory',
    // Each command checks its own reach.
    reach: 'nothing',
    mutates: true,
    mayOnlyRead: true,
    // Each command applies its own rule.
    onUnknown: 'warn',
    dryRun: true,
    slow: true,
    input: Type.Object({
      command: Type.String({ description: 'Name of the command; help lists all.' }),
      args: Type.Optional(
        Type.Unsafe<Members>({
          type: 'object',
          description: 'Arguments of the command, under the names of its operation.',
        }),
      ),
    }),
    output: Type.Object({
      command: Type.String({ description: 'Name of the command that ran.' }),
      ok: Type.Literal(true, { description: 'Always true: an error has its own answer.' }),
      result: Type.Unknown({ description: 'Result of the command.' }),
      executionTimeMs: Type.Number({ description: 'Time that the command took, in milliseconds.' }),
    }),
    errors: ['EXE-E001'],
    http: [{ verb: 'POST', path: 'M/app/exec' }],
    async run({ command, args }, context) {
      const started = performance.now();
      const done = (result: unknown) => ({
        command,
        ok: true as const,
        result,
        executionTimeMs: Math.round(performance.now() - started),
      });
      if (command === 'help') {
        context.require('read');
        return done({ commands: names });
      }
      const row = commands.get(command);
      if (row !== undefined) {
        if (row.needs !== 'public' && row.needs !== 'key') context.require(row.needs);
        const unknown: UnknownMember[] = [];
        const candidate = row.readArgs(args, unknown);
        row.findUnknown?.(candidate, unknown);
        refuseUnknown(row, unknown, context);
        const perform = async () => row.writeResult(await row.perform(candidate, context));
        return done(row.mutates && !row.keptByShards ? await context.once(perform) : await perform());
      }
      throw new EngineError('EXE-E001', `unknown app/exec command: ${command}`);
    },
  });
}
