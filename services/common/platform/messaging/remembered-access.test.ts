import { expect } from 'chai';
import { ADA, NOTES as DATASET } from '../../../../test/support/ada.ts';
import { unsignedPrincipals } from '../../../../test/support/unsigned-principals.ts';
import type { DatasetId, UserId } from '../../kernel/brand.ts';
import { engramError } from '../../kernel/errors.ts';
import { asId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import { PERSONAL_TENANT } from '../../kernel/scope.ts';
import { createInProcessBus } from '../../storage/bus/in-process/bus.ts';
import type { AccessChange, RequestOf } from './messages.ts';
import { createMessenger, type Messenger } from './messenger.ts';
import { fixedProof } from './principal-proof.ts';
import { rememberAccess } from './remembered-access.ts';

const CALL = { requestId: 'r', principal: ADA, proof: fixedProof('believed') };
const KEY = [{ kind: 'api-key', value: 'a key' }] as const;

describe('remembered access', () => {
  let nowMs: number;
  let asked: string[];
  let messenger: Messenger;
  let remembered: Messenger;
  let stop: () => Promise<void>;
  let granted: boolean;
  /** Of the answer under way, when it is held back. */
  let answering: Promise<void>;

  beforeEach(async () => {
    [nowMs, asked, granted, answering] = [0, [], true, Promise.resolve()];
    const bus = createInProcessBus();
    messenger = createMessenger(bus, unsignedPrincipals);
    await messenger.serve('auth.Authenticate', async () => {
      asked.push('who');
      return { principal: ADA, required: true, posture: 'test' };
    });
    await messenger.serve('auth.ResolveDatasets', async ({ permission }) => {
      asked.push(permission);
      await answering;
      if (!granted) throw engramError('PermissionDeniedError', 'Not yours.');
      return { datasets: [DATASET] };
    });
    const access = rememberAccess(messenger, { clock: { monotonicMs: () => nowMs } });
    remembered = access.messenger;
    const listening = await access.listen();
    stop = async () => {
      await listening.stop();
      await bus.drain();
    };
  });
  afterEach(() => stop());

  const who = () => remembered.call('auth.Authenticate', { credentials: KEY }, { requestId: 'r' });
  const read = (request: Partial<RequestOf<'auth.ResolveDatasets'>> = { ids: [DATASET.id] }) =>
    remembered.call('auth.ResolveDatasets', { permission: 'read', ...request }, CALL);
  const tell = async (change: Partial<AccessChange>): Promise<void> => {
    const nothing = { tenant: PERSONAL_TENANT, userId: null, datasetId: null };
    await messenger.publish('access', PERSONAL_TENANT, { ...nothing, ...change });
    await new Promise((heard) => setTimeout(heard, 20));
  };

  it('asks once a second what somebody may read', async () => {
    for (let round = 0; round < 3; round += 1) expect((await read()).datasets).to.deep.equal([DATASET]);
    expect(asked).to.deep.equal(['read']);
    nowMs += 1000;
    await read();
    expect(asked).to.deep.equal(['read', 'read']);
  });

  it('asks every time who somebody is', async () => {
    await who();
    expect((await who()).principal).to.deep.equal(ADA);
    expect(asked).to.deep.equal(['who', 'who']);
  });

  it('asks every time for what is not reading by name, and after a refusal', async () => {
    await read({ permission: 'write', ids: [DATASET.id] });
    await read({ permission: 'write', ids: [DATASET.id] });
    await read({});
    await read({});
    expect(asked).to.deep.equal(['write', 'write', 'read', 'read']);
    granted = false;
    for (let round = 0; round < 2; round += 1) {
      expect(await read().catch((error: Error) => error.name)).to.equal('PermissionDeniedError');
    }
    granted = true;
    expect((await read()).datasets).to.have.length(1);
  });

  it('does not give the answer of one user, tenant or key to another', async () => {
    await read();
    const others: readonly Principal[] = [
      { ...ADA, id: asId('00000000-0000-4000-8000-00000000000b') },
      { ...ADA, tenant: asId('00000000-0000-4000-8000-0000000000e1') },
      { ...ADA, key: { id: 'k', permissions: ['read'], datasets: null } },
    ];
    const request = { permission: 'read', ids: [DATASET.id] } as const;
    for (const principal of others) await remembered.call('auth.ResolveDatasets', request, { ...CALL, principal });
    expect(asked).to.have.length(4);
    await remembered.call('auth.ResolveDatasets', request, { requestId: 'r', principal: ADA });
    expect(asked, 'a principal without proof').to.have.length(5);
  });

  it('drops what is outdated as soon as it hears of it, and nothing else', async () => {
    const changes: readonly Partial<AccessChange>[] = [{ userId: ADA.id }, { datasetId: DATASET.id }, {}];
    for (const change of changes) {
      await read();
      await tell(change);
      granted = false;
      expect(await read().catch((error: Error) => error.name), JSON.stringify(change)).to.equal(
        'PermissionDeniedError',
      );
      granted = true;
    }
    await read();
    asked.length = 0;
    await tell({ userId: asId<UserId>('00000000-0000-4000-8000-00000000000b') });
    await tell({ datasetId: asId<DatasetId>('00000000-0000-4000-8000-0000000000d2') });
    await tell({ tenant: asId('00000000-0000-4000-8000-0000000000e1') });
    await read();
    expect(asked).to.deep.equal([]);
  });

  it('does not keep an answer that was outdated while it came', async () => {
    let answer = () => {};
    answering = new Promise((resolve) => {
      answer = resolve;
    });
    const first = read();
    await new Promise((begun) => setTimeout(begun, 20));
    await tell({ userId: ADA.id });
    answer();
    await first;
    await read();
    expect(asked).to.deep.equal(['read', 'read']);
  });
});
