/** Exit codes of `granary upgrade --check`; 1 is also that of every failed command. */
export const UPGRADE_EXIT = { same: 0, refused: 1, changes: 3 } as const;
