// Every scenario, in the order in which the suite runs them: what people meet first, then what it is made of. Loaded
// one by one, since a process measures one.
import type { Scenario } from './lib/scenario.ts';

export const SUITE: Readonly<Record<string, () => Promise<{ readonly scenario: Scenario }>>> = {
  add: () => import('./scenarios/add.ts'),
  batch: () => import('./scenarios/batch.ts'),
  serve: () => import('./scenarios/serve.ts'),
  relevance: () => import('./scenarios/relevance.ts'),
  likeness: () => import('./scenarios/likeness.ts'),
  hybrid: () => import('./scenarios/hybrid.ts'),
  backlog: () => import('./scenarios/backlog.ts'),
  peers: () => import('./scenarios/peers.ts'),
  ingest: () => import('./scenarios/ingest.ts'),
  recall: () => import('./scenarios/recall.ts'),
  tenants: () => import('./scenarios/tenants.ts'),
  footprint: () => import('./scenarios/footprint.ts'),
  codec: () => import('./scenarios/codec.ts'),
  provenance: () => import('./scenarios/provenance.ts'),
  cal: () => import('./scenarios/cal.ts'),
  'cal-assemble': () => import('./scenarios/cal-assemble.ts'),
  log: () => import('./scenarios/log.ts'),
  text: () => import('./scenarios/text.ts'),
  index: () => import('./scenarios/index.ts'),
  vectors: () => import('./scenarios/vectors.ts'),
  encoder: () => import('./scenarios/encoder.ts'),
  extraction: () => import('./scenarios/extraction.ts'),
  pii: () => import('./scenarios/pii.ts'),
  govern: () => import('./scenarios/govern.ts'),
  erase: () => import('./scenarios/erase.ts'),
  'cal-parse': () => import('./scenarios/cal-parse.ts'),
  handoff: () => import('./scenarios/handoff.ts'),
  transport: () => import('./scenarios/transport.ts'),
};
