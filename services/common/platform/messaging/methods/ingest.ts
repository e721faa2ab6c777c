import type { DataItem } from '../../../domain/data-item.ts';
import type { NewQa, SessionUsage } from '../../../domain/session.ts';
import type { NewContextRow } from '../../../domain/session-context.ts';
import type { SkillRun } from '../../../domain/skill.ts';
import type { DatasetRef } from '../../../kernel/dataset.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { defineMethod } from '../method.ts';

export interface DatasetItemsRequest {
  readonly dataset: DatasetRef;
  readonly after?: string | null;
  readonly limit: number;
  readonly ids?: readonly string[];
}

export interface DatasetItemsResponse {
  readonly items: readonly DataItem[];
  readonly next: string | null;
}

/** Items of a dataset, oldest first, keyset-paged; `ids` restricts. */
export const datasetItems = defineMethod<DatasetItemsRequest, DatasetItemsResponse>('ingest.DatasetItems', () =>
  import('../codecs/ingest.ts').then(({ DatasetItems }) => DatasetItems),
);

/** A text that improve wrote. */
export interface KeptDocument {
  /** Unique in the dataset; the id of the item derives from it. */
  readonly key: string;
  /** Of the file that a client sees. */
  readonly name: string;
  readonly text: string;
  readonly nodeSets: readonly string[];
  readonly externalMetadata: JsonObject;
}

export interface KeepDocumentsRequest {
  readonly dataset: DatasetRef;
  readonly documents: readonly KeptDocument[];
}

export interface KeepDocumentsResponse {
  /** In the order of the documents. Another one where the same text was there already. */
  readonly itemIds: readonly string[];
  /** Documents that were not there before. */
  readonly added: number;
}

/** Makes items of texts that improve wrote; the same key is the same item for ever, also when it was forgotten since. */
export const keepDocuments = defineMethod<KeepDocumentsRequest, KeepDocumentsResponse>('ingest.KeepDocuments', () =>
  import('../codecs/ingest.ts').then(({ KeepDocuments }) => KeepDocuments),
);

/** Where files that were downloaded for a dataset wait until they are taken. */
export const DOWNLOADS_PREFIX = 'downloads/';

/** A file that was downloaded for a dataset and waits beside its blobs. */
export interface TakeDownloadRequest {
  readonly dataset: DatasetRef;
  /** Under the scope of the dataset; begins with `DOWNLOADS_PREFIX`. Whoever put it there removes it. */
  readonly blobKey: string;
  readonly fileName: string;
  /** Null when the remote did not say. */
  readonly mimeType: string | null;
  readonly sizeBytes: number;
  readonly md5: string;
  readonly sha256: string;
}

export interface TakeDownloadResponse {
  readonly itemId: string;
}

/** Makes an item of it, as of an upload; the same bytes again are the same item. Errors: those of `POST /add`. */
export const takeDownload = defineMethod<TakeDownloadRequest, TakeDownloadResponse>('ingest.TakeDownload', () =>
  import('../codecs/ingest.ts').then(({ TakeDownload }) => TakeDownload),
);

/** What a turn of a session cost. */
export interface SessionSpending extends SessionUsage {
  /** The language model's name; null when none was asked. */
  readonly model: string | null;
  /** The embedder's; null when it counted no tokens. */
  readonly embeddingModel: string | null;
}

export interface AppendSessionRequest {
  readonly session: string;
  /** UUID, made by who asks: the same one is appended once, however often it is sent. */
  readonly qaId: string;
  /** Binds a session that has none. */
  readonly datasetId: string | null;
  readonly entry: NewQa;
  readonly spending: SessionSpending | null;
}

export interface AppendSessionResponse {
  /** False when sessions are not remembered, and for a session that another dataset is bound to. */
  readonly stored: boolean;
}

/**
 * Appends an answered question to a session of the principal in its current tenant, and opens the session if need be.
 * `PermissionDeniedError` for a dataset that the principal may not read.
 */
export const appendSession = defineMethod<AppendSessionRequest, AppendSessionResponse>('ingest.AppendSession', () =>
  import('../codecs/ingest-sessions.ts').then(({ AppendSession }) => AppendSession),
);

/** What one message said of the turns before it, and what they taught. */
export interface TurnNote {
  readonly feedback: {
    /** UUID, made by who asks: the same one is noted once. */
    readonly id: string;
    readonly text: string;
    /** The answer that is spoken of. */
    readonly qaId: string;
    /** 1 to 5; null: not judged. */
    readonly rating: number | null;
    /** Guidance that was shown with it. */
    readonly contextIds: readonly string[];
  } | null;
  /** Of guidance, by its ids. */
  readonly contextRatings: Readonly<Record<string, 'helpful' | 'harmful'>>;
  readonly lessons: readonly NewContextRow[];
  /** Guidance that stood in the prompt. */
  readonly servedIds: readonly string[];
}

export interface NoteOnTurnRequest {
  readonly session: string;
  readonly note: TurnNote;
}

export interface NoteOnTurnResponse {
  /** False when sessions are not remembered, or the session is gone. */
  readonly noted: boolean;
}

/** Kept with a session of the principal. What is no longer there, or is not admissible, is passed over. */
export const noteOnTurn = defineMethod<NoteOnTurnRequest, NoteOnTurnResponse>('ingest.NoteOnTurn', () =>
  import('../codecs/ingest-sessions.ts').then(({ NoteOnTurn }) => NoteOnTurn),
);

/** How an agent of search used a skill. */
export type UsedSkill = Pick<
  SkillRun,
  'skill' | 'taskText' | 'resultSummary' | 'startedAtMs' | 'latencyMs' | 'candidateSkillIds' | 'toolTrace' | 'session'
>;

export interface RecordSkillRunsRequest {
  readonly dataset: DatasetRef;
  readonly runs: readonly UsedSkill[];
}

export interface RecordSkillRunsResponse {
  readonly recorded: number;
}

/** Kept as runs that nobody has judged. A skill that is gone is passed over. */
export const recordSkillRuns = defineMethod<RecordSkillRunsRequest, RecordSkillRunsResponse>(
  'ingest.RecordSkillRuns',
  () => import('../codecs/ingest-sessions.ts').then(({ RecordSkillRuns }) => RecordSkillRuns),
);

export interface SessionNote {
  readonly qaId: string;
  /** Added, key by key, to what is noted already. */
  readonly memifyMetadata: JsonObject;
  /** The number of the feedback that the note is about; nothing is noted when newer feedback has come. */
  readonly ofFeedback: number | null;
}

export interface NoteOnSessionRequest {
  readonly session: string;
  readonly notes: readonly SessionNote[];
}

export interface NoteOnSessionResponse {
  readonly noted: number;
}

/** What improve has made of a session of the principal. A session that is gone is no error. */
export const noteOnSession = defineMethod<NoteOnSessionRequest, NoteOnSessionResponse>('ingest.NoteOnSession', () =>
  import('../codecs/ingest-sessions.ts').then(({ NoteOnSession }) => NoteOnSession),
);
