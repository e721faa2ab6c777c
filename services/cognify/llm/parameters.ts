import { z } from 'zod';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { Sampling } from '../../common/ports/models.ts';

const known = z.object({
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  seed: z.int().optional(),
  max_tokens: z.int().positive().optional(),
});
const NAMES = Object.keys(known.shape);

export interface ModelParameters {
  readonly sampling: Sampling;
  /** What is said of parameters without effect; null when there are none. */
  readonly warning: string | null;
}

/** Reads `parameters` of a request below `/llm`; null when a value is none that a model takes. */
export function readParameters(given: JsonObject, hasModel: boolean): ModelParameters | null {
  const read = known.safeParse(given);
  if (!read.success) return null;
  const { temperature, top_p: topP, seed, max_tokens: maxOutputTokens } = read.data;
  const sampling = Object.fromEntries(
    Object.entries({ temperature, topP, seed, maxOutputTokens }).filter(([, value]) => value !== undefined),
  );
  return { sampling, warning: warningOf(Object.keys(given), hasModel) };
}

function warningOf(names: readonly string[], hasModel: boolean): string | null {
  if (names.length === 0) return null;
  if (!hasModel) return 'parameters have no effect: no language model is configured.';
  const unknown = names.filter((name) => !NAMES.includes(name)).map((name) => name.slice(0, 40));
  if (unknown.length === 0) return null;
  return `These parameters have no effect: ${unknown.slice(0, 10).join(', ')}. Known are ${NAMES.join(', ')}.`;
}
