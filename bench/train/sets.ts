// Labelled sets for a learned ranking: questions with the texts that answer them. Licences: the chats are CC BY-SA 4.0, the
// chats in sessions MIT, the notes the project's own. The abstracts state none, so a model that is trained on them may be
// measured and not passed on.
import { readFileSync } from 'node:fs';
import { defined } from '../../src/engine/base/defined.ts';
import { abstracts, type Collection, chats, type Judged, type Line, lines } from '../lib/judged.ts';

export interface LabelledText {
  readonly id: string;
  /** Groups texts for judgement, where evidence names sessions. Default: `id`. */
  readonly unit?: string;
  readonly text: string;
  readonly session?: string;
  readonly role?: string;
}

export interface LabelledQuestion {
  readonly memory: string;
  readonly text: string;
  /** Gains by `unit` of a text. */
  readonly judged: Judged;
}

export interface LabelledSet {
  readonly name: string;
  readonly memories: ReadonlyMap<string, readonly LabelledText[]>;
  readonly questions: readonly LabelledQuestion[];
}

/** All sets in reach. All but the notes are beside the repository (`missingData`). */
export function labelledSets(): LabelledSet[] {
  return [...[chats(), abstracts()].map(ofCollection), sessions(), notes()];
}

function ofCollection({ name, documents, questions }: Collection): LabelledSet {
  const memories = [...documents].map(([memory, all]) => [memory, all.map(textOf)] as const);
  return { name, memories: new Map(memories), questions };
}

function textOf({ _id: id, title, text, session, role }: Line): LabelledText {
  const whole = title === undefined ? text : `${title}\n\n${text}`;
  return defined({ id, text: whole, session: session?.toString(), role });
}

interface SessionLine {
  readonly _id: string;
  readonly conv: string;
  readonly turns: readonly { readonly role: string; readonly content: string }[];
}

/** Four questions whose evidence names whole sessions: the best turn of a session stands for it. */
function sessions(): LabelledSet {
  const memories = new Map<string, LabelledText[]>();
  for (const { _id: unit, conv, turns } of lines<SessionLine>('longmemeval_sample/corpus.jsonl')) {
    const texts = memories.get(conv) ?? [];
    memories.set(conv, texts);
    for (const [at, { role, content }] of turns.entries())
      texts.push({ id: `${unit}#${at}`, unit, text: content, session: unit, role });
  }
  const questions = lines('longmemeval_sample/queries.jsonl').map(({ conv, text, evidence = [] }) => ({
    memory: conv!, // every question of this set has one
    text,
    judged: new Map(evidence.map((id) => [id, 1])),
  }));
  return { name: 'sessions', memories, questions };
}

/** One session of a user's sentences in each of four languages, from test/languages. */
export function notes(languages: readonly string[] = ['de', 'es', 'fr', 'zh']): LabelledSet {
  const memories = new Map<string, LabelledText[]>();
  const questions: LabelledQuestion[] = [];
  for (const memory of languages) {
    const file = new URL(`../../test/languages/${memory}.jsonl`, import.meta.url);
    const rows = readFileSync(file, 'utf8').trim().split('\n');
    const texts: LabelledText[] = [];
    for (const [at, row] of rows.entries()) {
      const { text, question } = JSON.parse(row) as { text: string; question?: string }; // the format of the files
      const id = `${memory}:${at}`;
      texts.push({ id, text, session: 's', role: 'user' });
      if (question !== undefined) questions.push({ memory, text: question, judged: new Map([[id, 1]]) });
    }
    memories.set(memory, texts);
  }
  return { name: languages.length === 1 ? `notes_${languages[0]}` : 'notes', memories, questions };
}
