import { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';

/** What is wrong with a value, one line each, by the JSON schema it was asked for; empty when it fits. */
export function schemaProblems(value: unknown, schema: JsonObject): readonly string[] {
  const result = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(value);
  if (result.success) return [];
  return result.error.issues.map((issue) => `${issue.path.join('.') || 'the answer'}: ${issue.message}`);
}
