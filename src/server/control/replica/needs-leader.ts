/** A request cannot be answered from a copy of the control log: the node that has the log itself answers it. */
export class NeedsLeader extends Error {
  override name = 'NeedsLeader';
}
