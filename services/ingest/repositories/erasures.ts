import type { JsonObject } from '../../common/kernel/json.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { ManagedThing } from '../../common/records/auth/managed-resources.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  replace,
  type Stored,
  type Write,
} from '../../common/storage/ports/document-store.ts';
import type { Leased } from './leased.ts';

type ErasureDocument = Omit<Leased, 'isComplete'> & {
  readonly begunAt: string;
  readonly step: string;
  readonly removed: JsonObject;
  readonly residue: number;
  readonly receipt: string | null;
  /** `over`: all that are wanted are taken. From here on things are erased, and none is taken. */
  readonly finalSnapshots: 'open' | 'over';
  /** What stays on purpose, as it was found before anything was erased. */
  readonly kept: readonly string[];
};

export const erasuresCollection: Collection<ErasureDocument> = { name: 'erasures', level: 'system', indexes: [] };

/** How far the erasure of a thing has come that a resource managed. */
export interface Erasure extends ErasureDocument, Leased {
  readonly id: string;
  readonly version: number;
}

export interface Erasures {
  get(crUid: string, thing: ManagedThing): Promise<Erasure | null>;
  /** `DuplicateKeyError` in the commit when it has begun. */
  insertWrite(crUid: string, thing: ManagedThing, begunAt: string): Write;
  /** `VersionConflictError` in the commit when it changed since it was read. */
  replaceWrite(erasure: Erasure): Write;
}

export function createErasures(store: DocumentStore): Erasures {
  return {
    async get(crUid, thing) {
      const stored = await store.get(SYSTEM_SCOPE, erasuresCollection, idOf(crUid, thing));
      return stored === null ? null : erasureOf(stored);
    },
    insertWrite: (crUid, thing, begunAt) =>
      insert(erasuresCollection, idOf(crUid, thing), {
        ...{ begunAt, step: 'waiting', removed: {}, residue: 0, receipt: null, failure: null },
        ...{ finalSnapshots: 'open', kept: [] },
        ...{ worker: null, leasedUntilMs: 0 },
      }),
    replaceWrite: ({ id, version, isComplete: _, ...document }) => replace(erasuresCollection, id, document, version),
  };
}

function idOf(crUid: string, { tenant, dataset }: ManagedThing): string {
  return `${crUid}/${tenant}/${dataset ?? ''}`;
}

function erasureOf({ id, version, value }: Stored<ErasureDocument>): Erasure {
  // One that a release before this one began has neither.
  const { finalSnapshots = 'open', kept = [] } = value as Partial<ErasureDocument>;
  return { ...value, finalSnapshots, kept, id, version, isComplete: value.receipt !== null };
}
