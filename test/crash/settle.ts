// Applies requests to the model in an order that explains their answers. Writes of different chains commute, so an order
// is needed within a chain, and between the erasures of a user and that user's chains.
import type { Output } from '../../src/shards/protocol.ts';
import { Discrepancy, same } from '../model/compare.ts';
import { apply, nextOfChain, partOf, settleForget, tryWrite } from '../model/exchange.ts';
import { type ModelGrain, shownFields } from '../model/grain.ts';
import { describe, type RequestOf } from '../model/request.ts';
import { type Chain, type Exchange, User, wordOf } from './knowledge.ts';

type VersionRequest = RequestOf<'add' | 'supersede' | 'accumulate'>;

/** The addresses that the store holds, by chain. */
export type Held = ReadonlyMap<Chain, ReadonlySet<string>>;

/** Settles what ran on the chain or the user, if all is answered and the answers alone tell an order. */
export function settleWhenClear(owner: Chain | User): void {
  const unit = unitOf(owner);
  if (unit.inFlight === 0 && isClear(unit)) settle(unit, new Map());
}

/** A chain, or with an erasure the user with all chains: its requests commute with those of others. */
export function unitOf(owner: Chain | User): Chain | User {
  return owner instanceof User || (owner.user?.open.length ?? 0) === 0 ? owner : owner.user!;
}

export function chainsOf(unit: Chain | User): readonly Chain[] {
  return unit instanceof User ? unit.chains : [unit];
}

const isLost = ({ answer }: Exchange): boolean => answer.kind === 'crashed';
const isAdd = ({ request }: Exchange): boolean => request.method === 'add';
const overlap = (a: Exchange, b: Exchange): boolean => a.start < b.end && b.start < a.end;
const isForget = ({ request }: Exchange): boolean => request.method === 'forget';

function isClear(unit: Chain | User): boolean {
  const exchanges = chainsOf(unit).flatMap(({ open }) => open);
  const erasures = unit instanceof User ? unit.open : [];
  if ([...exchanges, ...erasures].some(isLost)) return false;
  return !exchanges.some((one) => isAdd(one) && erasures.some((erasure) => overlap(one, erasure)));
}

/** Applies all open requests. Throws Discrepancy for an answer that no order explains. */
export function settle(unit: Chain | User, held: Held): void {
  const isCertain = isClear(unit) && unit.open.length === 1;
  const isAnswered = !chainsOf(unit).some(({ open }) => open.some(isLost));
  let waiting = chainsOf(unit).filter(({ open }) => open.length > 0);
  const late: Exchange[] = [];
  if (unit instanceof User) {
    const erasures = unit.open.splice(0).sort((a, b) => a.end - b.end);
    let excess = 0;
    for (const erasure of erasures) {
      for (const chain of waiting) if (isBefore(chain, erasure, held)) late.push(...applyChain(chain, held));
      waiting = waiting.filter(({ open }) => open.length > 0);
      excess += erase(unit, erasure, held, isCertain);
    }
    // Of two that ran at once, either one may have counted a grain.
    if (isAnswered && !erasures.some((one) => isLost(one) || one.isRepeated) && excess !== 0)
      throw new Discrepancy(
        `the erasures of ${unit.name} counted ${excess > 0 ? `${excess} too many` : `${-excess} too few`}`,
      );
  }
  for (const chain of waiting) late.push(...applyChain(chain, held));
  const { model } = unit.memory;
  for (const exchange of late) apply(model, exchange, false);
  for (const chain of chainsOf(unit))
    if ([...chain.versions.keys()].some((hash) => model.find(hash) === undefined)) chain.broken = true;
}

/** True when the chain was there before the erasure. If both ran at once, it was if it is gone, and not by a forget. */
function isBefore(chain: Chain, erasure: Exchange, held: Held): boolean {
  const first = chain.open.find(isAdd);
  if (first === undefined) return true;
  if (!overlap(first, erasure)) return first.end < erasure.start;
  return (held.get(chain)?.size ?? 0) === 0 && !chain.open.some((one) => removedBy(one).length > 0);
}

/** Returns by how much the answer's count exceeds the model's. */
function erase(user: User, { request, answer }: Exchange, held: Held, isCertain: boolean): number {
  const { memory, name } = user;
  const { model } = memory;
  const what = describe(request);
  if (answer.kind === 'error') throw new Discrepancy(`refused with ${answer.code}: ${what}`);
  if (answer.kind !== 'value') {
    const targets = model.live.filter(({ user: of }) => of === name);
    const isHeld = (hash: string): boolean => user.chains.some((chain) => held.get(chain)?.has(hash) === true);
    // It took effect on all of them or on none.
    if (targets.length === 0 || targets.some(({ hash }) => isHeld(hash))) return 0;
  }
  const proof = answer.kind === 'value' ? (answer.value as Output<'eraseUser'>) : undefined;
  const expected = model.call('eraseUser', request.context, { userId: name });
  if (proof === undefined || !isCertain) {
    model.lostFingerprint(name);
    memory.unsureEntries += 2 * model.settings.partitions;
  } else if (expected.keyFingerprint === '') same(proof.keyFingerprint, '', what);
  else if (!model.tookFingerprint(expected, proof.keyFingerprint))
    throw new Discrepancy(`the fingerprint ${proof.keyFingerprint} cannot be right: ${what}`);
  return (proof?.count ?? 0) - expected.count;
}

/** Applies the open requests on a chain, but for those that a removal refused: these are returned. */
function applyChain(chain: Chain, held: Held): readonly Exchange[] {
  const { model } = chain.memory;
  const left = chain.open.splice(0);
  const told = (exchange: Exchange): void => {
    left.splice(left.indexOf(exchange), 1);
    apply(model, exchange, false);
  };
  const first = left.find(isAdd);
  // It came before the first version.
  for (const one of left.filter((other) => isForget(other) && removedBy(other).length === 0))
    if (one.answer.kind === 'value' && first !== undefined && overlap(one, first)) told(one);
  applyVersions(chain, left, new Set([...(held.get(chain) ?? []), ...left.flatMap(namedBy)]));
  for (const one of left.filter(isForget))
    if (removedBy(one).length > 0) told(one);
    else if (isLost(one)) settleForget(model, one.request as RequestOf<'forget'>, held.get(chain) ?? new Set());
  return left.filter((one) => !isLost(one));
}

/** Takes the versions that were made from `left`. `named`: addresses that the store holds or answers name. */
function applyVersions(chain: Chain, left: Exchange[], named: ReadonlySet<string>): void {
  const { model } = chain.memory;
  const tookEffect = ({ request }: Exchange): boolean => {
    const made = tryWrite(model, request as VersionRequest);
    if (made === undefined || named.has(made.hash)) return made !== undefined;
    made.undo();
    return false;
  };
  for (;;) {
    const versions = left.filter(({ request }) => request.method !== 'forget');
    const next = versions.find((one) => isAdd(one) && one.answer.kind === 'value') ?? nextOfChain(model, versions);
    if (next !== undefined) apply(model, next, false);
    const taken = next ?? versions.filter(isLost).find(tookEffect);
    if (taken === undefined) break;
    left.splice(left.indexOf(taken), 1);
    checkSent(chain, model.grains.at(-1)!, taken.request as VersionRequest);
  }
}

/** The model makes a version with the product's functions: it must have what the request says. */
function checkSent(chain: Chain, made: ModelGrain, { method, input }: VersionRequest): void {
  const sent = method === 'accumulate' ? input.set : input.fields;
  const { subject, user } = chain;
  const expected = { ...sent, subject, ...(user === undefined ? {} : { user_id: user.name }) };
  same(partOf(shownFields(made, {}), expected), expected, `the fields of ${made.hash}`);
  chain.versions.set(made.hash, wordOf(sent['object']));
}

/** Addresses that the forget removed. */
function removedBy({ request, answer }: Exchange): readonly string[] {
  return request.method === 'forget' && answer.kind === 'value' ? (answer.value as Output<'forget'>).hashes : [];
}

/** Addresses of versions in the answer. */
function namedBy(exchange: Exchange): readonly string[] {
  if (exchange.answer.kind !== 'value') return [];
  const { oldHash, newHash } = exchange.answer.value as Partial<Output<'accumulate'>>;
  return [oldHash, newHash, ...removedBy(exchange)].filter((hash) => hash !== undefined);
}
