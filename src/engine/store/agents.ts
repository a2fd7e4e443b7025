// The identities of a memory's agents, in the log's state. An identity is a rule record, sealed under the key of the person
// that the agent is, else under the memory's small key. Decisions read the state alone.
//
//   agent/M/TOKEN        u32 sequence of the record in force | u32 sequence of the first one, the identity's place in lists |
//                        u8 status (1 active, 2 deactivated) | the token of its did 16, if it has one
//   agent-did/M/TOKEN    the token of the identity that has the did, 16
//   agent-count/M/all    u32 number of identities
//
// M is the memory's number. The tokens are blind.
import { assert } from '../base/assert.ts';
import { FACET_BYTES } from '../crypto/blind-tokens.ts';
import { Agents } from '../govern/agents/agents.ts';
import { type AgentIdentity, type AgentStatus, agentName } from '../govern/agents/identity.ts';
import type { Log, Sequence } from '../log/log.ts';
import { readSealedRule, type SealedMemory } from './rules.ts';

const STATUS_NUMBERS: Readonly<Record<AgentStatus, number>> = { active: 1, deactivated: 2 };
const DID_AT = 9;

/** The part of an identity that the state holds. */
export interface IdentityEntry {
  readonly sequence: Sequence;
  readonly place: Sequence;
  readonly status: AgentStatus;
  readonly didToken?: Uint8Array | undefined;
}

/** `name` is an id without `agent:`. */
export function identityState(memory: SealedMemory, name: string): string {
  return `${identitiesState(memory)}${agentToken(memory, name)}`;
}

/** Prefix of the state entries of all identities. */
export function identitiesState(memory: Pick<SealedMemory, 'number'>): string {
  return `agent/${memory.number}/`;
}

export function didState(memory: SealedMemory, didToken: Uint8Array): string {
  return `agent-did/${memory.number}/${Buffer.from(didToken).toString('hex')}`;
}

export function didTokenOf(memory: SealedMemory, did: string): Buffer {
  return tokenOf(memory, `did:${did}`);
}

export function identityCountState(memory: number): string {
  return `agent-count/${memory}/all`;
}

export function identityCount(log: Log, memory: number): number {
  const value = log.getState(identityCountState(memory));
  return value === undefined ? 0 : Buffer.from(value).readUInt32BE(0);
}

export function writeEntry({ sequence, place, status, didToken }: IdentityEntry): Buffer {
  const value = Buffer.alloc(DID_AT + (didToken?.length ?? 0));
  value.writeUInt32BE(sequence, 0);
  value.writeUInt32BE(place, 4);
  value[8] = STATUS_NUMBERS[status];
  if (didToken !== undefined) value.set(didToken, DID_AT);
  return value;
}

export function readEntry(value: Uint8Array): IdentityEntry {
  const bytes = Buffer.from(value);
  return {
    sequence: bytes.readUInt32BE(0),
    place: bytes.readUInt32BE(4),
    status: bytes[8] === STATUS_NUMBERS.deactivated ? 'deactivated' : 'active',
    didToken: bytes.length > DID_AT ? bytes.subarray(DID_AT) : undefined,
  };
}

/** The entry of the agent with this id; undefined if it is not registered. */
export function entryOf(log: Log, memory: SealedMemory, agentId: string): IdentityEntry | undefined {
  const value = log.getState(identityState(memory, agentName(agentId)));
  return value === undefined ? undefined : readEntry(value);
}

/** The identity of a record; undefined if its person was erased. */
export function identityAt(log: Log, memory: SealedMemory, sequence: Sequence): AgentIdentity | undefined {
  // The plans of a registration and of a deactivation sealed it.
  return readSealedRule(log, memory, sequence) as AgentIdentity | undefined;
}

/** Answers what decisions need to know of a memory's agents. */
export function agentsIn(log: Log, memory: SealedMemory): Agents {
  return new Agents({
    count: () => identityCount(log, memory.number),
    find: (name) => ({ name, token: agentToken(memory, name), status: entryOf(log, memory, name)?.status }),
    findDid: (did) => {
      const bytes = log.getState(didState(memory, didTokenOf(memory, did)));
      if (bytes === undefined) return undefined;
      const token = Buffer.from(bytes).toString('hex');
      const value = log.getState(`${identitiesState(memory)}${token}`);
      assert(value !== undefined, 'a did leads to an identity');
      const { sequence, status } = readEntry(value);
      const identity = identityAt(log, memory, sequence);
      return identity === undefined ? undefined : { name: agentName(identity.agentId), token, status };
    },
  });
}

/** The token of an agent's id in hex. `name` is the id without `agent:`. */
export function agentToken(memory: SealedMemory, name: string): string {
  return tokenOf(memory, `id:${name}`).toString('hex');
}

function tokenOf(memory: SealedMemory, text: string): Buffer {
  const token = memory.tokens.facet('agent', text);
  assert(token.length === FACET_BYTES, 'a token of an agent has the length of a facet');
  return token;
}
