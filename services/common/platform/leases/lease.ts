import type { JsonObject } from '../../kernel/json.ts';
import { type Collection, type Filter, update, type Write } from '../../storage/ports/document-store.ts';

/** Holder of a lease, in its document. */
export interface Lease {
  /** Null: it is free. */
  readonly holder: string | null;
  /** Milliseconds since 1970: from then on another one may claim it. */
  readonly leasedUntilMs: number;
}

export const FREE: Lease = { holder: null, leasedUntilMs: 0 };

export function isLeased({ holder, leasedUntilMs }: Lease, nowMs: number): boolean {
  return holder !== null && leasedUntilMs > nowMs;
}

/** A document with a lease: its fencing token grows with each claim, so that a late holder gets no write through. */
type Leased = JsonObject & { readonly fencingToken: number };

/** The fields that hold a lease, where they are called otherwise. */
export interface LeaseSpelling<T> {
  readonly holder: keyof T & string;
  readonly leasedUntilMs: keyof T & string;
}

/** Changes of a write on a leased document beside its lease. */
export type LeasedChange<T extends JsonObject> = Parameters<typeof update<T>>[2];

/** Writes on the leases of a collection. */
export function leasesOf<T extends Leased>(collection: Collection<T>, spelling: LeaseSpelling<T>) {
  const spelled = ({ holder, leasedUntilMs }: Partial<Lease>): Partial<T> =>
    ({
      ...(holder === undefined ? {} : { [spelling.holder]: holder }),
      ...(leasedUntilMs === undefined ? {} : { [spelling.leasedUntilMs]: leasedUntilMs }),
    }) as Partial<T>;
  const fenced = (fencingToken: number, where: Filter<T> = {}): Filter<T> => ({ ...where, fencingToken }) as Filter<T>;
  return {
    /** The fields of a lease, or of a part of it, as the document has them. */
    spelled,
    of: (document: T): Lease => ({
      holder: document[spelling.holder] as string | null,
      leasedUntilMs: document[spelling.leasedUntilMs] as number,
    }),
    /** Changes nothing when the document was claimed since it was read. */
    claimWrite: (id: string, read: T, lease: Lease, change: LeasedChange<T> = {}): Write =>
      update(collection, id, {
        ...change,
        where: fenced(read.fencingToken, change.where),
        set: { ...change.set, ...spelled(lease) },
        increment: { ...change.increment, fencingToken: 1 },
      }),
    /** Renews, changes or releases what the holder of the token has; changes nothing, or with `required` fails, for a late one. */
    heldWrite: (id: string, fencingToken: number, change: LeasedChange<T> = {}): Write =>
      update(collection, id, { ...change, where: fenced(fencingToken, change.where) }),
  };
}
