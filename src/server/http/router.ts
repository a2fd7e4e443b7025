// Finds the route for a method and path. Patterns consist of segments, each text or `{name}`. Text wins over a
// parameter; where the text branch has no route for the method, the parameter branch is tried too.
import { assert } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';

export type RouteMatch<Route> =
  | {
      readonly found: 'route';
      readonly route: Route;
      /** By parameter name, decoded. */
      readonly params: Readonly<Record<string, string>>;
    }
  /** No route has this path: SYS-E003. */
  | { readonly found: 'nothing' }
  /** The path exists with other methods: SYS-E004; `allow` is the value for Allow. */
  | { readonly found: 'methods'; readonly allow: string };

interface Entry<Route> {
  readonly route: Route;
  readonly names: readonly string[];
}

interface Node<Route> {
  readonly byText: Map<string, Node<Route>>;
  byName: Node<Route> | undefined;
  readonly methods: Map<string, Entry<Route>>;
}

const NOTHING = { found: 'nothing' } as const;

export class Router<Route> {
  private readonly root: Node<Route> = emptyNode();

  /** `pattern` is like `/api/memories/{id}/grains/{hash}`; a method and pattern have one route. */
  add(method: string, pattern: string, route: Route): void {
    assert(pattern.startsWith('/'), `the pattern ${pattern} starts with a slash`);
    const names: string[] = [];
    let node = this.root;
    for (const segment of pattern.slice(1).split('/')) {
      assert(segment !== '', `the pattern ${pattern} has no empty segment`);
      if (segment.startsWith('{') && segment.endsWith('}')) {
        names.push(segment.slice(1, -1));
        node.byName ??= emptyNode();
        node = node.byName;
      } else {
        let next = node.byText.get(segment);
        if (next === undefined) {
          next = emptyNode();
          node.byText.set(segment, next);
        }
        node = next;
      }
    }
    assert(!node.methods.has(method), `one route for ${method} ${pattern}`);
    node.methods.set(method, { route, names });
  }

  /**
   * `path` is as sent. HEAD matches GET routes when it has none of its own. Throws VAL-E001 for a path that is not
   * percent-encoded UTF-8.
   */
  match(method: string, path: string): RouteMatch<Route> {
    if (!path.startsWith('/')) return NOTHING;
    const sent = path.slice(1).split('/');
    // Segment by segment: an encoded slash belongs to its segment.
    const segments = PLAIN.test(path) ? sent : sent.map(decode);
    const others: Node<Route>[] = [];
    const values: string[] = [];
    const entry = find(this.root, { method, segments, values, others }, 0);
    if (entry !== undefined) {
      const params: Record<string, string> = {};
      for (const [at, name] of entry.names.entries()) params[name] = values[at]!;
      return { found: 'route', route: entry.route, params };
    }
    if (others.length === 0) return NOTHING;
    const allowed = new Set(others.flatMap((node) => [...node.methods.keys()]));
    if (allowed.has('GET')) allowed.add('HEAD');
    return { found: 'methods', allow: [...allowed.add('OPTIONS')].sort().join(', ') };
  }
}

interface PathMatch<Route> {
  readonly method: string;
  readonly segments: readonly string[];
  /** Values of the parameters so far. */
  readonly values: string[];
  /** Nodes where the path ended without a route for the method. */
  readonly others: Node<Route>[];
}

function find<Route>(node: Node<Route>, match: PathMatch<Route>, depth: number): Entry<Route> | undefined {
  const segment = match.segments[depth];
  if (segment === undefined) {
    const entry = node.methods.get(match.method) ?? (match.method === 'HEAD' ? node.methods.get('GET') : undefined);
    if (entry === undefined && node.methods.size > 0) match.others.push(node);
    return entry;
  }
  const next = node.byText.get(segment);
  const entry = next && find(next, match, depth + 1);
  if (entry !== undefined || node.byName === undefined || segment === '') return entry;
  match.values.push(segment);
  const named = find(node.byName, match, depth + 1);
  if (named === undefined) match.values.pop();
  return named;
}

function emptyNode<Route>(): Node<Route> {
  return { byText: new Map(), byName: undefined, methods: new Map() };
}

/** Printable ASCII without a percent sign. */
const PLAIN = /^[!-$&-~]*$/;
const ENCODED = /^[!-~]*$/;

function decode(segment: string): string {
  if (!ENCODED.test(segment)) throw badPath();
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badPath();
  }
}

function badPath(): EngineError {
  return new EngineError('VAL-E001', 'the path is not percent-encoded UTF-8');
}
