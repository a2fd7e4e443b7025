// Decides whether a memory's texts may be sent to an embedder, and how.
import type { MemoryRecord } from '../control/records.ts';
import { type Departure, type Destination, departureTo, type Governed, whole } from '../models/egress.ts';
import type { VectorBackend } from './backends.ts';

/** The deployment's default backend, and where its backend `remote` sends texts; undefined: it has none. */
export interface VectorsSetup {
  readonly own: VectorBackend;
  readonly destination: Destination | undefined;
}

/**
 * How texts may be sent to the backend `remote`; undefined: not at all, whatever the policy says. They may when the memory
 * chose it, or chose nothing and it is the deployment's default. A memory that switched to another backend sends nothing
 * more, although its old vectors still answer. A provider on this machine is not external.
 */
export function departureForVectors(
  memory: Pick<MemoryRecord, 'vectorBackend'> & Governed,
  { own, destination }: VectorsSetup,
): Departure | undefined {
  if (destination === undefined) return undefined;
  if (!destination.external) return { leaving: whole };
  const { vectorBackend = '' } = memory;
  const isChosen = vectorBackend === 'remote' || (vectorBackend === '' && own === 'remote');
  return isChosen ? departureTo(memory, destination) : undefined;
}

/** True if some text of the memory may be sent. */
export function sendsForVectors(memory: Pick<MemoryRecord, 'vectorBackend'> & Governed, setup: VectorsSetup): boolean {
  const departure = departureForVectors(memory, setup);
  return departure !== undefined && ('leaving' in departure || departure.withGrants !== undefined);
}

/** Backends whose embedder sends texts to another machine, and where that is. */
export interface Outside {
  readonly backends: readonly string[];
  readonly region?: string | undefined;
}

export function outsideBackends({ own, destination }: VectorsSetup): Outside {
  if (destination?.external !== true) return { backends: [] };
  return { backends: own === 'remote' ? ['', 'remote'] : ['remote'], region: destination.region };
}
