import { expect } from 'chai';
import { type Caller, createCaller } from './http.ts';
import { OUTCOMES } from './outcomes.ts';
import { requestTo } from './requests.ts';
import { type AccessWorld, startAccessWorld } from './world.ts';

/** Routes on which a limited key reads its account. */
const OF_THE_ACCOUNT = ['GET /api/v1/auth/me', 'GET /api/v1/users/me', 'GET /api/v1/agents/connections/me'];

const FORGET_EVERYTHING = { method: 'POST', path: '/api/v1/forget', json: { everything: true } } as const;

describe('an API key with limits', () => {
  let world: AccessWorld;

  before(async () => {
    world = await startAccessWorld();
  });
  after(() => world.stop());

  async function keyWith(limits: object): Promise<Caller> {
    const { key } = await world.acme.owner.need<{ key: string }>({
      method: 'POST',
      path: '/api/v1/auth/api-keys',
      json: limits,
    });
    return createCaller(world.app.baseUrl, 'limited key', { 'x-api-key': key });
  }

  /** Things of the owner that no limited key may change. */
  async function belongings(): Promise<Readonly<Record<string, unknown>>> {
    const { owner, ids } = world.acme;
    const read = (path: string) => owner.need<unknown>({ method: 'GET', path: `/api/v1${path}` });
    const keys = (await read('/auth/api-keys')) as readonly { readonly id: string }[];
    const datasets = (await read('/datasets')) as readonly { readonly id: string; readonly name: string }[];
    // Connections of agents are listed there too: any key registers those of its sessions.
    const configurations = (await read('/configuration/get_user_configuration')) as readonly {
      readonly name: string;
    }[];
    const permissions = '/permissions';
    return {
      keys: keys.map(({ id }) => id),
      agents: await read('/agents/list'),
      configurations: configurations.filter(({ name }) => name !== 'agent_configuration'),
      datasets: datasets.map(({ name }) => name).filter((name) => !name.includes('spare')),
      items: await read(`/datasets/${ids.dataset}/data`),
      session: await read(`/sessions/${ids.session}`),
      tenants: await read(`${permissions}/tenants/me`),
      users: await read(`${permissions}/tenants/${ids.tenant}/users`),
      roles: await read(`${permissions}/tenants/${ids.tenant}/roles`),
      account: await read('/users/me'),
    };
  }

  it('reaches only the dataset that it is limited to, and nothing of its account and tenant', async () => {
    const { owner, ids, secret } = world.acme;
    const { id: spare } = await owner.need<{ id: string }>({
      method: 'POST',
      path: '/api/v1/datasets',
      json: { name: 'spare' },
    });
    const limited = await keyWith({ datasets: [spare] });
    const before = await belongings();
    for (const operation of Object.keys(OUTCOMES)) {
      const { status, text } = await limited.send(requestTo(operation, ids));
      expect(status, `${operation} ${text}`).to.be.lessThan(500);
      if (!OF_THE_ACCOUNT.includes(operation)) expect(text, operation).not.to.include(secret);
    }
    await limited.need(FORGET_EVERYTHING);
    expect(await belongings()).to.deep.equal(before);
  });

  it('changes nothing when it is limited to reading', async () => {
    const { ids } = world.acme;
    const limited = await keyWith({ permissions: ['read'] });
    const before = await belongings();
    for (const operation of Object.keys(OUTCOMES)) {
      const { status, text } = await limited.send(requestTo(operation, ids));
      expect(status, `${operation} ${text}`).to.be.lessThan(500);
    }
    await limited.need(FORGET_EVERYTHING);
    expect(await belongings()).to.deep.equal(before);
  });
});
