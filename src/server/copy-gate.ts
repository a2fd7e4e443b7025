// Which requests a node answers by its copy of the control log. The others are answered by the server that has the log itself
// (nodes/passing): the gate throws NeedsLeader for what is known before the work, and `isElsewhere` judges a failure of it.
import { EngineError } from '../engine/base/errors.ts';
import type { Admitted } from './admission.ts';
import { type Arrival, waitHeader } from './arrival.ts';
import { NeedsLeader } from './control/replica/needs-leader.ts';
import type { Operation } from './operations/define.ts';

/** A node's copy of the control log. */
export interface CopyInUse {
  /** False while no request may begin with it. */
  readonly mayBegin: () => boolean;
  /** True for the refusal of a call that met too old a copy. It may be new again by now. */
  readonly isTooOld: (error: EngineError) => boolean;
}

export class CopyGate {
  readonly #copy: CopyInUse;

  constructor(copy: CopyInUse) {
    this.#copy = copy;
  }

  /**
   * Before authentication, which reads keys from the copy: throws NeedsLeader when the copy is too old for the operation, and
   * STO-E002 for one that only this node can answer.
   */
  requireRecent({ onAnyNode, needs, ofNode }: Operation): void {
    if (onAnyNode !== false && (needs === 'public' || this.#copy.mayBegin())) return;
    if (ofNode)
      throw new EngineError(
        'STO-E002',
        'the copy of the control log is too old to check keys, and no other node can answer this: try again later',
      );
    throw new NeedsLeader('the copy of the control log is too old');
  }

  /**
   * Throws NeedsLeader for what only the server of the deployment can do: wait for vectors, which it makes, and change several
   * partitions, whose changes take turns in one process.
   */
  requireHere(arrival: Arrival, { memory }: Admitted): void {
    if (waitHeader(arrival) !== undefined) throw new NeedsLeader('the request waits for vectors');
    if (arrival.operation.mutates && memory !== undefined && memory.partitions > 1)
      throw new NeedsLeader('the change is of several partitions');
  }

  /**
   * True for a failure after which another node can answer the request. When the copy became too old meanwhile, the owner of
   * the control log may do a read again, and a change whose call was not sent: it is the last call of its request.
   */
  isElsewhere(caught: unknown, { mutates, ofNode }: Operation): boolean {
    if (caught instanceof NeedsLeader) return true;
    if (!(caught instanceof EngineError) || caught.code !== 'STO-E002' || ofNode) return false;
    if (mutates) return caught.isElsewhere;
    return this.#copy.isTooOld(caught) || !this.#copy.mayBegin();
  }
}
