import { expect } from 'chai';
import { METHODS, type MethodPath } from '../../../../proto/gen/method-table.ts';
import { NOTES as DATASET } from '../../../../test/support/ada.ts';
import { unsignedPrincipals } from '../../../../test/support/unsigned-principals.ts';
import type { DatasetId } from '../../kernel/brand.ts';
import { type EngramError, engramError } from '../../kernel/errors.ts';
import { asId } from '../../kernel/ids.ts';
import { PERMISSIONS, type Principal } from '../../kernel/principal.ts';
import { PERSONAL_TENANT } from '../../kernel/scope.ts';
import { createInProcessBus } from '../../storage/bus/in-process/bus.ts';
import { callerOf, createMessenger, guard, type Messenger } from './messenger.ts';

const person = (last: string): Principal => ({
  id: asId(`00000000-0000-4000-8000-00000000000${last}`),
  email: `${last}@example.com`,
  tenant: PERSONAL_TENANT,
  isSuperuser: false,
  parentId: null,
});
const OWNER = person('a');
const STRANGER = person('b');

const paths = (Object.keys(METHODS) as MethodPath[]).filter((path) => path !== 'auth.ResolveDatasets');

describe('the guard of messages', () => {
  let messenger: Messenger;
  let stop: () => Promise<void>;

  beforeEach(async () => {
    const bus = createInProcessBus();
    messenger = createMessenger(bus, unsignedPrincipals);
    stop = () => bus.drain();
    await messenger.serve('auth.ResolveDatasets', async ({ ids }, context) => {
      if (callerOf(context).id !== OWNER.id || ids?.[0] !== DATASET.id) {
        throw engramError('PermissionDeniedError', 'Not yours.');
      }
      return { datasets: [DATASET] };
    });
  });
  afterEach(() => stop());

  const contextOf = (principal: Principal | null) => ({
    requestId: 'r',
    ...(principal === null ? {} : { principal }),
  });
  const outcome = (path: MethodPath, principal: Principal | null, dataset = DATASET): Promise<string> =>
    guard(messenger, METHODS[path].permission, { dataset }, contextOf(principal)).then(
      () => 'let through',
      (error: EngramError) => error.wireName,
    );

  for (const path of paths) {
    const { permission } = METHODS[path];
    const isOnDataset = (PERMISSIONS as readonly string[]).includes(permission);
    it(`admits to ${path} (${permission}) only principals with that permission`, async () => {
      expect(['service', 'principal', ...PERMISSIONS]).to.include(permission);
      expect(await outcome(path, null), 'nobody').to.equal(
        permission === 'service' ? 'let through' : 'PermissionDeniedError',
      );
      expect(await outcome(path, STRANGER), 'a stranger').to.equal(
        isOnDataset ? 'PermissionDeniedError' : 'let through',
      );
      const missing = { ...DATASET, id: asId<DatasetId>('00000000-0000-4000-8000-0000000000d9') };
      expect(await outcome(path, OWNER, missing), 'a dataset that is not there').to.equal(
        isOnDataset ? 'PermissionDeniedError' : 'let through',
      );
      expect(await outcome(path, OWNER), 'the owner').to.equal('let through');
    });
  }

  it('stands before every handler', async () => {
    const handled: string[] = [];
    await messenger.serve('improve.Erase', async ({ dataset }) => {
      handled.push(dataset.id);
      return { removed: 0, residue: 0 };
    });
    const erase = (principal: Principal | null) =>
      messenger.call('improve.Erase', { dataset: DATASET }, contextOf(principal)).catch(() => 'refused');
    expect(await Promise.all([erase(null), erase(STRANGER)])).to.deep.equal(['refused', 'refused']);
    await erase(OWNER);
    expect(handled).to.deep.equal([DATASET.id]);
  });

  it('demands delete of every erasure', () => {
    const deleting = paths.filter((path) => METHODS[path].permission === 'delete');
    expect(deleting).to.deep.equal([
      'ingest.ForgetItems',
      'cognify.Erase',
      'improve.Erase',
      'search.Erase',
      'search.EraseAnswers',
    ]);
  });
});
