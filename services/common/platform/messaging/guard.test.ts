import { expect } from 'chai';
import { METHODS, type MethodPath } from '../../../../proto/gen/method-table.ts';
import { unsignedPrincipals } from '../../../../test/support/unsigned-principals.ts';
import type { DatasetId } from '../../kernel/brand.ts';
import type { DatasetRef } from '../../kernel/dataset.ts';
import { type EngramError, engramError } from '../../kernel/errors.ts';
import { asId } from '../../kernel/ids.ts';
import { PERMISSIONS, type Principal } from '../../kernel/principal.ts';
import { PERSONAL_TENANT } from '../../kernel/scope.ts';
import { createInProcessBus } from '../../storage/bus/in-process/bus.ts';
import type { MethodCodec } from './codec.ts';
import { callerOf, createMessenger, type Messenger } from './messenger.ts';
import type { Method } from './method.ts';
import { resolveDatasets } from './methods/auth.ts';

const person = (last: string): Principal => ({
  ...{ id: asId(`00000000-0000-4000-8000-00000000000${last}`), email: `${last}@example.com`, tenant: PERSONAL_TENANT },
  ...{ isSuperuser: false, parentId: null },
});
const OWNER = person('a');
const STRANGER = person('b');
const DATASET: DatasetRef = {
  ...{ id: asId<DatasetId>('00000000-0000-4000-8000-0000000000d1'), name: 'notes', ownerId: OWNER.id },
  ...{ tenant: PERSONAL_TENANT, createdAt: '2026-01-02T03:04:05.678Z', updatedAt: null },
};

/** Any request, as JSON: what is guarded does not depend on the messages. */
const asJson = {
  encode: (value: unknown) => Buffer.from(JSON.stringify(value)),
  decode: (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString()) as unknown,
};
const codec: MethodCodec<unknown, unknown> = { request: asJson, response: asJson };
const methodOf = (path: MethodPath): Method<unknown, unknown> => {
  const { deadlineMs, permission } = METHODS[path];
  return { path, subject: `engram.${path}`, deadlineMs, permission, codec: async () => codec };
};
const paths = (Object.keys(METHODS) as MethodPath[]).filter((path) => path !== resolveDatasets.path);

describe('the guard of messages', () => {
  let messenger: Messenger;
  let handled: string[];
  let stop: () => Promise<void>;

  beforeEach(async () => {
    handled = [];
    const bus = createInProcessBus();
    messenger = createMessenger(bus, unsignedPrincipals);
    stop = () => bus.drain();
    await messenger.serve(resolveDatasets, async ({ ids }, context) => {
      if (callerOf(context).id !== OWNER.id || ids?.[0] !== DATASET.id) {
        throw engramError('PermissionDeniedError', 'Not yours.');
      }
      return { datasets: [DATASET] };
    });
    for (const path of paths) await messenger.serve(methodOf(path), async () => handled.push(path));
  });
  afterEach(() => stop());

  const outcome = async (path: MethodPath, principal: Principal | null, dataset = DATASET): Promise<string> => {
    const context = { requestId: 'r', ...(principal === null ? {} : { principal }) };
    const answer = messenger.call(methodOf(path), { dataset }, context);
    return answer.then(() => 'handled').catch((error: EngramError) => error.wireName);
  };

  for (const path of paths) {
    const { permission } = METHODS[path];
    const isOnDataset = (PERMISSIONS as readonly string[]).includes(permission);
    it(`lets nobody but whom it is for reach ${path} (${permission})`, async () => {
      expect(['service', 'principal', ...PERMISSIONS]).to.include(permission);
      expect(await outcome(path, null), 'nobody').to.equal(
        permission === 'service' ? 'handled' : 'PermissionDeniedError',
      );
      expect(await outcome(path, STRANGER), 'a stranger').to.equal(isOnDataset ? 'PermissionDeniedError' : 'handled');
      const missing = { ...DATASET, id: asId<DatasetId>('00000000-0000-4000-8000-0000000000d9') };
      expect(await outcome(path, OWNER, missing), 'a dataset that is not there').to.equal(
        isOnDataset ? 'PermissionDeniedError' : 'handled',
      );
      handled.length = 0;
      expect(await outcome(path, OWNER), 'the owner').to.equal('handled');
      expect(handled).to.deep.equal([path]);
    });
  }

  it('knows that what cannot be undone is among them', () => {
    const deleting = paths.filter((path) => METHODS[path].permission === 'delete');
    expect(deleting).to.deep.equal(['cognify.Erase', 'improve.Erase', 'search.Erase', 'search.EraseAnswers']);
  });
});
