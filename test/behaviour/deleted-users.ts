import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { collections } from '../../services/app/collections.ts';
import { auditRecordsCollection } from '../../services/auth/repositories/audit-log.ts';
import type { Principal } from '../../services/common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { eventsCollection } from '../../services/common/platform/events/event-log.ts';
import type { Mail } from '../../services/common/ports/mailer.ts';
import { createDatasets } from '../../services/common/records/auth/datasets.ts';
import { createTenants } from '../../services/common/records/auth/tenants.ts';
import { createUsers } from '../../services/common/records/auth/users.ts';
import { usageCollection } from '../../services/common/records/budgets/usage.ts';
import { createSessionEntries } from '../../services/common/records/sessions/session-entries.ts';
import { createSessions } from '../../services/common/records/sessions/sessions.ts';
import type { DocumentStore } from '../../services/common/storage/ports/document-store.ts';
import { startAuth, type TestAuth, testClock } from '../support/auth-service.ts';
import { CALL } from '../support/call-route.ts';
import type { SharedDocuments } from '../support/document-stores.ts';

/** What the end of an account promises over any document store, with two processes at it. */
export function deletedUsersBehaviour(name: string, open: () => Promise<SharedDocuments>): void {
  describe(`the end of an account over ${name}`, () => {
    let subject: SharedDocuments;
    let processes: readonly [TestAuth, TestAuth];
    let root: Principal;
    const clock = testClock();
    const mails: Mail[] = [];
    const mailer = { reachesPeople: true, send: async (mail: Mail) => void mails.push(mail) };
    before(async () => {
      subject = await open();
      const [one, other] = subject.stores;
      const options = { clock, mail: { mailer, perAccountAndHour: 3 } };
      processes = [await startAuth({ ...options, store: one }), await startAuth({ ...options, store: other })];
      root = await processes[0].addUser({ isSuperuser: true });
    });
    after(async () => {
      for (const auth of processes) await auth[Symbol.asyncDispose]();
      await subject.dispose();
    });

    const users = () => createUsers(subject.stores[0]);
    const remove = (auth: TestAuth, id: Principal['id'], by = root) =>
      auth.call('DELETE', '/api/v1/users/:userId', { params: { userId: id }, principal: by });
    const createDataset = async (auth: TestAuth, principal: Principal, dataset: string) =>
      (await auth.messenger.call('auth.CreateDataset', { name: dataset }, { ...CALL, principal })).dataset;
    /** Names of collections that still tell of the account. Logs of what was done may, and a counter of a late request. */
    const mayTell: ReadonlySet<string> = new Set(
      [auditRecordsCollection, eventsCollection, usageCollection].map(({ name }) => name),
    );
    const residue = async (id: string): Promise<readonly string[]> => {
      const found: string[] = [];
      for (const collection of collections) {
        if (mayTell.has(collection.name)) continue;
        const { items } = await subject.stores[0].find(SYSTEM_SCOPE, collection, { limit: 1000 });
        found.push(...items.filter((item) => JSON.stringify(item).includes(id)).map(() => collection.name));
      }
      return found;
    };

    it('leaves no document of it, whatever it does and is given at the same time', async () => {
      for (let round = 0; round < 2; round += 1) {
        const [one, other] = processes;
        const ada = await one.addUser();
        const bob = await one.addUser();
        const kept = await createDataset(one, ada, `kept${round}`);
        const shared = await createDataset(one, bob, `shared${round}`);
        const { json } = await one.call('POST', '/api/v1/permissions/tenants', {
          principal: bob,
          query: { tenant_name: 'acme' },
        });
        const tenant = (json as { tenant_id: string }).tenant_id;
        const create = (auth: TestAuth, agent: string) =>
          auth.call('POST', '/api/v1/agents/create', { principal: ada, query: { name: agent } });
        await create(one, 'bot');
        await converse(subject.stores[0], ada);
        const [deletion] = await Promise.allSettled([
          remove(one, ada.id),
          createDataset(other, ada, `late${round}`),
          other.call('POST', '/api/v1/auth/api-keys', { principal: ada, body: { name: 'late' } }),
          create(other, 'late'),
          other.call('POST', '/api/v1/agents/register', { principal: ada, body: { agent_session_name: 'late' } }),
          other.call('POST', '/api/v1/configuration/store_user_configuration', {
            principal: ada,
            body: { name: 'late', config: {} },
          }),
          other.call('POST', '/api/v1/permissions/tenants', { principal: ada, query: { tenant_name: 'late' } }),
          other.call('POST', '/api/v1/permissions/users/:userId/tenants', {
            principal: bob,
            params: { userId: ada.id },
            query: { tenant_id: tenant },
          }),
          other.call('POST', '/api/v1/permissions/datasets/:principalId', {
            principal: bob,
            params: { principalId: ada.id },
            query: { permission_name: 'read' },
            body: [shared.id],
          }),
          other.call('PATCH', '/api/v1/users/:userId', {
            principal: root,
            params: { userId: ada.id },
            body: { is_active: true, is_verified: true },
          }),
        ]);
        if (deletion.status === 'rejected') throw deletion.reason;
        expect(await users().get(ada.id)).to.equal(null);
        expect(await residue(ada.id)).to.deep.equal([]);
        expect(await users().childAgents(ada.id)).to.deep.equal([]);
        const stored = await createDatasets(subject.stores[1]).get({ tenant: kept.tenant }, kept.id);
        expect(stored?.ownerId).to.equal(root.id);
      }
    });

    it('passes everything on once when it is asked for twice', async () => {
      const [one, other] = processes;
      const ada = await one.addUser();
      for (let index = 0; index < 5; index += 1) await createDataset(one, ada, `twice${index}`);
      const outcomes = await Promise.allSettled([remove(one, ada.id), remove(other, ada.id), remove(one, ada.id)]);
      expect(outcomes[0]?.status).to.equal('fulfilled');
      expect(await findAudited(subject, 'dataset.reassigned', ada.id)).to.have.length(5);
      expect(await findAudited(subject, 'user.deleted', ada.id, 'subject')).to.have.length(1);
    });

    it('leaves a superuser when the last two end each other in two processes', async () => {
      const [one, other] = processes;
      for (let round = 0; round < 4; round += 1) {
        const second = await one.addUser({ isSuperuser: true });
        const outcomes = await Promise.allSettled([remove(one, second.id, root), remove(other, root.id, second)]);
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
        const [left, ...more] = await users().superusers();
        expect(more).to.deep.equal([]);
        if (left === undefined) throw new Error('nobody is left');
        root = { ...root, id: left.id, email: left.email };
      }
    });

    it('gives a tenant one owner, who is a member, when its members end at the same time', async () => {
      const [one, other] = processes;
      const [ada, bob] = [await one.addUser(), await one.addUser()];
      const { json } = await one.call('POST', '/api/v1/permissions/tenants', {
        principal: ada,
        query: { tenant_name: 'acme' },
      });
      const tenant = (json as { tenant_id: string }).tenant_id as Principal['tenant'];
      await one.call('POST', '/api/v1/permissions/users/:userId/tenants', {
        principal: { ...ada, tenant },
        params: { userId: bob.id },
        query: { tenant_id: tenant },
      });
      await one.call('POST', '/api/v1/permissions/capabilities/:principalId', {
        principal: { ...ada, tenant },
        params: { principalId: bob.id },
        query: { capability: ['manage_users'], tenant_id: tenant },
      });
      await createDataset(one, { ...bob, tenant }, 'plans');
      await Promise.all([remove(one, ada.id), remove(other, bob.id)]);
      expect((await createTenants(subject.stores[0]).get(tenant))?.ownerId).to.equal(root.id);
      expect([...(await residue(ada.id)), ...(await residue(bob.id))]).to.deep.equal([]);
    });

    it('lets a reset token be used once in two processes, and no more mails go than an account may have', async () => {
      const [one, other] = processes;
      const email = 'reset@example.com';
      await one.call('POST', '/api/v1/auth/register', { body: { email, password: 'the old one' } });
      for (let count = 0; count < 8; count += 1) {
        await processes[count % 2 === 0 ? 0 : 1].call('POST', '/api/v1/auth/forgot-password', { body: { email } });
      }
      const token = () => /ey[\w-]+\.[\w-]+\.[\w-]+/.exec(mails[0]?.text ?? '')?.[0] ?? '';
      for (let waits = 0; mails.length < 3 && waits < 1500; waits += 1) await new Promise((go) => setTimeout(go, 10));
      const uses = [one, other, one, other].map((auth, index) =>
        auth.call('POST', '/api/v1/auth/reset-password', { body: { token: token(), password: `new one ${index}` } }),
      );
      const outcomes = await Promise.allSettled(uses);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
      expect(mails).to.have.length(3);
      expect(mails.every(({ to }) => to === email)).to.equal(true);
    });
  });
}

/** A session with an answer in it, in another tenant than the personal one too. */
async function converse(store: DocumentStore, { id, tenant }: Principal): Promise<void> {
  const entries = createSessionEntries(store, createSessions(store));
  const entry = { question: 'x', context: '', answer: 'y', feedbackText: null, feedbackScore: null };
  for (const place of [tenant, randomUUID() as unknown as Principal['tenant']]) {
    await entries.appendQa(
      ...([{ tenant: place }, { user: id, session: 'talk' }, randomUUID()] as const),
      { ...entry, usedGraphElements: null, usedContextIds: null },
      { lastActivityAt: new Date().toISOString() },
    );
  }
}

async function findAudited(
  subject: SharedDocuments,
  action: string,
  text: string,
  field: 'subject' | 'details' = 'details',
): Promise<readonly unknown[]> {
  const { items } = await subject.stores[0].find(SYSTEM_SCOPE, auditRecordsCollection, { limit: 1000 });
  return items.filter(({ value }) => value.action === action && value[field].includes(text));
}
