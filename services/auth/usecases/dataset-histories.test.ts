import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { CALL, startAuth } from '../../../test/support/auth-service.ts';
import type { TenantId, UserId } from '../../common/domain/brand.ts';
import type { DatasetRef } from '../../common/domain/dataset.ts';
import { scopeOf } from '../../common/domain/dataset.ts';
import { asId } from '../../common/domain/ids.ts';
import { PERMISSIONS, type Permission, type Principal } from '../../common/domain/principal.ts';
import * as methods from '../../common/messaging/methods/auth.ts';
import { createGrants } from '../../common/repositories/grants.ts';

/** ada, her agent, bob, and ada while she works in another tenant. */
const ACTORS = 4;

const actor = fc.nat(ACTORS - 1);
/** Few of them, so that a history comes back to the same name often. */
const dataset = fc.record({ owner: fc.constantFrom(0, 0, 1, 3), name: fc.constant('notes') });
const permission = fc.constantFrom(...PERMISSIONS);
const step = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), dataset }),
  fc.record({ kind: fc.constant('remove' as const), dataset, late: fc.boolean() }),
  fc.record({ kind: fc.constant('grant' as const), dataset, holder: actor, permission }),
  fc.record({ kind: fc.constant('revoke' as const), dataset, holder: actor, permission }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** What should be so: the living datasets, and who holds what on each. */
interface Model {
  readonly refs: Map<string, DatasetRef>;
  /** The newest removed dataset of each name, for removals that come late. */
  readonly removed: Map<string, DatasetRef>;
  readonly grants: Map<string, Set<string>>;
}

describe('datasets and grants', () => {
  it('follow any history of creating, granting, revoking and removing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30, size: 'max' }), async (steps) => {
        await using auth = await startAuth();
        const ada = await auth.addUser();
        const agent = await auth.addUser({ parentId: ada.id });
        const bob = await auth.addUser();
        const actors = [ada, agent, bob, { ...ada, tenant: asId<TenantId>(randomUUID()) }];
        const model: Model = { refs: new Map(), removed: new Map(), grants: new Map() };
        const run = async (next: Step) => {
          auth.clock.advance(1);
          const owner = actors[next.dataset.owner] as Principal;
          const key = `${next.dataset.owner}/${next.dataset.name}`;
          await apply(next, { auth, model, owner, actors, key });
          for (const principal of actors) await compareIds(auth, model, principal, actors);
        };
        for (const next of steps) await run(next);
        for (const principal of actors) await compareLists(auth, model, principal, actors);
      }),
      { numRuns: 60 },
    );
  });
});

interface Setting {
  readonly auth: Awaited<ReturnType<typeof startAuth>>;
  readonly model: Model;
  readonly owner: Principal;
  readonly actors: readonly Principal[];
  readonly key: string;
}

async function apply(next: Step, { auth, model, owner, actors, key }: Setting): Promise<void> {
  const ref = model.refs.get(key);
  const grants = createGrants(auth.store);
  switch (next.kind) {
    case 'create': {
      const request = { name: next.dataset.name };
      const context = { ...CALL, principal: owner };
      const { dataset: made } = await auth.messenger.call(methods.createDataset, request, context);
      if (ref !== undefined) {
        expect(made).to.deep.equal(ref);
        return;
      }
      model.refs.set(key, made);
      const holders = owner.parentId === null ? [owner.id] : [owner.id, owner.parentId];
      model.grants.set(key, new Set(holders.flatMap((id) => PERMISSIONS.map((name) => mark(id, name)))));
      return;
    }
    case 'remove': {
      const target = next.late ? model.removed.get(key) : ref;
      if (target === undefined) return;
      const { removed } = await auth.messenger.call(methods.removeDataset, { dataset: target }, CALL);
      expect(removed).to.equal(!next.late);
      if (next.late) return;
      model.refs.delete(key);
      model.grants.delete(key);
      model.removed.set(key, target);
      return;
    }
    case 'grant':
    case 'revoke': {
      const target = ref ?? model.removed.get(key);
      const holder = actors[next.holder];
      if (target === undefined || holder === undefined) return;
      if (next.kind === 'grant') {
        expect(await grants.grant(scopeOf(target), holder.id, next.permission)).to.equal(ref !== undefined);
        model.grants.get(key)?.add(mark(holder.id, next.permission));
      } else {
        await grants.revoke(scopeOf(target), holder.id, next.permission);
        model.grants.get(key)?.delete(mark(holder.id, next.permission));
      }
    }
  }
}

type Auth = Setting['auth'];

/** By id: exactly the permitted datasets are answered, removed ones never. */
async function compareIds(auth: Auth, model: Model, principal: Principal, actors: readonly Principal[]): Promise<void> {
  const ids = new Set([...model.refs.values(), ...model.removed.values()].map(({ id }) => id));
  for (const permission of PERMISSIONS) {
    const expected = permitted(model, principal, permission, actors);
    for (const id of ids) {
      const request = { permission, ids: [id] };
      const isAnswered = await auth.messenger.call(methods.resolveDatasets, request, { ...CALL, principal }).then(
        () => true,
        () => false,
      );
      expect(isAnswered).to.equal(expected.includes(id));
    }
  }
}

async function compareLists(
  auth: Auth,
  model: Model,
  principal: Principal,
  actors: readonly Principal[],
): Promise<void> {
  for (const permission of PERMISSIONS) {
    const { datasets } = await auth.messenger.call(methods.resolveDatasets, { permission }, { ...CALL, principal });
    expect(datasets.map(({ id }) => id)).to.have.members(permitted(model, principal, permission, actors));
  }
}

function permitted(model: Model, principal: Principal, permission: Permission, actors: readonly Principal[]) {
  const children = actors.filter(({ parentId }) => parentId === principal.id);
  const holders = [principal.id, ...children.map(({ id }) => id)];
  const isHeld = (key: string) => holders.some((id) => model.grants.get(key)?.has(mark(id, permission)));
  const living = [...model.refs].filter(([key, ref]) => ref.tenant === principal.tenant && isHeld(key));
  return living.map(([, ref]) => ref.id);
}

function mark(holder: UserId, permission: Permission): string {
  return `${holder} ${permission}`;
}
