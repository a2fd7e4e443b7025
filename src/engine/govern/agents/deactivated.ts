import { EngineError } from '../../base/errors.ts';

/** AGT-E003: a deactivated agent writes nothing. The shard that refuses audits it. */
export class AgentDeactivated extends EngineError {
  /** The agent's id without `agent:`, or the did of the author that a grain names. */
  readonly agent: string;

  constructor(agent: string, field: 'authorization' | 'author_did') {
    super('AGT-E003', `the agent ${agent} is deactivated and can no longer write`, {
      details: [{ field, issue: 'deactivated' }],
    });
    this.agent = agent;
  }
}
