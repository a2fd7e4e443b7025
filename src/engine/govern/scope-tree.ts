// The scope tree of a memory (service contract, section 11): a tree of names. A scope's path joins the names below the
// root with slashes, and a grain belongs to the scope whose path is its namespace. Pure.

import { EngineError } from '../base/errors.ts';

import { SCOPE_DEPTH_MAX, SCOPE_NAME_CHARS_MAX, SCOPE_NODES_MAX } from '../base/limits.ts';
import { toNfc } from '../base/nfc.ts';

export interface ScopeNode {
  readonly name: string;
  readonly children?: readonly ScopeNode[] | undefined;
}

const SEPARATOR = '/';

/** The tree in `value`, with its names in NFC. SCP-E002, with the place, when it is not a valid tree. */
export function checkScopeTree(value: unknown): ScopeNode {
  let nodes = 0;
  const check = (node: unknown, place: string, depth: number): ScopeNode => {
    nodes += 1;
    if (nodes > SCOPE_NODES_MAX) throw badTree('children', `must not have more than ${SCOPE_NODES_MAX} nodes`);
    if (depth > SCOPE_DEPTH_MAX)
      throw badTree(place, `must not be deeper than ${SCOPE_DEPTH_MAX} levels below the root`);
    if (!isMembers(node)) throw badTree(place, 'must be an object with name and, optionally, children');
    const name = checkName(node['name'], place);
    const { children } = node;
    if (children === undefined || children === null) return { name };
    if (!Array.isArray(children)) throw badTree(`${place}.children`, 'must be a list');
    const checked = children.map((child, index) => check(child, `${place}.children[${index}]`, depth + 1));
    const names = new Set(checked.map((child) => child.name));
    if (names.size < checked.length) throw badTree(`${place}.children`, 'must not have two members of the same name');
    return checked.length === 0 ? { name } : { name, children: checked };
  };
  return check(value, 'tree', 0);
}

function checkName(value: unknown, place: string): string {
  if (typeof value !== 'string') throw badTree(`${place}.name`, 'must be a string');
  const name = toNfc(value);
  const chars = [...name].length;
  if (chars < 1 || chars > SCOPE_NAME_CHARS_MAX)
    throw badTree(`${place}.name`, `must have 1 to ${SCOPE_NAME_CHARS_MAX} characters`);
  if (!name.isWellFormed() || /[/\p{Cc}]/u.test(name))
    throw badTree(`${place}.name`, 'must not contain a slash or a control character');
  return name;
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function badTree(field: string, issue: string): EngineError {
  return new EngineError('SCP-E002', `${field}: ${issue}`, { details: [{ field, issue }] });
}

/** A checked tree that can look up paths. */
export class ScopeTree {
  readonly root: ScopeNode;
  /** By path, without the root, whose path is empty. */
  readonly #nodes = new Map<string, ScopeNode>();

  constructor(root: ScopeNode) {
    this.root = root;
    const walk = (node: ScopeNode, above: string): void => {
      for (const child of node.children ?? []) {
        const path = above === '' ? child.name : above + SEPARATOR + child.name;
        this.#nodes.set(path, child);
        walk(child, path);
      }
    };
    walk(root, '');
  }

  /** Nodes below the root. */
  get size(): number {
    return this.#nodes.size;
  }

  has(path: string): boolean {
    return this.#nodes.has(path);
  }

  /**
   * The path of a requested scope, '' for the root. A leading name of the root is dropped. SCP-E001 for an unknown
   * path.
   */
  pathOf(asked: string): string {
    const names = namesOf(asked);
    if (names[0] === this.root.name && !this.has(this.root.name)) names.shift();
    const path = names.join(SEPARATOR);
    if (path !== '' && !this.has(path))
      throw new EngineError('SCP-E001', 'this path is not in the scope tree of the memory', {
        details: [{ field: 'scope_path', issue: 'not in the scope tree' }],
      });
    return path;
  }

  /** Paths of the nodes directly below a node; '' means the root. */
  childrenOf(path: string): string[] {
    const node = path === '' ? this.root : this.#nodes.get(path);
    return (node?.children ?? []).map(({ name }) => (path === '' ? name : path + SEPARATOR + name));
  }

  /** The paths of a node and of all below it, parents first. */
  subtreeOf(path: string): string[] {
    const below = this.childrenOf(path).flatMap((child) => this.subtreeOf(child));
    return path === '' ? below : [path, ...below];
  }

  /** SCP-E001 for a namespace that begins with a top-level name of the tree but is not a node. */
  checkNamespace(namespace: string): void {
    if (this.has(namespace)) return;
    const end = namespace.indexOf(SEPARATOR);
    if (!this.has(end < 0 ? namespace : namespace.slice(0, end))) return;
    throw new EngineError('SCP-E001', 'this namespace is not in the scope tree of the memory', {
      details: [{ field: 'namespace', issue: 'not in the scope tree' }],
    });
  }

  /** The scopes that a path of this tree sees. SCP-E001. */
  resolve(view: ScopeView): ScopeView {
    const path = this.pathOf(view.line[view.line.length - 1] ?? '');
    // The root's own namespace is visible to all, unless a child has the same name.
    const above = this.has(this.root.name) ? [] : [this.root.name];
    if (path === '') return { line: above, below: this.childrenOf(''), ofTree: true };
    const names = path.split(SEPARATOR);
    const line = names.map((_, depth) => names.slice(0, depth + 1).join(SEPARATOR));
    return {
      line: [...above, ...line],
      below: [path],
      ofTree: true,
      also: view.siblings === undefined ? undefined : this.childrenOf(names.slice(0, -1).join(SEPARATOR)),
    };
  }
}

/** The namespaces that an erasure of a scope covers. */
export interface ScopeReach {
  /** The scope's path, or the name of the root. */
  readonly path: string;
  /** The namespaces that are covered with all below them. */
  readonly tops: readonly string[];
  readonly isWithin: (namespace: string) => boolean;
  /** Paths that are certainly covered, even if nothing lies there. */
  readonly known: readonly string[];
}

/** Without a tree a path is a namespace. SCP-E001 for a path that names no scope. */
export function reachOf(root: ScopeNode | undefined, asked: string): ScopeReach {
  if (root === undefined) {
    const path = plainPath(asked);
    if (path === '') throw new EngineError('SCP-E001', 'the path does not name a scope');
    return reachBelow(path, [path]);
  }
  const tree = treeOf(root);
  const path = tree.pathOf(asked);
  if (path !== '') return { ...reachBelow(path, [path]), known: tree.subtreeOf(path) };
  const { name } = root;
  const tops = tree.has(name) ? tree.childrenOf('') : [name, ...tree.childrenOf('')];
  return { ...reachBelow(name, tops), known: [name, ...tree.subtreeOf('')] };
}

/** The reach of an erasure that knows what its path covered when it was asked for. */
export function reachBelow(asked: string, tops: readonly string[]): ScopeReach {
  const isWithin = (namespace: string): boolean => tops.some((top) => isUnder(namespace, top));
  return { path: plainPath(asked), tops, isWithin, known: tops };
}

/** In NFC, with a single slash between names. */
export function plainPath(asked: string): string {
  return namesOf(asked).join(SEPARATOR);
}

function namesOf(path: string): string[] {
  return toNfc(path)
    .split(SEPARATOR)
    .filter((name) => name !== '');
}

function isUnder(namespace: string, path: string): boolean {
  return namespace === path || namespace.startsWith(path + SEPARATOR);
}

const TREES = new WeakMap<ScopeNode, ScopeTree>();

/** The tree of a root, cached as long as the root object lives. */
export function treeOf(root: ScopeNode): ScopeTree {
  const known = TREES.get(root);
  if (known !== undefined) return known;
  const tree = new ScopeTree(root);
  TREES.set(root, tree);
  return tree;
}

/**
 * The namespaces that a scope path sees: its ancestors and itself, everything below it, and its siblings if requested.
 */
export interface ScopeView {
  /** The path and its ancestors, the highest first; at least one. */
  readonly line: readonly string[];
  /** The prefix of siblings, with a slash at its end unless it is ''; absent: siblings are not seen. */
  readonly siblings?: string | undefined;
  /**
   * True when the path was looked up in the memory's tree. The members below then give the rest: visible subtrees, and
   * siblings.
   */
  readonly ofTree?: true | undefined;
  readonly below?: readonly string[] | undefined;
  readonly also?: readonly string[] | undefined;
}

/** A scope that the memory's tree does not have. For a query there is nothing in it, as in a memory without a tree. */
export function isUnknownScope(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'SCP-E001';
}
