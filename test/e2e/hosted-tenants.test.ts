import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { type ManagedApp, startManagedApp } from '../support/managed-app.ts';
import { declareTenant } from '../support/managed-tenant.ts';

describe('hosted tenants', () => {
  let app: ManagedApp;
  before(async () => {
    app = await startManagedApp({ ENGRAM_HOSTED: 'true' });
  });
  after(() => app?.stop());

  const declare = async (name: string): Promise<string> => {
    const hostNames = [`${name}.example.com`];
    const owner = { ownerEmail: `owner@${name}.example.com`, ownerPassword: 'a-long-password' };
    return (await declareTenant(app, { crUid: name, displayName: name, hostNames, ...owner })).key;
  };
  const ask = (host: string, key: string, path: string, body?: unknown): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = { host, 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
      const method = body === undefined ? 'GET' : 'POST';
      const sent = httpRequest(`${app.baseUrl}/api/v1${path}`, { method, headers }, (answer) => {
        text(answer).then((read) => resolve({ status: answer.statusCode ?? 0, text: read }), reject);
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });

  it('add and answer under their own host name, each with its own data', async () => {
    const [acme, globex] = [await declare('acme'), await declare('globex')];
    for (const [name, key, fact] of [
      ['acme', acme, 'Ada Lovelace works on the Analytical Engine in London.'],
      ['globex', globex, 'Hank Scorpio runs the volcano laboratory in Cypress Creek.'],
    ] as const) {
      const host = `${name}.example.com`;
      expect((await ask(host, key, '/add', { datasetName: 'notes', data: [fact] })).status).to.equal(200);
      expect((await ask(host, key, '/cognify', { datasets: ['notes'] })).status).to.equal(200);
    }
    const query = { query: 'Who works where?', searchType: 'CHUNKS' };
    const found = await ask('acme.example.com', acme, '/search', query);
    expect(found.text).to.include('Ada Lovelace').and.not.to.include('Scorpio');
    const other = await ask('globex.example.com', globex, '/search', query);
    expect(other.text).to.include('Scorpio').and.not.to.include('Lovelace');
    for (const host of ['globex.example.com', 'else.example.com', '127.0.0.1']) {
      expect((await ask(host, acme, '/search', query)).status, host).to.equal(401);
      expect((await ask(host, acme, '/datasets')).status, host).to.equal(401);
    }
  });

  it('accept the login of their owner, in whatever tenant the owner works otherwise', async () => {
    const { hostname, port } = new URL(app.baseUrl);
    const body = new URLSearchParams({ username: 'owner@acme.example.com', password: 'a-long-password' });
    const login = await fetch(`http://${hostname}:${port}/api/v1/auth/login`, { method: 'POST', body });
    const { access_token: token } = (await login.json()) as { access_token: string };
    const bearer = (host: string) =>
      new Promise<number>((resolve, reject) => {
        const headers = { host, authorization: `Bearer ${token}` };
        const sent = httpRequest(`${app.baseUrl}/api/v1/datasets`, { headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        });
        sent.on('error', reject);
        sent.end();
      });
    expect([
      await bearer('acme.example.com'),
      await bearer('globex.example.com'),
      await bearer('x.example.com'),
    ]).to.deep.equal([200, 403, 200]);
  });
});
