import { expect } from 'chai';
import { SERVICE_NAMES, SERVICE_PATHS, serviceOfPath } from '../../services/common/domain/service-paths.ts';
import { at, CI_VALUES, find, podSpecOf, type Rendered, refusalOf, render } from './render.ts';

const kinds = (objects: readonly Rendered[]) => new Set(objects.map(({ kind }) => kind));
const names = (objects: readonly Rendered[], kind: string) =>
  objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
}
const variablesOf = (object: Rendered) =>
  ((podSpecOf(object)?.['containers'] ?? []) as { readonly env?: readonly Variable[] }[]).flatMap(
    ({ env = [] }) => env,
  );
const variable = (object: Rendered, name: string) => variablesOf(object).find((one) => one.name === name);

describe('the chart', () => {
  for (const ci of CI_VALUES) {
    it(`renders ci/${ci}-values.yaml, each object once, with the labels that Kubernetes recommends`, async () => {
      const objects = await render({ ci });
      const identities = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
      expect(new Set(identities).size).to.equal(identities.length);
      for (const { kind, metadata } of objects.filter(({ metadata }) => !/-(extra|text)$/.test(metadata.name))) {
        expect(metadata.labels, `${kind} ${metadata.name}`).to.include({
          'app.kubernetes.io/name': 'engram',
          'app.kubernetes.io/instance': 'rel',
          'app.kubernetes.io/managed-by': 'Helm',
        });
      }
    });

    it(`runs pods of ci/${ci}-values.yaml without rights, each variable once, credentials by reference`, async () => {
      for (const object of await render({ ci })) {
        const spec = podSpecOf(object);
        if (spec === undefined) continue;
        expect(at(spec, 'securityContext.runAsNonRoot'), object.metadata.name).to.equal(true);
        expect(at(spec, 'securityContext.seccompProfile.type')).to.equal('RuntimeDefault');
        for (const container of spec['containers'] as object[]) {
          expect(at(container, 'securityContext.allowPrivilegeEscalation')).to.equal(false);
          expect(at(container, 'securityContext.capabilities.drop')).to.deep.equal(['ALL']);
          expect(at(container, 'resources.requests'), object.metadata.name).to.have.property('memory');
          expect(at(container, 'resources.limits')).to.not.have.property('cpu');
        }
        const variables = variablesOf(object);
        expect(new Set(variables.map(({ name }) => name)).size).to.equal(variables.length);
        for (const { name, value } of variables.filter(({ name }) => /PASSWORD|SECRET|_KEYS?$|API_KEY/.test(name))) {
          expect(value, `${object.metadata.name} ${name}`).to.equal(undefined);
        }
      }
    });
  }

  it('runs each service with probes and a delay before it stops', async () => {
    const objects = await render();
    for (const service of SERVICE_NAMES) {
      const deployment = find(objects, 'Deployment', `-${service}`);
      const spec = podSpecOf(deployment) ?? {};
      expect(variable(deployment, 'ENGRAM_SERVICES')?.value).to.equal(service);
      expect(at(spec, 'containers.0.livenessProbe.httpGet.path')).to.equal('/livez');
      expect(at(spec, 'containers.0.readinessProbe.httpGet.path')).to.equal('/readyz');
      expect(at(spec, 'containers.0.startupProbe')).to.be.an('object');
      expect(at(spec, 'containers.0.securityContext.readOnlyRootFilesystem')).to.equal(true);
      const sleep = Number(at(spec, 'containers.0.lifecycle.preStop.sleep.seconds'));
      const drain = Number(variable(deployment, 'BACKGROUND_DRAIN_TIMEOUT_SECONDS')?.value);
      expect(spec['terminationGracePeriodSeconds']).to.be.greaterThan(sleep + drain + 4);
      expect(spec['automountServiceAccountToken']).to.equal(false);
    }
  });

  it('gives the login secret to auth only, and each service its own NATS user', async () => {
    const objects = await render();
    for (const service of SERVICE_NAMES) {
      const deployment = find(objects, 'Deployment', `-${service}`);
      const hasSecret = variable(deployment, 'FASTAPI_USERS_JWT_SECRET') !== undefined;
      expect(hasSecret, service).to.equal(service === 'auth');
      expect(variable(deployment, 'ENGRAM_NATS_USER')?.value).to.equal(service);
      expect(variable(deployment, 'ENGRAM_NATS_PASSWORD')?.valueFrom?.secretKeyRef).to.deep.equal({
        name: 'rel-engram-nats',
        key: service,
      });
    }
  });

  it('writes the permissions of NATS users in the server’s format', async () => {
    const conf = (at(find(await render(), 'ConfigMap', '-nats'), 'data') as Record<string, string>)['nats.conf'] ?? '';
    expect(conf).to.include('"engram.access.>"').and.include('"$JS.API.STREAM.INFO.ENGRAM_RUNS"');
    expect(conf)
      .to.include('password: $PASSWORD_OPERATOR')
      .and.not.match(/\\u|\{prefix|\{PREFIX/);
  });

  it('generates different secrets in each rendering', async () => {
    const [one, other] = await Promise.all([render(), render()]);
    for (const secret of one.filter(({ kind }) => kind === 'Secret')) {
      const twin = find(other, 'Secret', secret.metadata.name);
      for (const [key, value] of Object.entries(secret['data'] as Record<string, string>)) {
        expect(value, `${secret.metadata.name} ${key}`).to.not.equal(at(twin, `data.${key}`));
        expect(Buffer.from(value, 'base64').length).to.be.at.least(24);
      }
    }
  });

  it('sets no replicas with an autoscaler, of which there is at most one', async () => {
    const objects = await render({ ci: 'ha' });
    expect(at(find(objects, 'Deployment', '-search'), 'spec')).to.not.have.property('replicas');
    expect(at(find(objects, 'Deployment', '-cognify'), 'spec')).to.not.have.property('replicas');
    expect(at(find(objects, 'Deployment', '-auth'), 'spec.replicas')).to.equal(3);
    expect(names(objects, 'HorizontalPodAutoscaler')).to.deep.equal(['rel-engram-search']);
    expect(names(objects, 'ScaledObject')).to.deep.equal(['rel-engram-cognify']);
  });

  it('routes every path to its service, by an Ingress and by an HTTPRoute', async () => {
    const ingress = find(await render({ ci: 'ha' }), 'Ingress');
    const rules = at(ingress, 'spec.rules') as { host: string }[];
    expect(rules.map(({ host }) => host)).to.deep.equal(['engram.example.com', 'memory.example.com']);
    const paths = at(ingress, 'spec.rules.0.http.paths') as { path: string; backend: object }[];
    const byIngress = paths.map(({ path, backend }) => [path, at(backend, 'service.name')]);
    const route = find(await render({ ci: 'gateway' }), 'HTTPRoute');
    const matches = at(route, 'spec.rules') as { matches: object[]; backendRefs: { name: string }[] }[];
    const byRoute = matches.flatMap(({ matches, backendRefs }) =>
      matches.map((match) => [at(match, 'path.value'), backendRefs[0]?.name]),
    );
    const wanted = Object.entries(SERVICE_PATHS).flatMap(([service, prefixes]) =>
      prefixes.map((prefix) => [prefix, `rel-engram-${service}`]),
    );
    expect(byIngress).to.have.deep.members(wanted);
    expect(byRoute).to.have.deep.members(wanted);
    expect(serviceOfPath('/api/v1/activity/usage')).to.equal('auth');
  });

  it('tells the service that serves MCP where the other services are', async () => {
    const objects = await render({ ci: 'ha' });
    const urlsOf = (service: string) =>
      variable(find(objects, 'Deployment', `-${service}`), 'ENGRAM_SERVICE_URLS')?.value;
    const wanted = SERVICE_NAMES.map((name) => [name, `http://rel-engram-${name}:80`]);
    expect(JSON.parse(urlsOf('integrations') ?? '{}')).to.deep.equal(Object.fromEntries(wanted));
    expect(urlsOf('search')).to.equal(undefined);
  });

  it('uses Roles when namespaces are named, otherwise a ClusterRole', async () => {
    const restricted = await render({ ci: 'restricted' });
    expect(kinds(restricted)).to.not.include.keys('ClusterRole', 'ClusterRoleBinding', 'CustomResourceDefinition');
    const roles = restricted.filter(({ kind, metadata }) => kind === 'Role' && metadata.name === 'rel-engram-operator');
    expect(roles.map(({ metadata }) => metadata.namespace)).to.deep.equal(['memory', 'memory-apps']);
    expect(JSON.stringify(roles)).to.not.include('deployments');
    const operator = find(restricted, 'Deployment', '-operator');
    expect(variable(operator, 'ENGRAM_OPERATOR_WATCH_NAMESPACES')?.value).to.equal('memory,memory-apps');
    expect(kinds(await render())).to.include.keys('ClusterRole', 'ClusterRoleBinding');
  });

  it('gives the operator access to the bus, but to no key, model or store', async () => {
    const values = {
      settings: { LOG_LEVEL: 'debug', LLM_MODEL: 'gpt-5' },
      secretSettings: { LLM_API_KEY: { name: 'llm', key: 'key' } },
    };
    for (const ci of ['minimal', 'external'] as const) {
      const objects = await render({ ci, values });
      const operator = find(objects, 'Deployment', '-operator');
      expect(variable(operator, 'LOG_LEVEL')?.value).to.equal('debug');
      expect(variable(operator, 'ENGRAM_NATS_PASSWORD')?.valueFrom?.secretKeyRef).to.be.an('object');
      const secret = variablesOf(operator).flatMap(({ name, valueFrom }) => (valueFrom?.secretKeyRef ? [name] : []));
      expect(secret.filter((name) => !name.startsWith('ENGRAM_NATS_'))).to.deep.equal([]);
      expect(variablesOf(operator).filter(({ name }) => /MONGODB|ELASTIC|NEO4J|KAFKA|LLM_/.test(name))).to.deep.equal(
        [],
      );
      expect(variable(find(objects, 'Deployment', '-cognify'), 'LLM_API_KEY')?.valueFrom).to.be.an('object');
    }
  });

  it('gives the operator stores, permissions and the image for Dedicated tenants', async () => {
    const values = { settings: { LLM_MODEL: 'gpt-5' }, secretSettings: { LLM_API_KEY: { name: 'llm', key: 'key' } } };
    const objects = await render({ ci: 'dedicated', values });
    const operator = find(objects, 'Deployment', '-operator');
    const [container] = (podSpecOf(operator)?.['containers'] ?? []) as { readonly image: string }[];
    expect(variable(operator, 'ENGRAM_OPERATOR_DEDICATED_IMAGE')?.value).to.equal(container?.image);
    const settings = variable(operator, 'ENGRAM_OPERATOR_DEDICATED_SETTINGS')?.value ?? '';
    expect(JSON.parse(settings)).to.deep.equal({
      LLM_MODEL: 'gpt-5',
      LOG_LEVEL: 'debug',
      ENGRAM_TRUSTED_PROXIES: '10.0.0.0/8',
    });
    expect(variable(operator, 'ENGRAM_OPERATOR_MONGODB_URL')?.valueFrom?.secretKeyRef).to.deep.equal({
      name: 'administrators',
      key: 'mongodbUrl',
    });
    expect(variablesOf(operator).filter(({ name }) => name === 'LLM_API_KEY')).to.deep.equal([]);
    const network = JSON.parse(variable(operator, 'ENGRAM_OPERATOR_DEDICATED_NETWORK')?.value ?? '') as object;
    expect(at(network, 'clients.0.namespaceSelector.matchLabels')).to.be.an('object');
    const rights = objects.filter(({ kind }) => kind === 'ClusterRole').map((role) => JSON.stringify(role));
    expect(rights.join()).to.include('"deployments"').and.include('"networkpolicies"');
    const nats = objects.filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith('-nats'));
    expect(JSON.stringify(nats)).to.include('DEDICATED: {').and.not.include('authorization: {');
  });

  it('requires administrators of external stores for Dedicated tenants', async () => {
    const values = { operator: { dedicated: { enabled: true } } };
    expect(await refusalOf(values, 'external')).to.include('operator.dedicated.existingSecret is empty');
    const bundled = find(await render({ ci: 'minimal', values }), 'Deployment', '-operator');
    expect(variable(bundled, 'ENGRAM_OPERATOR_MONGODB_URL')?.value).to.match(
      /^mongodb:\/\/root:\$\(\w+\)@[\w.-]+\.svc:27017/,
    );
  });

  it('gives Dedicated tenants no login of the installation', async () => {
    const dedicated = { enabled: true, existingSecret: 'administrators' };
    const operator = find(
      await render({ ci: 'external', values: { operator: { dedicated } } }),
      'Deployment',
      '-operator',
    );
    const named = variablesOf(operator).flatMap(({ name, valueFrom }) => {
      const from = valueFrom?.secretKeyRef as { readonly name: string; readonly key: string } | undefined;
      return from === undefined ? [] : [`${name} ${from.name} ${from.key}`];
    });
    expect(named).to.include.members([
      'ENGRAM_S3_ACCESS_KEY administrators s3AccessKey',
      'ENGRAM_S3_SECRET_KEY administrators s3SecretKey',
      'ENGRAM_KAFKA_USER administrators kafkaUser',
      'ENGRAM_KAFKA_PASSWORD administrators kafkaPassword',
    ]);
    expect(named.filter((one) => /\b(s3|kafka) \w+$/.test(one))).to.deep.equal([]);
    const values = {
      operator: { dedicated: { enabled: true } },
      externalS3: { bucket: 'memory', existingSecret: 's3' },
    };
    expect(await refusalOf(values, 'minimal')).to.include('logins of S3 and Kafka');
  });

  it('mounts files of NATS in operator mode into the operator', async () => {
    const values = {
      operator: {
        dedicated: { enabled: true, existingSecret: 'administrators' },
        settings: { ENGRAM_OPERATOR_NATS_SIGNING_KEY_FILE: '/nats-operator/signing.nk' },
        extraVolumes: [{ name: 'nats-operator', secret: { secretName: 'nats-operator' } }],
        extraVolumeMounts: [{ name: 'nats-operator', mountPath: '/nats-operator', readOnly: true }],
      },
      externalNats: { ca: { secret: 'nats-ca' } },
    };
    const operator = find(await render({ ci: 'external', values }), 'Deployment', '-operator');
    expect(variable(operator, 'ENGRAM_OPERATOR_NATS_SIGNING_KEY_FILE')?.value).to.equal('/nats-operator/signing.nk');
    expect(variable(operator, 'ENGRAM_NATS_CA_FILE')?.value).to.equal('/authorities/nats/ca.crt');
    expect(JSON.stringify(podSpecOf(operator)))
      .to.include('"mountPath":"/nats-operator"')
      .and.include('"secretName":"nats-operator"')
      .and.include('"secretName":"nats-ca"');
  });

  it('keeps CRDs and generated Secrets on uninstall', async () => {
    const objects = await render();
    const kept = objects.filter(({ kind }) => kind === 'CustomResourceDefinition' || kind === 'Secret');
    expect(kept).to.have.length.greaterThan(5);
    for (const { metadata } of kept) expect(metadata.annotations?.['helm.sh/resource-policy']).to.equal('keep');
    const free = await render({ values: { crds: { keep: false } } });
    expect(
      find(free, 'CustomResourceDefinition', 'tenants.engram.dev').metadata.annotations ?? {},
    ).to.not.have.property('helm.sh/resource-policy');
  });

  it('is one pod with a volume in the embedded shape', async () => {
    const objects = await render({ ci: 'embedded' });
    expect(names(objects, 'StatefulSet')).to.deep.equal(['rel-engram-embedded']);
    expect(kinds(objects)).to.not.include.keys('Deployment', 'ClusterRole', 'CustomResourceDefinition', 'Job');
    const paths = at(find(objects, 'Ingress'), 'spec.rules.0.http.paths') as { path: string }[];
    expect(paths.map(({ path }) => path)).to.deep.equal(['/']);
    expect(variable(find(objects, 'StatefulSet'), 'ENGRAM_STORES')).to.equal(undefined);
  });

  it('reads credentials and CAs of external servers from their Secrets', async () => {
    const objects = await render({ ci: 'external' });
    const cognify = find(objects, 'Deployment', '-cognify');
    const reference = (name: string) => variable(cognify, name)?.valueFrom?.secretKeyRef;
    expect(reference('ENGRAM_MONGODB_URL')).to.deep.equal({ name: 'mongodb', key: 'connectionString' });
    expect(reference('ENGRAM_NATS_PASSWORD')).to.deep.equal({ name: 'nats', key: 'cognify-password' });
    expect(reference('ENGRAM_S3_SECRET_KEY')).to.deep.equal({ name: 's3', key: 'secretKey' });
    expect(variable(cognify, 'ENGRAM_KAFKA_CA_FILE')?.value).to.equal('/authorities/kafka/ca.crt');
    const mounts = at(podSpecOf(cognify), 'containers.0.volumeMounts') as { mountPath: string }[];
    expect(mounts.map(({ mountPath }) => mountPath)).to.include('/authorities/kafka');
    expect(kinds(objects)).to.not.include('StatefulSet');
    expect(names(objects, 'Secret')).to.deep.equal([]);
  });
});

describe('names of the chart', () => {
  const RELEASE = 'a-release-name-that-is-as-long-as-helm-allows-it-to-x';

  it('have at most 63 characters, 52 for StatefulSets, and are unique', async () => {
    expect(RELEASE).to.have.length(53);
    for (const ci of CI_VALUES) {
      const objects = await render({ ci, release: RELEASE, values: { nameOverride: 'with-a-long-name-too' } });
      for (const { kind, metadata } of objects) {
        if (kind === 'CustomResourceDefinition') continue;
        const limit = kind === 'StatefulSet' ? 52 : 63;
        expect(metadata.name.length, `${kind} ${metadata.name}`).to.be.at.most(limit);
        expect(metadata.name).to.match(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
        for (const [key, value] of Object.entries(metadata.labels ?? {})) {
          expect(value.length, `${kind} ${metadata.name} ${key}`).to.be.at.most(63);
        }
      }
      for (const kind of ['Deployment', 'Service', 'StatefulSet']) {
        const all = names(objects, kind);
        expect(new Set(all).size).to.equal(all.length);
      }
    }
  });

  it('are unique for releases with a long common prefix', async () => {
    const long = (end: string) => render({ values: { fullnameOverride: `${'x'.repeat(60)}${end}` } });
    const [one, other] = await Promise.all([long('one'), long('two')]);
    expect(names(one, 'Deployment').filter((name) => names(other, 'Deployment').includes(name))).to.deep.equal([]);
  });
});

describe('overrides of single objects', () => {
  it('merge into and patch objects of the chart', async () => {
    const objects = await render({ ci: 'overrides' });
    expect(at(find(objects, 'Deployment', '-search'), 'spec.minReadySeconds')).to.equal(5);
    const auth = find(objects, 'Deployment', '-auth');
    expect(at(auth, 'spec.revisionHistoryLimit')).to.equal(1);
    expect(variable(auth, 'TZ')?.value).to.equal('UTC');
    expect(at(podSpecOf(auth), 'containers.0')).to.not.have.property('startupProbe');
    expect(auth.metadata.annotations).to.deep.equal({ 'example.com/owner': 'memory' });
    expect(at(find(objects, 'ConfigMap', 'rel-extra'), 'data.shape')).to.equal('cluster');
    expect(find(objects, 'ConfigMap', 'rel-text').metadata.name).to.equal('rel-text');
  });

  it('insert into, replace in and remove from lists', async () => {
    const value = { name: 'FIRST', value: '1' };
    const path = '/spec/template/spec/containers/0/env';
    const patch = [
      { op: 'add', path: `${path}/0`, value },
      { op: 'replace', path: `${path}/1`, value: { name: 'SECOND', value: '2' } },
      { op: 'remove', path: `${path}/2` },
    ];
    const before = variablesOf(find(await render(), 'Deployment', '-search'));
    const after = variablesOf(
      find(await render({ values: { objects: { 'Deployment/search': { patch } } } }), 'Deployment', '-search'),
    );
    expect(after.slice(0, 3)).to.deep.equal([value, { name: 'SECOND', value: '2' }, before[2]]);
    expect(after).to.have.length(before.length);
  });

  it('are refused for unknown objects and paths', async () => {
    const patched = (op: object) => refusalOf({ objects: { 'Deployment/search': { patch: [op] } } });
    expect(await patched({ op: 'remove', path: '/spec/nothing' })).to.include(
      'there is nothing at "nothing" to remove',
    );
    expect(await patched({ op: 'replace', path: '/spec/template/spec/containers/7', value: {} })).to.include(
      'the list has nothing at "7"',
    );
    expect(await patched({ op: 'add', path: '/kind/x/y', value: 1 })).to.include('nothing is below');
  });
});

describe('values', () => {
  const cases: readonly (readonly [string, object, string])[] = [
    ['unknown', { replicaCount: 3 }, 'replicaCount'],
    ['unknown of a service', { services: { auth: { replicaCount: 3 } } }, 'replicaCount'],
    ['unknown services', { services: { billing: {} } }, 'billing'],
    ['of the wrong kind', { defaults: { replicas: 'three' } }, 'replicas'],
    [
      'two ways in at once',
      { ingress: { enabled: true, hosts: ['x'] }, httpRoute: { enabled: true, parentRefs: [{ name: 'x' }] } },
      'ingress and httpRoute are both enabled',
    ],
    ['an Ingress without host', { ingress: { enabled: true } }, 'ingress.hosts is empty'],
    ['two autoscalers', { defaults: { autoscaling: { type: 'hpa+keda' } } }, 'autoscaling'],
    ['keda without trigger', { defaults: { autoscaling: { type: 'keda' } } }, 'triggers is empty'],
    ['a cluster without stores', { mongodb: { enabled: false } }, 'there is no mongodb'],
    ['a store twice', { externalMongodb: { existingSecret: 'x' } }, 'mongodb.enabled and externalMongodb are both set'],
    [
      'passwords in addresses',
      { nats: { enabled: false }, externalNats: { url: 'nats://user:password@host' } },
      'externalNats.url has credentials',
    ],
    ['a secret among settings', { settings: { LLM_API_KEY: 'sk-secret' } }, 'settings.LLM_API_KEY is a secret'],
    ['a misspelt setting', { settings: { LLM_MODLE: 'x' } }, 'settings.LLM_MODLE is no setting'],
    [
      'a setting that another value sets',
      { services: { auth: { settings: { HTTP_API_PORT: 1 } } } },
      "set by the chart's own values",
    ],
    ['a store by settings', { settings: { ENGRAM_MONGODB_DATABASE: 'x' } }, "set by the chart's own values"],
    ['a secret by value', { secretSettings: { LLM_API_KEY: 'sk-secret' } }, 'LLM_API_KEY'],
    ['a change of no object', { objects: { 'Deployment/serach': { merge: {} } } }, 'objects.Deployment/serach is no'],
    ['a change of no kind', { objects: { 'Deploiment/search': { merge: {} } } }, 'objects.Deploiment/search is no'],
    [
      'Dedicated tenants without an operator',
      { operator: { enabled: false, dedicated: { enabled: true } } },
      'operator.dedicated.enabled needs operator.enabled',
    ],
    [
      'Dedicated tenants in one pod',
      { shape: 'embedded', operator: { dedicated: { enabled: true } } },
      'operator.dedicated.enabled needs operator.enabled and shape: cluster',
    ],
    [
      'buckets of Dedicated tenants that there are not',
      { operator: { dedicated: { s3Buckets: true } }, externalS3: { bucket: 'x' } },
      's3Buckets needs operator.dedicated.enabled',
    ],
    [
      'a store beside one pod',
      { shape: 'embedded', externalS3: { bucket: 'x' } },
      'externalS3 means nothing with shape',
    ],
    ['a proxy by name', { trustedProxies: ['foo'] }, 'trustedProxies'],
    ['a proxy range that is none', { trustedProxies: ['10.0.0.0/33'] }, 'trustedProxies'],
    ['a range without its length', { networkPolicy: { egressCIDRs: ['10.0.0.0'] } }, 'egressCIDRs'],
    ['another protocol than S3 has', { externalS3: { bucket: 'x', url: 'ftp://s3' } }, 'externalS3'],
    ['a password in the address of S3', { externalS3: { bucket: 'x', url: 'https://a:b@s3' } }, 'url has credentials'],
    ['S3 without a bucket', { externalS3: { url: 'https://s3' } }, 'externalS3.bucket is empty'],
    ['Kafka without brokers', { externalKafka: { existingSecret: 'x' } }, 'externalKafka.brokers is empty'],
    [
      'another protocol than NATS has',
      { nats: { enabled: false }, externalNats: { url: 'http://nats' } },
      'externalNats',
    ],
    ['a patch that is none', { objects: { 'Deployment/auth': { patch: [{ op: 'test', path: '/x' }] } } }, 'op'],
  ];
  for (const [what, values, words] of cases) {
    it(`${what}: refused, and the message says what`, async () => {
      expect(await refusalOf(values)).to.include(words);
    });
  }

  it('accept addresses of proxies of both families', async () => {
    const trustedProxies = ['10.0.0.0/8', '192.0.2.1', 'fd00::/8', '2001:db8::1', '::ffff:10.0.0.1'];
    expect(await refusalOf({ trustedProxies })).to.equal(null);
  });

  it('reports all problems together', async () => {
    const refusal = await refusalOf({ ingress: { enabled: true }, mongodb: { enabled: false }, settings: { NOPE: 1 } });
    expect(refusal).to.include('ingress.hosts').and.include('no mongodb').and.include('settings.NOPE');
  });
});
