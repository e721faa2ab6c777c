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

/** The fields that hold a lease, and what fences off a late holder, so that it gets no write through. */
interface LeaseSpelling<T> {
  readonly holder: keyof T & string;
  readonly leasedUntilMs: keyof T & string;
  /** `token`: the field `fencingToken`, which grows with each claim. `holder`: its id, which is never used again. */
  readonly fence: 'token' | 'holder';
}

/** Changes of a write on a leased document beside its lease. */
export type LeasedChange<T extends JsonObject> = Parameters<typeof update<T>>[2];

/** Writes on the leases of a collection. */
export function leasesOf<T extends JsonObject>(collection: Collection<T>, spelling: LeaseSpelling<T>) {
  const hasToken = spelling.fence === 'token';
  const spelled = ({ holder, leasedUntilMs }: Partial<Lease>): Partial<T> =>
    ({
      ...(holder === undefined ? {} : { [spelling.holder]: holder }),
      ...(leasedUntilMs === undefined ? {} : { [spelling.leasedUntilMs]: leasedUntilMs }),
    }) as Partial<T>;
  const of = (document: T): Lease => ({
    holder: document[spelling.holder] as string | null,
    leasedUntilMs: document[spelling.leasedUntilMs] as number,
  });
  return {
    /** The fields of a lease, or of a part of it, as the document has them. */
    spelled,
    of,
    /** Changes nothing, or with `required` fails, when the document was claimed since it was read. */
    claimWrite: (id: string, read: T, lease: Lease, change: LeasedChange<T> = {}): Write =>
      update(collection, id, {
        ...change,
        where: {
          ...change.where,
          ...(hasToken ? { fencingToken: read['fencingToken'] } : spelled(of(read))),
        } as Filter<T>,
        set: { ...change.set, ...spelled(lease) },
        ...(hasToken ? { increment: { ...change.increment, fencingToken: 1 } } : {}),
      }),
    /** Renews, changes or releases what the holder of the fence has; changes nothing, or with `required` fails, for a late one. */
    heldWrite: (id: string, fence: number | string, change: LeasedChange<T> = {}): Write =>
      update(collection, id, {
        ...change,
        where: { ...change.where, [hasToken ? 'fencingToken' : spelling.holder]: fence } as Filter<T>,
      }),
  };
}
