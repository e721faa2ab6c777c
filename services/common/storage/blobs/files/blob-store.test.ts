import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { asId } from '../../../kernel/ids.ts';
import { datasetScope } from '../../../kernel/scope.ts';
import { createFileBlobStore } from './blob-store.ts';

describe('file blob store', () => {
  let directory: string;
  const scope = datasetScope(asId('tenant'), asId('dataset'));
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'engram-files-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));
  const files = async () =>
    (await readdir(directory, { recursive: true, withFileTypes: true })).filter((e) => e.isFile());

  it('keeps blobs over a restart and clears away what an earlier process left half written', async () => {
    const first = await createFileBlobStore({ directory });
    await first.put(scope, 'items/1/original', Buffer.from('x'));
    await writeFile(join(directory, '.incoming', 'left'), 'half');
    const second = await createFileBlobStore({ directory });
    expect(await second.stat(scope, 'items/1/original')).to.deep.equal({ sizeBytes: 1 });
    expect(await readdir(join(directory, '.incoming'))).to.deep.equal([]);
  });

  it('leaves no directory of a blob that could not be written', async () => {
    const store = await createFileBlobStore({ directory });
    const put = store.put(scope, 'items/1/original', Buffer.alloc(100_000), AbortSignal.abort());
    expect((await Promise.allSettled([put]))[0].status).to.equal('rejected');
    const left = await readdir(directory, { recursive: true });
    expect(left.filter((path) => path.includes('items'))).to.deep.equal([]);
  });

  it('keeps everything below its directory, whatever the key', async () => {
    const inner = join(directory, 'inner');
    const store = await createFileBlobStore({ directory: inner });
    for (const key of ['../../x', '../..', 'a/../../../x', 'C:/x']) await store.put(scope, key, Buffer.from('x'));
    expect(await readdir(directory)).to.deep.equal(['inner']);
    expect(await files()).to.have.length(4);
  });

  it('leaves no empty directories behind', async () => {
    const store = await createFileBlobStore({ directory });
    await store.put(scope, 'a/b/c', Buffer.from('x'));
    await store.put(scope, 'd/e', Buffer.from('x'));
    await store.remove(scope, ['a/b/c']);
    expect(await readdir(join(directory, 'tenant', 'datasets', 'dataset'))).to.deep.equal(['d']);
    await store.remove(scope, ['d/e']);
    expect(await readdir(join(directory, 'tenant', 'datasets'))).to.deep.equal([]);
  });

  it('leaves nothing behind when everything is removed', async () => {
    const store = await createFileBlobStore({ directory });
    await store.put(scope, 'a/b', Buffer.from('x'));
    expect(await store.removeAll(scope)).to.equal(1);
    expect(await files()).to.deep.equal([]);
  });

  it('says so when its directory cannot be made', async () => {
    await writeFile(join(directory, 'file'), '');
    await mkdir(join(directory, 'other'));
    const [outcome] = await Promise.allSettled([createFileBlobStore({ directory: join(directory, 'file', 'blobs') })]);
    expect(outcome).to.have.nested.property('reason.wireName', 'ServiceUnavailableError');
    expect(outcome).to.have.nested.property('reason.message').that.contains(join(directory, 'file'));
  });
});
