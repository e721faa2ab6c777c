/** Neutral weight: 0 is avoided, 1 is preferred. */
export const NEUTRAL_PREFERENCE = 0.5;
/** So near to neutral a preference says nothing and is forgotten. */
const FORGOTTEN_WITHIN = 0.01;

interface AgingWeight {
  /** 0 to 1. */
  readonly weight: number;
  readonly updatedAtTurn: number;
}

/** The weight after the turns since: the share `beta` of its distance from neutral goes with each (cognify-improve.md §3.11). */
export function decayedWeight({ weight, updatedAtTurn }: AgingWeight, turns: number, beta: number): number {
  const idle = Math.max(0, turns - updatedAtTurn);
  return NEUTRAL_PREFERENCE + (weight - NEUTRAL_PREFERENCE) * (1 - beta) ** idle;
}

/** The weight moved towards a rating of 1 to 5, 4 decimals. */
export function movedWeight(current: number, rating: number, alpha: number): number {
  const target = (rating - 1) / 4;
  const moved = current + alpha * (target - current);
  return Math.round(Math.max(0, Math.min(1, moved)) * 10_000) / 10_000;
}

export function isForgotten(weight: AgingWeight, turns: number, beta: number): boolean {
  if (weight.weight === NEUTRAL_PREFERENCE) return false;
  // Rounded: 0.51 is within 0.01 of neutral, whatever the last binary digit says.
  const distance = Math.abs(decayedWeight(weight, turns, beta) - NEUTRAL_PREFERENCE);
  return Math.round(distance * 1e9) / 1e9 <= FORGOTTEN_WITHIN;
}

/** The turn at which it will be forgotten unless it is moved again; null: never. */
export function forgottenAtTurn({ weight, updatedAtTurn }: AgingWeight, beta: number): number | null {
  const distance = Math.abs(weight - NEUTRAL_PREFERENCE);
  if (distance === 0) return null;
  if (distance <= FORGOTTEN_WITHIN + 1e-9) return updatedAtTurn;
  if (beta === 0) return null;
  return updatedAtTurn + Math.ceil(Math.log(FORGOTTEN_WITHIN / distance) / Math.log(1 - beta));
}
