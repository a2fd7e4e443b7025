export function prunePackages(root: string): string[];
