import { request as openRequest } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { principalOf, type RunningApp, runApp } from '../../../../test/support/http-app.ts';
import { until } from '../../../../test/support/until.ts';
import { engramError } from '../../kernel/errors.ts';
import { asId } from '../../kernel/ids.ts';
import type { Identity } from '../messaging/identify.ts';
import { createLastingAccess } from './lasting-access.ts';
import { defineRoute, type Route } from './route.ts';
import { NO_PERMISSION, onDatasets } from './route-permission.ts';
import type { SocketRoute } from './socket-route.ts';

const OPEN: Identity = { principal: principalOf('user-key'), required: true, posture: 'explicit' };
const INTERVAL_MS = 20;

let uploads = 0;
const common = { tag: 'test', summary: 'test', auth: 'user', responses: { 200: { description: 'ok' } } } as const;
const routes: readonly Route[] = [
  defineRoute({
    ...common,
    method: 'GET',
    path: '/ticks',
    permission: NO_PERMISSION,
    handle: async () => ({ stream: Readable.from(ticks()) }),
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/upload',
    permission: onDatasets('write'),
    body: { kind: 'any', schema: z.unknown() },
    async handle() {
      uploads += 1;
      return { json: {} };
    },
  }),
];

async function* ticks(): AsyncGenerator<string> {
  for (;;) {
    yield 'tick\n';
    await sleep(5);
  }
}

let ended = 0;
const sockets: readonly SocketRoute[] = [
  {
    path: '/follow',
    async serve({ principal, signal, send, close }) {
      if (principal === null) return close(1008, 'Unauthorized');
      await send({ user: principal.id });
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      ended += 1;
      await send({ late: true });
    },
  },
];

describe('what lasts longer than a request', () => {
  let app: RunningApp;
  let asked: number;
  let answer: () => Promise<Identity>;
  /** Of each time that auth was asked. */
  let unattended: (boolean | undefined)[];
  beforeEach(async () => {
    [asked, uploads, ended] = [0, 0, 0];
    unattended = [];
    answer = async () => OPEN;
    app = await runApp({
      routes,
      sockets,
      accessCheckMs: INTERVAL_MS,
      authenticate: async (_credentials, _strict, _context, circumstances) => {
        asked += 1;
        unattended.push(circumstances?.unattended);
        return answer();
      },
    });
  });
  afterEach(() => app.stop());

  const follow = () => {
    const socket = new WebSocket(`ws://127.0.0.1:${app.port}/follow`, { headers: { 'x-api-key': 'user-key' } });
    const frames: unknown[] = [];
    socket.on('message', (data) => frames.push(JSON.parse(String(data))));
    const closed = new Promise<string>((resolve, reject) => {
      socket.on('close', (code, reason) => resolve(`${code} ${reason}`));
      socket.on('error', reject);
    });
    return { socket, frames, closed };
  };
  /** Sends the beginning of an upload, and the rest when it is told to. */
  const upload = () => {
    const headers = { 'x-api-key': 'user-key', 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const request = openRequest({ port: app.port, host: '127.0.0.1', method: 'POST', path: '/upload', headers });
    request.write('{"text":');
    const status = new Promise<number>((resolve, reject) => {
      request.on('response', (response) => resolve(response.resume().statusCode ?? 0));
      request.on('error', reject);
    });
    return { request, status };
  };
  const read = async (onFirst: () => void): Promise<string> => {
    const response = await app.get('/ticks');
    try {
      let isFirst = true;
      for await (const _ of response.body ?? []) {
        if (isFirst) onFirst();
        isFirst = false;
      }
      return 'ended';
    } catch {
      return 'cut';
    }
  };

  const endings: readonly (readonly [string, () => Promise<Identity>])[] = [
    ['the credentials are nobody’s any more', async () => ({ ...OPEN, principal: null })],
    ['the tenant is disabled', async () => ({ ...OPEN, tenantState: 'Disabled' })],
    ['the tenant is hibernated', async () => ({ ...OPEN, tenantState: 'Hibernated' })],
    [
      'the account works elsewhere',
      async () => ({ ...OPEN, principal: { ...principalOf('user-key'), tenant: asId('x') } }),
    ],
    ['auth refuses', async () => Promise.reject(engramError('PermissionDeniedError', 'Not here.'))],
  ];
  for (const [when, become] of endings) {
    it(`ends when ${when}: a socket`, async () => {
      const { frames, closed } = follow();
      await until('it is open', () => frames.length === 1);
      answer = become;
      expect(await closed).to.equal('1008 Unauthorized');
      await until('its route has ended', () => ended === 1);
      expect(frames).to.have.length(1);
    });
    if (when === 'the tenant is disabled' || when === 'the tenant is hibernated') continue;
    it(`ends when ${when}: a stream`, async () => {
      const outcome = await read(() => {
        answer = become;
      });
      expect(outcome).to.equal('cut');
    });
  }

  it('is use of the tenant while something is sent, and none while a socket is only open', async () => {
    const { socket, frames } = follow();
    await until('it is open', () => frames.length === 1);
    const opened = unattended.length;
    await until('auth was asked again', () => unattended.length > opened);
    expect(new Set(unattended.slice(opened))).to.deep.equal(new Set([true]));
    const { request, status } = upload();
    const after = () => unattended.slice(unattended.indexOf(false) + 1);
    await until('auth was asked again', () => unattended.includes(false) && after().includes(false));
    request.end('"x"}');
    expect(await status).to.equal(200);
    socket.close();
  });

  it('ends when the tenant is closed: an upload, before anything is done with it', async () => {
    const { request, status } = upload();
    await until('it is asked about', () => asked >= 2);
    answer = async () => ({ ...OPEN, tenantState: 'Disabled' });
    expect(await status).to.equal(403);
    request.destroy();
    expect(uploads).to.equal(0);
  });

  it('goes on as long as its credentials are good, and while auth cannot be asked for a moment', async () => {
    const { socket, frames, closed } = follow();
    const { request, status } = upload();
    await until('they were asked about', () => asked >= 4);
    answer = async () => Promise.reject(engramError('ServiceUnavailableError', 'Nobody answers.', { retryable: true }));
    const before = asked;
    await until('auth was asked in vain', () => asked >= before + 3);
    answer = async () => OPEN;
    request.end('"all of it"}');
    expect(await status).to.equal(200);
    expect([frames.length, socket.readyState, uploads]).to.deep.equal([1, WebSocket.OPEN, 1]);
    socket.close();
    await closed;
  });

  it('is asked about once for all of the same credentials, and not any more when it is over', async () => {
    const all = Array.from({ length: 5 }, follow);
    await until('they are open', () => all.every(({ frames }) => frames.length === 1));
    const gate = Promise.withResolvers<Identity>();
    answer = () => gate.promise;
    const before = asked;
    await until('somebody is asked about', () => asked > before);
    await sleep(5 * INTERVAL_MS);
    const asking = asked - before;
    gate.resolve(OPEN);
    for (const { socket } of all) socket.close();
    await Promise.all(all.map(({ closed }) => closed));
    await until('the server has seen it', () => ended === 5);
    const after = asked;
    await sleep(5 * INTERVAL_MS);
    expect([asking, asked]).to.deep.equal([1, after]);
  });
});

describe('lasting access', () => {
  it('asks on for who comes while auth is asked about somebody with the same credentials who leaves', async () => {
    const asked: ReturnType<typeof Promise.withResolvers<Identity>>[] = [];
    const access = createLastingAccess({
      newRequestId: () => 'check',
      everyMs: INTERVAL_MS,
      authenticate: () => {
        const question = Promise.withResolvers<Identity>();
        asked.push(question);
        return question.promise;
      },
    });
    const entry = {
      principal: principalOf('user-key'),
      credentials: [],
      strict: false,
      host: undefined,
      refusal: () => null,
    };
    let reason: Error | null = null;
    try {
      const first = access.watch(entry, () => {});
      await until('auth is asked', () => asked.length === 1);
      first.stop();
      access.watch(entry, (why) => {
        reason = why;
      });
      asked[0]?.resolve(OPEN);
      await until('auth is asked again', () => asked.length === 2);
      asked[1]?.reject(engramError('PermissionDeniedError', 'Not here.'));
      await until('the second one ends', () => reason !== null);
    } finally {
      access.close();
    }
  });
});
