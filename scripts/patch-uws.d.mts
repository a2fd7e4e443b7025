export const DIGESTS: Readonly<Record<string, { readonly published: string; readonly patched?: string }>>;
export function patchElf(bytes: Uint8Array): Buffer;
export function needsPatch(): boolean;
