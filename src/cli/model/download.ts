// Downloads the files of a model into a folder beside its own, resumes what an earlier try left there, checks size and
// digest of each file, and gives the folder its name when all are there.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MODEL_SETTINGS_FILE } from '../../embed/onnx/model-folder.ts';
import { makeMissingFolder, replaceFile, syncFile } from '../../engine/base/durable-file.ts';
import { Failure } from '../failure.ts';
import type { CatalogueFile, CatalogueModel } from './catalogue.ts';

export interface Download {
  readonly model: CatalogueModel;
  /** Address of the hub, without a final slash. */
  readonly hub: string;
  /** The model's folder. It must not exist. */
  readonly folder: string;
  /** Called as bytes arrive. `done`: bytes of all files that are there. */
  readonly arrived: (file: CatalogueFile, done: number) => void;
}

/** Beginning of the names of folders whose download is not complete. */
export const PARTIAL = '.partial-';

export function urlOf(hub: string, { repository, revision }: CatalogueModel, { path }: CatalogueFile): string {
  return `${hub}/${repository}/resolve/${revision}/${path}`;
}

/** Rejects with Failure: NETWORK, which another try may get over, or FILE for bytes that are not the model's. */
export async function download({ model, hub, folder, arrived }: Download): Promise<void> {
  const partial = join(dirname(folder), `${PARTIAL}${model.name}`);
  await makeSynced(dirname(folder));
  await makeSynced(partial);
  let before = 0;
  for (const file of model.files) {
    const path = join(partial, file.name);
    await fetched(urlOf(hub, model, file), file, { path, arrived: (bytes) => arrived(file, before + bytes) });
    before += file.bytes;
  }
  // All is durable before the folder has its name: one that has it is never downloaded again.
  replaceFile(join(partial, MODEL_SETTINGS_FILE), Buffer.from(`${JSON.stringify(model.settings, undefined, 2)}\n`));
  renameSync(partial, folder);
  await syncFile(dirname(folder));
}

async function makeSynced(folder: string): Promise<void> {
  if (makeMissingFolder(folder)) await syncFile(dirname(folder));
}

async function fetched(
  url: string,
  file: CatalogueFile,
  { path, arrived }: { readonly path: string; readonly arrived: (bytes: number) => void },
): Promise<void> {
  let have = existsSync(path) ? statSync(path).size : 0;
  if (have > file.bytes) have = emptied(path);
  if (have < file.bytes) {
    const response = await asked(url, have);
    // A hub that ignores the range sends the file from its beginning.
    if (have > 0 && response.status !== 206) have = emptied(path);
    await taken(response, path, { have, most: file.bytes, arrived, url });
  }
  const { size } = statSync(path);
  if (size < file.bytes) throw broken(url, `the connection ended after ${size} of ${file.bytes} bytes`);
  const sha256 = await digestOf(path);
  if (sha256 === file.sha256) {
    await syncFile(path);
    return arrived(file.bytes);
  }
  rmSync(path);
  throw new Failure('FILE', `${url} is not the file of the catalogue: its SHA-256 is ${sha256}, not ${file.sha256}`);
}

function emptied(path: string): 0 {
  rmSync(path);
  return 0;
}

async function asked(url: string, have: number): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { headers: have === 0 ? {} : { range: `bytes=${have}-` } });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw broken(url, cause instanceof Error ? cause.message : String(cause));
  }
  if (response.ok && response.body !== null) return response;
  await response.body?.cancel();
  throw broken(url, `the hub answered ${response.status}`);
}

async function taken(
  response: Response,
  path: string,
  {
    have,
    most,
    arrived,
    url,
  }: { readonly have: number; readonly most: number; readonly arrived: (bytes: number) => void; readonly url: string },
): Promise<void> {
  let bytes = have;
  async function* counted(source: AsyncIterable<Uint8Array>) {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > most) throw new Failure('FILE', `${url} has more than the ${most} bytes of the catalogue`);
      arrived(bytes);
      yield chunk;
    }
  }
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]); // asked() checked it
  try {
    await pipeline(body, counted, createWriteStream(path, { flags: 'a' }));
  } catch (error) {
    if (error instanceof Failure) {
      rmSync(path);
      throw error;
    }
    if (error instanceof Error && 'syscall' in error && 'path' in error) throw error;
    throw broken(url, error instanceof Error ? error.message : String(error));
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

function broken(url: string, why: string): Failure {
  return new Failure('NETWORK', `cannot get ${url}: ${why}`, true);
}
