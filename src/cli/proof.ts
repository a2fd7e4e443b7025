// `granary proof`: verifies the proof of an erasure, fetches it, and shows or rotates the keys that sign proofs.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type JsonObject, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import { checkProof, isRemoval, type ProofCheck, type SignedRemoval } from '../server/proofs/erasure-proof.ts';
import { keyIdOf, rawPublicKey } from '../server/proofs/proof-keys.ts';
import { exitCodesText, PROOF_EXIT } from './exit-codes.ts';
import { Failure, usage } from './failure.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printLine, printPairs, printTable, utc } from './output.ts';
import type { TrailCheck } from './proof/check-trail.ts';
import { withProofFile } from './proof-file.ts';

interface ProofOptions extends ServerOptions {
  readonly memory: string;
}

interface VerifyOptions extends ProofOptions {
  readonly publicKey?: string | undefined;
  readonly withServer?: true | undefined;
}

const EXIT_OF = {
  valid: PROOF_EXIT.verified,
  tampered: PROOF_EXIT.changed,
  wrong_key: PROOF_EXIT.otherKey,
  unknown_version: PROOF_EXIT.unknownVersion,
  malformed: PROOF_EXIT.noProof,
  unsigned: PROOF_EXIT.unsigned,
  unknown_key: PROOF_EXIT.otherKey,
  not_in_trail: PROOF_EXIT.notInTrail,
  chain_broken: PROOF_EXIT.notInTrail,
  in_trail: PROOF_EXIT.verified,
  memory_deleted: PROOF_EXIT.verified,
  repeated: PROOF_EXIT.verified,
} as const satisfies Record<ProofCheck['is'] | TrailCheck['is'], number>;

export function registerProof(program: Command): void {
  const proof = program.command('proof').description('Verify proofs of erasures, fetch one, and manage their keys');
  const add = (command: Command): Command => withServerOptions(withMemoryOption(command));
  add(
    proof
      .command('verify')
      .description('Verify the proof of an erasure: without a server, or also against the audit chain of one')
      .argument('<file>', 'proof of an erasure, as JSON')
      .option('--public-key <key>', 'key that you trust: a PEM file, or the key in base64url or hex')
      .option('--with-server', 'also look the erasure up in the audit chain of the server (--url, --data-dir)')
      .addHelpText('after', `\n${exitCodesText('proof verify')}`),
  ).action(verify);
  add(
    proof
      .command('get')
      .description('Fetch the signed proof of the last erasure of a person')
      .requiredOption('--user <id>', 'the person who was erased')
      .option('-o, --out <file>', 'write to this new file; the default is standard output'),
  ).action(get);
  add(proof.command('keys').description('List the public keys that verify proofs, the current one first')).action(keys);
  add(proof.command('rotate-key').description('Make a new key that signs proofs from now on')).action(rotateKey);
}

async function verify(file: string, options: VerifyOptions): Promise<void> {
  const key = options.publicKey === undefined ? undefined : publicKeyFrom(options.publicKey);
  const check = checkProof(read(file), key);
  const isAsked = options.withServer === true && (check.is === 'valid' || check.is === 'unsigned');
  const trail = isAsked ? await askServer(check, options) : undefined;
  const result = trail?.is ?? check.is;
  process.exitCode = EXIT_OF[result];
  const lines = [offlineLine(check, key, isAsked), ...(trail === undefined ? [] : [trailLine(trail)])];
  const proof = 'proof' in check ? check.proof : undefined;
  if (options.json)
    return printJson({ result, verified: process.exitCode === 0, explanation: lines.join(' '), proof: proof ?? null });
  if (proof !== undefined) printPairs(pairsOf(check));
  for (const line of lines) printLine(line);
}

async function askServer(
  check: Extract<ProofCheck, { readonly is: 'valid' | 'unsigned' }>,
  options: VerifyOptions,
): Promise<TrailCheck> {
  const { withConnection } = await import('./connection.ts');
  const { checkRemovalInTrail, checkSignedInTrail, checkUnsignedInTrail } = await import('./proof/check-trail.ts');
  return withConnection(options, (connection) =>
    check.is === 'valid'
      ? isRemoval(check.proof)
        ? checkRemovalInTrail(connection, check.proof)
        : checkSignedInTrail(connection, check.proof)
      : checkUnsignedInTrail(connection, check.proof, options.memory),
  );
}

function pairsOf(check: ProofCheck): readonly (readonly [string, string | number])[] {
  if (check.is !== 'valid' && check.is !== 'unsigned') return [];
  if (check.is === 'valid' && isRemoval(check.proof)) return pairsOfRemoval(check.proof);
  const proof = check.proof as Exclude<typeof check.proof, SignedRemoval>; // asked on the line before
  const common: (readonly [string, string | number])[] = [
    ['person', proof.user_id ?? '(the proof no longer names the person)'],
    ['memory', proof.memory ?? '(not named)'],
    ['grains erased', proof.count],
    ['key fingerprint', proof.key_fingerprint === '' ? '(no such person was known)' : proof.key_fingerprint],
    ['erased at', `${utc(proof.timestamp)} UTC`],
  ];
  if (!('purge' in proof)) return common;
  const { purge, issued_at, key_id } = proof;
  return [
    ...common,
    ['purge', `${purge.state}, as of ${purge.as_of}`],
    ['signed at', issued_at],
    ['signed with', key_id],
  ];
}

function pairsOfRemoval(proof: SignedRemoval): readonly (readonly [string, string | number])[] {
  const { of, scope_path, memory, count, key_fingerprints, timestamp, purge, issued_at, key_id } = proof;
  return [
    ['what', of === 'scope' ? `the scope ${scope_path ?? ''}, with those below it` : 'the whole memory'],
    ['memory', memory],
    ...(count === undefined ? [] : [['grains erased', count] as const]),
    ['key fingerprints', key_fingerprints.join(' ') || '(no key was destroyed)'],
    ['erased at', `${utc(timestamp)} UTC`],
    ...(purge === undefined ? [] : [['purge', `${purge.state}, as of ${purge.as_of}`] as const]),
    ['signed at', issued_at],
    ['signed with', key_id],
  ];
}

/** `isAsked`: whether the server was asked too. */
function offlineLine(check: ProofCheck, key: Uint8Array | undefined, isAsked: boolean): string {
  switch (check.is) {
    case 'valid':
      return key === undefined
        ? `The signature is right for the key in the file itself. That shows that the proof was not changed after it was signed, not who signed it: compare the key ${check.proof.key_id} with one that you have from the operator (--public-key)${isAsked ? '' : ', or ask the server (--with-server)'}.`
        : `The signature is right for the key ${keyIdOf(key)}, which you gave: its holder signed this proof, and nothing in it was changed.`;
    case 'unsigned':
      return 'This is a proof of version 1, which has no signature: a server alone can confirm it (--with-server).';
    default:
      return `Not verified: ${check.why}.`;
  }
}

function trailLine(trail: TrailCheck): string {
  switch (trail.is) {
    case 'in_trail':
      return trail.retiredAt === undefined
        ? 'The audit chain of the server has the erasure as the proof states it, and is intact.'
        : `The audit chain of the server has the erasure as the proof states it, and is intact. The signing key was replaced at ${utc(trail.retiredAt)} UTC.`;
    case 'memory_deleted':
      return 'The server signed it, and has no memory of that name any more. The audit chain of a memory goes with it, so the entry itself cannot be looked up.';
    case 'repeated':
      return 'The audit chain of the server has a later erasure of the same key: the data came back from a backup, and was erased in it again.';
    default:
      return `Not confirmed by the server: ${trail.why}.`;
  }
}

function publicKeyFrom(given: string): Buffer {
  const key = rawPublicKey(given) ?? rawPublicKey(read(given));
  if (key === undefined)
    throw usage(`--public-key ${given}: no Ed25519 public key: give a PEM file, or 32 bytes in base64url or hex`);
  return key;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Failure('FILE', `cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function get(
  options: ProofOptions & { readonly user: string; readonly out?: string | undefined },
): Promise<void> {
  const { user, out, memory } = options;
  const ask = () => fetchProof(options, memory, user);
  if (out === undefined || out === '-') {
    // A signed text is printed as it is.
    process.stdout.write(`${JSON.stringify(await ask(), null, 2)}\n`);
    return;
  }
  const proof = await withProofFile(out, ask);
  if (options.json) return printJson(proof);
  printLine(`The proof is in ${out}.`);
}

/** The signed proof of the last erasure of a person. Rejects with the server's error: DSR-E003 where there is none. */
export async function fetchProof(options: ServerOptions, memory: string, user: string): Promise<JsonObject> {
  const { withConnection } = await import('./connection.ts');
  const path = `/memories/${encodeURIComponent(memory)}/erasure-proof`;
  const answer = await withConnection(options, (connection) =>
    connection.json('GET', path, { query: { user_id: user } }),
  );
  return objectOf(answer['proof']);
}

async function keys(options: ServerOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const answer = await withConnection(options, (connection) => connection.json('GET', '/proof-keys'));
  if (options.json) return printJson(answer);
  const listed = objectsOf(answer['keys']);
  printTable(
    [{ title: 'key' }, { title: 'public key' }, { title: 'made (UTC)' }, { title: 'replaced (UTC)' }],
    listed.map(({ key_id, public_key, created_at, retired_at }) => [
      String(key_id),
      String(public_key),
      utc(Number(created_at)),
      retired_at === undefined ? '' : utc(Number(retired_at)),
    ]),
  );
}

async function rotateKey(options: ServerOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const key = await withConnection(options, (connection) =>
    connection.json('POST', '/proof-keys/rotate', { json: {} }),
  );
  if (options.json) return printJson(key);
  printLine(`Proofs are signed with ${String(key['key_id'])} from now on. Publish it: granary proof keys`);
}
