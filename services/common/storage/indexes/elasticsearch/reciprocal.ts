/**
 * `1 / y ≈ Σ weight · exp(−rate · y)` for y from 1 to 100, never below it and less than a thousandth above. Elasticsearch
 * without scripts can let a score decay exponentially with a field, but not divide by it: this is how it comes to the
 * length normalisation of BM25. Found by a minimax fit of the relative error with six terms.
 */
export const RECIPROCAL: readonly { readonly weight: number; readonly rate: number }[] = [
  { weight: 0.02124372, rate: 0.0080807965 },
  { weight: 0.06191707, rate: 0.0475726405 },
  { weight: 0.15306032, rate: 0.1480293008 },
  { weight: 0.39325003, rate: 0.4017641541 },
  { weight: 1.03346895, rate: 1.0629315164 },
  { weight: 2.88533225, rate: 2.8448380437 },
];

/** How far above `1 / y` the sum gets, relative to it. */
export const RECIPROCAL_SLACK = 1e-3;
