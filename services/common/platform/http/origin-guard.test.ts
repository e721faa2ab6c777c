import { expect } from 'chai';
import { type RunningApp, runApp } from '../../../../test/support/http-app.ts';
import { createOriginGuard } from './origin-guard.ts';
import { defineRoute, json, type Route } from './route.ts';
import { NO_PERMISSION } from './route-permission.ts';

const routes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/data',
    tag: 'test',
    summary: 'Memory',
    permission: NO_PERMISSION,
    auth: 'none',
    responses: {},
    handle: async () => json('memory'),
  }),
];

describe('origin guard', () => {
  const origins = ['http://localhost:3000', 'https://ui.example.com', '*'];
  const open = createOriginGuard({ isActive: true, refusesProxies: true, allowedHosts: ['box.lan'] }, origins);
  const lenient = createOriginGuard({ isActive: true, refusesProxies: false, allowedHosts: [] }, []);
  const isAllowed = (headers: Record<string, string>, guard = open) => guard(headers) === null;

  it('lets loopback names, configured hosts and hosts of configured origins in', () => {
    for (const host of [
      'localhost',
      'localhost:8000',
      'LOCALHOST:1',
      '127.0.0.1:8000',
      '127.1.2.3',
      '[::1]:8000',
      'box.lan:80',
      'ui.example.com',
      'localhost.',
    ]) {
      expect(isAllowed({ host }), host).to.equal(true);
    }
  });

  it('refuses every other host: the name that a rebinding attack points at loopback', () => {
    for (const host of [
      'evil.example',
      'evil.example:8000',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      '192.168.1.5',
      '[::2]',
      '',
      'evil@localhost',
    ]) {
      expect(isAllowed({ host }), host).to.equal(false);
    }
    expect(isAllowed({})).to.equal(false);
  });

  it('lets its own and configured origins in, and refuses others, local ones on another port and null', () => {
    const host = 'localhost:8000';
    for (const origin of [
      'http://localhost:8000',
      'http://localhost:3000',
      'https://ui.example.com',
      'http://box.lan:9',
    ]) {
      expect(isAllowed({ host, origin }), origin).to.equal(true);
    }
    for (const origin of [
      'https://evil.example',
      'http://localhost:5173',
      'null',
      'file://',
      'http://localhost:3000.evil.example',
    ]) {
      expect(isAllowed({ host, origin }), origin).to.equal(false);
    }
  });

  it('refuses what came through a proxy, unless the open mode was asked for by name', () => {
    for (const name of ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']) {
      expect(isAllowed({ host: 'localhost', [name]: 'x' }), name).to.equal(false);
      expect(isAllowed({ host: 'localhost', [name]: 'x' }, lenient), name).to.equal(true);
    }
  });

  it('answers 403 in JSON on every path, unknown ones and preflights too', async () => {
    const app = await runApp({
      routes,
      settings: { guard: { isActive: true, refusesProxies: true, allowedHosts: [] } },
    });
    for (const [path, method] of [
      ['/data', 'GET'],
      ['/health', 'GET'],
      ['/nothing', 'GET'],
      ['/data', 'OPTIONS'],
    ] as const) {
      const answer = await app.raw(path, { host: 'evil.example' }, method);
      expect(answer.status).to.equal(403);
      expect((JSON.parse(answer.text) as { detail: string }).detail).to.include('evil.example');
      const crossSite = await app.raw(
        path,
        { origin: 'https://evil.example', 'access-control-request-method': 'GET' },
        method,
      );
      expect(crossSite.status).to.equal(403);
      expect(crossSite.headers).to.not.have.property('access-control-allow-origin');
    }
    expect((await app.raw('/data', { 'x-forwarded-for': '1.2.3.4' })).status).to.equal(403);
    expect((await app.raw('/data', {})).text).to.equal('"memory"');
    await app.stop();
  });
});

describe('CORS', () => {
  let app: RunningApp;
  before(async () => {
    app = await runApp({ routes });
  });
  after(() => app.stop());

  const preflight = (origin: string, method: string, target = app) =>
    target.raw(
      '/data',
      { origin, 'access-control-request-method': method, 'access-control-request-headers': 'x-a,content-type' },
      'OPTIONS',
    );

  it('answers the preflight of an allowed origin, PATCH included', async () => {
    const answer = await preflight('http://localhost:3000', 'PATCH');
    expect([answer.status, answer.text]).to.deep.equal([200, 'OK']);
    expect(answer.headers).to.include({
      'access-control-allow-origin': 'http://localhost:3000',
      'access-control-allow-methods': 'OPTIONS, GET, PUT, POST, DELETE, PATCH',
      'access-control-allow-headers': 'x-a,content-type',
      'access-control-allow-credentials': 'true',
      'access-control-max-age': '600',
    });
  });

  it('refuses a foreign origin and an unknown method in words', async () => {
    const foreign = await preflight('https://evil.example', 'GET');
    expect([foreign.status, foreign.text]).to.deep.equal([400, 'Disallowed CORS origin']);
    expect(foreign.headers).to.not.have.property('access-control-allow-origin');
    expect((await preflight('http://localhost:3000', 'TRACE')).text).to.equal('Disallowed CORS method');
    expect((await preflight('https://evil.example', 'TRACE')).text).to.equal('Disallowed CORS origin, method');
  });

  it('marks answers, errors too, for an allowed origin alone', async () => {
    for (const path of ['/data', '/nothing']) {
      const own = await app.raw(path, { origin: 'http://localhost:3000' });
      expect(own.headers).to.include({
        'access-control-allow-origin': 'http://localhost:3000',
        'access-control-allow-credentials': 'true',
        vary: 'Origin',
      });
      const foreign = await app.raw(path, { origin: 'https://evil.example' });
      expect(foreign.headers).to.include({ vary: 'Origin' }).and.not.have.property('access-control-allow-origin');
    }
  });

  it('names any origin when all are allowed: by name with a cookie, by star without', async () => {
    const any = await runApp({ routes, settings: { corsOrigins: ['*'] } });
    const origin = 'https://any.example';
    expect((await any.raw('/data', { origin })).headers['access-control-allow-origin']).to.equal('*');
    expect((await any.raw('/data', { origin, cookie: 'a=b' })).headers['access-control-allow-origin']).to.equal(origin);
    expect((await preflight(origin, 'POST', any)).headers['access-control-allow-origin']).to.equal(origin);
    await any.stop();
  });
});
