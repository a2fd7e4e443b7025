// grpc.health.v1 for load balancers and probes; open to everyone.
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { GRPC_WATCHES_MAX } from '../../engine/base/limits.ts';
import { GRPC_STATUS } from '../status.ts';
import type { GrpcCall } from './front.ts';
import type { Method } from './method.ts';
import type { Conversation, StreamingCall } from './streaming-call.ts';
import { ProtocolError } from './trailers.ts';

const SERVICE = 'grpc.health.v1.Health';
const SERVING = 1;
const NOT_SERVING = 2;
const SERVICE_UNKNOWN = 3;

export class Health {
  /** By path. */
  readonly methods: ReadonlyMap<string, Method> = new Map<string, Method>([
    [`/${SERVICE}/Check`, { service: SERVICE, name: 'Check', run: async (call) => ({ bytes: this.check(call) }) }],
    [`/${SERVICE}/List`, { service: SERVICE, name: 'List', run: async () => ({ bytes: this.list() }) }],
    [`/${SERVICE}/Watch`, { converse: (call) => new Watch(this, call) }],
  ]);
  private readonly services: ReadonlySet<string>;
  private readonly watches = new Set<Watch>();
  private status = SERVING;

  /** `services`: those with a status of their own; the server itself is ''. */
  constructor(services: readonly string[]) {
    this.services = new Set(['', ...services]);
  }

  setServing(serving: boolean): void {
    const status = serving ? SERVING : NOT_SERVING;
    if (status === this.status) return;
    this.status = status;
    for (const watch of this.watches) watch.sendStatus();
  }

  statusOf(service: string): number {
    return this.services.has(service) ? this.status : SERVICE_UNKNOWN;
  }

  /** Adds a watch, within the limit. */
  add(watch: Watch): void {
    if (this.watches.size >= GRPC_WATCHES_MAX)
      throw new ProtocolError(GRPC_STATUS.RESOURCE_EXHAUSTED, 'LIM-E001', 'too many watches of health');
    this.watches.add(watch);
  }

  delete(watch: Watch): void {
    this.watches.delete(watch);
  }

  private check(call: GrpcCall): Uint8Array {
    const service = serviceIn(call.bytes);
    const status = this.statusOf(service);
    if (status === SERVICE_UNKNOWN)
      throw new ProtocolError(GRPC_STATUS.NOT_FOUND, 'SYS-E003', `Health status unknown for service ${service}`);
    return statusMessage(status);
  }

  private list(): Uint8Array {
    const writer = new BinaryWriter();
    for (const service of this.services) {
      writer.uint32(10).fork().uint32(10).string(service).uint32(18).bytes(statusMessage(this.status)).join();
    }
    return writer.finish();
  }
}

/** Sends the current status of a service and every change, until the caller disconnects. */
class Watch implements Conversation {
  private readonly health: Health;
  private readonly call: StreamingCall;
  private service: string | undefined;
  private sent: number | undefined;

  constructor(health: Health, call: StreamingCall) {
    this.health = health;
    this.call = call;
  }

  message(bytes: Buffer): void {
    if (this.service !== undefined)
      throw new ProtocolError(GRPC_STATUS.UNIMPLEMENTED, 'VAL-E002', 'Received a second request message for Watch');
    this.service = serviceIn(bytes);
    this.health.add(this);
    this.sendStatus();
  }

  ended(): void {
    if (this.service === undefined)
      throw new ProtocolError(GRPC_STATUS.UNIMPLEMENTED, 'VAL-E002', 'Received no request message for Watch');
  }

  settled(): void {
    this.health.delete(this);
  }

  sendStatus(): void {
    const status = this.health.statusOf(this.service ?? '');
    if (status === this.sent) return;
    this.sent = status;
    this.call.say(statusMessage(status));
  }
}

/** HealthCheckRequest: the name is field 1. */
function serviceIn(bytes: Uint8Array): string {
  let service = '';
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === 1 && wireType === 2) service = reader.string();
      else reader.skip(wireType, field);
    }
  } catch {
    throw new ProtocolError(GRPC_STATUS.INTERNAL, 'VAL-E003', 'Error deserializing request');
  }
  return service;
}

/** HealthCheckResponse: the status is field 1. */
function statusMessage(status: number): Uint8Array {
  return Uint8Array.of(8, status);
}
