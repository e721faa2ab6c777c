import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { UserId } from '../../kernel/brand.ts';
import { type DatasetScope, SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { BlobStore } from '../../storage/ports/blob-store.ts';
import type { DocumentStore } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository, withVersion } from '../base/repository.ts';

type OntologyDocument = {
  readonly userId: string;
  readonly key: string;
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly description: string | null;
  readonly uploadedAt: string;
};

export const ontologiesCollection: OwnedCollection<OntologyDocument> = {
  name: 'ontologies',
  level: 'system',
  owner: 'ingest',
  writers: { auth: 'removes them in the commit that deletes the user' },
  readers: ['cognify'],
  belongsTo: { user: 'userId' },
  indexes: [{ fields: ['userId', 'key'], unique: true }],
};

type OntologyContent = {
  readonly userId: string;
  /** The file, compressed, in base64. */
  readonly gzip: string;
};

/** Contents of ontologies, by the id of the ontology: documents, so that they go in the commit that deletes the user. */
export const ontologyFilesCollection: OwnedCollection<OntologyContent> = {
  name: 'ontology_files',
  level: 'system',
  owner: 'ingest',
  writers: { auth: 'removes them in the commit that deletes the user' },
  readers: ['cognify'],
  belongsTo: { user: 'userId' },
  indexes: [{ fields: ['userId'] }],
};

/** Greatest size of an ontology: compressed and in base64 it fits a document of every store. */
export const MAX_ONTOLOGY_BYTES = 10 * 1024 * 1024;

const KEY = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;

/** The key without blanks around it; null when it is none. */
export function ontologyKey(text: string): string | null {
  const key = text.trim();
  return KEY.test(key) ? key : null;
}

/** A file of an ontology as a run names it; its content is a blob, see `ontologyBlob`. */
export type OntologyFile = {
  readonly sha256: string;
  /** As the user or the configuration calls it, for messages. */
  readonly name: string;
};

/** Key of the blob with the content of a file: runs read it there, whatever becomes of the ontology that it came from. */
export function ontologyBlob({ sha256 }: OntologyFile): string {
  return `ontologies/${sha256}`;
}

export type StoredOntology = OntologyDocument & { readonly id: string; readonly version: number };
export type Ontologies = ReturnType<typeof createOntologies>;

/** Ontologies of users. Ingest writes them, cognify reads them. */
export function createOntologies(store: DocumentStore) {
  const records = repository(
    store,
    ontologiesCollection,
    (stored): StoredOntology => ({
      ...withVersion(stored),
      id: stored.id,
    }),
  );
  const files = repository(store, ontologyFilesCollection, withVersion);
  return {
    /** Oldest first. */
    async ofUser(user: UserId): Promise<readonly StoredOntology[]> {
      const own = await records.all(SYSTEM_SCOPE, { where: { userId: user } });
      return own.toSorted((one, other) => (one.uploadedAt < other.uploadedAt ? -1 : 1));
    },
    find: (user: UserId, key: string) => records.first(SYSTEM_SCOPE, { where: { userId: user, key } }),
    /** `DuplicateKeyError` in the commit when the user has the key already. */
    async insertWrites(ontology: Omit<StoredOntology, 'version'>, content: Buffer) {
      const { id, ...document } = ontology;
      const compressed = (await promisify(gzip)(content)).toString('base64');
      return [records.insertWrite(id, document), files.insertWrite(id, { userId: document.userId, gzip: compressed })];
    },
    /** With a version: `VersionConflictError` in the commit when it is gone. */
    removeWrites: ({ id, version }: Pick<StoredOntology, 'id'> & { readonly version?: number }) => [
      records.removeWrite(id, version),
      files.removeWrite(id),
    ],
    /** Null when the ontology was deleted. */
    async content(id: string): Promise<Buffer | null> {
      const file = await files.get(SYSTEM_SCOPE, id);
      return file === null ? null : promisify(gunzip)(Buffer.from(file.gzip, 'base64'));
    },
  };
}

/** The ontologies that a request names, or why there are none for it. */
type NamedOntologies = { readonly named: readonly StoredOntology[] } | { readonly problem: string };

export async function findOntologies(
  ontologies: Ontologies,
  user: UserId,
  keys: readonly string[],
): Promise<NamedOntologies> {
  const named = new Map<string, StoredOntology>();
  for (const text of new Set(keys)) {
    const key = ontologyKey(text);
    if (key === null) return { problem: 'Invalid ontology key' };
    const found = await ontologies.find(user, key);
    if (found === null) return { problem: `Ontology key '${key}' not found` };
    named.set(found.id, found);
  }
  return { named: [...named.values()] };
}

/** Copies the files beside the items of a dataset: runs use them there, and they are erased with it. */
export async function keepOntologies(
  { ontologies, blobs }: { readonly ontologies: Ontologies; readonly blobs: BlobStore },
  scope: DatasetScope,
  named: readonly StoredOntology[],
): Promise<{ readonly files: readonly OntologyFile[] } | { readonly problem: string }> {
  const files: OntologyFile[] = [];
  for (const { id, key, sha256, fileName, sizeBytes } of named) {
    const file = { sha256, name: fileName };
    files.push(file);
    if ((await blobs.stat(scope, ontologyBlob(file)))?.sizeBytes === sizeBytes) continue;
    const content = await ontologies.content(id);
    if (content === null) return { problem: `Ontology file for key '${key}' not found` };
    await blobs.put(scope, ontologyBlob(file), content);
  }
  return { files };
}
