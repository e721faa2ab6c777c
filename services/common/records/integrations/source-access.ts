import type { DataItemId, UserId } from '../../kernel/brand.ts';
import { type DatasetRef, type SourceReader, scopeOf } from '../../kernel/dataset.ts';
import { sha256OfJson } from '../../kernel/hashes.ts';
import { dataItemId } from '../../kernel/ids.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import type { DocumentStore, Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { createDatasets } from '../auth/datasets.ts';
import { repository } from '../base/repository.ts';

/** Who sees a document at its source. Addresses are those that the source has verified, as `emailKey`. */
export type SourceAudience = {
  readonly connectionId: string;
  /** The user who connected the source: it shows the document to their token. */
  readonly account: string;
  readonly addresses: readonly string[];
  /** Ids of `source_groups`. */
  readonly groups: readonly string[];
  /** Everybody with an address of these domains. */
  readonly domains: readonly string[];
};

/** A group of a source with the addresses of its members, those of inner groups included. */
type SourceGroup = { readonly connectionId: string; readonly members: readonly string[] };

/** A document of a source that says who sees its documents; `audience` null: everybody who may read the dataset. */
type AccessDocument = {
  readonly connectionId: string;
  readonly itemId: string;
  readonly audience: string | null;
};

const shared = {
  level: 'dataset',
  owner: 'integrations',
  writers: {
    ingest: 'removes them with their dataset, restores them with a snapshot, and adds those of what sessions taught',
  },
  readers: ['auth', 'cognify', 'search'],
  belongsTo: { dataset: 'scope' },
  inSnapshots: true,
} as const;

export const sourceAudiencesCollection: OwnedCollection<SourceAudience> = {
  name: 'source_audiences',
  ...shared,
  indexes: [{ fields: ['connectionId'] }],
};

export const sourceGroupsCollection: OwnedCollection<SourceGroup> = {
  name: 'source_groups',
  ...shared,
  indexes: [{ fields: ['connectionId'] }],
};

export const sourceAccessCollection: OwnedCollection<AccessDocument> = {
  name: 'source_access',
  ...shared,
  indexes: [{ fields: ['connectionId'] }],
};

/** Readers whose withheld items are known, the last ones; and as many items of them all. */
const MAX_READERS = 1000;
const MAX_ITEMS = 2_000_000;

function openRecords(store: DocumentStore) {
  return {
    audiences: repository(store, sourceAudiencesCollection, ({ id, value }) => ({ id, ...value })),
    groups: repository(store, sourceGroupsCollection, ({ id, value }) => ({ id, ...value })),
    access: repository(store, sourceAccessCollection, ({ id, value }) => ({ id, ...value })),
  };
}

/** Reads which items are withheld from a reader, and remembers it by the version of who sees what. */
function createWithheld({ audiences, groups, access }: ReturnType<typeof openRecords>) {
  const known = new Map<string, ReadonlySet<DataItemId>>();
  let knownItems = 0;

  const read = async (scope: DatasetScope, reader: SourceReader): Promise<ReadonlySet<DataItemId>> => {
    const [all, ofGroups] = await Promise.all([audiences.all(scope), groups.all(scope)]);
    const memberOf = new Set(
      ofGroups.flatMap(({ id, members }) => (reader.address !== null && members.includes(reader.address) ? [id] : [])),
    );
    const seen = new Set(all.flatMap((audience) => (isSeen(audience, reader, memberOf) ? [audience.id] : [])));
    const withheld = new Set<DataItemId>();
    const shown = new Set<DataItemId>();
    // Documents with the same bytes share an item: who sees one of them sees it. An audience that is not known is nobody.
    for (const { itemId, audience } of await access.all(scope)) {
      (audience === null || seen.has(audience) ? shown : withheld).add(dataItemId(itemId));
    }
    for (const item of shown) withheld.delete(item);
    return withheld;
  };
  return async (scope: DatasetScope, reader: SourceReader): Promise<ReadonlySet<DataItemId>> => {
    const { version, account, address } = reader;
    const key = JSON.stringify([scope.tenant, scope.dataset, version, account, address]);
    const found = known.get(key);
    if (found !== undefined) return found;
    const withheld = await read(scope, reader);
    if (known.size >= MAX_READERS || knownItems > MAX_ITEMS) {
      known.clear();
      knownItems = 0;
    }
    knownItems += withheld.size;
    known.set(key, withheld);
    return withheld;
  };
}

export type SourceAccess = ReturnType<typeof createSourceAccess>;

/** Who sees which items of the sources of a dataset. */
export function createSourceAccess(store: DocumentStore) {
  const records = openRecords(store);
  const { audiences, groups, access } = records;
  const datasets = createDatasets(store);
  const putWrites = (id: string, document: AccessDocument): readonly Write[] => [
    access.removeWrite(id),
    access.insertWrite(id, document),
  ];
  const withheldFrom = createWithheld(records);
  return {
    /** The dataset as its reader sees it: with the items that are withheld from them. */
    async asSeen(dataset: DatasetRef): Promise<DatasetRef> {
      if (dataset.reader === undefined) return dataset;
      const withheld = await withheldFrom(scopeOf(dataset), dataset.reader);
      return withheld.size === 0 ? dataset : { ...dataset, withheld };
    },
    /** Whether any item of the dataset was ever withheld from anybody. */
    isRestricted: async (scope: DatasetScope) => (await audiences.first(scope, {})) !== null,
    audiences: (scope: DatasetScope, connectionId: string) => audiences.all(scope, { where: { connectionId } }),
    groups: (scope: DatasetScope, connectionId: string) => groups.all(scope, { where: { connectionId } }),
    /** By id of the source's item; those without an entry are left out. */
    async ofDocuments(scope: DatasetScope, ids: readonly string[]): Promise<ReadonlyMap<string, AccessDocument>> {
      return new Map((await access.getMany(scope, ids)).map(({ id, ...document }) => [id, document]));
    },
    /** Items that are seen by one user alone, though no source says so. */
    async ownWrites(
      scope: DatasetScope,
      items: readonly DataItemId[],
      { account, version }: { readonly account: UserId; readonly version: string },
    ): Promise<readonly Write[]> {
      const audience = { connectionId: OF_SESSIONS, account, addresses: [], groups: [], domains: [] };
      const id = audienceId(audience);
      const isKnown = (await audiences.get(scope, id)) !== null;
      return [
        ...(isKnown ? [] : [audiences.insertWrite(id, audience)]),
        ...items.flatMap((itemId) => putWrites(itemId, { connectionId: OF_SESSIONS, itemId, audience: id })),
        datasets.sourceAccessWrite(scope.dataset, version),
      ];
    },
    insertAudienceWrite: (id: string, audience: SourceAudience): Write => audiences.insertWrite(id, audience),
    removeAudienceWrite: (id: string): Write => audiences.removeWrite(id),
    putGroupWrites(id: string, group: SourceGroup): readonly Write[] {
      return [groups.removeWrite(id), groups.insertWrite(id, group)];
    },
    removeGroupWrite: (id: string): Write => groups.removeWrite(id),
    putWrites,
    /** Of every commit that changes who sees what; `version` is a new one. */
    changedWrite: (scope: DatasetScope, version: string): Write => datasets.sourceAccessWrite(scope.dataset, version),
    /** Of a document that has another item now; nothing where none is noted. */
    moveWrite: (id: string, itemId: DataItemId): Write => access.updateWrite(id, { set: { itemId } }),
    removeWrite: (id: string): Write => access.removeWrite(id),
    /** Everything of a connection. */
    removeOfConnectionWrites: (connectionId: string): readonly Write[] =>
      [access, audiences, groups].map((each) => each.removeWhereWrite({ connectionId })),
  };
}

function isSeen(audience: SourceAudience, reader: SourceReader, memberOf: ReadonlySet<string>): boolean {
  if (audience.account === reader.account) return true;
  const { address } = reader;
  if (address === null) return false;
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return (
    audience.addresses.includes(address) ||
    audience.domains.includes(domain) ||
    audience.groups.some((id) => memberOf.has(id))
  );
}

/** Stands for a connection where improve keeps what sessions taught. */
const OF_SESSIONS = 'sessions';

/** The id of an audience: those of one connection with the same members are one. */
export function audienceId({ connectionId, account, addresses, groups, domains }: SourceAudience): string {
  const members = [addresses, groups, domains].map((list) => [...list].sort());
  return sha256OfJson([connectionId, account, ...members]);
}

export function sourceGroupId(connectionId: string, group: string): string {
  return sha256OfJson([connectionId, group]);
}
