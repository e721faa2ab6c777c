import { expect } from 'chai';
import { connect as connectNats } from 'nats';
import { createNatsAdministrator } from '../../../operator/stores/nats/nats-administrator.ts';
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
import { canStartServers, startServer } from '../nats/second-server.ts';

const NEVER = new AbortController().signal;

withBackend('nats', ({ ENGRAM_TEST_NATS_URL: url }) => {
  describeStoreAdministrator('NATS', async (): Promise<AdministratorSubject> => {
    const administrator = createNatsAdministrator({ url });
    const connection = await connectNats({ servers: url });
    const manager = await connection.jetstreamManager();
    return {
      administrator,
      away: createNatsAdministrator({ url: 'nats://operator:away-password@127.0.0.1:9' }),
      awayPassword: 'away-password',
      refused: null,
      damages: {},
      holdsMarks: true,
      connect: (provision) => connect(provision, manager),
      dispose: () => connection.close(),
    };
  });

  it('makes streams of NATS that the services’ own bus works on, and removes these too', async () => {
    const administrator = createNatsAdministrator({ url });
    const realm = newRealm();
    const { settings, secrets } = await administrator.ensure(realm, newCredentials(), NEVER);
    const bus = await openNatsBus({
      url: secrets['ENGRAM_NATS_URL'] ?? '',
      prefix: settings['ENGRAM_NATS_SUBJECT_PREFIX'] ?? '',
      kept: KEPT_SUBJECTS,
      name: 'auth',
    });
    await bus.drain();
    expect(await administrator.residue(realm, NEVER)).to.equal(1 + KEPT_SUBJECTS.length);
    await administrator.remove(realm, NEVER);
    expect(await administrator.residue(realm, NEVER)).to.equal(0);
  });

  (canStartServers ? it : it.skip)('names the setting when NATS refuses the user', async () => {
    await using server = await startServer({ NATS_USER: 'u', NATS_PASSWORD: 'right' });
    const bare = new URL(server.exports['URL'] ?? '');
    const realm = newRealm();
    for (const [password, isRight] of [
      ['wrong', false],
      ['right', true],
    ] as const) {
      const administrator = createNatsAdministrator({ url: `nats://u:${password}@${bare.host}` });
      const answer = await administrator.ensure(realm, newCredentials(), NEVER).catch((thrown: unknown) => thrown);
      if (isRight) expect((answer as Provision).secrets['ENGRAM_NATS_URL']).to.contain(password);
      else {
        expect(answer).to.include({ wireName: 'ServiceUnavailableError', retryable: false });
        expect(String(answer)).to.contain('ENGRAM_OPERATOR_NATS_URL').and.not.contain(password);
      }
    }
  });
});

/** As services do: a stream on subjects below the prefix, which keeps what is published there. */
async function connect(
  { settings }: Provision,
  manager: Awaited<ReturnType<Awaited<ReturnType<typeof connectNats>>['jetstreamManager']>>,
): Promise<RealmAccess> {
  const prefix = settings['ENGRAM_NATS_SUBJECT_PREFIX'] ?? '';
  const name = `${prefix.replaceAll('.', '_').toUpperCase()}_THINGS`;
  await manager.streams.add({ name, subjects: [`${prefix}.things.>`] });
  return {
    async write(id) {
      await manager.jetstream().publish(`${prefix}.things.${id}`, id);
    },
    async has(id) {
      const { state } = await manager.streams.info(name, { subjects_filter: `${prefix}.things.${id}` });
      return state.subjects?.[`${prefix}.things.${id}`] !== undefined;
    },
    trespass: null,
    async close() {},
  };
}
