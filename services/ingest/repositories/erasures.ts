import type { JsonObject } from '../../common/kernel/json.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { ManagedThing } from '../../common/records/auth/managed-resources.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore, Stored } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';
import type { WorkState } from '../model.ts';

type ErasureDocument = Omit<WorkState, 'isComplete'> & {
  readonly begunAt: string;
  readonly step: string;
  readonly removed: JsonObject;
  readonly residue: number;
  readonly receipt: string | null;
  /** `over`: all that are wanted are taken. From here on things are erased, and none is taken. */
  readonly finalSnapshots: 'open' | 'over';
  /** Data that stays on purpose, as found before anything was erased. */
  readonly kept: readonly string[];
};

export const erasuresCollection: OwnedCollection<ErasureDocument> = {
  name: 'erasures',
  level: 'system',
  owner: 'ingest',
  belongsTo: 'system',
  indexes: [],
};

/** Progress of the erasure of a managed tenant or dataset. */
export interface Erasure extends ErasureDocument, WorkState {
  readonly id: string;
  readonly version: number;
}

export function createErasures(store: DocumentStore) {
  const records = repository(store, erasuresCollection, erasureOf);
  return {
    get: (crUid: string, thing: ManagedThing) => records.get(SYSTEM_SCOPE, idOf(crUid, thing)),
    /** `DuplicateKeyError` in the commit when it was started before. */
    insertWrite: (crUid: string, thing: ManagedThing, begunAt: string) =>
      records.insertWrite(idOf(crUid, thing), {
        begunAt,
        step: 'waiting',
        removed: {},
        residue: 0,
        receipt: null,
        failure: null,
        finalSnapshots: 'open',
        kept: [],
        touchedAtMs: 0,
      }),
    /** `VersionConflictError` in the commit when it changed since it was read. */
    replaceWrite: ({ id, version, isComplete: _, ...document }: Erasure) => records.replaceWrite(id, document, version),
  };
}

function idOf(crUid: string, { tenant, dataset }: ManagedThing): string {
  return `${crUid}/${tenant}/${dataset ?? ''}`;
}

function erasureOf({ id, version, value }: Stored<ErasureDocument>): Erasure {
  return { ...value, id, version, isComplete: value.receipt !== null };
}
