import type { DatasetRef } from '../../../kernel/dataset.ts';
import { defineMethod } from '../method.ts';

export interface EraseSearchedRequest {
  readonly dataset: DatasetRef;
}

export interface EraseSearchedResponse {
  readonly removed: number;
  readonly residue: number;
}

/** Removes history rows and caches that hold a dataset's content. */
export const eraseSearched = defineMethod<EraseSearchedRequest, EraseSearchedResponse>('search.Erase', () =>
  import('../codecs/search.ts').then(({ Erase }) => Erase),
);

export interface EraseAnswersRequest {
  readonly dataset: DatasetRef;
  readonly items: readonly string[];
}

export interface EraseAnswersResponse {
  readonly removed: number;
}

/** Takes what was answered from these items out of the history; the questions stay. */
export const eraseAnswers = defineMethod<EraseAnswersRequest, EraseAnswersResponse>('search.EraseAnswers', () =>
  import('../codecs/search.ts').then(({ EraseAnswers }) => EraseAnswers),
);

/** Where a text stood in what was answered. `registry`: it is the name of a dataset that was searched. */
export const FOUND_BY = ['graph', 'lexical', 'registry', 'vector'] as const;
export type FoundBy = (typeof FOUND_BY)[number];

export interface LookForRequest {
  readonly text: string;
  /** At most one of the two; none: all that the principal may read. */
  readonly datasetId?: string;
  readonly datasetName?: string;
}

export interface LookForResponse {
  /** Sorted. */
  readonly foundBy: readonly FoundBy[];
  /** `PermissionDeniedError` or `DatasetNotFoundError`: the principal does not get at what it named. Null: it does. */
  readonly refusal: string | null;
}

/**
 * Looks for a text as any search of the principal would: the same authorisation, the same searches. Neither the search nor
 * its answer is recorded. Errors: those of a search, but for the two refusals.
 */
export const lookFor = defineMethod<LookForRequest, LookForResponse>('search.LookFor', () =>
  import('../codecs/search.ts').then(({ LookFor }) => LookFor),
);
