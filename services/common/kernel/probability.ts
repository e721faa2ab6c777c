/** Returns the probabilities of scores: their exponentials as shares of the sum. */
export function softmax(scores: Iterable<number>): Float64Array {
  const values = Float64Array.from(scores);
  const greatest = values.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
  const powers = values.map((score) => Math.exp(score - greatest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** Returns the probability of a score by the logistic function. */
export function logistic(score: number): number {
  return 1 / (1 + Math.exp(-score));
}
