import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { required } from '../support/auth-service.ts';
import { startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';
import { createWire, type Wire } from '../support/wire.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const PASSWORD = 'a-long-password';
/** Longer than a message takes, and much shorter than cache entries live. */
const MESSAGE_MS = 100;

type Wires = readonly [Wire, Wire];

describe('accounts at two replicas', () => {
  let world: TwoReplicas;
  let root: Wires;
  let people = 0;
  before(async () => {
    world = await startTwoReplicas({ auth: { posture: required }, password: PASSWORD });
    root = await signIn('default_user@example.com');
  });
  after(() => world[Symbol.asyncDispose]());
  afterEach(() => {
    world.messages.letAnswer(null);
    world.messages.loseMessages(false);
  });

  async function signIn(username: string): Promise<Wires> {
    const form = new URLSearchParams({ username, password: PASSWORD });
    const { access_token: token } = (await world.one.wire.post('/auth/login', String(form), FORM)).json;
    const headers = { authorization: `Bearer ${token}` };
    return [createWire(world.one.baseUrl, headers), createWire(world.two.baseUrl, headers)];
  }
  /** Registers an account that both replicas cache. */
  async function signUp(): Promise<{ readonly id: string; readonly wires: Wires }> {
    people += 1;
    const email = `person-${people}@example.com`;
    const { id } = (await world.one.wire.post('/auth/register', { email, password: PASSWORD })).json;
    const wires = await signIn(email);
    expect(await seen(wires)).to.deep.equal([200, 200]);
    return { id, wires };
  }
  /** The answer of each replica for the credential. */
  async function seen(wires: Wires): Promise<readonly number[]> {
    const statuses: number[] = [];
    for (const place of [0, 1] as const) {
      world.messages.letAnswer(place);
      statuses.push((await wires[place].get('/auth/me')).status);
    }
    world.messages.letAnswer(null);
    return statuses;
  }

  it('lose access at both at once when they are deleted, deactivated or get another password at one', async () => {
    const ends = [
      (id: string) => root[0].remove(`/users/${id}`),
      (id: string) => root[1].patch(`/users/${id}`, { is_active: false }),
      (id: string) => root[0].patch(`/users/${id}`, { password: 'another one' }),
    ];
    for (const end of ends) {
      const { id, wires } = await signUp();
      expect((await end(id)).status).to.be.oneOf([200, 204]);
      await sleep(MESSAGE_MS);
      expect(await seen(wires)).to.deep.equal([401, 401]);
    }
  });

  it('lose access within a second when the message is lost', async () => {
    const { id, wires } = await signUp();
    world.messages.loseMessages(true);
    await root[0].remove(`/users/${id}`);
    await sleep(1100);
    expect(await seen(wires)).to.deep.equal([401, 401]);
  });

  it('leave everything to one successor when both replicas delete them at once', async () => {
    const { id, wires } = await signUp();
    const made: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      made.push((await wires[0].post('/datasets', { name: `shelf-${index}` })).json.id);
    }
    const answers = await Promise.all(root.map((wire) => wire.remove(`/users/${id}`)));
    expect(answers.map(({ status }) => status)).to.include(204);
    for (const { status } of answers) expect(status).to.be.oneOf([204, 404]);
    const listed = (await root[1].get('/datasets')).json as readonly { readonly id: string }[];
    expect(listed.map((dataset) => dataset.id)).to.include.members(made);
    for (const dataset of made) expect((await root[1].remove(`/datasets/${dataset}`)).status).to.equal(200);
  });
});
