import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { nkeys } from 'nats';
import type { EngramError } from '../../../services/common/kernel/errors.ts';
import { type NatsBusOptions, openNatsBus } from '../../../services/common/storage/bus/nats/nats-bus.ts';
import { KEPT } from '../../conformance/bus.ts';
import { rejection } from '../../support/refusal-of.ts';
import { withBackend } from '../backend.ts';
import { canStartServers, type SecondServer, startServer } from './second-server.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** Opens, asks itself and closes. */
async function works(options: NatsBusOptions): Promise<void> {
  const bus = await openNatsBus({ ...options, kept: KEPT });
  await bus.respond('echo', async ({ payload }) => payload);
  expect(await bus.request('echo', bytes('x'), { deadlineMs: 10_000 })).to.deep.equal(bytes('x'));
  await bus.drain();
}

const refusal = (options: NatsBusOptions) => rejection(openNatsBus(options));

withBackend('nats', ({ ENGRAM_TEST_NATS_URL: shared }) => {
  describe('a NATS server', () => {
    it('that is not there is told with its address, and may be tried again', async () => {
      const error = await refusal({ url: 'nats://ada:secret@127.0.0.1:1' });
      expect(error).to.include({ wireName: 'ServiceUnavailableError', status: 503, retryable: true });
      expect(error.message).to.equal('NATS at nats://127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1');
      const nowhere = await refusal({ url: 'nats://nowhere.invalid:4222' });
      expect(nowhere.message).to.include('nowhere.invalid');
      expect(nowhere.retryable).to.equal(true);
    });

    it('is found among several addresses', () => works({ url: `nats://127.0.0.1:1,${shared}`, prefix: 'tseveral' }));

    if (!canStartServers) it.skip('with settings of its own: not tested, ../shared/backends is missing');
    else describe('with settings of its own', () => ownServers());
  });
});

function ownServers(): void {
  let folder: string;
  let server: SecondServer | undefined;
  const start = async (settings: Readonly<Record<string, string>>, config?: string): Promise<string> => {
    const file = join(folder, 'extra.conf');
    if (config !== undefined) await writeFile(file, config);
    server = await startServer({ ...settings, ...(config === undefined ? {} : { NATS_CONF: file }) });
    return server.exports['URL'] ?? '';
  };
  const file = (name: string) => ({ value: server?.exports[name] ?? '' }).value;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'engram-nats-'));
  });
  afterEach(async () => {
    await server?.[Symbol.asyncDispose]();
    server = undefined;
    await rm(folder, { recursive: true, force: true });
  });

  it('takes user and password, in options or in the address, and refuses others without telling them', async () => {
    const url = await start({ NATS_USER: 'ada', NATS_PASSWORD: 'top secret' });
    await works({ url, user: 'ada', password: 'top secret' });
    await works({ url: url.replace('//', '//ada:top%20secret@') });
    for (const wrong of [{ user: 'ada', password: 'wr0ng' }, { token: 'wr0ng' }, {}]) {
      const error = await refusal({ url, ...wrong });
      expect(error).to.include({ status: 503, retryable: false });
      expect(error.message).to.equal(`NATS at ${url} refuses the credentials.`);
    }
  });

  it('takes a token', async () => {
    const url = await start({ NATS_TOKEN: 't0ken' });
    await works({ url, token: 't0ken' });
    expect(await refusal({ url, token: 'other' })).to.include({ retryable: false });
  });

  it('takes an nkey of a file, and gives each user its own subjects', async () => {
    const pair = nkeys.createUser();
    const seed = join(folder, 'user.nk');
    await writeFile(seed, `${new TextDecoder().decode(pair.getSeed())}\n`);
    const url = await start(
      {},
      `authorization { users: [
        { nkey: ${pair.getPublicKey()} },
        { user: search, password: s, permissions: {
            publish: ["engram.auth.>", "engram.cancel.>", "_INBOX.>"], subscribe: ["_INBOX.>", "engram.cancel.>", "engram.search.>"] } }
      ] }`,
    );
    await works({ url, nkeyFile: seed });
    const missing = await refusal({ url, nkeyFile: join(folder, 'missing.nk') });
    expect(missing).to.include({ status: 503, retryable: false });

    const auth = await openNatsBus({ url, nkeyFile: seed });
    const refused: string[] = [];
    const search = await openNatsBus({
      url,
      user: 'search',
      password: 's',
      onListenerError: () => {},
      onConnection: ({ kind, reason }) => void refused.push(`${kind} ${reason}`),
    });
    await auth.respond('engram.auth.Allowed', async () => bytes('yes'));
    await auth.respond('engram.cognify.Erase', async () => bytes('no'));
    expect(await search.request('engram.auth.Allowed', bytes(''), { deadlineMs: 10_000 })).to.deep.equal(bytes('yes'));
    const startedAt = performance.now();
    const error = (await search
      .request('engram.cognify.Erase', bytes(''), { deadlineMs: 10_000 })
      .catch((reason: unknown) => reason)) as EngramError;
    expect(error).to.include({ status: 503, retryable: false });
    expect(error.message).to.equal('The NATS user of this service may not ask engram.cognify.Erase');
    expect(performance.now() - startedAt, 'it did not wait for its deadline').to.be.lessThan(9_000);
    expect(refused).to.include('refused PERMISSIONS_VIOLATION');
    const stolen = (await search
      .respond('engram.auth.Authenticate', async () => bytes(''))
      .catch((reason: unknown) => reason)) as EngramError;
    expect(stolen.message).to.equal('The NATS user of this service may not answer engram.auth.Authenticate');
    await Promise.all([auth.drain(), search.drain()]);
  });

  it('speaks TLS, with certificates on both sides, and none is trusted that the authority did not sign', async () => {
    const url = await start({ NATS_TLS: 'verify' });
    const files = { certFile: file('CERT_FILE'), keyFile: file('KEY_FILE') };
    await works({ url, caFile: file('CA_FILE'), ...files });
    const stranger = await refusal({ url, ...files });
    expect(stranger).to.include({ status: 503, retryable: false });
    expect(stranger.message).to.include('cannot be reached over TLS');
    expect(await refusal({ url, caFile: file('CA_FILE') })).to.include({ status: 503 });
  });

  it('without JetStream serves requests, and says so clearly when something is to be kept', async () => {
    const url = await start({}, 'jetstream: disabled\n');
    const bus = await openNatsBus({ url });
    await bus.drain();
    const error = await refusal({ url, kept: KEPT });
    expect(error).to.include({ status: 503, retryable: false });
    expect(error.message).to.match(/^JetStream at nats:\S+ is not enabled/);
  });

  it('whose JetStream has no room says so', async () => {
    const url = await start({}, `jetstream { store_dir: "${folder}", max_memory_store: 1MB, max_file_store: 1MB }\n`);
    const error = await refusal({ url, kept: KEPT });
    expect(error).to.include({ status: 503, retryable: true });
    expect(error.message).to.match(/^JetStream at nats:\S+ is full, the stream ENGRAM_KEPT takes no message/);
  });

  it('with a smaller limit carries large answers in parts, and refuses larger messages clearly', async () => {
    const url = await start({}, 'max_payload: 65536\n');
    const bus = await openNatsBus({ url, kept: KEPT });
    await bus.respond('echo', async () => new Uint8Array(500_000).fill(7));
    const answer = await bus.request('echo', bytes(''), { deadlineMs: 5000 });
    expect(Buffer.compare(answer, new Uint8Array(500_000).fill(7))).to.equal(0);
    const large = new Uint8Array(70_000);
    for (const [subject, work] of [
      ['echo', bus.request('echo', large, { deadlineMs: 1000 })],
      ['news', bus.publish('news', large)],
      ['kept.news', bus.publish('kept.news', large)],
    ] as const) {
      const error = (await work.catch((reason: unknown) => reason)) as EngramError;
      expect(error).to.include({ wireName: 'PayloadTooLargeError', status: 413, retryable: false });
      expect(error.message).to.equal(`The message to ${subject} has 70000 bytes; the bus carries 61440.`);
    }
    await bus.respond('huge', async () => new Uint8Array(33 * 2 ** 20));
    const huge = (await bus
      .request('huge', bytes(''), { deadlineMs: 5000 })
      .catch((reason: unknown) => reason)) as EngramError;
    expect(huge).to.include({ status: 413 });
    await bus.drain();
  });
}
