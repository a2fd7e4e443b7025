// The first two frames of a connection between nodes. Each side proves that it knows the secret of the deployment, and both make
// keys that this connection alone has: recorded traffic cannot be read later, even by somebody who learns the secret.
//
//   caller → called   hello, then HMAC-SHA256 of it by the secret
//   called → caller   hello, then HMAC-SHA256 of the caller's frame and of it; or a refusal, without one
//   keys              HKDF-SHA256 of the X25519 agreement and the secret, salted with the hash of both frames
//
// A hello is JSON. It can be repeated by anybody who has heard it, so the called side acts on nothing before a frame that is
// sealed with the new keys.
import { createHash, createHmac, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'; // biome-ignore format: one row
import { EngineError } from '../../../engine/base/errors.ts';

/** The version of the protocol. Neighbouring versions understand each other. Version 2 has channels (channel.ts). */
export const LINK_PROTOCOL = 2;
/** The first version with channels. */
export const CHANNEL_PROTOCOL = 2;
const MAC_BYTES = 32;
const SECRET_BYTES = 32;
const SECRET_LABEL = 'granary link between nodes';
const KEYS_LABEL = 'granary keys of a link';
/** The header of an X25519 public key in DER form, before its 32 bytes. */
const PUBLIC_HEADER = Buffer.from('302a300506032b656e032100', 'hex');

/** A node, as it introduces itself. */
export interface LinkSelf {
  readonly node: string;
  /** Of its program. */
  readonly version: string;
  /** Names of the calls, by the numbers that it writes. */
  readonly methods: readonly string[];
}

interface Hello extends LinkSelf {
  readonly protocol: number;
  /** The node that the caller means; the called side repeats it. */
  readonly to: string;
  readonly nonce: string;
  readonly share: string;
}

/** The other side, after it has proved that it knows the secret. */
export interface Greeted {
  readonly peer: LinkSelf;
  readonly sendKey: Buffer;
  readonly receiveKey: Buffer;
}

/** The secrets of a deployment, from its raw master keys, the current one first. */
export function linkSecrets(masterKeys: readonly Uint8Array[]): readonly Buffer[] {
  return masterKeys.map((key) => Buffer.from(hkdfSync('sha256', key, '', SECRET_LABEL, SECRET_BYTES)));
}

interface Opening {
  readonly body: Buffer;
  readonly ownKey: KeyObject;
}

function openingOf(self: LinkSelf, to: string): Opening {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const share = publicKey.export({ type: 'spki', format: 'der' }).subarray(PUBLIC_HEADER.length).toString('hex');
  const hello: Hello = { ...self, protocol: LINK_PROTOCOL, to, nonce: randomBytes(32).toString('hex'), share };
  return { body: Buffer.from(JSON.stringify(hello)), ownKey: privateKey };
}

/** The caller's side. */
export class CallerHandshake {
  readonly frame: Buffer;
  readonly #secret: Buffer;
  readonly #ownKey: KeyObject;
  readonly #to: string;

  /** `secret`: the one of the secrets of the deployment that this connection offers. */
  constructor(self: LinkSelf, to: string, secret: Buffer) {
    const { body, ownKey } = openingOf(self, to);
    this.#secret = secret;
    this.#ownKey = ownKey;
    this.#to = to;
    this.frame = Buffer.concat([body, mac(this.#secret, body)]);
  }

  /** Reads the answer. Throws AUT-E004 when it is not proved, UnknownSecret, and what else the called side refused with. */
  finish(frame: Buffer): Greeted {
    const refusal = refusalIn(frame);
    if (refusal !== undefined) {
      const why = `node ${this.#to} refuses the connection: ${refusal.reason}`;
      throw refusal.isOfSecret ? new UnknownSecret('STO-E002', why) : new EngineError('STO-E002', why);
    }
    const body = proved(frame, this.#secret, this.frame);
    if (body === undefined)
      throw new EngineError(
        'AUT-E004',
        `node ${this.#to} does not know the secret of this deployment: start all nodes with the same master key`,
      );
    const hello = readHello(body);
    if (hello.node !== this.#to)
      throw new EngineError(
        'AUT-E004',
        `expected node ${this.#to}, but node ${hello.node} answers at its address: check --advertise`,
      );
    checkProtocol(hello);
    const [forth, back] = keysOf(this.#ownKey, hello, this.#secret, [this.frame, frame]);
    return { peer: selfOf(hello), sendKey: forth, receiveKey: back };
  }
}

/**
 * The called side: the greeted caller and the answer. Throws AUT-E004 when the caller does not prove that it knows a secret, and
 * VAL-E001 when it is not one that this node talks to.
 */
export function answerHello(
  frame: Buffer,
  self: LinkSelf,
  secrets: readonly Buffer[],
): { readonly greeted: Greeted; readonly answer: Buffer } {
  for (const secret of secrets) {
    const body = proved(frame, secret);
    if (body === undefined) continue;
    const hello = readHello(body);
    if (hello.to !== self.node)
      throw new EngineError('VAL-E001', `this is node ${self.node}, but the caller expected node ${hello.to}`);
    checkProtocol(hello);
    const opening = openingOf(self, hello.to);
    const answer = Buffer.concat([opening.body, mac(secret, frame, opening.body)]);
    const [forth, back] = keysOf(opening.ownKey, hello, secret, [frame, answer]);
    return { greeted: { peer: selfOf(hello), sendKey: back, receiveKey: forth }, answer };
  }
  throw new EngineError('AUT-E004', 'the caller does not know the secret of this deployment');
}

/**
 * The called side does not know the secret that was offered. Nobody has proved that it said so. That gives nothing away: a caller
 * offers only secrets that it would accept itself, and each of them makes a node of whoever knows it.
 */
export class UnknownSecret extends EngineError {}

/** A frame that tells why there is no connection. */
export function refusalFrame(reason: string): Buffer {
  return Buffer.from(JSON.stringify({ refused: reason }));
}

/** The same for a caller that offers another secret than those of this node. */
export function strangerFrame(): Buffer {
  const refused =
    'the calling node does not know the secret of this deployment: start all nodes with the same master key';
  return Buffer.from(JSON.stringify({ refused, secret: 'unknown' }));
}

function refusalIn(frame: Buffer): { readonly reason: string; readonly isOfSecret: boolean } | undefined {
  try {
    const read: unknown = JSON.parse(frame.toString());
    const { refused: reason, secret } = read as { readonly refused?: unknown; readonly secret?: unknown }; // JSON of the other side; the type of the reason is checked next
    return typeof reason === 'string' ? { reason, isOfSecret: secret === 'unknown' } : undefined;
  } catch {
    // A hello ends with bytes that are no JSON.
    return undefined;
  }
}

function mac(secret: Buffer, ...parts: readonly Buffer[]): Buffer {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/** The body of a frame whose code is right, given the frames before it. */
function proved(frame: Buffer, secret: Buffer, ...before: readonly Buffer[]): Buffer | undefined {
  if (frame.length < MAC_BYTES) return undefined;
  const body = frame.subarray(0, frame.length - MAC_BYTES);
  return timingSafeEqual(frame.subarray(body.length), mac(secret, ...before, body)) ? body : undefined;
}

/** Of a node that knows the secret: what does not fit is a node of another version. */
function readHello(body: Buffer): Hello {
  const { protocol, node, to, version, methods, nonce, share } = JSON.parse(body.toString()) as Partial<Hello>;
  if (
    typeof protocol !== 'number' ||
    typeof nonce !== 'string' ||
    [node, to, version, share].some((text) => typeof text !== 'string') ||
    !Array.isArray(methods)
  )
    throw new EngineError('VAL-E001', 'the greeting of the node comes from another version of this program');
  return { protocol, node: node!, to: to!, version: version!, methods: methods.map(String), nonce, share: share! };
}

function checkProtocol({ protocol, node, version }: Hello): void {
  if (Math.abs(protocol - LINK_PROTOCOL) > 1)
    throw new EngineError(
      'VAL-E001',
      `node ${node} of version ${version} speaks version ${protocol} of the protocol between nodes, and this node ${LINK_PROTOCOL}: only neighbouring versions serve together`,
    );
}

function selfOf({ node, version, methods }: Hello): LinkSelf {
  return { node, version, methods };
}

/** The key for what the caller sends, and the key for what it gets. */
function keysOf(ownKey: KeyObject, { share }: Hello, secret: Buffer, frames: readonly Buffer[]): [Buffer, Buffer] {
  const other = createPublicKey({
    key: Buffer.concat([PUBLIC_HEADER, Buffer.from(share, 'hex')]),
    type: 'spki',
    format: 'der',
  });
  const agreed = diffieHellman({ privateKey: ownKey, publicKey: other });
  const transcript = createHash('sha256');
  for (const frame of frames) transcript.update(frame);
  const keys = Buffer.from(
    hkdfSync('sha256', Buffer.concat([agreed, secret]), transcript.digest(), KEYS_LABEL, 2 * SECRET_BYTES),
  );
  return [keys.subarray(0, SECRET_BYTES), keys.subarray(SECRET_BYTES)];
}
