// The parts of an answer that both interfaces share: pieces of text, calls with ids, and the numbers beside them.
import type { Piece, ScriptedCall, Speech } from './script.ts';
import { blocksOf, type Sink } from './server.ts';

export interface Output {
  readonly pieces: readonly Piece[];
  readonly calls: readonly { readonly id: string; readonly name: string; readonly text: string }[];
  readonly finish: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  readonly usage: { readonly input: number; readonly output: number };
}

/** `forced`: the tool that the request demands; a structured answer becomes a call of it. */
export function outputOf(speech: Speech | { readonly bytes: number }, forced: string | undefined): Output {
  if ('bytes' in speech) return { pieces: [...blocksOf(speech.bytes)], calls: [], finish: 'stop', usage: USAGE };
  const { text = [], calls = [], object, finish, usage = USAGE } = speech;
  const pieces = typeof text === 'string' ? wordsOf(text) : [...text];
  const all: ScriptedCall[] = [...calls];
  if (object !== undefined && forced !== undefined) all.push({ name: forced, arguments: object as object });
  else if (object !== undefined) pieces.push(JSON.stringify(object));
  return {
    pieces,
    calls: all.map(({ id, name, arguments: given }, at) => ({
      id: id ?? `call_${++callsMade}_${at}`,
      name,
      text: typeof given === 'string' ? given : JSON.stringify(given),
    })),
    finish: finish ?? (all.length > 0 ? 'tool_calls' : 'stop'),
    usage,
  };
}

const USAGE = { input: 11, output: 7 };
let callsMade = 0;

/** A text as models stream it: a word at a time. */
function wordsOf(text: string): Piece[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? (text === '' ? [] : [text]);
}

/** Gives the strings of the pieces to `say`, and misbehaves where a piece says so. False: the answer ends here. */
export async function play(
  pieces: readonly Piece[],
  sink: Sink,
  say: (text: string) => Promise<void>,
  fail: (message: string) => Promise<void>,
): Promise<boolean> {
  for (const piece of pieces) {
    if (sink.isGone) return false;
    if (typeof piece === 'string') await say(piece);
    else if ('hold' in piece) await piece.hold;
    else if ('raw' in piece) await sink.write(piece.raw);
    else {
      if ('error' in piece) await fail(piece.error);
      else await sink.cut();
      return false;
    }
  }
  return !sink.isGone;
}

/** The strings alone: an answer that is not streamed. A cut ends the connection inside the body. */
export async function wholeText(pieces: readonly Piece[], sink: Sink): Promise<string | undefined> {
  let whole = '';
  const isWhole = await play(
    pieces,
    sink,
    (text) => {
      whole += text;
      return Promise.resolve();
    },
    () => sink.cut(),
  );
  return isWhole ? whole : undefined;
}
