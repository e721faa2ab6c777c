import type { DatasetRef } from '../../domain/dataset.ts';
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
