export const PUBLISHED: Readonly<Record<string, string>>;
export function patchElf(bytes: Uint8Array): Buffer;
export function needsPatch(): boolean;
