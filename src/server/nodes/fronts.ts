// All ports of a node for callers.
import type { FleetNode } from '../../engine/log/postgres/fleet.ts';
import type { Config } from '../config.ts';
import { type HostPort, parseHostPort } from '../host-port.ts';
import { Front } from './front.ts';

type FrontsConfig = Pick<Config, 'host' | 'httpPort' | 'grpcPort' | 'singlePort'>;

/** The ports for callers, while the server runs elsewhere. */
export class Fronts {
  readonly #fronts: readonly Front[];
  #isListening = false;
  #isPaused = false;

  constructor(config: FrontsConfig, self: string, leader: () => FleetNode | undefined) {
    const { host } = config;
    const at = (port: 'httpPort' | 'grpcPort') => (): HostPort | undefined => {
      const node = leader();
      // Connections must never come back to the ports that pass them on.
      if (node === undefined || this.#isPaused || (node.id === self && this.#isListening)) return undefined;
      return { host: parseHostPort(node.address).host, port: node[port] };
    };
    const http = new Front(host, config.httpPort, at('httpPort'));
    this.#fronts = config.singlePort ? [http] : [http, new Front(host, config.grpcPort, at('grpcPort'))];
  }

  get ports(): { readonly http: number; readonly grpc: number } {
    const [http, grpc = http] = this.#fronts;
    return { http: http!.port, grpc: grpc!.port };
  }

  /** Connections wait while the node tries to run the server. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
  }

  /** Ends connections to nodes that run the server no more. */
  endFormer(): void {
    for (const front of this.#fronts) front.endFormer();
  }

  /** Listens on all ports or, when it rejects with the error of the system, on none. */
  async listen(): Promise<void> {
    if (this.#isListening) return;
    this.#isListening = true;
    try {
      for (const front of this.#fronts) await front.listen();
    } catch (error) {
      await this.stopListening();
      throw error;
    }
  }

  async stopListening(): Promise<void> {
    this.#isListening = false;
    for (const front of this.#fronts) await front.stopListening();
  }

  async close(): Promise<void> {
    for (const front of this.#fronts) await front.close();
  }
}
