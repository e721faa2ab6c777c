import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { connect as connectNats, credsAuthenticator, nkeys } from 'nats';
import {
  createNatsAccountAdministrator,
  credentialsOf,
  signedJwt,
} from '../../../operator/stores/nats/nats-account-administrator.ts';
import type { Provision } from '../../../operator/stores/store-administrator.ts';
import { KEPT_SUBJECTS } from '../../../services/common/platform/messaging/kept-topics.ts';
import { openNatsBus } from '../../../services/common/storage/bus/nats/nats-bus.ts';
import {
  type AdministratorSubject,
  describeStoreAdministrator,
  newCredentials,
  newRealm,
  type RealmAccess,
} from '../../conformance/store-administrator.ts';
import { withBackend } from '../backend.ts';
import { canStartServers, type SecondServer, startServer } from '../nats/second-server.ts';

const NEVER = new AbortController().signal;
const ISSUED_AT = 1_767_225_600;
const LIMITS = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };

/** A server in operator mode that takes accounts, with the files that an administrator needs. */
interface AccountServer extends AsyncDisposable {
  readonly options: Parameters<typeof createNatsAccountAdministrator>[0];
  fileOf(name: string, content: string): Promise<string>;
}

async function startAccountServer(): Promise<AccountServer> {
  const folder = await mkdtemp(join(tmpdir(), 'engram-nats-'));
  const fileOf = async (name: string, content: string) => {
    await writeFile(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  const [operator, system, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
  const signed = (issuer: typeof operator, subject: string, name: string, claims: object) =>
    signedJwt(issuer, { subject, name, issuedAt: ISSUED_AT, claims: { ...claims } });
  const systemJwt = signed(operator, system.getPublicKey(), 'SYS', { type: 'account', limits: LIMITS });
  const userClaims = { type: 'user', subs: -1, data: -1, payload: -1, pub: {}, sub: {} };
  const config = await fileOf(
    'server.conf',
    [
      `operator: ${signed(operator, operator.getPublicKey(), 'test', { type: 'operator' })}`,
      `system_account: ${system.getPublicKey()}`,
      `resolver { type: full, dir: "${join(folder, 'accounts')}", allow_delete: true, interval: "2m" }`,
      `resolver_preload { ${system.getPublicKey()}: ${systemJwt} }`,
      '',
    ].join('\n'),
  );
  const server: SecondServer = await startServer({ NATS_CONF: config });
  return {
    options: {
      url: server.exports['URL'] ?? '',
      signingKeyFile: await fileOf('operator.nk', new TextDecoder().decode(operator.getSeed())),
      systemCredentialsFile: await fileOf(
        'system.creds',
        credentialsOf(signed(system, user.getPublicKey(), 'sys', userClaims), user),
      ),
    },
    fileOf,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

withBackend('nats', () => {
  (canStartServers ? describe : describe.skip)('NATS in operator mode', () => {
    describeStoreAdministrator('NATS with accounts', async (): Promise<AdministratorSubject> => {
      const server = await startAccountServer();
      const stranger = credentialsOf('x.y.z', nkeys.createUser());
      return {
        administrator: createNatsAccountAdministrator(server.options),
        away: createNatsAccountAdministrator({ ...server.options, url: 'nats://u:away-password@127.0.0.1:9' }),
        awayPassword: 'away-password',
        refused: {
          administrator: createNatsAccountAdministrator({
            ...server.options,
            systemCredentialsFile: await server.fileOf('stranger.creds', stranger),
          }),
          setting: 'ENGRAM_OPERATOR_NATS_',
        },
        damages: {},
        holdsMarks: true,
        connect,
        dispose: async () => server[Symbol.asyncDispose](),
      };
    });

    it('names the setting when the key of NATS is not that of its operator', async () => {
      await using server = await startAccountServer();
      const seed = new TextDecoder().decode(nkeys.createOperator().getSeed());
      const signingKeyFile = await server.fileOf('other.nk', seed);
      const administrator = createNatsAccountAdministrator({ ...server.options, signingKeyFile });
      const error = await administrator.ensure(newRealm(), newCredentials(), NEVER).catch((thrown: unknown) => thrown);
      expect(String(error)).to.contain('ENGRAM_OPERATOR_NATS_SIGNING_KEY_FILE').and.not.contain(seed);
    });

    it('lets the services’ own bus of NATS work in the account', async () => {
      await using server = await startAccountServer();
      const administrator = createNatsAccountAdministrator(server.options);
      const realm = newRealm();
      const { settings, secrets, files } = await administrator.ensure(realm, newCredentials(), NEVER);
      const bus = await openNatsBus({
        url: secrets['ENGRAM_NATS_URL'] ?? '',
        prefix: settings['ENGRAM_NATS_SUBJECT_PREFIX'] ?? '',
        credentialsFile: await server.fileOf('own.creds', files['ENGRAM_NATS_CREDENTIALS_FILE'] ?? ''),
        kept: KEPT_SUBJECTS,
        name: 'auth',
      });
      await bus.drain();
      expect(await administrator.residue(realm, NEVER)).to.equal(1 + KEPT_SUBJECTS.length);
      await administrator.remove(realm, NEVER);
      expect(await administrator.residue(realm, NEVER)).to.equal(0);
    });
  });
});

/** A stream of the same name in every account. */
async function connect({ secrets, files }: Provision): Promise<RealmAccess> {
  const login = new TextEncoder().encode(files['ENGRAM_NATS_CREDENTIALS_FILE']);
  const servers = (secrets['ENGRAM_NATS_URL'] ?? '').split(',');
  const connection = await connectNats({ servers, authenticator: credsAuthenticator(login), reconnect: false });
  const manager = await connection.jetstreamManager();
  await manager.streams.add({ name: 'THINGS', subjects: ['things.>'] });
  return {
    async write(id) {
      await manager.jetstream().publish(`things.${id}`, id);
    },
    async has(id) {
      const { state } = await manager.streams.info('THINGS', { subjects_filter: `things.${id}` });
      return state.subjects?.[`things.${id}`] !== undefined;
    },
    // There is no address by which one account could reach another's subjects.
    trespass: null,
    close: () => connection.close(),
  };
}
