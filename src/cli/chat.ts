// `granary chat`: asks the language model of the server, which reads and writes a memory. With words it asks once; without
// them it is a shell for a person, or answers each line of a pipe.
import type { Command } from 'commander';
import { ChatTalk, type TalkOptions } from './chat-talk.ts';
import { withMemoryOption, withServerOptions } from './options.ts';

export interface ChatOptions extends TalkOptions {
  readonly temporary?: true | undefined;
  readonly thread?: string | undefined;
}

export function registerChat(program: Command): void {
  const command = program
    .command('chat')
    .description('Ask the language model, which reads and writes the memory; without words, open a shell')
    .argument('[message...]', 'the message')
    .option('--thread <id>', 'continue this thread; the default is a new one')
    .option('--temporary', 'keep nothing of the conversation')
    .option('--user <id>', 'the person whom the chat is with; the default is the person of the thread')
    .option('--namespace <name>', 'namespace that the model is shown and writes to')
    .option('--model <name>', 'model; the default is that of the role chat')
    .option('--provider <id>', 'provider of the model; the default is that of the role chat')
    .option('--no-tools', 'the model may not call tools');
  withServerOptions(withMemoryOption(command)).action(chat);
}

async function chat(words: string[], options: ChatOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const message = words.join(' ').trim();
  await withConnection(options, async (connection) => {
    const talk = new ChatTalk(connection, options, options.thread, options.temporary !== true);
    if (message !== '') return await talk.say(message);
    const { runChatShell } = await import('./chat-shell.ts');
    await runChatShell(talk, { input: process.stdin, output: process.stdout });
  });
}
