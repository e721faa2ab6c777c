import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type NatsBusOptions, openNatsBus } from '../../../services/common/storage/bus/nats/nats-bus.ts';
import type { ConnectionChange } from '../../../services/common/storage/bus/nats/nats-options.ts';
import type { Bus } from '../../../services/common/storage/ports/bus.ts';
import { KEPT } from '../../conformance/bus.ts';
import { rejection } from '../../support/refusal-of.ts';
import { until } from '../../support/until.ts';
import { withBackend } from '../backend.ts';
import { createOperator, type UserLimits } from './operator-jwts.ts';
import { canStartServers, type SecondServer, startServer } from './second-server.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const ask = (bus: Bus, subject: string) => bus.request(subject, bytes('x'), { deadlineMs: 10_000 });

withBackend('nats', () => {
  describe('a NATS server in operator mode', function () {
    this.timeout(60_000);
    if (!canStartServers) {
      it.skip('not tested, ../shared/backends is missing');
      return;
    }
    const operator = createOperator();
    let folder: string;
    let server: SecondServer;
    let url: string;

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'engram-nats-'));
      const config = join(folder, 'operator.conf');
      await writeFile(config, operator.serverConfig);
      server = await startServer({ NATS_CONF: config });
      url = server.exports['URL'] ?? '';
    });
    after(async () => {
      await server?.[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    });

    async function fileOf(name: string, content: string): Promise<string> {
      const file = join(folder, name);
      await writeFile(file, content, { mode: 0o600 });
      return file;
    }

    async function open(name: string, limits?: UserLimits, more: Partial<NatsBusOptions> = {}): Promise<Bus> {
      return openNatsBus({ url, credentialsFile: await fileOf(name, operator.credentials(limits)), ...more });
    }

    it('lets in who has a JWT of its account, and keeps what is to be kept', async () => {
      const bus = await open('service.creds', undefined, { kept: KEPT, prefix: 'tjwt' });
      await bus.respond('tjwt.echo', async ({ payload }) => payload);
      expect(await ask(bus, 'tjwt.echo')).to.deep.equal(bytes('x'));
      const heard: string[] = [];
      await bus.subscribe('kept.news', ({ payload }) => void heard.push(new TextDecoder().decode(payload)));
      await bus.publish('kept.news', bytes('told'));
      await until('the news', () => heard.includes('told'));
      await bus.drain();
    });

    it('refuses nobody’s, a stranger’s and a changed JWT, and a file that is none, without telling them', async () => {
      const own = operator.credentials();
      const other = createOperator().credentials();
      const jwt = /BEGIN NATS USER JWT-----\n(\S+)/.exec(own)?.[1] ?? '';
      const otherSeed = /BEGIN USER NKEY SEED-----\n(\S+)/.exec(operator.credentials())?.[1] ?? '';
      const files = {
        stranger: other,
        'another key': own.replace(/SU[A-Z2-7]{56}/, otherSeed),
        'more than it was given': own.replace(jwt, tampered(jwt)),
        expired: operator.credentials({ expiresAt: 1 }),
      };
      for (const [name, content] of Object.entries(files)) {
        const credentialsFile = await fileOf(`${name}.creds`, content);
        const error = await rejection(openNatsBus({ url, credentialsFile }));
        expect(error, name).to.include({ status: 503, retryable: false });
        expect(error.message, name).to.equal(`NATS at ${url} refuses the credentials.`);
      }
      expect(await rejection(openNatsBus({ url }))).to.include({ status: 503, retryable: false });
      const missing = await rejection(openNatsBus({ url, credentialsFile: join(folder, 'missing.creds') }));
      expect(missing).to.include({ status: 503, retryable: false });
      const empty = await rejection(openNatsBus({ url, credentialsFile: await fileOf('empty.creds', 'nothing') }));
      expect(empty).to.include({ status: 503, retryable: false });
    });

    it('holds each service to the subjects of its JWT', async () => {
      const auth = await open('auth.creds');
      const publish = ['engram.auth.>', 'engram.cancel.>'];
      const subscribe = ['_INBOX.engram.search.>', 'engram.cancel.>', 'engram.search.>'];
      const search = await open('search.creds', { publish, subscribe }, { name: 'search', onListenerError: () => {} });
      await auth.respond('engram.auth.Allowed', async () => bytes('yes'));
      await auth.respond('engram.cognify.Erase', async () => bytes('no'));
      expect(await ask(search, 'engram.auth.Allowed')).to.deep.equal(bytes('yes'));
      expect((await rejection(ask(search, 'engram.cognify.Erase'))).message).to.equal(
        'The NATS user of this service may not ask engram.cognify.Erase',
      );
      const stolen = await rejection(search.respond('engram.auth.Authenticate', async () => bytes('')));
      expect(stolen.message).to.equal('The NATS user of this service may not answer engram.auth.Authenticate');
      await Promise.all([auth.drain(), search.drain()]);
    });

    it('is joined again with the JWT that is in the file by then, when the one before has expired', async () => {
      const changes: ConnectionChange['kind'][] = [];
      const { bus, file } = await openShortLived((kind) => changes.push(kind));
      await bus.respond('renewed.echo', async ({ payload }) => payload);
      // As somebody leaves it who is just renewing it.
      await writeFile(file, '');
      await until('the end of the first JWT', () => changes.includes('lost'));
      await until('a try with what is there', () => changes.slice(changes.indexOf('lost')).includes('refused'));
      await writeFile(file, operator.credentials());
      // The server may greet an expired JWT before it refuses it: only an answer shows that the second one is in use.
      const answered = () =>
        ask(bus, 'renewed.echo').then(
          (answer) => new TextDecoder().decode(answer),
          () => null,
        );
      await until('an answer', async () => (await answered()) === 'x');
      await bus.drain();
    });

    /** On a machine that stalls a JWT may be over before it is used: then with a longer one. */
    async function openShortLived(onChange: (kind: ConnectionChange['kind']) => void) {
      const file = join(folder, 'short.creds');
      for (let lifetime = 2; ; lifetime *= 2) {
        const expiresAt = Math.floor(Date.now() / 1000) + lifetime;
        await writeFile(file, operator.credentials({ expiresAt }));
        const onConnection = ({ kind }: ConnectionChange) => onChange(kind);
        const bus = await openNatsBus({ url, credentialsFile: file, onConnection }).catch(() => null);
        if (bus !== null) return { bus, file };
      }
    }
  });
});

/** The same signature under other claims. */
function tampered(jwt: string): string {
  const [head = '', claims = '', signature = ''] = jwt.split('.');
  const changed = { ...(JSON.parse(Buffer.from(claims, 'base64url').toString()) as object), name: 'admin' };
  return [head, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.');
}
