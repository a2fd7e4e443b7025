// The namespaces in which the definitions of harnesses lie.
const DEF_NAMESPACE = /^harnesses\/([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)\/def$/;

/** The slug of the harness whose definition is in this namespace; undefined for another namespace. */
export function slugOfNamespace(namespace: string): string | undefined {
  return DEF_NAMESPACE.exec(namespace)?.[1];
}

export function defNamespaceOf(slug: string): string {
  return `harnesses/${slug}/def`;
}
