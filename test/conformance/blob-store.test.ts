import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileBlobStore } from '../../services/common/storage/blobs/files/blob-store.ts';
import { createMemoryBlobStore } from '../support/memory/blob-store.ts';
import { blobStoreConformance } from './blob-store.ts';

blobStoreConformance('memory', async () => ({ store: createMemoryBlobStore(), dispose: async () => {} }));

blobStoreConformance('files', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'engram-blobs-'));
  const store = await createFileBlobStore({ directory: join(directory, 'blobs') });
  return { store, dispose: () => rm(directory, { recursive: true }) };
});
