import type { DatasetRef } from '../../domain/dataset.ts';
import { defineMethod } from '../method.ts';

const codecs = () => import('../codecs/improve.ts');

export interface StartImproveRequest {
  readonly dataset: DatasetRef;
  /** Of the caller; may be empty. */
  readonly sessions: readonly string[];
}

export interface StartImproveResponse {
  /** False: another improve has the dataset or one of the sessions. */
  readonly accepted: boolean;
  /** With `accepted` false: whoever has one of the sessions will look at it once more. */
  readonly rerunRequested: boolean;
}

/** Improves in the background, with the settings of the server; durable when it answers. */
export const startImprove = defineMethod<StartImproveRequest, StartImproveResponse>('improve.StartImprove', () =>
  codecs().then(({ StartImprove }) => StartImprove),
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
