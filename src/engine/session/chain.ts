// Finds the actions of a task: the actions that name it, with their ancestors and descendants. One action names another
// by its hash or its call id, in `parent_task_id`; the start and the end of a call share their call id.
import type { GrainView } from '../calls/grain.ts';
import type { ActionChain, ChainQuery } from '../calls/session.ts';
import { AnswerRoom, partOfGrain } from '../grain/api/answer-room.ts';
import { DocSet } from '../index/docs/docset.ts';
import { type Doc, fieldKey, type IndexPart } from '../index/parts/part.ts';
import { type SessionPlaces, viewPlace } from './places.ts';

/**
 * The actions below and above the names, with all ancestors and descendants in these parts. Each action is found once,
 * so a cycle ends. `cut` if there are more than `limit`, or more than an answer holds.
 */
export function actionChain(session: SessionPlaces, { below, above, limit }: ChainQuery): ActionChain {
  const chain = new Chain(session, limit);
  // The actions below come first, so that an action both above and below is walked downwards too.
  const under = chain.walk(below, BELOW, idsOf);
  const parents = under.flatMap(taskOf);
  const over = chain.walk([...above, ...parents], ABOVE, taskOf);
  return { below: under, above: over, cut: chain.isCut };
}

/** The names that other actions use for this one. */
export function idsOf({ hash, fields }: GrainView): string[] {
  const callId = fields['tool_call_id'];
  return typeof callId === 'string' && callId !== '' ? [hash, callId] : [hash];
}

/** The name of the parent of this action. */
export function taskOf({ fields }: GrainView): string[] {
  const task = fields['parent_task_id'];
  return typeof task === 'string' && task !== '' ? [task] : [];
}

/** Where a name is looked up: the fields of the index, besides hashes. */
const BELOW = ['parent_task_id', 'tool_call_id'] as const;
const ABOVE = ['tool_call_id'] as const;

const NOTHING = new Uint32Array(0);
const HASH = /^[0-9a-f]{64}$/;

class Chain {
  readonly #session: SessionPlaces;
  readonly #limit: number;
  readonly #room = new AnswerRoom();
  /** For each part the docs of the session, and those that were found. */
  readonly #parts: readonly { readonly part: IndexPart; readonly within: DocSet; readonly found: DocSet }[];
  #count = 0;
  isCut = false;

  constructor(session: SessionPlaces, limit: number) {
    this.#session = session;
    this.#limit = limit;
    this.#parts = session.parts.map((part, at) => ({
      part,
      within: DocSet.of(part.docCount, session.filters[at]!.docs ?? NOTHING),
      found: new DocSet(part.docCount),
    }));
  }

  walk(
    names: readonly string[],
    fields: readonly string[],
    next: (action: GrainView) => readonly string[],
  ): GrainView[] {
    const actions: GrainView[] = [];
    const asked = new Set(names);
    for (const name of asked) {
      if (this.isCut) break;
      for (const action of this.#named(name, fields)) {
        this.isCut = this.#count >= this.#limit || !this.#room.takes(partOfGrain(action));
        if (this.isCut) break;
        this.#count += 1;
        actions.push(action);
        // A set that grows while it is walked is walked to its new end.
        for (const further of next(action)) asked.add(further);
      }
    }
    return actions;
  }

  *#named(name: string, fields: readonly string[]): IterableIterator<GrainView> {
    for (const [at, { part, within, found }] of this.#parts.entries()) {
      const { test } = this.#session.filters[at]!;
      const outcomes = part.numbers('outcome');
      if (outcomes === undefined) continue;
      for (const doc of docsNamed(part, name, fields)) {
        if (!within.has(doc) || found.has(doc) || Number.isNaN(outcomes[doc]!) || !test(doc)) continue;
        const view = viewPlace(this.#session, { part: at, doc });
        // The index has only the beginning of a hash.
        if (view === undefined || !(idsOf(view).includes(name) || taskOf(view).includes(name))) continue;
        found.add(doc);
        yield view;
      }
    }
  }
}

function* docsNamed(part: IndexPart, name: string, fields: readonly string[]): IterableIterator<Doc> {
  for (const field of fields) yield* part.facet('call', fieldKey(field, name)) ?? NOTHING;
  if (HASH.test(name)) yield* part.address(name);
}
