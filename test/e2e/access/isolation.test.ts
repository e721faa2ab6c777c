import { expect } from 'chai';
import { WebSocket } from 'ws';
import { partOf } from '../../support/extent.ts';
import { type ApiAnswer, type Caller, createCaller } from './http.ts';
import { documentedOperations } from './operations.ts';
import { OUTCOMES } from './outcomes.ts';
import { REQUESTS, requestTo } from './requests.ts';
import { type AccessWorld, type Identifiers, missingIdentifiers, startAccessWorld, type TenantWorld } from './world.ts';

const KINDS: readonly (keyof Identifiers)[] = [
  ...(['tenant', 'owner', 'ownerEmail', 'member', 'role', 'dataset', 'datasetName', 'item', 'run'] as const),
  ...(['apiKey', 'agent', 'connection', 'configuration', 'session', 'ontology', 'skill', 'proposal'] as const),
  ...(['snapshot', 'restore'] as const),
];
const ACCOUNTS: ReadonlySet<keyof Identifiers> = new Set(['owner', 'member']);

/** The identifier of the request that belongs to another tenant; the others are the caller's own. */
interface Probe {
  readonly operation: string;
  readonly kind: keyof Identifiers;
  /** The foreign identifier: of the same kind, or of any other. */
  readonly put: keyof Identifiers;
}

describe('two tenants with the same data', () => {
  let world: AccessWorld;
  let victim: TenantWorld;
  let attacker: TenantWorld;
  let operations: readonly string[];
  let then: string;

  before(async () => {
    world = await startAccessWorld();
    [victim, attacker] = [world.acme, world.globex];
    operations = (await documentedOperations(world.nobody)).filter((operation) => !ENDS_THE_CALLER.has(operation));
    then = await everythingOf(victim);
  });
  after(() => world.stop());

  /** Every identifier of the victim in every place of every route where one of the attacker's own belongs. */
  const probes = (): readonly Probe[] => {
    const own = attacker.ids;
    let turn = 0;
    return operations.flatMap((operation) => {
      const usual = JSON.stringify(requestTo(operation, own));
      const places = KINDS.filter((kind) => {
        const changed = requestTo(operation, { ...own, [kind]: 'another' });
        return JSON.stringify(changed) !== usual && usual.includes(JSON.stringify(own[kind]).slice(1, -1));
      });
      // A name or an address would be found in an answer that repeats it.
      const foreign = KINDS.filter((put) => !victim.ids[put].includes(victim.secret));
      return places.flatMap((kind) => {
        const some = partOf(foreign, 8, turn++);
        // An account that one route adds to the tenant another one must remove from it.
        const puts = foreign.filter((put) => put === kind || ACCOUNTS.has(put) || some.includes(put));
        return puts.map((put) => ({ operation, kind, put }));
      });
    });
  };
  const send = (caller: Caller, { operation, kind }: Probe, value: string): Promise<ApiAnswer> =>
    caller.send(requestTo(operation, { ...attacker.ids, [kind]: value }));

  it('show nothing of each other, whichever identifier is requested', async () => {
    const told: string[] = [];
    for (const probe of probes()) {
      const { status, text, headers } = await send(attacker.owner, probe, victim.ids[probe.put]);
      const answer = `${text} ${JSON.stringify([...headers])}`.replaceAll(victim.ids[probe.put], '');
      if (answer.includes(victim.secret)) told.push(`${JSON.stringify(probe)} ${status} ${text.slice(0, 200)}`);
    }
    expect(told).to.deep.equal([]);
  });

  it('answer for a foreign identifier as for a missing one', async () => {
    const different: string[] = [];
    for (const probe of probes().filter(({ kind, put }) => kind === put)) {
      if (TELLS_OF_ACCOUNTS.has(`${probe.operation} ${probe.kind}`) || NAMES_OF_ONES_OWN.has(probe.kind)) continue;
      const missing = missingIdentifiers()[probe.kind];
      const foreign = victim.ids[probe.kind];
      const [one, other] = [await send(attacker.owner, probe, foreign), await send(attacker.owner, probe, missing)];
      const [seen, expected] = [shape(one, foreign), shape(other, missing)];
      if (seen !== expected) different.push(`${JSON.stringify(probe)}\n  foreign: ${seen}\n  missing: ${expected}`);
    }
    expect(different.join('\n')).to.equal('');
  });

  it('refuse to follow each other’s runs', async () => {
    const endOf = (run: string) => socketEnd(`${world.app.baseUrl}/api/v1/cognify/subscribe/${run}`, attacker.owner);
    expect((await endOf(attacker.ids.run)).code).to.equal(1000);
    const foreign = await endOf(victim.ids.run);
    expect(foreign).to.deep.equal(await endOf(missingIdentifiers().run));
    expect(foreign).to.include({ code: 1008, frames: 0 });
  });

  it('are unchanged by all these requests', async () => {
    const now = (await everythingOf(victim)).split('\n');
    expect(now.filter((line) => !then.includes(line))).to.deep.equal([]);
    expect(now).to.have.length(then.split('\n').length);
  });

  it('show nothing to a stranger and without credentials', async () => {
    for (const caller of [world.stranger, world.nobody]) {
      for (const [at, operation] of operations.entries()) {
        for (const { ids, secret } of partOf([victim, attacker], 2, at)) {
          const { text } = await caller.send(requestTo(operation, ids));
          const stripped = Object.values(ids).reduce((left, id) => left.replaceAll(id, ''), text);
          expect(stripped, `${caller.name}: ${operation}`).to.not.include(secret);
        }
      }
    }
  });

  it('write no content to the log', () => {
    const log = world.log();
    expect(log).to.include('http.request');
    for (const secret of [victim.secret, attacker.secret]) {
      const told = log.split('\n').filter((line) => line.includes(secret));
      expect(told.slice(0, 6).join('\n'), `${told.length} lines`).to.equal('');
    }
  });

  // Last: it changes what the owner has.
  describe('an API key with limits', () => {
    async function keyWith(limits: object): Promise<Caller> {
      const { key } = await victim.owner.need<{ key: string }>({
        method: 'POST',
        path: '/api/v1/auth/api-keys',
        json: limits,
      });
      return createCaller(world.app.baseUrl, 'limited key', { 'x-api-key': key });
    }

    /** Things of the owner that no limited key may change. */
    async function belongings(): Promise<Readonly<Record<string, unknown>>> {
      const { owner, ids } = victim;
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
      const { owner, ids, secret } = victim;
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
      const { ids } = victim;
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
});

/** Routes on which a limited key reads its account. */
const OF_THE_ACCOUNT = ['GET /api/v1/auth/me', 'GET /api/v1/users/me', 'GET /api/v1/agents/connections/me'];

const FORGET_EVERYTHING = { method: 'POST', path: '/api/v1/forget', json: { everything: true } } as const;

/** Routes that end the session or the account of the caller; sign-ins.test.ts tests them. */
const ENDS_THE_CALLER: ReadonlySet<string> = new Set(['POST /api/v1/auth/logout', 'DELETE /api/v1/datasets']);

/** Routes that reveal the existence of accounts: accounts belong to no tenant, and managers may add any account to one. */
const TELLS_OF_ACCOUNTS: ReadonlySet<string> = new Set([
  // A memory that pushes names a dataset by the id on its own side: after its first comparison the id means the caller's own copy.
  ...[
    'POST /api/cognify dataset',
    'GET /api/sync/{dataset_id}/data/{file} dataset',
    'PUT /api/sync/{dataset_id} dataset',
  ],
  'POST /api/v1/permissions/users/{user_id}/tenants owner',
  'DELETE /api/v1/permissions/tenants/{tenant_id}/users/{user_id} member',
  'POST /api/v1/permissions/users/{user_id}/roles member',
  'DELETE /api/v1/permissions/users/{user_id}/roles member',
  'POST /api/v1/permissions/datasets/{principal_id} member',
  'DELETE /api/v1/permissions/datasets/{principal_id} agent',
  'POST /api/v1/permissions/capabilities/{principal_id} member',
  'DELETE /api/v1/permissions/capabilities/{principal_id} member',
  'GET /api/v1/permissions/principals/{principal_id}/datasets owner',
  // The contract answers 403 to these, and 404 for missing ones.
  'GET /api/v1/agents/{agent_id} agent',
  'DELETE /api/v1/agents/{agent_id} agent',
  'GET /api/v1/permissions/tenants/{tenant_id}/users tenant',
]);

/** Names that each account has for itself: another account's name is an own name. */
const NAMES_OF_ONES_OWN: ReadonlySet<keyof Identifiers> = new Set(['session']);

/** The close code of a WebSocket, and the number of frames before. */
function socketEnd(url: string, { headers }: Caller) {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
  let frames = 0;
  socket.on('message', () => {
    frames += 1;
  });
  return new Promise<{ readonly code: number; readonly reason: string; readonly frames: number }>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString(), frames }));
  });
}

/** Status and body without the requested identifier and the parts that differ in every answer. */
function shape({ status, text }: ApiAnswer, asked: string): string {
  const body = text.replaceAll(asked, '<asked>').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g, '<time>');
  return `${status} ${body.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')}`;
}

/** Everything that the owner sees, as one text. */
async function everythingOf({ owner, ids }: TenantWorld): Promise<string> {
  const seen: string[] = [];
  for (const operation of Object.keys(REQUESTS)) {
    if (!operation.startsWith('GET /api/v1') || /activity|audit|search|recall|oidc|tenants.me/.test(operation))
      continue;
    const { status, text } = await owner.send(requestTo(operation, ids));
    // Windows of minutes and days end independently of the requests.
    seen.push(`${operation} ${status} ${text.replaceAll(/"(?:last_\w+|windowEndsAt)":"[^"]*"/g, '')}`);
  }
  return seen.join('\n');
}
