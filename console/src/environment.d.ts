// Modules that the bundler makes of other files.
declare module '*.css';
declare module '*?worker&url' {
  const url: string;
  export default url;
}
// Parts of the layout that come without types.
declare module 'graphology-layout-forceatlas2/defaults.js' {
  import type { ForceAtlas2Settings } from 'graphology-layout-forceatlas2';

  const defaults: Required<ForceAtlas2Settings>;
  export default defaults;
}
declare module 'graphology-layout-forceatlas2/iterate.js' {
  import type { ForceAtlas2Settings } from 'graphology-layout-forceatlas2';
  /** One iteration, which changes the matrix of nodes. */
  export default function iterate(
    settings: Required<ForceAtlas2Settings>,
    nodes: Float32Array,
    edges: Float32Array,
  ): void;
}
