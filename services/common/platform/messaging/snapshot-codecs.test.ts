import { expect } from 'chai';
import fc from 'fast-check';
import { SNAPSHOT_PART_KINDS } from '../../domain/snapshot.ts';
import type { Codec } from './codec.ts';
import type { Method } from './method.ts';
import { eraseDataset, eraseTenant } from './methods/ingest-managed.ts';
import * as snapshots from './methods/snapshots.ts';

const text = fc.string({ unit: 'binary' }).map((value) => value.toWellFormed());
const id = fc.uuid() as fc.Arbitrary<string> as fc.Arbitrary<never>;
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const count = fc.maxSafeNat();
const endpoint = orNull(text);
const place = orNull(
  fc.record({ endpoint, bucket: text, prefix: text, region: text, accessKey: text, secretKey: text }),
);
const failure = orNull(fc.record({ name: text, message: text }));
const snapshot = fc.record({ tenantId: id, name: text });
const info = fc.record({
  ...{ name: text, tenantId: id, datasetId: id, at: text, items: count, sizeBytes: count, sha256: text, place: text },
});

async function survives<Value>(codec: Codec<Value>, values: fc.Arbitrary<Value>): Promise<void> {
  fc.assert(
    fc.property(values, (value) => {
      expect(codec.decode(codec.encode(value))).to.deep.equal(value);
    }),
    { numRuns: 30 },
  );
}

async function both<Request, Response>(
  method: Method<Request, Response>,
  request: fc.Arbitrary<Request>,
  response: fc.Arbitrary<Response>,
): Promise<void> {
  const codec = await method.codec();
  await survives(codec.request, request);
  await survives(codec.response, response);
}

describe('messages about snapshots', () => {
  it('keep every field, and tell absent from empty', async () => {
    const managed = { tenantId: id, datasetId: id, crUid: text, place };
    const progress = fc.record({ snapshot: orNull(info), done: count, total: count, failure });
    await both(snapshots.takeSnapshot, fc.record({ ...managed, name: text }), progress);
    const restored = fc.record({ datasetId: orNull(id), step: text, done: count, total: count, failure });
    const restore = fc.record(
      { tenantId: id, crUid: text, name: text, snapshot, place, signers: fc.array(text, { minLength: 1 }) },
      { requiredKeys: ['tenantId', 'crUid', 'name', 'snapshot', 'place'] },
    );
    await both(snapshots.restoreDataset, restore, restored);
    const list = fc.record({ tenantId: id, datasetId: id });
    await both(snapshots.listSnapshots, list, fc.record({ snapshots: fc.array(info) }));
    const prune = fc.record({ ...managed, keep: fc.nat() });
    await both(snapshots.pruneSnapshots, prune, fc.record({ removed: fc.array(text) }));
    const kind = fc.constantFrom(...SNAPSHOT_PART_KINDS);
    const part = fc.record({ kind, name: text, sizeBytes: count, sha256: text });
    const space = orNull(fc.record({ model: text, dimensions: fc.nat() }));
    const step: fc.Arbitrary<snapshots.RestoreStep> = fc.oneof(
      fc.record({ kind: fc.constant('part' as const), part, space }),
      fc.constantFrom({ kind: 'count' as const }, { kind: 'discard' as const }),
    );
    const rows = fc.record({ text: count, vectors: count, nodes: count, edges: count });
    const documents = fc.dictionary(fc.string(), fc.nat()).map((value) => JSON.parse(JSON.stringify(value)));
    const finals = { withoutSnapshots: fc.constant(true), keepSnapshots: fc.constant(true) };
    const ofTenant = { tenantId: id, crUid: text, finalSnapshots: fc.record({ place }), ...finals };
    await survives((await eraseTenant.codec()).request, fc.record(ofTenant, { requiredKeys: ['tenantId', 'crUid'] }));
    const ofDataset = {
      tenantId: id,
      datasetId: id,
      crUid: text,
      finalSnapshot: fc.record({ name: text, place }),
      ...finals,
    };
    await survives(
      (await eraseDataset.codec()).request,
      fc.record(ofDataset, { requiredKeys: ['tenantId', 'crUid', 'datasetId'] }),
    );
    await both(
      snapshots.restoreBuilt,
      fc.record({ tenantId: id, datasetId: id, snapshot, step, place }),
      fc.record({ documents, rows, left: count }),
    );
    await both(snapshots.signSnapshot, fc.record({ sha256: text }), fc.record({ keyId: text, signature: text }));
    const check = fc.record({ sha256: text, keyId: text, signature: text });
    await both(snapshots.checkSnapshot, check, fc.record({ isOurs: fc.boolean() }));
    await both(
      snapshots.admitDataset,
      fc.record({ tenantId: id, datasetId: id, name: text, crUid: text }),
      fc.constant({} as Record<string, never>),
    );
    const own = fc.record({ datasetId: id, name: text });
    await both(snapshots.admitOwnDataset, own, fc.constant({} as Record<string, never>));
  });
});
