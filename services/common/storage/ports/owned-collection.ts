import type { ServiceName } from '../../domain/service-paths.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Collection, Field } from './document-store.ts';

/** `platform`: the code that every service runs, such as the job queue. */
export type CollectionOwner = ServiceName | 'platform';

/**
 * A collection with its owner. What is erased with a user, a tenant or a dataset, and what a snapshot holds, is derived
 * from these declarations; `test/architecture.test.ts` checks who opens the collection.
 */
export interface OwnedCollection<T extends JsonObject> extends Collection<T> {
  /** The service that writes it. */
  readonly owner: CollectionOwner;
  /** Other services that write it too, each with the reason. */
  readonly writers?: Readonly<Partial<Record<ServiceName | 'every', string>>>;
  /** Other services that read it. */
  readonly readers?: readonly ServiceName[];
  /** `system`: its documents outlive users, tenants and datasets, or end in their own way. */
  readonly belongsTo: BelongsTo<T> | 'system';
  /** It is built from items: it goes too when only the memory of its dataset is forgotten. */
  readonly isMemory?: true;
  /** Snapshots of the dataset hold it. */
  readonly inSnapshots?: true;
}

/**
 * With what a document is erased, by the field that holds its id; `scope`: the tenant or dataset that the document was
 * inserted under. Documents of tenant and dataset level are erased with their tenant whatever else they belong to.
 */
interface BelongsTo<T> {
  readonly user?: Field<T> | 'id';
  readonly tenant?: Field<T> | 'scope';
  readonly dataset?: Field<T> | 'scope';
  /** A budget account: a user, a tenant or an API key. */
  readonly account?: Field<T> | 'id';
}

// biome-ignore lint/suspicious/noExplicitAny: a list of collections of different documents has no narrower type
export type AnyOwnedCollection = OwnedCollection<any>;

/** Whether documents of the collection are erased with a user, a tenant or a dataset, and by which field; null: they are not. */
export function ownerField({ belongsTo }: AnyOwnedCollection, part: keyof BelongsTo<JsonObject>): string | null {
  return belongsTo === 'system' ? null : (belongsTo[part] ?? null);
}
