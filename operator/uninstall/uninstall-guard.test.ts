import { expect } from 'chai';
import { KubeError } from '../kube-runtime/kube-client.ts';
import { type KubeObject, keyOf, type ResourceKind } from '../kube-runtime/kube-object.ts';
import { mayUninstall, type UninstallGuardOptions } from './uninstall-guard.ts';

interface Held {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly finalizers?: readonly string[];
}

/** A cluster whose operator lets go of what is deleted and abandoned, or is stuck. */
function cluster(
  held: readonly Held[],
  options: { readonly operator?: 'works' | 'stuck'; readonly kinds?: boolean } = {},
) {
  let objects = held.map(
    ({ kind, namespace, name, finalizers = ['engram.dev/tenant'] }): KubeObject => ({
      apiVersion: 'engram.dev/v1alpha1',
      kind,
      metadata: { namespace, name, uid: `uid-${name}`, finalizers },
    }),
  );
  const patches = new Map<string, unknown>();
  const same = (kind: ResourceKind, name: KubeObject['metadata']) => (object: KubeObject) =>
    object.kind === kind.kind && keyOf(object.metadata) === keyOf(name);
  const client = {
    async list(kind: ResourceKind, { namespace }: { namespace?: string } = {}) {
      if (options.kinds === false) throw new KubeError({ code: 404, reason: 'NotFound', message: 'no such kind' });
      const items = objects.filter(
        (object) => object.kind === kind.kind && (namespace ?? object.metadata.namespace) === object.metadata.namespace,
      );
      return { items, resourceVersion: '1' };
    },
    async patch(_kind: ResourceKind, name: KubeObject['metadata'], patch: object) {
      patches.set(keyOf(name), patch);
      return {};
    },
    async delete(kind: ResourceKind, name: KubeObject['metadata']) {
      if (options.operator !== 'stuck') objects = objects.filter((object) => !same(kind, name)(object));
      return true;
    },
  } as unknown as UninstallGuardOptions['client'];
  return { client, patches, left: () => objects.map(({ metadata }) => keyOf(metadata)) };
}

async function ask(world: ReturnType<typeof cluster>, options: Partial<UninstallGuardOptions> = {}) {
  const lines: string[] = [];
  const may = await mayUninstall({
    client: world.client,
    namespaces: [],
    abandonAnnotation: 'engram.dev/abandon',
    force: false,
    forceCommand: 'kubectl create configmap please',
    timeoutMs: 50,
    pollMs: 5,
    say: (line) => void lines.push(line),
    ...options,
  });
  return { may, text: lines.join('\n') };
}

const ACME: Held = { kind: 'Tenant', namespace: 'memory', name: 'acme' };

describe('uninstall guard', () => {
  it('allows the uninstall when no resource waits, also without the kinds', async () => {
    expect((await ask(cluster([]))).may).to.equal(true);
    expect((await ask(cluster([{ ...ACME, finalizers: ['other.example/x'] }]))).may).to.equal(true);
    expect((await ask(cluster([], { kinds: false }))).may).to.equal(true);
  });

  it('refuses the uninstall with a list of the waiting resources and advice', async () => {
    const world = cluster([ACME, { kind: 'Dataset', namespace: 'app', name: 'tickets' }]);
    const { may, text } = await ask(world);
    expect(may).to.equal(false);
    expect(text)
      .to.include('Tenant memory/acme')
      .and.include('Dataset app/tickets')
      .and.include('kubectl create configmap please');
    expect(world.patches.size).to.equal(0);
  });

  it('limits the list of waiting resources', async () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ ...ACME, name: `acme-${index}` }));
    const { text } = await ask(cluster(many));
    expect(text.match(/Tenant memory/g)).to.have.length(20);
    expect(text).to.include('and 10 more');
  });

  it('checks only the namespaces of the operator', async () => {
    expect((await ask(cluster([ACME]), { namespaces: ['elsewhere'] })).may).to.equal(true);
    expect((await ask(cluster([ACME]), { namespaces: ['elsewhere', 'memory'] })).may).to.equal(false);
  });

  it('abandons waiting resources by their uids when it is forced', async () => {
    const world = cluster([ACME, { kind: 'Dataset', namespace: 'app', name: 'tickets' }]);
    expect((await ask(world, { force: true })).may).to.equal(true);
    expect(world.left()).to.deep.equal([]);
    expect(world.patches.get('memory/acme')).to.deep.equal({
      metadata: { annotations: { 'engram.dev/abandon': 'uid-acme' } },
    });
  });

  it('refuses a forced uninstall while the operator does not release the resources', async () => {
    const { may, text } = await ask(cluster([ACME], { operator: 'stuck' }), { force: true });
    expect(may).to.equal(false);
    expect(text).to.include('has not released').and.include('Tenant memory/acme');
  });
});
