// The exit codes of commands and their meanings. Help texts and docs/command-line.md are made from the tables.

/** Exit codes of every command. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** `granary proof verify`. */
export const PROOF_EXIT = {
  verified: 0,
  unreadable: 1,
  changed: 3,
  otherKey: 4,
  unknownVersion: 5,
  noProof: 6,
  unsigned: 7,
  notInTrail: 8,
} as const;

/** `granary upgrade --check`. */
export const UPGRADE_EXIT = { same: 0, refused: 1, changes: 3 } as const;

/** `granary serve --workers 0` after an internal error of an engine. */
export const BROKEN_EXIT = 70;

/** `granary events --follow` after Ctrl-C. */
export const INTERRUPTED_EXIT = 130;

type Meanings = readonly (readonly [code: number, meaning: string])[];

export type ExitTable = 'every command' | 'proof verify' | 'upgrade --check' | 'serve --workers 0' | 'events --follow';

/** The meaning of each code, by command. Codes of every command apply unless a command has its own meaning. */
export const EXIT_MEANINGS: Readonly<Record<ExitTable, Meanings>> = {
  'every command': [
    [EXIT.ok, 'success'],
    [EXIT.failed, 'the command failed, or a check found problems'],
    [EXIT.usage, 'usage error, or a removal without --yes, which only shows what would be removed'],
  ],
  'proof verify': [
    [PROOF_EXIT.verified, 'verified'],
    [PROOF_EXIT.unreadable, 'the file or the server cannot be read'],
    [PROOF_EXIT.changed, 'changed after it was signed'],
    [PROOF_EXIT.otherKey, 'signed with another key'],
    [PROOF_EXIT.unknownVersion, 'unknown version'],
    [PROOF_EXIT.noProof, 'cut off, or not a proof'],
    [PROOF_EXIT.unsigned, 'not signed (version 1), and not looked up at a server'],
    [PROOF_EXIT.notInTrail, 'not in the audit trail, or its chain is broken'],
  ],
  'upgrade --check': [
    [UPGRADE_EXIT.same, 'this version opens the directory and changes no format'],
    [UPGRADE_EXIT.refused, 'this version cannot open it, or the disk has too little room'],
    [UPGRADE_EXIT.changes, 'the first start changes formats, after which the earlier version cannot open it'],
  ],
  'serve --workers 0': [[BROKEN_EXIT, 'an engine met an internal error; start the server again']],
  'events --follow': [[INTERRUPTED_EXIT, 'stopped by Ctrl-C']],
};

const WIDTH = 120;

/** `Exit codes: 0 success; 1 …` in lines of at most 120 characters. */
export function exitCodesText(table: ExitTable): string {
  const codes = EXIT_MEANINGS[table].map(([code, meaning]) => `${code} ${meaning}`);
  return `Exit codes: ${codes.join('; ')}.`.replace(new RegExp(`(?=.{${WIDTH + 1}})(.{1,${WIDTH}}) `, 'g'), '$1\n');
}
