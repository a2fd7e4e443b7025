// Checks everything that was acknowledged, and looks for anything unrequested. Unanswered requests are settled by the
// actual state, which must then be the model's: by address, structure, words and chain.
import { Discrepancy, plainCode, same } from '../model/compare.ts';
import { partOf } from '../model/exchange.ts';
import { viewOf } from '../model/grain.ts';
import type { ModelMemory } from '../model/memory.ts';
import type { Random } from '../support/random.ts';
import { type Answer, type Door, type Question, Refused } from './door.ts';
import { type Chain, contextOf, type Knowledge, type Memory, wordIn } from './knowledge.ts';
import { chainsOf, settle, unitOf } from './settle.ts';

/** Chains unchanged since their last check that are checked again. */
const OLD_CHAINS = 40;
const QUESTIONS_AT_ONCE = 200;

/** Problems, in words. With `all` every chain is checked, otherwise changed ones and a few more. */
export async function check(door: Door, knowledge: Knowledge, random: Random, all: boolean): Promise<string[]> {
  const problems: string[] = [];
  for (const memory of knowledge.memories) {
    if (memory.state === 'dropped') {
      if (all || random.chance(0.2)) await checkDropped(door, memory, problems);
    } else await new MemoryCheck(door, memory, problems).run(random, all);
  }
  problems.push(...(await door.verify()).map((finding) => `verify: ${finding}`));
  return problems;
}

async function checkDropped(door: Door, memory: Memory, problems: string[]): Promise<void> {
  const [hash] = memory.chains.flatMap(({ versions }) => [...versions.keys()]);
  const questions: Question[] = [{ ask: 'total' }, ...(hash === undefined ? [] : [{ ask: 'get', hash } as const])];
  for (const answer of await door.look(memory.number, questions))
    if (!('code' in answer) || answer.code !== 'MEM-E003')
      problems.push(`memory ${memory.number} was dropped and answers ${JSON.stringify(answer)}`);
}

class MemoryCheck {
  readonly #door: Door;
  readonly #memory: Memory;
  readonly #model: ModelMemory;
  readonly #problems: string[];

  constructor(door: Door, memory: Memory, problems: string[]) {
    this.#door = door;
    this.#memory = memory;
    this.#model = memory.model;
    this.#problems = problems;
  }

  async run(random: Random, all: boolean): Promise<void> {
    const memory = this.#memory;
    if (!(await this.#settleMemory())) return;
    await this.#settleRequests();
    const old = memory.chains.filter((chain) => !chain.fresh);
    const again = all ? old : Array.from({ length: Math.min(OLD_CHAINS, old.length) }, () => random.pick(old));
    const chains = [...new Set([...memory.chains.filter((chain) => chain.fresh), ...again])];
    await this.#checkChains(chains);
    for (const chain of chains) chain.fresh = false;
    const [total] = await this.#ask([{ ask: 'total' }]);
    this.#same(total, { total: this.#model.live.length }, 'the number of grains');
    const { valid, checked } = await this.#door.audit(memory.number);
    const entries = this.#model.auditEntries - memory.unsureEntries;
    if (!valid || checked < entries)
      this.#problem(`the audit chain is ${valid ? '' : 'in'}valid with ${checked} entries, not ${entries} or more`);
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

  async #settleRequests(): Promise<void> {
    const { chains, users } = this.#memory;
    const units = new Set([...chains, ...users].filter(({ open }) => open.length > 0).map(unitOf));
    const looked = [...units].flatMap(chainsOf);
    const answers = await this.#ask(looked.map(({ subject }) => ({ ask: 'subject', subject })));
    const held = new Map(looked.map((chain, i) => [chain, new Set(hashesIn(answers[i]!))]));
    for (const unit of units) this.#compare(() => settle(unit, held));
  }

  async #checkChains(chains: readonly Chain[]): Promise<void> {
    const subjects = await this.#ask(chains.map(({ subject }) => ({ ask: 'subject', subject })));
    const looks = chains.map((chain, i) => ({ chain, questions: this.#questionsOn(chain, subjects[i]!) }));
    const answers = await this.#ask(looks.flatMap(({ questions }) => questions));
    for (const { chain, questions } of looks) {
      const told = questions.map(
        (question) => [Object.values(question).join(' '), question, answers.shift()!] as const,
      );
      const actual = Object.fromEntries(told.map(([name, question, answer]) => [name, plain(question, answer)]));
      const expected = told.map(([name, question, answer]) => [name, this.#expected(chain, question, answer)]);
      this.#same(actual, Object.fromEntries(expected), historyOf(chain));
    }
  }

  #questionsOn({ subject, versions, asked }: Chain, listed: Answer): readonly Question[] {
    const hashes = new Set([...versions.keys(), ...(hashesIn(listed) ?? [])]);
    const words = asked.map(({ request }) => wordIn(request)).filter((word) => word !== undefined);
    const last = [...versions.keys()].findLast((hash) => this.#model.find(hash) !== undefined);
    return [
      { ask: 'subject', subject },
      ...[...hashes].map((hash) => ({ ask: 'get', hash }) as const),
      ...words.map((word) => ({ ask: 'word', word }) as const),
      ...(last === undefined ? [] : [{ ask: 'history', hash: last } as const]),
    ];
  }

  /** The model's answer, as far as the door tells it. */
  #expected({ versions }: Chain, question: Question, answer: Answer): unknown {
    const model = this.#model;
    const live = [...versions].filter(([hash]) => model.find(hash) !== undefined);
    if (question.ask === 'subject') return { hashes: live.map(([hash]) => hash).sort() };
    if (question.ask === 'word')
      return { hashes: live.flatMap(([hash, word]) => (word === question.word ? [hash] : [])) };
    if (question.ask === 'total') return { total: model.live.length };
    const { ask, hash } = question;
    if (ask === 'history') return { hashes: model.history({}, hash).versions.map((version) => version.hash) };
    if (model.find(hash) === undefined) return { code: 'MEM-E001' };
    const seen = viewOf(model.get({}, hash), {});
    return { seen: 'seen' in answer ? partOf(seen, answer.seen) : seen };
  }

  /** A repeated erasure returns the same proof. */
  async #checkProofs(): Promise<void> {
    const context = contextOf(this.#memory.number);
    for (const { name: userId } of this.#memory.users) {
      if (!this.#model.isErased(userId)) continue;
      const request = { method: 'eraseUser', context, input: { userId } } as const;
      const what = `the second erasure of ${userId}`;
      try {
        const actual = (await this.#door.send(request)) as { count: number; keyFingerprint: string };
        const expected = this.#model.call('eraseUser', context, { userId });
        const known = expected.keyFingerprint;
        this.#same(actual.count, expected.count, what);
        if (!this.#model.tookFingerprint(expected, actual.keyFingerprint))
          this.#problem(`${what} says ${actual.keyFingerprint}, not ${known}`);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        this.#problem(`${what} was refused: ${error.message}`);
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

  #same(actual: unknown, expected: unknown, what: string): void {
    this.#compare(() => same(actual, expected, what));
  }

  #compare(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof Discrepancy)) throw error;
      this.#problem(error.message);
    }
  }

  #problem(text: string): void {
    this.#problems.push(`memory ${this.#memory.number}: ${text}`);
  }
}

function hashesIn(answer: Answer): readonly string[] | undefined {
  return 'hashes' in answer ? answer.hashes : undefined;
}

/** The same answer without permitted differences. */
function plain({ ask }: Question, answer: Answer): Answer {
  if ('hashes' in answer && ask === 'subject') return { hashes: [...answer.hashes].sort() };
  return 'code' in answer ? { code: plainCode(answer.code) } : answer;
}

/** The requests on a chain, in words. */
function historyOf({ subject, asked, user }: Chain): string {
  const told = asked.map(
    ({ request, answer, start, end }) =>
      `${request.method} ${wordIn(request) ?? ''} (${start} to ${end}: ${answer.kind})`,
  );
  return `${subject} of ${user?.name ?? 'nobody'} after ${told.join(', ')}`;
}
