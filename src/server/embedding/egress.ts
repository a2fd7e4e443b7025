// Decides whether a memory's texts may be sent to an embedder, and how.
import type { MemoryRecord } from '../control/records.ts';
import { type Departure, type Destination, departureTo, type Governed, type Leaving, whole } from '../models/egress.ts';
import type { VectorBackend } from './embedders.ts';

/** The deployment's default backend, and where its backend `remote` sends texts; undefined: it has none. */
export interface VectorsSetup {
  readonly own: VectorBackend;
  readonly destination: Destination | undefined;
}

/**
 * How texts may be sent to the backend `remote`; undefined: not at all. They may when the memory chose it, or chose nothing
 * and it is the deployment's default, unless its policy forbids it. A memory that switched to another backend sends nothing
 * more, although its old vectors still answer. A provider on this machine is not external.
 */
export function leavingForVectors(
  memory: Pick<MemoryRecord, 'vectorBackend'> & Governed,
  { own, destination }: VectorsSetup,
): Leaving | undefined {
  if (destination === undefined) return undefined;
  if (!destination.external) return whole;
  const { vectorBackend = '' } = memory;
  const isChosen = vectorBackend === 'remote' || (vectorBackend === '' && own === 'remote');
  return isChosen ? allowed(departureTo(memory, destination)) : undefined;
}

function allowed(departure: Departure): Leaving | undefined {
  return 'leaving' in departure ? departure.leaving : undefined;
}

/** Backend names whose embedder sends texts to another machine. */
export function outsideBackends({ own, destination }: VectorsSetup): string[] {
  if (destination?.external !== true) return [];
  return own === 'remote' ? ['', 'remote'] : ['remote'];
}
