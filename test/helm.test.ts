// The Helm chart: its templates, values and schema name the same things, and what helm renders of them keeps the server
// confined.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { optionLines } from '../src/server/config.ts';
import { stagesOf, textsOf } from './support/dockerfile.ts';

const ROOT = join(import.meta.dirname, '..');
const CHART = join(ROOT, 'deploy/helm/granary');
const read = (path: string): string => readFileSync(join(CHART, path), 'utf8');
const templates = readdirSync(join(CHART, 'templates')).map((name) => read(join('templates', name)));

// biome-ignore lint/suspicious/noExplicitAny: manifests and schemas are looked at member by member
type Tree = any;
const values = parse(read('values.yaml')) as Tree;
const schema = JSON.parse(read('values.schema.json')) as Tree;
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }; // ours
const image = stagesOf(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')).at(-1)!; // it has stages

const noHelm = spawnSync('helm', ['version']).error === undefined ? false : 'helm is not installed';
/** Any version that the chart takes; a helm without one of its own takes for granted an old one. */
const CLUSTER = ['--kube-version', '1.31.0'];
function rendered(...set: readonly string[]): readonly Tree[] {
  const flags = set.flatMap((one) => ['--set', one]);
  const out = execFileSync('helm', ['template', 'test', CHART, ...CLUSTER, ...flags], { stdio: 'pipe' }).toString();
  return parseAllDocuments(out).map((document) => document.toJS() as Tree);
}
const kind = (all: readonly Tree[], name: string): Tree => all.find((one) => one?.kind === name);

/** The part of the schema for a value, with references followed. */
function schemaOf(path: readonly string[]): Tree {
  let part = schema;
  for (const name of path) {
    part = part?.properties?.[name];
    const reference = /^#\/definitions\/(\w+)$/.exec(part?.$ref ?? '')?.[1];
    if (reference !== undefined) part = schema.definitions[reference];
  }
  return part;
}

test('each value that a template names has a default and a schema, and each default is named', () => {
  const named = new Set(
    templates.flatMap((text) => [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path)),
  );
  assert.ok(named.size > 15);
  for (const path of named) {
    const names = path.split('.');
    assert.notEqual(
      names.reduce((at, name) => at?.[name], values),
      undefined,
      `values.yaml has ${path}`,
    );
    assert.notEqual(schemaOf(names), undefined, `values.schema.json has ${path}`);
  }
  // The volumes are taken by their name.
  for (const name of Object.keys(values))
    if (name !== 'data' && name !== 'keys')
      assert.ok(
        [...named].some((path) => path === name || path.startsWith(`${name}.`)),
        `a template uses ${name}`,
      );
  assert.ok(templates.some((text) => text.includes('list "data" "keys"')));
});

test('the chart and the image agree: version, user, folders of the volumes, ports', () => {
  const chart = parse(read('Chart.yaml')) as Tree;
  assert.deepEqual([chart.version, chart.appVersion], [version, version]);
  const pod = read('templates/statefulset.yaml');
  const [uid] = (textsOf(image, 'USER').at(-1) ?? '').split(':');
  for (const name of ['runAsUser', 'runAsGroup', 'fsGroup']) assert.match(pod, new RegExp(`${name}: ${uid}$`, 'm'));
  for (const path of JSON.parse(textsOf(image, 'VOLUME').at(-1) ?? '') as string[])
    assert.ok(pod.includes(`mountPath: ${path}\n`)); // JSON form
  for (const port of textsOf(image, 'EXPOSE').join(' ').split(' ')) assert.ok(pod.includes(`containerPort: ${port}\n`));
});

test('options that the chart names exist, and those of secrets or folders are refused as values', () => {
  const known = optionLines().map(({ env }) => env);
  const named = [...templates, read('values.yaml'), read('values.schema.json')].flatMap(
    (text) => text.match(/GRANARY_[A-Z_]+[A-Z]/g) ?? [],
  );
  assert.ok(named.length > 5);
  for (const name of named) assert.ok(known.includes(name), name);
  const { pattern, not } = schema.properties.options.propertyNames as Tree;
  const isAllowed = (name: string): boolean =>
    new RegExp(pattern).test(name) &&
    !not.anyOf.some((one: Tree) =>
      one.pattern === undefined ? one.enum.includes(name) : new RegExp(one.pattern).test(name),
    );
  const secrets = optionLines()
    .filter(({ flag }) => flag === undefined)
    .map(({ env }) => env);
  assert.deepEqual(secrets.filter(isAllowed), []);
  assert.ok(isAllowed('GRANARY_WORKERS') && !isAllowed('GRANARY_DATA_DIR') && !isAllowed('OTHER'));
});

test('helm renders a confined pod with its volumes, service and policy', { skip: noHelm }, () => {
  execFileSync('helm', ['lint', '--strict', CHART, ...CLUSTER], { stdio: 'pipe' });
  const all = rendered();
  assert.deepEqual(all.map((one) => one.kind).sort(), ['NetworkPolicy', 'Service', 'StatefulSet']);
  const { spec } = kind(all, 'StatefulSet');
  const { spec: pod, metadata } = spec.template;
  const [container] = pod.containers;
  assert.equal(spec.replicas, 1);
  assert.equal(pod.automountServiceAccountToken, false);
  assert.deepEqual(
    [pod.securityContext.runAsNonRoot, pod.securityContext.seccompProfile.type],
    [true, 'RuntimeDefault'],
  );
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  assert.deepEqual(
    ['startupProbe', 'livenessProbe', 'readinessProbe'].map((name) => container[name].httpGet),
    ['live', 'live', 'ready'].map((name) => ({ path: `/api/health/${name}`, port: 'http' })),
  );
  assert.equal(container.image, `granary:${version}`);
  assert.deepEqual(
    spec.volumeClaimTemplates.map((claim: Tree) => claim.metadata.name),
    container.volumeMounts.map((mount: Tree) => mount.name),
  );
  // Service and policy find the pod.
  for (const selector of [kind(all, 'Service').spec.selector, kind(all, 'NetworkPolicy').spec.podSelector.matchLabels])
    for (const [label, value] of Object.entries(selector)) assert.equal(metadata.labels[label], value);
  assert.deepEqual(
    kind(all, 'Service').spec.ports.map((port: Tree) => [port.name, port.port, port.targetPort]),
    [
      ['http', 8080, 'http'],
      ['grpc', 50051, 'grpc'],
    ],
  );
  assert.deepEqual(kind(all, 'NetworkPolicy').spec.policyTypes, ['Ingress', 'Egress']);
});

test('helm takes options, secrets and a monitor, and refuses values that are wrong', { skip: noHelm }, () => {
  const all = rendered(
    'options.GRANARY_WORKERS=2',
    'masterKey.existingSecret=master',
    'secretOptions[0]=models',
    'serviceMonitor.enabled=true',
    'networkPolicy.enabled=false',
  );
  const [container] = kind(all, 'StatefulSet').spec.template.spec.containers;
  assert.deepEqual(container.env, [
    { name: 'GRANARY_MASTER_KEY', valueFrom: { secretKeyRef: { name: 'master', key: 'master.key' } } },
    { name: 'GRANARY_WORKERS', value: '2' },
  ]);
  assert.deepEqual(container.envFrom, [{ secretRef: { name: 'models' } }]);
  assert.equal(kind(all, 'NetworkPolicy'), undefined);
  const monitor = kind(all, 'ServiceMonitor').spec;
  assert.equal(monitor.endpoints[0].path, '/metrics');
  // The alert rules ask for the job of this name.
  assert.equal(kind(all, 'Service').metadata.labels[monitor.jobLabel], 'granary');
  for (const wrong of ['options.GRANARY_MODEL_KEY=secret', 'data.size=much', 'replicas=3', 'service.httpPort=0'])
    assert.throws(() => rendered(wrong), /values don't meet the specifications|Additional property|invalid/, wrong);
});

test('helm renders nodes with their store, names and permissions, and refuses nodes without one', {
  skip: noHelm,
}, () => {
  const store = ['nodes.storeSecret=store', 'masterKey.existingSecret=master'];
  const all = rendered('nodes.count=3', ...store);
  const { spec } = kind(all, 'StatefulSet');
  const [container] = spec.template.spec.containers;
  assert.deepEqual([spec.replicas, spec.podManagementPolicy], [3, 'Parallel']);
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const env = new Map<string, any>(container.env.map((one: Tree) => [one.name, one.value ?? one.valueFrom]));
  assert.deepEqual(env.get('GRANARY_STORE'), { secretKeyRef: { name: 'store', key: 'store' } });
  const [, port] = env.get('GRANARY_NODE_LISTEN').split(':');
  assert.ok(container.ports.some((one: Tree) => one.name === 'nodes' && one.containerPort === Number(port)));
  // The name of a pod is that of the headless service that the set names.
  const service = all.find((one) => one?.kind === 'Service' && one.spec.clusterIP === 'None');
  assert.equal(service.metadata.name, spec.serviceName);
  assert.equal(env.get('GRANARY_ADVERTISE'), `$(POD_NAME).${spec.serviceName}:${port}`);
  assert.ok(container.env.findIndex((one: Tree) => one.name === 'POD_NAME') < container.env.findIndex((one: Tree) => one.name === 'GRANARY_ADVERTISE')); // biome-ignore format: one row
  for (const [label, value] of Object.entries(service.spec.selector))
    assert.equal(spec.template.metadata.labels[label], value);
  assert.equal(kind(all, 'PodDisruptionBudget').spec.maxUnavailable, 1);
  const policy = kind(all, 'NetworkPolicy').spec;
  assert.ok(policy.ingress.some((one: Tree) => one.ports.some((allowed: Tree) => allowed.port === 'nodes')));
  assert.ok(policy.egress.some((one: Tree) => one.ports?.some((allowed: Tree) => allowed.port === 5432)));
  // One pod may have a store too.
  assert.equal(kind(rendered(...store), 'PodDisruptionBudget'), undefined);
  assert.throws(() => rendered('nodes.count=3'), /needs nodes\.storeSecret/);
  assert.throws(() => rendered('nodes.storeSecret=store'), /needs masterKey\.existingSecret/);
});
