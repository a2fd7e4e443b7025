// Opens the providers of models. It loads no client of theirs: the first call does.
import type { Services } from '../context.ts';
import type { ControlChanges } from '../control/reading.ts';
import { LocalModels } from '../embedding/local-models.ts';
import { grantsOf } from '../models/grants.ts';
import { LanguageModels } from '../models/language.ts';
import { LocalReranker } from '../models/local-reranker.ts';
import { ModelLists } from '../models/model-lists.ts';
import { RecallModels } from '../models/models.ts';
import { Outgoing } from '../models/outgoing.ts';
import { privateHosts } from '../models/private-hosts.ts';
import { Providers } from '../models/providers.ts';
import { startModels } from '../models/start-models.ts';
import type { Shards } from '../shards.ts';
import type { Starting } from './starting.ts';

export type ModelParts = Pick<
  Services,
  'providers' | 'models' | 'modelLists' | 'outgoing' | 'recallModels' | 'hasGrants' | 'localReranker'
> & { readonly localModels: LocalModels };

export function openModels(
  { config, clock, lifecycle, log }: Starting,
  { control, router }: { readonly control: ControlChanges; readonly router: Pick<Shards, 'call'> },
): ModelParts {
  const nowMs = (): number => clock.nowMs();
  const providers = new Providers({ control, start: startModels(config), nowMs });
  const outgoing = new Outgoing({ hosts: privateHosts(config), nowMs });
  lifecycle.opened('connections to providers', () => outgoing.close());
  const hasGrants = grantsOf(router);
  const models = new LanguageModels({ providers, outgoing, hasGrants });
  lifecycle.opened('answers of models', () => models.close());
  const modelLists = new ModelLists({ providers, outgoing, nowMs });
  const localModels = new LocalModels(config);
  const assigned = () => providers.assignmentOf('rerank');
  const localReranker = new LocalReranker({ localModels, assigned, log });
  lifecycle.opened('reranker', () => localReranker.close());
  const recallModels = new RecallModels({ providers, models, outgoing, hasGrants, localReranker });
  return { providers, models, modelLists, outgoing, recallModels, hasGrants, localModels, localReranker };
}
