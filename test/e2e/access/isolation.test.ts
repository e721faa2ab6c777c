import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { ApiAnswer, Caller } from './http.ts';
import { documentedOperations } from './operations.ts';
import { REQUESTS, requestTo } from './requests.ts';
import { type AccessWorld, type Identifiers, missingIdentifiers, startAccessWorld, type TenantWorld } from './world.ts';

const KINDS: readonly (keyof Identifiers)[] = [
  ...(['tenant', 'owner', 'ownerEmail', 'member', 'role', 'dataset', 'datasetName', 'item', 'run'] as const),
  ...(['apiKey', 'agent', 'connection', 'configuration', 'session', 'skill', 'proposal'] as const),
  ...(['snapshot', 'restore'] as const),
];

/** Which identifier of the request is another tenant's; the others are the caller's own. */
interface Probe {
  readonly operation: string;
  readonly kind: keyof Identifiers;
  /** The foreign identifier that stands there: of the same kind, or of any other. */
  readonly put: keyof Identifiers;
}

describe('two tenants with the same of everything', function () {
  this.timeout(180_000);
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

  /** Every identifier of the victim, in every place of every route where the attacker's own would stand. */
  const probes = (): readonly Probe[] => {
    const own = attacker.ids;
    return operations.flatMap((operation) => {
      const usual = JSON.stringify(requestTo(operation, own));
      const places = KINDS.filter((kind) => {
        const changed = requestTo(operation, { ...own, [kind]: 'another' });
        return JSON.stringify(changed) !== usual && usual.includes(JSON.stringify(own[kind]).slice(1, -1));
      });
      // A name or an address would be looked for in the answer that echoes it.
      const foreign = KINDS.filter((put) => !victim.ids[put].includes(victim.secret));
      return places.flatMap((kind) => foreign.map((put) => ({ operation, kind, put })));
    });
  };
  const send = (caller: Caller, { operation, kind }: Probe, value: string): Promise<ApiAnswer> =>
    caller.send(requestTo(operation, { ...attacker.ids, [kind]: value }));

  it('show nothing of one to the other, whichever identifier is asked for', async () => {
    const told: string[] = [];
    for (const probe of probes()) {
      const { status, text, headers } = await send(attacker.owner, probe, victim.ids[probe.put]);
      const answer = `${text} ${JSON.stringify([...headers])}`.replaceAll(victim.ids[probe.put], '');
      if (answer.includes(victim.secret)) told.push(`${JSON.stringify(probe)} ${status} ${text.slice(0, 200)}`);
    }
    expect(told).to.deep.equal([]);
  });

  it('answer for a foreign identifier as for one that does not exist', async () => {
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

  it('let nobody follow the runs of the other', async () => {
    const endOf = (run: string) => socketEnd(`${world.app.baseUrl}/api/v1/cognify/subscribe/${run}`, attacker.owner);
    expect((await endOf(attacker.ids.run)).code).to.equal(1000);
    const foreign = await endOf(victim.ids.run);
    expect(foreign).to.deep.equal(await endOf(missingIdentifiers().run));
    expect(foreign).to.include({ code: 1008, frames: 0 });
  });

  it('are unchanged by all of it', async () => {
    const now = (await everythingOf(victim)).split('\n');
    expect(now.filter((line) => !then.includes(line))).to.deep.equal([]);
    expect(now).to.have.length(then.split('\n').length);
  });

  it('show a stranger and nobody nothing of either', async () => {
    for (const caller of [world.stranger, world.nobody]) {
      for (const operation of operations) {
        for (const { ids, secret } of [victim, attacker]) {
          const { text } = await caller.send(requestTo(operation, ids));
          const stripped = Object.values(ids).reduce((left, id) => left.replaceAll(id, ''), text);
          expect(stripped, `${caller.name}: ${operation}`).to.not.include(secret);
        }
      }
    }
  });

  it('leave no content in the log', () => {
    const log = world.log();
    expect(log).to.include('http.request');
    for (const secret of [victim.secret, attacker.secret]) {
      const told = log.split('\n').filter((line) => line.includes(secret));
      expect(told.slice(0, 6).join('\n'), `${told.length} lines`).to.equal('');
    }
  });
});

/** They would end the session or the account that asks; sign-ins.test.ts tries them. */
const ENDS_THE_CALLER: ReadonlySet<string> = new Set(['POST /api/v1/auth/logout', 'DELETE /api/v1/datasets']);

/** Accounts are not a tenant's: whoever manages one may add any of them, give it a grant, and so learns that it exists. */
const TELLS_OF_ACCOUNTS: ReadonlySet<string> = new Set([
  'POST /api/v1/permissions/users/{user_id}/tenants owner',
  'DELETE /api/v1/permissions/tenants/{tenant_id}/users/{user_id} member',
  'POST /api/v1/permissions/users/{user_id}/roles member',
  'DELETE /api/v1/permissions/users/{user_id}/roles member',
  'POST /api/v1/permissions/datasets/{principal_id} member',
  'DELETE /api/v1/permissions/datasets/{principal_id} agent',
  'POST /api/v1/permissions/capabilities/{principal_id} member',
  'DELETE /api/v1/permissions/capabilities/{principal_id} member',
  'GET /api/v1/permissions/principals/{principal_id}/datasets owner',
  // The contract answers 403 to these, and 404 for what does not exist.
  'GET /api/v1/agents/{agent_id} agent',
  'DELETE /api/v1/agents/{agent_id} agent',
  'GET /api/v1/permissions/tenants/{tenant_id}/users tenant',
]);

/** Everybody has sessions and connections of any name: another's name is one's own. */
const NAMES_OF_ONES_OWN: ReadonlySet<keyof Identifiers> = new Set(['session']);

/** How a WebSocket ends for a caller, and how many frames came before. */
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

/** Status and body, apart from the identifier that was asked for and from what differs with every answer. */
function shape({ status, text }: ApiAnswer, asked: string): string {
  const body = text.replaceAll(asked, '<asked>').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g, '<time>');
  return `${status} ${body.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')}`;
}

/** What the owner sees, in one text. */
async function everythingOf({ owner, ids }: TenantWorld): Promise<string> {
  const seen: string[] = [];
  for (const operation of Object.keys(REQUESTS)) {
    if (!operation.startsWith('GET /api/v1') || /activity|audit|search|recall|oidc|tenants.me/.test(operation))
      continue;
    const { status, text } = await owner.send(requestTo(operation, ids));
    // Minutes and days end whatever anybody does.
    seen.push(`${operation} ${status} ${text.replaceAll(/"(?:last_\w+|windowEndsAt)":"[^"]*"/g, '')}`);
  }
  return seen.join('\n');
}
