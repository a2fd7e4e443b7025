// `granary grain`: the codec alone. JSON lines in and out; no server, no data directory.
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { BLOB_BYTES_CEILING } from '../engine/base/limits.ts';
import { addressOf } from '../engine/grain/address.ts';
import { type DecodeOptions, decodeAny, type EncodeOptions, encodeGrain } from '../engine/grain/codec/blob.ts';
import { readAnyContainer } from '../engine/grain/codec/container.ts';
import { openEnvelope, readEnvelope, signBlob, startsEnvelope } from '../engine/grain/codec/cose.ts';
import { FLAG, sensitivityOf, sensitivityOfTags } from '../engine/grain/codec/header.ts';
import { statusFields } from '../engine/grain/codec/manifest.ts';
import { didOfKey } from '../engine/grain/did.ts';
import { GrainError } from '../engine/grain/error.ts';
import type { Header, Sensitivity } from '../engine/grain/grain.ts';
import type { ValueMap } from '../engine/grain/value.ts';
import { bytesFromHex, fieldsFromJson, fieldsToJson, isObject } from './grain-json.ts';
import { answerLines, errorLine } from './json-lines.ts';

const SENSITIVITIES = ['public', 'internal', 'pii', 'phi'] as const;

type Line = Record<string, unknown>;

function lineOf(value: unknown): Line {
  if (!isObject(value)) throw new GrainError('ERR_SCHEMA', 'line is not an object');
  return value;
}

/** The `options` of a line; may be absent. */
function optionsOf(line: Line): Line {
  const options = line['options'] ?? {};
  if (!isObject(options)) throw new GrainError('ERR_SCHEMA', 'options is not an object');
  return options;
}

function flagOf(options: Line, name: string): boolean {
  const value = options[name] ?? false;
  if (typeof value !== 'boolean') throw new GrainError('ERR_SCHEMA', `options.${name} is not a boolean`);
  return value;
}

function sensitivityOption(value: unknown): Sensitivity {
  if (value === undefined || value === null) return 0;
  const level = typeof value === 'string' ? SENSITIVITIES.indexOf(value as (typeof SENSITIVITIES)[number]) : value;
  if (level === 0 || level === 1 || level === 2 || level === 3) return level;
  const isNumber = typeof level === 'number';
  throw new GrainError(isNumber ? 'ERR_RANGE' : 'ERR_SCHEMA', 'options.sensitivity is not one of 0, 1, 2, 3');
}

/** `{"grain_type","fields","options"?}` to `{"hash","blob_hex"}`, with `warnings` when there are any. */
export function encodeLine(value: unknown): unknown {
  const line = lineOf(value);
  const type = line['grain_type'];
  if (type === undefined || type === null) throw new GrainError('ERR_NO_TYPE', 'grain_type is missing');
  if (typeof type !== 'string') throw new GrainError('ERR_SCHEMA', 'grain_type is not a string');
  const options = optionsOf(line);
  const encodeOptions: EncodeOptions = {
    sensitivity: sensitivityOption(options['sensitivity']),
    signed: flagOf(options, 'signed'),
  };
  const { blob, address, warnings } = encodeGrain(type, fieldsFromJson(line['fields']), encodeOptions);
  return defined({
    hash: address,
    blob_hex: blob.toString('hex'),
    warnings: warnings.length > 0 ? warnings : undefined,
  });
}

/**
 * `{"blob_hex","hash"?,"options"?}` to `{"grain_type","fields","hash","header"}`. `encode` turns the output into the
 * same blob: `options` is included where the header holds more than the fields imply.
 */
export function decodeLine(value: unknown): unknown {
  const line = lineOf(value);
  const bytes = bytesFromHex(line['blob_hex'], 'blob_hex');
  const blob = startsEnvelope(bytes) ? openEnvelope(bytes).blob : bytes;
  const options = optionsOf(line);
  const expected = line['hash'] ?? undefined;
  if (expected !== undefined && typeof expected !== 'string')
    throw new GrainError('ERR_SCHEMA', 'hash is not a string');
  const decodeOptions: DecodeOptions = {
    verifyReencode: true,
    enveloped: blob !== bytes,
    engineFlags: flagOf(options, 'engine_flags'),
    blobBytesMax: flagOf(options, 'large') ? BLOB_BYTES_CEILING : undefined,
    expectedAddress: expected,
  };
  const { type, typeString, fields, header } = decodeAny(blob, decodeOptions);
  const encodeOptions = type === undefined ? undefined : optionsToEncode(header, fields);
  return defined({
    grain_type: typeString,
    fields: fieldsToJson(fields),
    hash: addressOf(blob),
    header: headerToJson(header),
    options: encodeOptions,
    opaque: type === undefined ? true : undefined,
  });
}

function headerToJson(header: Header): unknown {
  return {
    version: header.version,
    flags: header.flags,
    type: header.typeByte,
    ns_hash: header.namespaceHash.toString(16).padStart(4, '0'),
    created_at_sec: header.createdAtSeconds,
    sensitivity: sensitivityOf(header),
  };
}

function optionsToEncode(header: Header, fields: ValueMap): Line | undefined {
  const options: Line = {};
  const sensitivity = sensitivityOf(header);
  if (sensitivity > sensitivityOfTags(fields['structural_tags'])) options['sensitivity'] = sensitivity;
  if ((header.flags & FLAG.signed) !== 0) options['signed'] = true;
  return Object.keys(options).length > 0 ? options : undefined;
}

/** `{"file_hex"}` to `{"grains":[hash,...]}`, with `manifest` and `warnings` when there are any. */
export function containerLine(value: unknown): unknown {
  const line = lineOf(value);
  const engineFlags = flagOf(optionsOf(line), 'engine_flags');
  const { grains, manifest, warnings } = readAnyContainer(bytesFromHex(line['file_hex'], 'file_hex'), { engineFlags });
  const statuses = Object.fromEntries([...manifest].map(([address, status]) => [address, statusFields(status)]));
  return defined({
    grains: grains.map(({ address }) => address),
    manifest: manifest.size > 0 ? statuses : undefined,
    warnings: warnings.length > 0 ? warnings : undefined,
  });
}

/**
 * `{"envelope_hex","did"?}` to `{"valid","did","hash"}`. A wrong signature, or a signer other than `did`, gives `valid:
 * false` with an error; malformed input gives an error line.
 */
export function verifyLine(value: unknown): unknown {
  const line = lineOf(value);
  const bytes = bytesFromHex(line['envelope_hex'], 'envelope_hex');
  const wanted = line['did'] ?? undefined;
  if (wanted !== undefined && typeof wanted !== 'string') throw new GrainError('ERR_SCHEMA', 'did is not a string');
  if (!startsEnvelope(bytes)) throw new GrainError('ERR_CORRUPT', 'not an envelope');
  const { blob, did } = readEnvelope(bytes);
  const facts = { did, hash: addressOf(blob) };
  try {
    openEnvelope(bytes, wanted);
  } catch (error) {
    if (!(error instanceof GrainError) || error.code !== 'ERR_INTEGRITY') throw error;
    return { valid: false, ...facts, ...errorLine(error) };
  }
  decodeAny(blob, { enveloped: true, verifyReencode: true });
  return { valid: true, ...facts };
}

/** `{"blob_hex","iat"?}` to `{"envelope_hex","did","hash"}`, signed with `key`. */
export function signLine(value: unknown, key: KeyObject, nowSeconds: number): unknown {
  const line = lineOf(value);
  const blob = bytesFromHex(line['blob_hex'], 'blob_hex');
  const issuedAt = line['iat'] ?? nowSeconds;
  if (typeof issuedAt !== 'number' || !Number.isSafeInteger(issuedAt))
    throw new GrainError('ERR_SCHEMA', 'iat is not an integer');
  if (blob.length > 9 && (blob[1]! & FLAG.signed) === 0) throw new GrainError('ERR_SIGNED_MISMATCH');
  decodeAny(blob, { enveloped: true, verifyReencode: true });
  const envelope = signBlob(blob, { key, issuedAt });
  return { envelope_hex: envelope.toString('hex'), did: didOfKey(key), hash: addressOf(blob) };
}

/** Reads an Ed25519 private key from a file: PKCS #8 PEM, or the 32-byte seed as hex. */
function readKey(path: string): KeyObject {
  const text = readFileSync(path, 'utf8').trim();
  const pkcs8Head = '302e020100300506032b657004220420';
  const key = /^[0-9a-fA-F]{64}$/.test(text)
    ? createPrivateKey({ key: Buffer.from(pkcs8Head + text, 'hex'), format: 'der', type: 'pkcs8' })
    : createPrivateKey(text);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key file contains no Ed25519 private key');
  return key;
}

/** Adds `grain encode|decode|container|verify-signature|sign` to the program. */
export function registerGrain(program: Command): void {
  const grain = program
    .command('grain')
    .description('Encode, decode, verify and sign grains offline: JSON lines in, JSON lines out');
  const add = (name: string, description: string, answer: (value: unknown) => unknown): void => {
    grain
      .command(name)
      .description(description)
      .action(() => answerLines(answer, process.stdin, process.stdout));
  };
  add('encode', '{"grain_type","fields","options"?} to {"hash","blob_hex"}', encodeLine);
  add('decode', '{"blob_hex"} to {"grain_type","fields","hash","header"}', decodeLine);
  add('container', '{"file_hex"} to {"grains":[hash]}', containerLine);
  add('verify-signature', '{"envelope_hex","did"?} to {"valid","did","hash"}', verifyLine);
  grain
    .command('sign')
    .description('{"blob_hex","iat"?} to {"envelope_hex","did","hash"}')
    .requiredOption('--key <file>', 'Ed25519 private key: PKCS #8 PEM, or its seed as 64 hex characters')
    .action(({ key: path }: { key: string }) => {
      const key = readKey(path);
      const nowSeconds = (): number => Math.floor(Date.now() / 1000);
      return answerLines((value) => signLine(value, key, nowSeconds()), process.stdin, process.stdout);
    });
}
