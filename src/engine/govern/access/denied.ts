import { EngineError } from '../../base/errors.ts';

/** AUT-E001: no tuple gives the caller the relation that the act needs. The shard that refuses audits it. */
export class AccessDenied extends EngineError {
  readonly relation: string;
  /** The message does not name the namespace of a grain: the caller may not know it. */
  readonly object: { readonly memory: string } | { readonly namespace: string } | { readonly harness: string };

  constructor(relation: string, object: AccessDenied['object']) {
    super('AUT-E001', `the caller needs the relation ${relation} to ${nameOf(object)}`, {
      details: [{ field: 'authorization', issue: relation }],
    });
    this.relation = relation;
    this.object = object;
  }
}

function nameOf(object: AccessDenied['object']): string {
  if ('memory' in object) return `memory:${object.memory}`;
  return 'harness' in object ? `harness:${object.harness}` : 'the namespace of this grain';
}
