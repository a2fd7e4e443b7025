// Reads of one session over several partitions. The grains of a session id are in one partition, but those of a namespace
// with the session's name may be in any.
import { ANSWER_BYTES_MAX } from '../../engine/base/limits.ts';
import { AnswerRoom, partOfGrain, withinRoom } from '../../engine/grain/api/answer-room.ts';
import { idsOf, taskOf } from '../../engine/session/chain.ts';
import { compareGoalPlaces, compareGoals } from '../../engine/session/goals-of.ts';
import type { GrainView, Input, Output } from '../protocol.ts';
import type { Fan } from './fan.ts';
import { sumOf } from './merge.ts';
import { comesBefore } from './pages.ts';
import { bytesOf } from './recall.ts';
import type { Held } from './room.ts';
import { withAllSources } from './sources.ts';

/** Every partition answers as if it were the only one. Usually one round; an offset is found in a round before. */
export async function gatherSession(fan: Fan, asked: Input<'session'>, held: Held): Promise<Output<'session'>> {
  const input = await withoutOffset(fan, asked);
  const { bytesMax = ANSWER_BYTES_MAX } = input;
  const bytesEach = Math.ceil((await held.room(2 * bytesMax)) / fan.partitions);
  const parts = await fan.all('session', { ...input, bytesMax: bytesEach });
  for (const { state, goals, actions } of parts) held.add(bytesOf([state, ...goals, ...actions]));
  const room = new AnswerRoom(bytesMax);
  const [state = null] = parts.flatMap((part) => part.state ?? []).sort(byNewest);
  if (state !== null) room.takes(partOfGrain(state));
  const goals = withinRoom(mergedGoals(parts, input.goals?.limit ?? 0), room, partOfGrain);
  const merged = mergedActions(parts, input.actions);
  const actions = withinRoom(merged, room, partOfGrain);
  const actionsTotal = sumOf(parts, 'actionsTotal');
  const sourced = await withAllSources(fan, [...(state === null ? [] : [state]), ...goals, ...actions]);
  const first = state === null ? 0 : 1;
  return {
    state: state === null ? null : sourced[0]!,
    seen: mergeSeen(parts.flatMap(({ seen }) => seen ?? [])),
    goals: sourced.slice(first, first + goals.length),
    goalsTotal: sumOf(parts, 'goalsTotal'),
    moreGoals:
      parts.some(({ moreGoals }) => moreGoals) ||
      goals.length < parts.reduce((count, part) => count + part.goals.length, 0),
    actions: sourced.slice(first + goals.length),
    actionsTotal,
    moreActions:
      actions.length < merged.length ||
      parts.some((part) => part.moreActions) ||
      merged.length <
        sumOf(
          parts.map((part) => ({ count: part.actions.length })),
          'count',
        ),
  };
}

/**
 * Replaces the offset of a list by the place where the page begins. The partitions' places are merged for it, which opens
 * no grain.
 */
async function withoutOffset(fan: Fan, asked: Input<'session'>): Promise<Input<'session'>> {
  const { goals, actions } = asked;
  const offset = goals?.offset ?? actions?.offset ?? 0;
  if (offset === 0) return asked;
  const isOfGoals = goals?.offset !== undefined;
  const list = isOfGoals
    ? { goals: { ...goals, offset: undefined, limit: offset } }
    : { actions: { ...actions!, offset: undefined, limit: offset } };
  const found = await fan.all('session', { sessionId: asked.sessionId, ...list, placesOnly: true });
  const places = found.flatMap(({ places: own = [] }) => own).sort(isOfGoals ? compareGoalPlaces : byPlace(actions));
  const after = places.slice(0, offset).at(-1);
  const rest = isOfGoals ? { goals: { ...goals, offset: undefined } } : { actions: { ...actions!, offset: undefined } };
  if (after === undefined) return { ...asked, ...rest };
  return isOfGoals
    ? { ...asked, goals: { ...rest.goals!, after } }
    : { ...asked, actions: { ...rest.actions!, after: { createdAtMs: after.createdAtMs, hash: after.hash } } };
}

function mergeSeen(all: readonly NonNullable<Output<'session'>['seen']>[]): Output<'session'>['seen'] {
  if (all.length === 0) return null;
  return {
    firstMs: Math.min(...all.map(({ firstMs }) => firstMs)),
    lastMs: Math.max(...all.map(({ lastMs }) => lastMs)),
  };
}

const byNewest = (a: GrainView, b: GrainView): number => (comesBefore(a, b, 'desc') ? -1 : 1);

/** A partition without room for all of its goals ends the list: what follows there is not known. */
function mergedGoals(parts: readonly Output<'session'>[], limit: number): readonly GrainView[] {
  const last = parts
    .filter(({ goals, moreGoals }) => moreGoals && goals.length < limit)
    .map(({ goals }) => goals.at(-1));
  const merged = parts.flatMap(({ goals }) => goals).sort(compareGoals);
  return merged
    .slice(0, limit)
    .filter((goal) => last.every((one) => one !== undefined && compareGoals(goal, one) <= 0));
}

type Place = Pick<GrainView, 'createdAtMs' | 'hash'>;

/** The order of a list of actions: by time, ties by hash ascending. */
function byPlace({ order = 'desc' }: { readonly order?: 'asc' | 'desc' | undefined } = {}) {
  return (a: Place, b: Place): number => (comesBefore(a, b, order) ? -1 : 1);
}

/** As with goals: nothing is shown that another partition's next action could come before. */
function mergedActions(
  parts: readonly Output<'session'>[],
  { limit, order = 'desc' }: NonNullable<Input<'session'>['actions']> = { limit: 0 },
): readonly GrainView[] {
  const last = parts
    .filter(({ actions, moreActions }) => moreActions && actions.length < limit)
    .map(({ actions }) => actions.at(-1));
  const merged = parts.flatMap(({ actions }) => actions).sort(byPlace({ order }));
  return merged
    .slice(0, limit)
    .filter((action) => last.every((one) => one !== undefined && !comesBefore(one, action, order)));
}

/** Rounds of one chain over several partitions. Each follows the names that the one before found elsewhere. */
const CHAIN_ROUNDS_MAX = 16;

type Side = 'below' | 'above';
const SIDES: readonly Side[] = ['below', 'above'];

/** Usually one round: a partition follows its own names without being asked. */
export async function gatherChain(fan: Fan, input: Input<'sessionChain'>): Promise<Output<'sessionChain'>> {
  const found = { below: new Map<string, GrainView>(), above: new Map<string, GrainView>() };
  const names: Record<Side, Set<string>> = { below: new Set(input.below), above: new Set(input.above) };
  const followed = Array.from({ length: fan.partitions }, () => ({ below: new Set(), above: new Set() }));
  const room = new AnswerRoom();
  let cut = false;
  for (let round = 0; !cut; round += 1) {
    const asked = followed.map((known) => ({
      below: [...names.below].filter((name) => !known.below.has(name)),
      above: [...names.above].filter((name) => !known.above.has(name)),
    }));
    const partitions = [...asked.keys()].filter((at) => asked[at]!.below.length + asked[at]!.above.length > 0);
    if (partitions.length === 0) break;
    if (round === CHAIN_ROUNDS_MAX) return { ...shown(found), cut: true };
    const answers = await Promise.all(partitions.map((at) => fan.one(at, 'sessionChain', { ...input, ...asked[at]! })));
    for (const [i, answer] of answers.entries()) {
      const known = followed[partitions[i]!]!;
      for (const side of SIDES) for (const name of asked[partitions[i]!]![side]) known[side].add(name);
      for (const side of SIDES)
        for (const action of answer[side]) {
          follow(side, action, [known, names]);
          if (found.below.has(action.hash) || found[side].has(action.hash)) continue;
          cut ||= found.below.size + found.above.size >= input.limit || !room.takes(partOfGrain(action));
          if (cut) break;
          // An action above one part of the chain may turn out to be below another.
          found.above.delete(action.hash);
          found[side].set(action.hash, action);
        }
      cut ||= answer.cut;
    }
  }
  return { ...shown(found), cut };
}

/** Adds the names that lead on from an action: those below it, unless it stands above, and the one above it. */
function follow(side: Side, action: GrainView, into: readonly Record<Side, Set<unknown>>[]): void {
  for (const names of into) {
    if (side === 'below') for (const name of idsOf(action)) names.below.add(name);
    for (const name of taskOf(action)) names.above.add(name);
  }
}

function shown(found: Record<'below' | 'above', ReadonlyMap<string, GrainView>>) {
  return { below: [...found.below.values()], above: [...found.above.values()] };
}
