import type { DatasetRef } from '../../../kernel/dataset.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { defineMethod } from '../method.ts';

const codecs = () => import('../codecs/improve.ts');

export interface ImproveRequest {
  readonly dataset: DatasetRef;
  /** Of the caller; may be empty. */
  readonly sessions: readonly string[];
  /** ISO-8601, a time of the schedule of the dataset: then it is begun for it in the background, once, and answered at once. */
  readonly dueAt?: string;
}

export interface ImproveResponse {
  /** The ImproveResult of the HTTP API. */
  readonly result: JsonObject;
  /** What the first stage that failed said; null when none did. */
  readonly error: string | null;
}

/** All stages, with the options of the server; answers when they have ended. */
export const improve = defineMethod<ImproveRequest, ImproveResponse>('improve.Improve', () =>
  codecs().then(({ Improve }) => Improve),
);

export interface EraseLearnedRequest {
  readonly dataset: DatasetRef;
  /** All of the dataset without them. */
  readonly items?: readonly string[];
}

export interface EraseLearnedResponse {
  readonly removed: number;
  readonly residue: number;
}

/** Removes what was learned of a dataset, or what was built over items of it; answers how much is left. */
export const eraseLearned = defineMethod<EraseLearnedRequest, EraseLearnedResponse>('improve.Erase', () =>
  codecs().then(({ Erase }) => Erase),
);
