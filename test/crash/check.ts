// Checks everything that was acknowledged, and looks for anything unrequested. Unanswered calls are settled by the
// actual state, which must then be consistent: by address, structure, words and chain.

import type { Random } from '../support/random.ts';
import { type Answer, type Door, type Question, Refused, type Seen } from './door.ts';
import type { Chain, Memory, Model, Version } from './model.ts';

/** Chains unchanged since their last check that are checked again. */
const OLD_CHAINS = 40;
const QUESTIONS_AT_ONCE = 200;

/** Problems, in words. With `all` every chain is checked, otherwise changed ones and a few more. */
export async function check(door: Door, model: Model, random: Random, all: boolean): Promise<string[]> {
  const problems: string[] = [];
  for (const memory of model.memories) {
    if (memory.state === 'dropped') {
      if (all || random.chance(0.2)) await checkDropped(door, memory, problems);
    } else await new MemoryCheck(door, memory, problems).run(random, all);
  }
  for (const { what, versions } of model.fates) {
    const kept = versions.filter((version) => version.state === 'there').length;
    const live = versions.every((version) => version.chain.memory.state === 'live');
    if (live && kept !== 0 && kept !== versions.length)
      problems.push(`${what} was half done: ${kept} of ${versions.length} versions stayed`);
  }
  model.fates = [];
  for (const memory of model.memories) {
    const owners = [...memory.chains, ...memory.users];
    for (const { removals } of owners)
      for (const removal of removals) removal.end = Math.min(removal.end, model.tick());
  }
  problems.push(...(await door.verify()).map((finding) => `verify: ${finding}`));
  return problems;
}

async function checkDropped(door: Door, memory: Memory, problems: string[]): Promise<void> {
  const hash = memory.chains.flatMap((chain) => chain.versions).find((version) => version.hash !== undefined)?.hash;
  const questions: Question[] = [{ ask: 'total' }, ...(hash === undefined ? [] : [{ ask: 'get', hash } as const])];
  for (const answer of await door.look(memory.number, questions))
    if (!('code' in answer) || answer.code !== 'MEM-E003')
      problems.push(`memory ${memory.number} was dropped and answers ${JSON.stringify(answer)}`);
}

class MemoryCheck {
  readonly #door: Door;
  readonly #memory: Memory;
  readonly #problems: string[];

  constructor(door: Door, memory: Memory, problems: string[]) {
    this.#door = door;
    this.#memory = memory;
    this.#problems = problems;
  }

  async run(random: Random, all: boolean): Promise<void> {
    const memory = this.#memory;
    if (!(await this.#settleMemory())) return;
    const old = memory.chains.filter((chain) => !chain.fresh);
    const again = all ? old : Array.from({ length: Math.min(OLD_CHAINS, old.length) }, () => random.pick(old));
    const chains = [...new Set([...memory.chains.filter((chain) => chain.fresh), ...again])];
    await this.#checkChains(chains);
    for (const chain of chains) chain.fresh = false;
    const there = memory.chains.flatMap((chain) => chain.versions).filter((version) => version.state === 'there');
    const [total] = await this.#ask([{ ask: 'total' }]);
    if (total === undefined || !('total' in total) || total.total !== there.length)
      this.#problem(`there should be ${there.length} grains: ${JSON.stringify(total)}`);
    const audit = await this.#door.audit(memory.number);
    if (!audit.valid || audit.checked < memory.audited)
      this.#problem(`the audit chain is ${JSON.stringify(audit)} after ${memory.audited} acts`);
    await this.#checkProofs();
  }

  /** A memory whose creation or deletion was not answered exists completely, or not at all. */
  async #settleMemory(): Promise<boolean> {
    const memory = this.#memory;
    if (memory.state === 'live') return true;
    const [total] = await this.#ask([{ ask: 'total' }]);
    memory.state = total !== undefined && 'total' in total ? 'live' : 'dropped';
    // A shard may still have its part: the deployment's own records would remove it at the start.
    if (memory.state === 'dropped')
      await this.#door.dropMemory(memory.number).catch((error: unknown) => {
        if (!(error instanceof Refused)) throw error;
      });
    return memory.state === 'live';
  }

  async #checkChains(chains: readonly Chain[]): Promise<void> {
    const questions: Question[] = [];
    for (const { subject, versions } of chains) {
      questions.push({ ask: 'subject', subject });
      for (const { word, hash } of versions) {
        questions.push({ ask: 'word', word });
        if (hash !== undefined) questions.push({ ask: 'get', hash });
      }
    }
    const answers = await this.#ask(questions);
    const next = (): Answer => answers.shift()!;
    const looks = chains.map((chain) => {
      const subject = hashesIn(next());
      const words = new Map<Version, readonly string[] | undefined>();
      const gets = new Map<string, Answer>();
      for (const version of chain.versions) {
        words.set(version, hashesIn(next()));
        if (version.hash !== undefined) gets.set(version.hash, next());
      }
      return { chain, subject, words, gets };
    });
    await this.#completeGets(looks);
    for (const look of looks) this.#checkChain(look);
    await this.#checkHistories(looks);
  }

  /** Gets the versions known only from answers by subject or word. */
  async #completeGets(looks: readonly Look[]): Promise<void> {
    const missing = looks.flatMap(({ subject, words, gets }) => {
      const returned = [...(subject ?? []), ...[...words.values()].flatMap((hashes) => hashes ?? [])];
      return [...new Set(returned)].filter((hash) => !gets.has(hash)).map((hash) => ({ hash, gets }));
    });
    const answers = await this.#ask(missing.map(({ hash }) => ({ ask: 'get', hash })));
    missing.forEach(({ hash, gets }, i) => {
      gets.set(hash, answers[i]!);
    });
  }

  #checkChain({ chain, subject, words, gets }: Look): void {
    const seen = new Map<string, Seen>();
    for (const [hash, answer] of gets) if ('seen' in answer) seen.set(hash, answer.seen);
    if (!this.#door.tellsPredecessor) tellPredecessors(seen);
    const about = `chain ${chain.subject}`;
    const listed = new Set(subject ?? []);
    if (subject === undefined || listed.size !== subject.length)
      this.#problem(`${about} lists ${JSON.stringify(subject)}`);
    for (const hash of new Set([...seen.keys(), ...listed]))
      if (!seen.has(hash) || !listed.has(hash))
        this.#problem(
          `${about}: ${hash} is ${seen.has(hash) ? '' : 'not '}there by address (${JSON.stringify(gets.get(hash))}) and ${listed.has(hash) ? '' : 'not '}by subject`,
        );
    const byWord = new Map<string, Seen[]>();
    for (const view of seen.values()) byWord.set(view.word, [...(byWord.get(view.word) ?? []), view]);
    for (const version of chain.versions) {
      const found = byWord.get(version.word) ?? [];
      byWord.delete(version.word);
      this.#checkVersion(version, found, words.get(version));
    }
    for (const [word, views] of byWord) this.#problem(`${about} has "${word}", which nobody wrote: ${views[0]?.hash}`);
    if (chain.versions.some((version) => version.state === 'gone')) chain.broken = true;
    if (!chain.broken) this.#checkLinks(chain, seen);
  }

  #checkVersion(version: Version, views: readonly Seen[], words: readonly string[] | undefined): void {
    const { chain, state, word } = version;
    const about = `version ${word} of ${chain.subject} in memory ${chain.memory.number} (${state}, asked at ${version.start}, answered at ${version.end})`;
    const [view] = views;
    if (views.length > 1) this.#problem(`${about} is there ${views.length} times`);
    const shouldBe = state === 'there' ? true : state === 'gone' || state === 'never' ? false : view !== undefined;
    if ((view !== undefined) !== shouldBe) this.#problem(`${about} is ${view === undefined ? 'lost' : 'still there'}`);
    const inWords = words?.length === (view === undefined ? 0 : 1) && (view === undefined || words[0] === view.hash);
    if (!inWords) this.#problem(`${about} has hash ${view?.hash} and is found by words as ${JSON.stringify(words)}`);
    if (view === undefined) {
      if (state !== 'never') version.state = version.hash === undefined ? 'never' : 'gone';
      return;
    }
    const isSame = view.subject === chain.subject && view.user === chain.user?.name;
    if (!isSame || (version.hash !== undefined && version.hash !== view.hash))
      this.#problem(`${about} reads back as ${JSON.stringify(view)}`);
    if (version.previous !== undefined && view.supersedes !== version.previous && !chain.broken)
      this.#problem(`${about} took the place of ${view.supersedes}, not ${version.previous}`);
    if (version.state === 'pending' && chain.user !== undefined) chain.user.proof = undefined;
    version.state = 'there';
    version.hash = view.hash;
    version.previous = view.supersedes;
  }

  /** One path from the first version to the last, linked in both directions, with correct numbers. */
  #checkLinks(chain: Chain, seen: ReadonlyMap<string, Seen>): void {
    const there = chain.versions.filter((version) => version.state === 'there');
    for (const version of there) {
      const view = seen.get(version.hash!);
      if (view === undefined) continue;
      const before = version.previous === undefined ? undefined : seen.get(version.previous);
      const after = view.supersededBy === undefined ? undefined : seen.get(view.supersededBy);
      const isLinked =
        (version.previous === undefined || before?.supersededBy === view.hash) &&
        (view.supersededBy === undefined || after?.supersedes === view.hash);
      const isRoot = version === chain.versions[0];
      if (!isLinked || isRoot !== (version.previous === undefined))
        this.#problem(`${version.word} of ${chain.subject} is half linked: ${JSON.stringify([before, view, after])}`);
      const visits = 'set' in version.visits ? version.visits.set : (before?.visits ?? 0) + version.visits.added;
      if (view.visits !== visits)
        this.#problem(`${version.word} of ${chain.subject} counts ${view.visits}, not ${visits}`);
    }
    const tips = [...seen.values()].filter((view) => view.supersededBy === undefined);
    if (seen.size > 0 && tips.length !== 1) this.#problem(`${chain.subject} has ${tips.length} current versions`);
  }

  async #checkHistories(looks: readonly Look[]): Promise<void> {
    const whole = looks.filter(({ chain }) => !chain.broken && chain.versions.some(({ state }) => state === 'there'));
    const asked = whole.map(({ chain }) => chain.versions.findLast((version) => version.state === 'there')!.hash!);
    const answers = await this.#ask(asked.map((hash) => ({ ask: 'history', hash })));
    whole.forEach(({ chain }, i) => {
      const there = chain.versions.filter((version) => version.state === 'there');
      const path: string[] = [];
      for (let at = there.find((version) => version.previous === undefined); at !== undefined; ) {
        path.push(at.hash!);
        const { hash } = at;
        at = there.find((version) => version.previous === hash);
      }
      const returned = hashesIn(answers[i]!);
      if (path.length !== there.length || path.join() !== returned?.join())
        this.#problem(`the history of ${chain.subject} is ${JSON.stringify(answers[i])}, not ${path.join()}`);
    });
  }

  /** A repeated erasure returns the same proof. */
  async #checkProofs(): Promise<void> {
    for (const user of this.#memory.users) {
      if (user.proof === undefined) continue;
      try {
        const { count, fingerprint } = await this.#door.eraseUser(this.#memory.number, user.name);
        if (count !== 0 || fingerprint !== user.proof)
          this.#problem(`${user.name} was erased (${user.proof}); a second call says ${count} and ${fingerprint}`);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        this.#problem(`the second erasure of ${user.name} was refused: ${error.message}`);
      }
    }
  }

  async #ask(questions: readonly Question[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (let from = 0; from < questions.length; from += QUESTIONS_AT_ONCE) {
      const some = questions.slice(from, from + QUESTIONS_AT_ONCE);
      answers.push(...(await this.#door.look(this.#memory.number, some)));
    }
    return answers;
  }

  #problem(text: string): void {
    this.#problems.push(`memory ${this.#memory.number}: ${text}`);
  }
}

interface Look {
  readonly chain: Chain;
  readonly subject: readonly string[] | undefined;
  readonly words: ReadonlyMap<Version, readonly string[] | undefined>;
  readonly gets: Map<string, Answer>;
}

function tellPredecessors(seen: Map<string, Seen>): void {
  for (const { hash, supersededBy } of [...seen.values()]) {
    const successor = supersededBy === undefined ? undefined : seen.get(supersededBy);
    if (successor !== undefined) seen.set(successor.hash, { ...successor, supersedes: hash });
  }
}

function hashesIn(answer: Answer): readonly string[] | undefined {
  return 'hashes' in answer ? answer.hashes : undefined;
}
