// The shell of `granary chat`: a line is a message. Lines of a pipe are answered in their order, without prompts.
import { createInterface } from 'node:readline';
import type { ChatTalk } from './chat-talk.ts';
import { failureOf } from './failure.ts';
import { printLine, printNote } from './output.ts';

const PROMPT = 'you> ';

const HELP = `  /new [TITLE]   begin a new thread
  /threads       list the newest threads
  /thread ID     continue a thread
  /title TITLE   give the thread another title
  /archive       archive the thread; /archive undo brings it back
  /help          show this help
  /quit          quit; Ctrl-C stops an answer`;

export interface ShellStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Answers until the end of input or `/quit`. A failed turn does not end the shell of a person; it ends a pipe. */
export async function runChatShell(talk: ChatTalk, streams: ShellStreams): Promise<void> {
  const isPerson = 'isTTY' in streams.input && streams.input.isTTY === true;
  const lines = createInterface({ ...streams, terminal: isPerson, prompt: PROMPT });
  lines.on('SIGINT', () => {
    if (!talk.stop()) lines.close();
  });
  if (isPerson) {
    printNote('/help shows the commands.');
    lines.prompt();
  }
  try {
    for await (const line of lines) {
      const message = line.trim();
      if (message === '/quit' || message === '/exit') break;
      try {
        if (message.startsWith('/')) await command(talk, message);
        else if (message !== '') await talk.say(message);
      } catch (error) {
        if (!isPerson) throw error;
        const { code, text } = failureOf(error);
        printNote(`${code}: ${text}`);
      }
      if (isPerson) lines.prompt();
    }
  } finally {
    lines.close();
  }
}

async function command(talk: ChatTalk, line: string): Promise<void> {
  const [word = '', ...rest] = line.split(/\s+/);
  const argument = rest.join(' ');
  switch (word) {
    case '/new':
      talk.begin(argument === '' ? undefined : argument);
      printNote('The next message begins a new thread.');
      return;
    case '/threads':
      return await talk.list();
    case '/thread':
      if (argument === '')
        printNote(talk.thread === undefined ? 'The thread has not begun yet.' : `The thread is ${talk.thread}.`);
      else await talk.resume(argument);
      return;
    case '/title':
      if (argument === '') printNote('Give a title: /title TITLE.');
      else await talk.rename(argument);
      return;
    case '/archive':
      if (argument === '' || argument === 'undo') await talk.archive(argument === '');
      else printNote('The command is /archive or /archive undo.');
      return;
    default:
      if (word !== '/help') printNote(`Unknown command ${word}.`);
      printLine(HELP);
  }
}
