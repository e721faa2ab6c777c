import { emailKey } from '../../common/domain/email-address.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { audienceId, type SourceAudience, sourceGroupId } from '../../common/records/integrations/source-access.ts';
import type { FeedName } from '../../common/records/integrations/source-items.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { type Audience, type Connector, NOBODY_ELSE, type SourceAccess } from '../providers/connector.ts';

const MAX_NAMES = 10;

/** A document, by the id of its source item. */
interface NotedDocument {
  readonly id: string;
  readonly key: string;
  readonly itemId: DataItemId;
}

/** Who sees the documents of a feed; null where the source has no permissions of its own. */
export type PermissionNotes = Awaited<ReturnType<typeof openPermissions>>;

/** Mirrors, for one attempt of an import, who sees the documents of a source. Members of groups are compared once. */
export async function openPermissions(
  { sourceAccess, ids }: Pick<SourceDependencies, 'sourceAccess' | 'ids'>,
  {
    connector,
    access,
    dataset,
  }: { readonly connector: Connector; readonly access: SourceAccess; readonly dataset: DatasetRef },
) {
  const { permissionsOf } = connector;
  if (permissionsOf === undefined) return null;
  const connectionId = access.connection.id;
  const scope = scopeOf(dataset);
  const audiences = await openAudiences(sourceAccess, scope, access.connection);
  /** Groups by why their members see less. */
  const gaps = new Map<string, Set<string>>();
  const storedOf = (documents: readonly NotedDocument[]) =>
    sourceAccess.ofDocuments(
      scope,
      documents.map(({ id }) => id),
    );
  return {
    /** Who sees the documents now. */
    async of(feed: FeedName, keys: readonly string[]): Promise<ReadonlyMap<string, Audience | null>> {
      const { resource, feed: name } = feed;
      const found = keys.length === 0 ? [] : await permissionsOf(access, { resource, feed: name }, keys);
      for (const { reason, group } of found.flatMap((audience) => audience?.gaps ?? [])) {
        const groups = gaps.get(reason) ?? new Set();
        gaps.set(reason, group === undefined ? groups : groups.add(group));
      }
      // A document whose permissions are not known is seen by the user who connected the source alone.
      return new Map(keys.map((key, at) => [key, found[at] === undefined ? NOBODY_ELSE : found[at]]));
    },
    /** What has to be written so that the documents are seen by `seenBy`; empty when nothing changes. */
    async writes(documents: readonly NotedDocument[], seenBy: (document: NotedDocument) => Audience | null) {
      const stored = await storedOf(documents);
      const writes: Write[] = [];
      for (const document of documents) {
        const { id, itemId } = document;
        const wanted = seenBy(document);
        if (wanted !== null) writes.push(...audiences.writes(wanted));
        const audience = audiences.idOf(wanted);
        const before = stored.get(id);
        if (before?.audience === audience && before.itemId === itemId) continue;
        writes.push(...sourceAccess.putWrites(id, { connectionId, itemId, audience }));
      }
      return writes.length === 0 ? [] : [...writes, sourceAccess.changedWrite(scope, ids.uuid())];
    },
    /** Those that are not noted as seen by `seenBy`. */
    async changed<Document extends NotedDocument>(
      documents: readonly Document[],
      seenBy: (document: NotedDocument) => Audience | null,
    ): Promise<readonly Document[]> {
      const stored = await storedOf(documents);
      return documents.filter((document) => stored.get(document.id)?.audience !== audiences.idOf(seenBy(document)));
    },
    /** Of documents that are gone. */
    removeWrites: (documents: readonly string[]): readonly Write[] => [
      ...documents.map(sourceAccess.removeWrite),
      sourceAccess.changedWrite(scope, ids.uuid()),
    ],
    /** Why somebody may see less here than at the source; null: nobody does, as far as it is known. */
    note: (): string | null => {
      const said = [...gaps].map(([reason, groups]) => reason.replace('{groups}', () => named(groups)));
      return said.length === 0 ? null : said.toSorted().join(' ');
    },
    removeUnusedWrites: audiences.removeUnusedWrites,
  };
}

/** The stored audiences and groups of a connection, which are written once an attempt. */
async function openAudiences(
  sourceAccess: SourceDependencies['sourceAccess'],
  scope: DatasetScope,
  { id: connectionId, userId: account }: SourceAccess['connection'],
) {
  const audiences = new Set((await sourceAccess.audiences(scope, connectionId)).map(({ id }) => id));
  const groups = new Map((await sourceAccess.groups(scope, connectionId)).map(({ id, members }) => [id, members]));
  const used = { audiences: new Set<string>(), groups: new Set<string>() };
  const written = new WeakSet<Audience>();
  /** Many documents may share an audience, and a group may have many members. */
  const ids = new WeakMap<Audience, string>();

  const groupId = ({ id }: Audience['groups'][number]) => sourceGroupId(connectionId, id);
  const seenByOf = ({ addresses, groups, domains }: Audience): SourceAudience => ({
    connectionId,
    account,
    addresses: addressList(addresses),
    groups: [...new Set(groups.map(groupId))].sort(),
    domains: [...new Set(domains.map((domain) => domain.toLowerCase()))].sort(),
  });
  return {
    idOf(audience: Audience | null): string | null {
      if (audience === null) return null;
      const id = ids.get(audience) ?? audienceId(seenByOf(audience));
      ids.set(audience, id);
      return id;
    },
    /** What has to be written so that the audience is known. */
    writes(audience: Audience): readonly Write[] {
      if (written.has(audience)) return [];
      written.add(audience);
      const writes: Write[] = [];
      for (const group of audience.groups) {
        const id = groupId(group);
        const members = addressList(group.members);
        used.groups.add(id);
        if (groups.get(id)?.join('\n') === members.join('\n')) continue;
        groups.set(id, members);
        writes.push(...sourceAccess.putGroupWrites(id, { connectionId, members }));
      }
      const seenBy = seenByOf(audience);
      const id = audienceId(seenBy);
      used.audiences.add(id);
      if (audiences.has(id)) return writes;
      audiences.add(id);
      return [...writes, sourceAccess.insertAudienceWrite(id, seenBy)];
    },
    /** Removes audiences and groups that no document of the connection has any more. */
    removeUnusedWrites: (): readonly Write[] => [
      ...[...audiences].filter((id) => !used.audiences.has(id)).map(sourceAccess.removeAudienceWrite),
      ...[...groups.keys()].filter((id) => !used.groups.has(id)).map(sourceAccess.removeGroupWrite),
    ],
  };
}

/** The first names of a list, and how many more there are. */
function named(names: ReadonlySet<string>): string {
  const sorted = [...names].toSorted();
  const more = sorted.length - MAX_NAMES;
  return `${sorted.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function addressList(list: readonly string[]): readonly string[] {
  return [...new Set(list.map(emailKey))].sort();
}
