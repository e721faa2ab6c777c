import type { DatasetRef } from '../../domain/dataset.ts';
import { defineMethod } from '../method.ts';

/** Removes history rows and caches that hold a dataset's content. */
export const eraseSearched = defineMethod<
  { readonly dataset: DatasetRef },
  { readonly removed: number; readonly residue: number }
>('search', 'Erase', 60_000);
