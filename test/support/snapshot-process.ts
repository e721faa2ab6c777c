import { randomUUID } from 'node:crypto';
import type { Stores } from '../../services/app/stores.ts';
import type { DatasetId, TenantId } from '../../services/common/kernel/brand.ts';
import { type ManagedApp, startManagedApp } from './managed-app.ts';
import { CALL, declareTenant, requestWithKey } from './managed-tenant.ts';

/** The tenant, the dataset and the resources of a test of snapshots. */
export interface Prepared {
  readonly crUid: string;
  readonly tenantId: TenantId;
  readonly tenantUid: string;
  readonly datasetId: DatasetId;
  readonly cloneUid: string;
}

const ITEMS = 60;
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Tells of every write to a store, so that whoever reads it can kill this process there. */
function telling(stores: Stores): Stores {
  const told = <Port extends object>(port: Port, names: readonly (keyof Port)[]): Port => {
    const wrapper = { ...port };
    for (const name of names) {
      const call = port[name] as (...values: unknown[]) => unknown;
      Object.assign(wrapper, {
        [name]: (...values: unknown[]) => {
          say('write');
          return call(...values);
        },
      });
    }
    return wrapper;
  };
  const { text, vectors, graph } = stores.indexes;
  return {
    ...stores,
    blobs: told(stores.blobs, ['put', 'remove']),
    documents: told(stores.documents, ['commit']),
    indexes: { text: told(text, ['upsert']), vectors: told(vectors, ['upsert']), graph: told(graph, ['upsert']) },
  };
}

/** Runs `prepare`, `take`, `restore` or `erase` on a data directory to its end; returns what it answers. */
export async function runPhase(phase: string, prepared: string, dataDir: string, isTold = false): Promise<string> {
  const app = await startManagedApp({ ENGRAM_DATA_DIR: dataDir }, isTold ? telling : undefined);
  try {
    if (phase === 'prepare') return JSON.stringify(await prepare(app));
    if (isTold) say('begun');
    return await goOn(app.messenger, phase, JSON.parse(prepared) as Prepared);
  } finally {
    await app.stop();
  }
}

// Tests kill the process that runs this file, at a write that it tells of.
if (import.meta.main) {
  const [phase = '', prepared = '{}'] = process.argv.slice(2);
  await runPhase(phase, prepared, process.env['ENGRAM_DATA_DIR'] ?? '', true);
}

async function prepare(app: ManagedApp): Promise<Prepared> {
  const { messenger } = app;
  const { crUid: tenantUid, tenantId, key } = await declareTenant(app);
  const crUid = randomUUID();
  const { dataset } = await messenger.call('auth.EnsureDataset', { crUid, tenantId, name: 'facts' }, CALL);
  await messenger.call('auth.EnsureDataset', { crUid: randomUUID(), tenantId, name: 'empty' }, CALL);
  const data = Array.from(
    { length: ITEMS },
    (_, at) => `Fact ${at}: Ada Lovelace met Charles Babbage in London ${at} times.`,
  );
  for (const [path, body] of [
    ['/add', { datasetId: dataset.id, data }],
    ['/cognify', { datasetIds: [dataset.id] }],
  ] as const) {
    const answer = await requestWithKey(app, key, 'POST', path, body);
    if (!answer.ok) throw new Error(await answer.text());
  }
  return { crUid, tenantId, tenantUid, datasetId: dataset.id, cloneUid: randomUUID() };
}

async function goOn(messenger: ManagedApp['messenger'], phase: string, prepared: Prepared): Promise<string> {
  const { crUid, tenantId, tenantUid, datasetId, cloneUid } = prepared;
  for (;;) {
    const { failure, end } = phase === 'take' ? await take() : phase === 'erase' ? await erase() : await restore();
    if (failure !== null) throw new Error(failure.message);
    if (end !== null) return end;
  }

  async function take() {
    const request = { tenantId, datasetId, crUid, name: 'one', place: null };
    const { failure, snapshot } = await messenger.call('ingest.TakeSnapshot', request, CALL);
    return { failure, end: snapshot === null ? null : JSON.stringify(snapshot) };
  }
  async function erase() {
    const request = { tenantId, crUid: tenantUid, keepSnapshots: true, finalSnapshots: { place: null } };
    const { progress } = await messenger.call('ingest.EraseTenant', request, CALL);
    return { failure: progress.failure, end: progress.receipt };
  }
  async function restore() {
    const snapshot = { tenantId, name: 'one' };
    const request = { tenantId, crUid: cloneUid, name: 'clone', snapshot, place: null, signers: [] };
    const answer = await messenger.call('ingest.RestoreDataset', request, CALL);
    return { failure: answer.failure, end: answer.datasetId };
  }
}
