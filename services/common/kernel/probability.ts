/** Returns the probabilities of scores: their exponentials as shares of the sum. */
export function softmax(scores: Iterable<number>): Float64Array {
  const values = Float64Array.from(scores);
  let greatest = Number.NEGATIVE_INFINITY;
  for (const score of values) if (score > greatest) greatest = score;
  let sum = 0;
  for (let at = 0; at < values.length; at++) {
    const power = Math.exp((values[at] as number) - greatest);
    values[at] = power;
    sum += power;
  }
  for (let at = 0; at < values.length; at++) values[at] = (values[at] as number) / sum;
  return values;
}

/** Returns the probability of a score by the logistic function. */
export function logistic(score: number): number {
  return 1 / (1 + Math.exp(-score));
}
