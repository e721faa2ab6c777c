import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import type { CrdSchema, CustomResourceDefinition } from '../../operator/api/custom-resource-definition.ts';
import { type Answer, type ApiServer, CRDS, documentsOf, type Json } from './api-server.ts';
import { dataset, REFUSED_CHANGES, REFUSED_OBJECTS, tenant } from './crd-cases.ts';
import { describeWithCluster } from './with-cluster.ts';

const EXAMPLES = readdirSync(`${CRDS}examples`);

function definitionOf(kind: 'Tenant' | 'Dataset'): CustomResourceDefinition {
  return documentsOf(`${CRDS}${kind.toLowerCase()}s.engram.dev.yaml`)[0] as unknown as CustomResourceDefinition;
}

function schemaOf(kind: 'Tenant' | 'Dataset'): CrdSchema {
  return definitionOf(kind).spec.versions[0]?.schema.openAPIV3Schema ?? {};
}

/** The full example, which sets every field of the spec. */
function fullExample(kind: 'Tenant' | 'Dataset'): Json {
  return documentsOf(`${CRDS}examples/${kind.toLowerCase()}-full.yaml`)[0] ?? {};
}

describeWithCluster('definitions of Tenant and Dataset', (server) => {
  let namespace: string;
  let api: ApiServer;
  before(async () => {
    api = server();
    await api.applyCrds();
    namespace = await api.newNamespace();
  });

  const pathOf = (object: Json): string => {
    const kind = String(object['kind']);
    const group = kind === 'Tenant' || kind === 'Dataset' ? '/apis/engram.dev/v1alpha1' : '/api/v1';
    return `${group}/namespaces/${namespace}/${kind.toLowerCase()}s`;
  };
  const create = (object: Json, query = 'fieldValidation=Strict'): Promise<Answer> =>
    api.send('POST', `${pathOf(object)}?${query}`, object);
  const tryOut = (object: Json): Promise<Answer> => create(object, 'fieldValidation=Strict&dryRun=All');
  const nameOf = (object: Json): string => (object['metadata'] as { name: string }).name;

  it('has a minimal and a full example of each kind', () => {
    for (const name of ['tenant-minimal', 'tenant-full', 'dataset-minimal', 'dataset-full']) {
      expect(EXAMPLES).to.include(`${name}.yaml`);
    }
  });

  for (const file of EXAMPLES) {
    it(`accepts every object of ${file}, with no unknown field`, async () => {
      const objects = documentsOf(`${CRDS}examples/${file}`);
      expect(objects).not.to.deep.equal([]);
      for (const object of objects) {
        const { status, body } = await tryOut(object);
        expect(status, JSON.stringify(body['message'])).to.equal(201);
      }
    });
  }

  it('sets every field of the spec in the full examples', () => {
    for (const kind of ['Tenant', 'Dataset'] as const) {
      const left = unsetFields(schemaOf(kind).properties?.['spec'] ?? {}, fullExample(kind)['spec'], '');
      // One thing excludes the other, one service is like the next, adoption is an example of its own.
      const elsewhere =
        /^(tenantId|datasetId|graphModel\.inline|prompt\.configMapRef|routing\.(ingress|tls)\w+|(scaling|resources)\.(auth|ingest|improve|integrations).*|.*schedule)$/;
      expect(left.filter((path) => !elsewhere.test(path))).to.deep.equal([]);
    }
  });

  it('fills in defaults', async () => {
    const { body } = await tryOut(tenant({ apiKeys: [{ name: 'a', secretName: 'a', rotation: { interval: '48h' } }] }));
    expect(body['spec']).to.deep.equal({
      owner: { email: 'ada@example.com' },
      apiKeys: [{ name: 'a', secretName: 'a', rotation: { interval: '48h', overlap: '24h' } }],
      state: 'Active',
      suspend: false,
      isolation: 'Shared',
      minimumIsolation: 'Label',
      datasets: { allowedNamespaces: { from: 'Same' } },
      deletionPolicy: 'Retain',
      datasetDeletion: 'Block',
    });
    const filled = await tryOut(dataset({ freshness: {}, access: {}, chunking: {} }));
    expect(filled.body['spec']).to.deep.equal({
      tenantRef: { name: 'acme' },
      suspend: false,
      freshness: { maxLag: '15m', maxFailedItems: 0 },
      access: { exclusive: false },
      chunking: { strategy: 'paragraph' },
    });
  });

  for (const { what, object, says } of REFUSED_OBJECTS) {
    it(`refuses ${what}`, async () => {
      const { status, body } = await tryOut(object);
      expect(status, JSON.stringify(body)).to.equal(422);
      expect(body['message']).to.include(says);
    });
  }

  for (const { what, before: first, change, status: written, says } of REFUSED_CHANGES) {
    it(`refuses ${what}`, async () => {
      const made = await create(first);
      expect(made.status, JSON.stringify(made.body['message'])).to.equal(201);
      const place = `${pathOf(first)}/${nameOf(first)}`;
      const merge = { 'content-type': 'application/merge-patch+json' };
      if (written !== undefined) {
        expect((await api.send('PATCH', `${place}/status`, { status: written }, merge)).status).to.equal(200);
      }
      const { status, body } = await api.send('PATCH', place, { spec: change }, merge);
      expect(status, JSON.stringify(body)).to.equal(422);
      expect(body['message']).to.include(says);
    });
  }

  it('has a refused case for each validation rule', () => {
    const said = [...REFUSED_OBJECTS, ...REFUSED_CHANGES].map(({ says }) => says);
    const messages = (['Tenant', 'Dataset'] as const).flatMap((kind) => rulesOf(schemaOf(kind)));
    expect(messages.length).to.be.greaterThan(10);
    expect(messages.filter((message) => !said.some((text) => message.includes(text)))).to.deep.equal([]);
  });

  for (const kind of ['Tenant', 'Dataset'] as const) {
    it(`enforces every bound of a ${kind}, and names the field`, async () => {
      const violations = violationsOf(schemaOf(kind).properties?.['spec'] ?? {}, fullExample(kind)['spec'], []);
      expect(violations.length).to.be.greaterThan(30);
      for (const { path, value } of violations) {
        const object = structuredClone(fullExample(kind));
        setAt(object, ['spec', ...path], value);
        const { status, body } = await tryOut(object);
        expect(status, `${path.join('.')}: ${JSON.stringify(value)?.slice(0, 80)}`).to.equal(422);
        expect(body['message']).to.include(path.filter((part) => typeof part === 'string').at(-1));
      }
    });

    it(`bounds every string, list and map of a ${kind}`, () => {
      expect(unboundedFields(schemaOf(kind).properties?.['spec'] ?? {}, 'spec')).to.deep.equal([]);
      expect(unboundedFields(schemaOf(kind).properties?.['status'] ?? {}, 'status')).to.deep.equal([]);
    });

    it(`explains every field of a ${kind}`, () => {
      expect(unexplainedFields(schemaOf(kind).properties?.['spec'] ?? {}, 'spec')).to.deep.equal([]);
      expect(unexplainedFields(schemaOf(kind).properties?.['status'] ?? {}, 'status')).to.deep.equal([]);
    });
  }

  it('keeps status and spec apart', async () => {
    const made = await create({ ...tenant({}, 'apart'), status: { tenantId: 'of-no-use' } });
    expect(made.body['status']).to.equal(undefined);
    const place = `/apis/engram.dev/v1alpha1/namespaces/${namespace}/tenants/apart/status`;
    const merge = { 'content-type': 'application/merge-patch+json' };
    const patched = await api.send('PATCH', place, { spec: { displayName: 'x' }, status: { ownerId: 'o' } }, merge);
    expect(patched.body['status']).to.deep.equal({ ownerId: 'o' });
    expect(patched.body['spec']).not.to.have.property('displayName');
    expect((patched.body['metadata'] as { generation: number }).generation).to.equal(1);
  });

  it('prints the columns of kubectl get', async () => {
    await create(tenant({ state: 'Hibernated' }, 'printed'));
    const place = `/apis/engram.dev/v1alpha1/namespaces/${namespace}/tenants/printed`;
    const at = { lastTransitionTime: '2026-11-22T12:00:00Z' };
    const status = {
      tenantId: 'id',
      url: 'https://acme.example.com',
      usage: { datasets: 4 },
      conditions: [{ type: 'Ready', status: 'False', reason: 'Hibernated', ...at }],
    };
    await api.send('PATCH', `${place}/status`, { status }, { 'content-type': 'application/merge-patch+json' });
    const table = await api.send('GET', place, undefined, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    const { columnDefinitions, rows } = table.body as unknown as {
      columnDefinitions: { name: string; priority: number }[];
      rows: { cells: unknown[] }[];
    };
    const cells = columnDefinitions.map(({ name, priority }, column) => [name, priority, rows[0]?.cells[column]]);
    expect(cells.slice(0, -1)).to.deep.equal([
      ['Name', 0, 'printed'],
      ['Ready', 0, 'False'],
      ['Reason', 0, 'Hibernated'],
      ['State', 0, 'Hibernated'],
      ['Isolation', 0, 'Shared'],
      ['Datasets', 0, 4],
      ['URL', 1, 'https://acme.example.com'],
      ['Tenant ID', 1, 'id'],
    ]);
    expect(cells.at(-1)?.[0]).to.equal('Age');
  });

  it('finds Datasets by their tenant and Tenants by their state', async () => {
    await create(dataset({ tenantRef: { name: 'chosen' } }, 'chosen'));
    await create(dataset({ tenantRef: { name: 'other' } }, 'other'));
    await create(tenant({ state: 'Disabled' }, 'off'));
    const names = async (plural: string, selector: string): Promise<string[]> => {
      const path = `/apis/engram.dev/v1alpha1/namespaces/${namespace}/${plural}?fieldSelector=${selector}`;
      const { body } = await api.send('GET', path);
      return (body['items'] as Json[]).map(nameOf);
    };
    expect(await names('datasets', 'spec.tenantRef.name%3Dchosen')).to.deep.equal(['chosen']);
    expect(await names('tenants', 'spec.state%3DDisabled')).to.deep.equal(['off']);
  });

  it('answers to short names and the category', async () => {
    const { body } = await api.send('GET', '/apis/engram.dev/v1alpha1');
    const resources = body['resources'] as { name: string; shortNames?: string[]; categories?: string[] }[];
    const of = (name: string) => resources.find((resource) => resource.name === name);
    expect(of('tenants'))
      .to.include({ kind: 'Tenant' })
      .and.deep.include({ shortNames: ['mt'], categories: ['memory'] });
    expect(of('datasets')).to.deep.include({ shortNames: ['mds'], categories: ['memory'] });
  });
});

type Path = readonly (string | number)[];
interface Violation {
  readonly path: Path;
  readonly value: unknown;
}

/** One value beyond each bound of each field that the example sets. */
function violationsOf(schema: CrdSchema, value: unknown, path: Path): Violation[] {
  const { properties, items, additionalProperties } = schema;
  const own = beyond(schema, value).map((violation) => ({ path, value: violation }));
  if (properties !== undefined && typeof value === 'object' && value !== null) {
    const below = Object.entries(value).flatMap(([name, inner]) =>
      violationsOf(properties[name] ?? {}, inner, [...path, name]),
    );
    return [...own, ...below];
  }
  if (items !== undefined && Array.isArray(value)) return [...own, ...violationsOf(items, value[0], [...path, 0])];
  if (additionalProperties !== undefined && typeof value === 'object' && value !== null) {
    const [name = ''] = Object.keys(value);
    return [...own, ...beyond(additionalProperties, '').map((inner) => ({ path: [...path, name], value: inner }))];
  }
  return own;
}

function beyond(schema: CrdSchema, value: unknown): unknown[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, maxProperties, pattern, enum: values } = schema;
  const [first] = Array.isArray(value) ? value : [];
  return [
    ...(schema.type === 'boolean' ? ['yes'] : []),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(minLength === undefined ? [] : ['a'.repeat(minLength - 1)]),
    ...(maxLength === undefined || values !== undefined ? [] : ['a'.repeat(maxLength + 1)]),
    ...(minItems === undefined ? [] : [[]]),
    ...(maxItems === undefined ? [] : [Array.from({ length: maxItems + 1 }, () => first)]),
    ...(maxProperties === undefined
      ? []
      : [Object.fromEntries(Array.from({ length: maxProperties + 1 }, (_, at) => [`k${at}`, 'v']))]),
    ...(pattern === undefined ? [] : [`${'!. '.repeat(12)}`.slice(0, maxLength ?? 36)]),
    ...(values === undefined ? [] : ['Nonsense']),
  ];
}

function setAt(target: unknown, path: Path, value: unknown): void {
  const [last, ...rest] = [...path].reverse();
  const place = rest.reverse().reduce<unknown>((held, part) => (held as Record<string, unknown>)[part], target);
  (place as Record<string, unknown>)[String(last)] = value;
}

function rulesOf(schema: CrdSchema): string[] {
  const own = (schema['x-kubernetes-validations'] ?? []).map(({ message }) => message);
  const below = Object.values(schema.properties ?? {}).flatMap(rulesOf);
  return [...own, ...below, ...(schema.items === undefined ? [] : rulesOf(schema.items))];
}

function unsetFields(schema: CrdSchema, value: unknown, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const held = (value as Json)[name];
    const here = path === '' ? name : `${path}.${name}`;
    if (held === undefined) return [here];
    // What has one of several forms shows one of them.
    if (here.endsWith('principal')) return [];
    const below = (schemaOfInner: CrdSchema, inner: unknown) =>
      typeof inner === 'object' ? unsetFields(schemaOfInner, inner, here) : [];
    if (!Array.isArray(held)) return below(field, held);
    // What one entry of a list cannot have beside the rest, another one has.
    const [first = [], ...others] = held.map((entry) => below(field.items ?? {}, entry));
    return first.filter((unset) => others.every((of) => of.includes(unset)));
  });
}

function everyField(schema: CrdSchema, path: string): [string, CrdSchema][] {
  const inner = schema.items ?? schema.additionalProperties;
  return [
    [path, schema],
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => everyField(field, `${path}.${name}`)),
    ...(inner === undefined ? [] : everyField(inner, `${path}[]`)),
  ];
}

function unboundedFields(schema: CrdSchema, path: string): string[] {
  const isUnbounded = (field: CrdSchema): boolean => {
    if (field.type === 'string') return !field.maxLength && !field.enum && field.format !== 'date-time';
    if (field.type === 'array') return field.maxItems === undefined;
    return field.additionalProperties !== undefined && field.maxProperties === undefined;
  };
  return everyField(schema, path).flatMap(([name, field]) => (isUnbounded(field) ? [name] : []));
}

/** Conditions are Kubernetes' own. */
function unexplainedFields(schema: CrdSchema, path: string): string[] {
  return everyField(schema, path).flatMap(([name, field]) =>
    field.description === undefined && !name.endsWith('[]') && !name.includes('conditions[]') ? [name] : [],
  );
}
