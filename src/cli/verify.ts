// `granary verify`: checks everything on disk. A finding sets exit code 1.
import type { Command } from 'commander';
import { objectsOf } from '../engine/grain/api/json-value.ts';
import { execOnDeployment } from './deployment.ts';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withServerOptions } from './options.ts';
import { duration, number, printable, printJson, printLine, printPairs, printTable } from './output.ts';

const FINDINGS_SHOWN = 50;

export function registerVerify(program: Command): void {
  const command = program
    .command('verify')
    .description('Check every checksum, every blob against its address, every index, key and audit chain')
    .addHelpText(
      'after',
      '\nA running server checks itself while it serves. Otherwise the command opens the data directory. Exit code 1: problems were found.',
    );
  withServerOptions(command).action(verify);
}

async function verify(options: ServerOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const startedMs = performance.now();
  const report = await withConnection(options, (connection) => execOnDeployment(connection, 'verify'), {
    isLong: true,
  });
  const total = Number(report['finding_count']);
  if (total > 0) process.exitCode = EXIT.failed;
  if (options.json) return printJson(report);
  printPairs([
    ['shards', Number(report['shards'])],
    ['records', Number(report['records'])],
    ['grains', Number(report['grains'])],
    ['index blocks', Number(report['blocks'])],
    ['audit entries', Number(report['audit_entries'])],
    ['findings', total],
    ['took', duration(performance.now() - startedMs)],
  ]);
  const findings = objectsOf(report['findings']).slice(0, FINDINGS_SHOWN);
  if (total === 0) return printLine('No problems found.');
  printLine();
  printTable(
    [{ title: 'part' }, { title: 'kind' }, { title: 'where' }, { title: 'problem' }],
    findings.map(({ part, kind, where, problem }) =>
      [part, kind, where, problem].map((text) => printable(String(text))),
    ),
  );
  if (total > findings.length) printLine(`and ${number(total - findings.length)} more (--json lists up to 1,000)`);
}
