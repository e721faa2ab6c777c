import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startApp } from '../../support/start-app.ts';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';

interface Connection {
  readonly connectionId: string;
  readonly datasetId: string;
  readonly syncStatus: string | null;
  readonly storedItems: number;
  readonly lastSyncedAt: string | null;
}

async function settled({ get }: Wire, provider: string, after: string | null = null): Promise<Connection> {
  let connection: Connection | undefined;
  await until('the end of the import', async () => {
    connection = (await get(`/integrations/${provider}/connection`)).json as Connection;
    return connection.syncStatus !== 'syncing' && connection.lastSyncedAt !== after;
  });
  return connection as Connection;
}

/** Names and ids of the items of a dataset. */
async function itemsOf({ get }: Wire, dataset: string): Promise<ReadonlyMap<string, string>> {
  const { json } = await get(`/datasets/${dataset}/data`);
  return new Map((json as { name: string; id: string }[]).map(({ name, id }) => [name, id]));
}

describe('a folder of the server', () => {
  it('is brought in and followed: new, changed, renamed and deleted files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'engram-folder-'));
    await mkdir(join(folder, 'people'));
    await writeFile(join(folder, 'engine.md'), 'Ada Lovelace described the Analytical Engine.');
    await writeFile(join(folder, 'people', 'mary.txt'), 'Mary Somerville taught Ada Lovelace.');
    await writeFile(join(folder, '.secret'), 'hidden');
    const app = await startApp({ ACCEPT_LOCAL_FILE_PATH: 'true', COGNEE_ALLOWED_LOCAL_FILE_ROOTS: folder });
    try {
      const wire = createWire(app.baseUrl);
      const made = await wire.post('/integrations/folder/connect', { address: folder });
      expect(made.status, JSON.stringify(made.json)).to.equal(200);
      let state = await settled(wire, 'folder');
      expect(state).to.include({ connected: true, syncStatus: 'ok', storedItems: 2 });
      const items = await itemsOf(wire, state.datasetId);
      expect([...items.keys()].toSorted()).to.deep.equal(['engine', 'mary']);
      await until('an answer', async () => {
        const { json } = await wire.post('/search', {
          query: 'Who taught Ada Lovelace?',
          datasetIds: [state.datasetId],
        });
        return JSON.stringify(json).includes('Mary Somerville');
      });
      await writeFile(join(folder, 'people', 'mary.txt'), 'Mary Somerville met Charles Babbage in Kensington.');
      await rename(join(folder, 'engine.md'), join(folder, 'machine.md'));
      await until('the changes, which are watched', async () => {
        const now = await itemsOf(wire, state.datasetId);
        const { text } = await wire.get(`/datasets/${state.datasetId}/data/${items.get('mary')}/raw`);
        return now.has('machine') && !now.has('engine') && text.includes('Kensington');
      });
      state = await settled(wire, 'folder');
      const after = await itemsOf(wire, state.datasetId);
      expect(after.get('machine'), 'a renamed file is the same item').to.equal(items.get('engine'));
      expect(after.get('mary'), 'a changed file is the same item').to.equal(items.get('mary'));
      await rm(join(folder, 'people'), { recursive: true });
      await until('the deletion', async () => !(await itemsOf(wire, state.datasetId)).has('mary'));
      const gone = await wire.remove('/integrations/folder/connection?delete_data=true');
      expect(gone.json).to.deep.equal({ disconnected: true });
      await until('the erasure', async () => (await itemsOf(wire, state.datasetId)).size === 0);
      expect((await wire.get('/integrations/folder/connection')).json).to.deep.equal({ connected: false });
    } finally {
      await app.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('with files of the same bytes keeps one item of them, until one of them changes or goes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'engram-folder-'));
    const texts = async (wire: Wire, dataset: string) => {
      const found: string[] = [];
      for (const [name, id] of await itemsOf(wire, dataset)) {
        found.push(`${name}: ${(await wire.get(`/datasets/${dataset}/data/${id}/raw`)).text}`);
      }
      return found.toSorted();
    };
    for (const name of ['a.md', 'b.md', 'c.md']) await writeFile(join(folder, name), 'Ada met Charles.');
    const app = await startApp({ ACCEPT_LOCAL_FILE_PATH: 'true', COGNEE_ALLOWED_LOCAL_FILE_ROOTS: folder });
    try {
      const wire = createWire(app.baseUrl);
      await wire.post('/integrations/folder/connect', { address: folder });
      const { datasetId } = await settled(wire, 'folder');
      expect(await texts(wire, datasetId)).to.have.length(1);
      await writeFile(join(folder, 'a.md'), 'Ada met Mary.');
      await until('the change', async () => (await texts(wire, datasetId)).length === 2);
      expect((await texts(wire, datasetId)).join())
        .to.contain('Ada met Charles.')
        .and.contain('a: Ada met Mary.');
      await rm(join(folder, 'b.md'));
      await until('the name', async () => {
        return (await texts(wire, datasetId)).join() === 'a: Ada met Mary.,c: Ada met Charles.';
      });
      await settled(wire, 'folder');
    } finally {
      await app.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('with a file that is too large brings in the others, and says which file failed and where', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'engram-folder-'));
    await writeFile(join(folder, 'small.md'), 'Ada met Charles.');
    await writeFile(join(folder, 'large.md'), 'Ada met Charles. '.repeat(100));
    const settings = { ACCEPT_LOCAL_FILE_PATH: 'true', COGNEE_ALLOWED_LOCAL_FILE_ROOTS: folder };
    const app = await startApp({ ...settings, ENGRAM_UPLOAD_LIMIT_BYTES: '1024' });
    try {
      const wire = createWire(app.baseUrl);
      await wire.post('/integrations/folder/connect', { address: folder });
      const { datasetId } = await settled(wire, 'folder');
      const { json } = await wire.get('/integrations/folder/connection');
      const { syncStatus, syncCounts, error } = json as Record<string, unknown>;
      expect(syncStatus).to.equal('degraded');
      expect(syncCounts).to.deep.equal({ scanned: 2, skipped: 0, failed: 1, failed_ingestion: 1 });
      expect(error).to.match(/large\.md.*1024 bytes/);
      expect([...(await itemsOf(wire, datasetId)).keys()]).to.deep.equal(['small']);
    } finally {
      await app.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('outside the folders that may be read is refused', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'engram-folder-'));
    const app = await startApp({ ACCEPT_LOCAL_FILE_PATH: 'true', COGNEE_ALLOWED_LOCAL_FILE_ROOTS: folder });
    try {
      const wire = createWire(app.baseUrl);
      for (const address of [tmpdir(), '/etc', `${folder}/../`, '/no/such/folder']) {
        expect((await wire.post('/integrations/folder/connect', { address })).status, address).to.equal(403);
      }
    } finally {
      await app.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
