// The identity of an agent: who it is, and whether it may still write.

import { EngineError } from '../../base/errors.ts';
import {
  AGENT_CAPABILITIES_MAX,
  AGENT_CAPABILITY_CHARS_MAX,
  AGENT_DID_CHARS_MAX,
  AGENT_ID_CHARS_MAX,
  AGENT_METADATA_BYTES_MAX,
  AGENT_NAME_CHARS_MAX,
  AGENT_PUBLIC_KEY_CHARS_MAX,
} from '../../base/limits.ts';
import { toNfc } from '../../base/nfc.ts';
import type { JsonObject } from '../../grain/api/json-value.ts';

export const AGENT_STATUSES = ['active', 'deactivated'] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** The members of an agent that a caller states. */
export interface StatedIdentity {
  readonly agentId: string;
  readonly name?: string | undefined;
  readonly did?: string | undefined;
  readonly publicKey?: string | undefined;
  readonly capabilities: readonly string[];
  readonly metadata: JsonObject;
}

export interface AgentIdentity extends StatedIdentity {
  readonly status: AgentStatus;
  readonly createdAtMs: number;
  readonly deactivatedAtMs?: number | undefined;
  readonly deactivationReason?: string | undefined;
}

const PRINCIPAL = 'agent:';
const PERSON = 'user:';
/** Principals that are no agents: the server, unknown callers, keys, erased persons. */
const RESERVED = /^(?:system$|anonymous$|key:|erased:)/i;
/** The syntax of W3C DID Core, 3.1. */
const DID = /^did:[a-z0-9]+:(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2}|:)*(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})$/;

/** The id of an agent without the prefix of a principal: `agent:planner` and `planner` are one agent. */
export function agentName(agentId: string): string {
  const id = toNfc(agentId);
  return id.startsWith(PRINCIPAL) ? id.slice(PRINCIPAL.length) : id;
}

/** The id of the person that the agent is; undefined for any other agent. */
export function personOfAgent(agentId: string): string | undefined {
  const name = agentName(agentId);
  return name.startsWith(PERSON) && name.length > PERSON.length ? name.slice(PERSON.length) : undefined;
}

/** The agent that a principal names, as it is written there; undefined for a principal that is no agent. */
export function agentOfPrincipal(principal: string): string | undefined {
  return principal.startsWith(PRINCIPAL) && principal.length > PRINCIPAL.length
    ? principal.slice(PRINCIPAL.length)
    : undefined;
}

/** The identity with its id in NFC. VAL-E001, naming the member. */
export function checkIdentity(stated: StatedIdentity): StatedIdentity {
  const { name, did, publicKey, capabilities, metadata } = stated;
  const agentId = toNfc(stated.agentId);
  checkAgentId(agentId);
  checkText('name', name, AGENT_NAME_CHARS_MAX);
  checkText('public_key', publicKey, AGENT_PUBLIC_KEY_CHARS_MAX);
  if (did !== undefined && (did.length > AGENT_DID_CHARS_MAX || !DID.test(did)))
    throw bad('did', `must be a DID such as did:web:example.com, of at most ${AGENT_DID_CHARS_MAX} characters`);
  if (capabilities.length > AGENT_CAPABILITIES_MAX)
    throw bad('capabilities', `has at most ${AGENT_CAPABILITIES_MAX} entries`);
  for (const capability of capabilities) {
    if (capability === '') throw bad('capabilities', 'holds an empty text');
    checkText('capabilities', capability, AGENT_CAPABILITY_CHARS_MAX);
  }
  if (Buffer.byteLength(textOf(metadata)) > AGENT_METADATA_BYTES_MAX)
    throw bad('metadata', `has at most ${AGENT_METADATA_BYTES_MAX} bytes as JSON`);
  return { ...stated, agentId };
}

/** Identities are kept as JSON of doubles. */
function textOf(metadata: JsonObject): string {
  try {
    return JSON.stringify(metadata);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw bad('metadata', 'contains an integer beyond 2^53: send it as a string');
  }
}

function checkAgentId(agentId: string): void {
  const name = agentName(agentId);
  if (name === '' || [...agentId].length > AGENT_ID_CHARS_MAX)
    throw bad('agent_id', `has 1 to ${AGENT_ID_CHARS_MAX} characters`);
  if (!agentId.isWellFormed() || /[\p{Cc}]/u.test(agentId)) throw bad('agent_id', 'holds control characters');
  if (RESERVED.test(name)) throw bad('agent_id', 'is reserved');
}

function checkText(field: string, text: string | undefined, max: number): void {
  if (text === undefined) return;
  if ([...text].length > max) throw bad(field, `has at most ${max} characters`);
  if (!text.isWellFormed() || text.includes('\u0000')) throw bad(field, 'is not valid Unicode');
}

function bad(field: string, issue: string): EngineError {
  return new EngineError('VAL-E001', `\`${field}\` ${issue}`, { details: [{ field, issue }] });
}
