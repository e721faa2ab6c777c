import type { Stores } from '../../services/app/stores.ts';
import { grantsCollection } from '../../services/auth/repositories/grants.ts';
import type { TenantId } from '../../services/common/kernel/brand.ts';
import { type DatasetScope, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { datasetsCollection } from '../../services/common/records/auth/datasets.ts';
import { ledgerCollection } from '../../services/common/records/cognify/ledger.ts';
import type { DocumentStore } from '../../services/common/storage/ports/document-store.ts';
import type { TextIndex } from '../../services/common/storage/ports/text-index.ts';

/** `rights`: everybody may do everything everywhere. `words`: searches by words find what other tenants have. */
type Leak = 'rights' | 'words';

interface LeakingStores {
  /** Null: nothing leaks. */
  leak: Leak | null;
  /** Nothing is found by words in this tenant. */
  deaf: TenantId | null;
  wrap(stores: Stores): Stores;
}

const ALL = { read: true, write: true, delete: true, share: true };

/** Stores as they would be with the bugs that a canary is there for. */
export function createLeakingStores(): LeakingStores {
  const leaking: LeakingStores = {
    leak: null,
    deaf: null,
    wrap: (stores) => ({
      ...stores,
      documents: leakingDocuments(stores.documents, leaking),
      indexes: { ...stores.indexes, text: leakingWords(stores.indexes.text, leaking) },
      readers: { ...stores.readers, text: leakingWords(stores.readers.text, leaking) },
    }),
  };
  return leaking;
}

function leakingDocuments(store: DocumentStore, leaking: LeakingStores): DocumentStore {
  const isOpen = (collection: { readonly name: string }): boolean => {
    const { name } = collection;
    if (leaking.leak === 'rights') return name === grantsCollection.name || name === datasetsCollection.name;
    return leaking.leak === 'words' && name === ledgerCollection.name;
  };
  const get: DocumentStore['get'] = (scope, collection, id) =>
    store.get(isOpen(collection) ? SYSTEM_SCOPE : scope, collection, id);
  const find: DocumentStore['find'] = async (scope, collection, query) => {
    const isAnyGrant = leaking.leak === 'rights' && collection.name === grantsCollection.name;
    if (!isAnyGrant) return store.find(isOpen(collection) ? SYSTEM_SCOPE : scope, collection, query);
    const { where: _, sort: __, ...rest } = query;
    return store.find(SYSTEM_SCOPE, collection, rest);
  };
  const getMany: DocumentStore['getMany'] = async (scope, collection, ids) => {
    const isAnyGrant = leaking.leak === 'rights' && collection.name === grantsCollection.name;
    if (!isAnyGrant) return store.getMany(isOpen(collection) ? SYSTEM_SCOPE : scope, collection, ids);
    return ids.map((id) => {
      const [datasetId = '', holderId = ''] = id.split('/');
      const value = { datasetId, holderId, ...ALL } as never;
      return { id, version: 1, value, tenant: null, dataset: null };
    });
  };
  return instead(store, { get, find, getMany });
}

function leakingWords(text: TextIndex, leaking: LeakingStores): TextIndex {
  const seen = new Map<string, DatasetScope>();
  const candidates: TextIndex['candidates'] = async (scope, query, signal) => {
    seen.set(scope.dataset, scope);
    if (leaking.deaf === scope.tenant) return { ...(await text.candidates(scope, query, signal)), candidates: [] };
    if (leaking.leak !== 'words') return text.candidates(scope, query, signal);
    const all = await Promise.all([...seen.values()].map((each) => text.candidates(each, query, signal)));
    const best = all.find((one) => one.candidates.length > 0) ?? all[0];
    return {
      ...(best ?? (await text.candidates(scope, query, signal))),
      candidates: all.flatMap((one) => one.candidates),
    };
  };
  return instead(text, { candidates });
}

/** The object, with some of its methods replaced. */
function instead<Target extends object>(target: Target, methods: Partial<Target>): Target {
  return new Proxy(target, {
    get(of, name) {
      const own = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(of, name);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
}
