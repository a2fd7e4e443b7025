// The rules of a memory, loaded from the rule records that the log's state names. They are loaded at the first use of the
// memory, and consents one by one.
//
//   policy/M              sequence of the policy in force
//   policy/M/VERSION      sequence of each version, the number in ten digits
//   restricted/M/USER     sequence of a restriction in force
//   consent/M/USER/WHAT   sequence of the newest consent of a user to a purpose
//
// Access tuples are in store/tuples.ts. M is the memory's number, USER and WHAT are blind tokens. A restriction and a consent are sealed under the user's key.
import type { KeyObject } from 'node:crypto';
import { EngineError } from '../base/errors.ts';
import type { MemorySettings } from '../calls/memory.ts';
import type { BlindTokens } from '../crypto/blind-tokens.ts';
import { open, seal } from '../crypto/envelope.ts';
import type { Access } from '../govern/access/access.ts';
import type { Agents } from '../govern/agents/agents.ts';
import type { ConsentFact } from '../govern/consent/consent.ts';
import { Governed, type Restriction } from '../govern/governed.ts';
import { readOverrides } from '../govern/policy/compose.ts';
import {
  policyJson,
  policyOfJson,
  type SealedPolicy,
  sealFirst,
  sealNext,
  unsetPolicy,
} from '../govern/policy/seal.ts';
import type { PolicyValue } from '../govern/policy/values.ts';
import { MissingKey } from '../keys/key-store.ts';
import type { Log, Sequence } from '../log/log.ts';
import type { RuleRecord, RuleTopic } from '../record/record.ts';
import { decodeRecord } from '../record/record-codec.ts';

/** The parts of a memory that reading and sealing rules needs. */
export interface SealedMemory {
  readonly number: number;
  readonly settings: MemorySettings;
  readonly tokens: Pick<BlindTokens, 'facet'>;
  userToken(userId: string): string;
  grainKey(key: number, scopeKey: number): KeyObject;
  sealSmall(plain: Uint8Array, purpose: string): Buffer;
  openSmall(sealed: Uint8Array, purpose: string): Buffer;
}

export function policyState(memory: number, version?: number): string {
  return version === undefined ? `policy/${memory}` : `policy/${memory}/${String(version).padStart(10, '0')}`;
}

export function restrictionState(memory: SealedMemory, userId: string): string {
  return `restricted/${memory.number}/${memory.userToken(userId)}`;
}

export function consentState(memory: SealedMemory, userId: string, purpose: string): string {
  return `${consentsState(memory, userId)}${memory.tokens.facet('purpose', purpose).toString('hex')}`;
}

/** Prefix of the state entries of all consents of a user. */
export function consentsState(memory: SealedMemory, userId: string): string {
  return `consent/${memory.number}/${memory.userToken(userId)}/`;
}

/** Prefixes of all state entries that govern a memory, except `policyState`. */
export function governingStates(memory: number): readonly string[] {
  return [
    ...['policy', 'restricted', 'consent', 'tuple', 'tuple-of', 'tuple-count', 'agent', 'agent-did', 'agent-count'],
    ...['agent-stats', 'agent-trust', 'turn', 'turn-open', 'turn-of', 'conversation', 'conversation-at'],
  ].map((topic) => `${topic}/${memory}/`);
}

/** Seals a rule of a user for its record. The rule includes the user's name, since the state has only its token. */
export function sealRule(memory: SealedMemory, about: RuleTopic, key: number, rule: object): Buffer {
  const plain = Buffer.from(JSON.stringify(rule));
  const purpose = `rule:${about}`;
  return key === 0 ? memory.sealSmall(plain, purpose) : seal(memory.grainKey(key, 0), plain, Buffer.from(purpose));
}

export function sealPolicy(memory: SealedMemory, policy: SealedPolicy): Buffer {
  return sealRule(memory, 'policy', 0, policyJson(policy) as object); // a policy is an object
}

/** The policy of a memory that never got another one: the policy it was created with, else the baseline. */
export function firstPolicy({ policy, createdAtMs }: MemorySettings): SealedPolicy {
  if (policy === undefined) return unsetPolicy();
  const { presets, rules, sealedBy } = policy;
  const overrides = readOverrides(policy.overrides as PolicyValue);
  const context = { nowSeconds: Math.floor(createdAtMs / 1000), sealedBy, reason: 'made with the memory' };
  return rules === undefined
    ? sealNext(unsetPolicy(), presets, overrides, context)
    : sealFirst(presets, overrides, rules as PolicyValue, context);
}

/** STO-E001 or CRY-E001 when the rules of the memory cannot be read. Nothing is decided then. */
export function governedBy(
  log: Log,
  memory: SealedMemory,
  { access, agents }: { readonly access: Access; readonly agents: Agents },
): Governed {
  return new Governed(policyInForce(log, memory), restrictionsOf(log, memory), {
    access,
    agents,
    consent: (userId, purpose) => consentOf(log, memory, sequenceAt(log, consentState(memory, userId, purpose))),
    *consents(userId) {
      const prefix = userId === undefined ? `consent/${memory.number}/` : consentsState(memory, userId);
      for (const [, value] of log.scanState(prefix)) {
        const fact = consentOf(log, memory, sequenceOf(value));
        if (fact !== undefined) yield fact;
      }
    },
  });
}

function policyInForce(log: Log, memory: SealedMemory): SealedPolicy {
  const sequence = sequenceAt(log, policyState(memory.number));
  return sequence === undefined ? firstPolicy(memory.settings) : policyAt(log, memory, sequence);
}

/** One version, or undefined. For a memory that was created with a policy, version 1 is in its settings. */
export function policyVersion(log: Log, memory: SealedMemory, version: number): SealedPolicy | undefined {
  const sequence = sequenceAt(log, policyState(memory.number, version));
  if (sequence !== undefined) return policyAt(log, memory, sequence);
  const first = firstPolicy(memory.settings);
  return first.version === version ? first : undefined;
}

function policyAt(log: Log, memory: SealedMemory, sequence: Sequence): SealedPolicy {
  const record = readRule(log, sequence);
  if (record === undefined)
    throw new EngineError(
      'STO-E001',
      'the record of the policy of this memory is missing in the log: restore a backup',
    );
  // sealPolicy sealed it. The authentication of the seal guarantees its shape.
  const policy = policyOfJson(openRule(memory, record) as PolicyValue);
  if (policy === undefined)
    throw new EngineError('STO-E001', 'the record of the policy of this memory is not readable: restore a backup');
  return policy;
}

function* restrictionsOf(log: Log, memory: SealedMemory): Iterable<Restriction> {
  for (const [, value] of log.scanState(`restricted/${memory.number}/`)) {
    const record = readRule(log, sequenceOf(value));
    if (record === undefined)
      throw new EngineError(
        'STO-E001',
        'the record of a restriction of this memory is missing in the log: restore a backup',
      );
    const opened = openUnlessErased(memory, record);
    // restrictPlan sealed it.
    if (opened !== undefined) yield opened as Restriction;
  }
}

function consentOf(log: Log, memory: SealedMemory, sequence: Sequence | undefined): ConsentFact | undefined {
  const record = sequence === undefined ? undefined : readRule(log, sequence);
  // consentPlan sealed it.
  return record === undefined ? undefined : (openUnlessErased(memory, record) as ConsentFact | undefined);
}

/** The content of the record at `sequence`; undefined when its key was erased or lost. STO-E001 when the record is gone. */
export function readSealedRule(log: Log, memory: SealedMemory, sequence: Sequence): unknown {
  const record = readRule(log, sequence);
  if (record === undefined)
    throw new EngineError('STO-E001', 'a record of this memory is missing in the log: restore a backup');
  return openUnlessErased(memory, record);
}

/** When the rule record at a state value was written, in ms; undefined if it is gone. */
export function recordedAtMs(log: Pick<Log, 'read'>, value: Uint8Array): number | undefined {
  return readRule(log, sequenceOf(value))?.atMs;
}

function readRule(log: Pick<Log, 'read'>, sequence: Sequence): RuleRecord | undefined {
  const bytes = log.read(sequence);
  const record = bytes === undefined ? undefined : decodeRecord(bytes);
  return record?.kind === 'rule' ? record : undefined;
}

/** Undefined when the key was erased or lost. The grains that the rule is about are unreadable then too. */
function openUnlessErased(memory: SealedMemory, record: RuleRecord): unknown {
  try {
    return openRule(memory, record);
  } catch (error) {
    if (error instanceof MissingKey || (error instanceof EngineError && error.code === 'CRY-E002')) return undefined;
    throw error;
  }
}

function openRule(memory: SealedMemory, { about, key, sealed }: RuleRecord): unknown {
  const purpose = `rule:${about}`;
  const plain =
    key === 0 ? memory.openSmall(sealed, purpose) : open(memory.grainKey(key, 0), sealed, Buffer.from(purpose));
  return JSON.parse(plain.toString());
}

function sequenceAt(log: Log, state: string): Sequence | undefined {
  const value = log.getState(state);
  return value === undefined ? undefined : sequenceOf(value);
}

export function sequenceOf(value: Uint8Array): Sequence {
  return ((value[0]! << 24) | (value[1]! << 16) | (value[2]! << 8) | value[3]!) >>> 0;
}
