import type { DatasetRef } from '../../../common/kernel/dataset.ts';
import type { JsonObject } from '../../../common/kernel/json.ts';
import type { Principal } from '../../../common/kernel/principal.ts';
import type { CallContext } from '../../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../../dependencies.ts';
import type { SessionTarget } from '../session-target.ts';

/** An entry on its way into memory, with everything it refers to checked: the principal may write to the dataset. */
export interface EntryRequest<Entry> {
  readonly entry: Entry;
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  /** Null for kinds that need no session and came without one. */
  readonly target: SessionTarget | null;
  /** As the client sent it; kinds that do not know it ignore it. */
  readonly skillImprovement: JsonObject | null;
  readonly context: CallContext;
}

export interface StoredEntry {
  /** `errored`: nothing was stored, which is no error of the request. */
  readonly status: 'session_stored' | 'completed' | 'errored';
  readonly entryId: string;
  readonly items?: readonly JsonObject[];
  readonly error?: string;
}

/** What is done with one kind of entry of `POST /remember/entry`. */
export interface EntryKind<Entry> {
  readonly needsSession: boolean;
  /** It refers to what a dataset holds, so none is made for it. */
  readonly needsDataset?: boolean;
  /** What the schema cannot say; throws before anything is looked up or made. */
  check?(entry: Entry): void;
  store(dependencies: IngestDependencies, request: EntryRequest<Entry>): Promise<StoredEntry>;
}
