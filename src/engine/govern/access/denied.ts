import { EngineError } from '../../base/errors.ts';

/** AUT-E001: no tuple gives the caller the relation that the act needs. The shard that refuses audits it. */
export class AccessDenied extends EngineError {
  readonly relation: string;
  /** `memory:ID`, or the namespace of the grain. The message does not name it: the caller may not know it. */
  readonly object: { readonly memory: string } | { readonly namespace: string };

  constructor(relation: string, object: AccessDenied['object']) {
    const what = 'memory' in object ? `memory:${object.memory}` : 'the namespace of this grain';
    super('AUT-E001', `this needs the relation ${relation} to ${what}`, {
      details: [{ field: 'authorization', issue: relation }],
    });
    this.relation = relation;
    this.object = object;
  }
}
