// Reads a Dockerfile: its stages and their instructions. For the instructions of ours; others are refused.

export interface Instruction {
  readonly name: string;
  /** Everything after the name, of all its lines. */
  readonly text: string;
}

export interface Stage {
  readonly base: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

const KNOWN = new Set(
  'ARG COPY CMD ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN STOPSIGNAL USER VOLUME WORKDIR'.split(' '),
);

export function stagesOf(dockerfile: string): readonly Stage[] {
  const stages: { base: string; name: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of dockerfile
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')) {
    if (line.trim() === '') continue;
    const [, name = '', text = ''] = /^(\S+)\s+(.+)$/.exec(line) ?? [];
    if (!KNOWN.has(name)) throw new Error(`not an instruction: ${line}`);
    if (name === 'FROM') {
      const [base = '', , stage] = text.split(/\s+/);
      stages.push({ base, name: stage, instructions: [] });
    } else stages.at(-1)?.instructions.push({ name, text });
  }
  return stages;
}

/** The texts of the stage's instructions of that name, in order. */
export function textsOf(stage: Stage, name: string): readonly string[] {
  return stage.instructions.filter((one) => one.name === name).map(({ text }) => text);
}

/** The words of the last instruction of that name in its JSON form, after `options`. Throws for the form of a shell. */
export function wordsOf(stage: Stage, name: string): readonly string[] {
  const text = textsOf(stage, name).at(-1);
  const words = /\[.*\]$/.exec(text ?? '')?.[0];
  if (words === undefined) throw new Error(`${name} is not in the JSON form, so a shell would run it: ${text}`);
  return JSON.parse(words) as string[]; // the form says so, and a wrong one throws
}

/** The variables of ENV. */
export function variablesOf(stage: Stage): Readonly<Record<string, string>> {
  const words = textsOf(stage, 'ENV').flatMap((text) => text.split(/\s+/));
  return Object.fromEntries(words.map((word) => word.split('=') as [string, string]));
}
