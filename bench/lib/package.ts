// Builds the package from the sources, as an install lays it out.
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../../scripts/build.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Builds it in a fresh `folder`, and returns the folder. */
export async function layOutPackage(folder: string): Promise<string> {
  await build(join(folder, 'dist'));
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
  return folder;
}
