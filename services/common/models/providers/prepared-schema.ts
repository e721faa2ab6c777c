import { type JSONSchema7, jsonSchema } from 'ai';
import { z } from 'zod';
import { engramError } from '../../kernel/errors.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';

/** A JSON schema made ready to be asked for, and to check answers with. */
export interface PreparedSchema {
  readonly wire: ReturnType<typeof jsonSchema>;
  /** Fit for the strict mode of OpenAI: everything required, nothing else allowed, no alternatives of objects. */
  readonly isStrict: boolean;
  /** What is wrong with a value, one line each; empty when it fits. */
  problems(value: unknown): readonly string[];
}

/** Throws `CogneeValidationError` for a schema that no value can be checked with. */
export function prepareSchema(schema: JsonObject): PreparedSchema {
  const check = compile(schema);
  return {
    wire: jsonSchema(schema as JSONSchema7),
    isStrict: isStrict(schema),
    problems(value) {
      const result = check.safeParse(value);
      if (result.success) return [];
      // A key too many does no harm, and another call to be rid of it costs as much as the first.
      return result.error.issues
        .filter(({ code }) => code !== 'unrecognized_keys')
        .map((issue) => `${issue.path.join('.') || 'the answer'}: ${issue.message}`);
    },
  };
}

function compile(schema: JsonObject): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unreadable';
    throw engramError('CogneeValidationError', `The JSON schema cannot be used: ${reason}`, { cause: error });
  }
}

const REFUSED_IN_STRICT = ['oneOf', 'allOf', 'not', 'if', 'patternProperties', 'dependentSchemas', 'prefixItems'];

function isStrict(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== 'object' || schema === null) return true;
  const record = schema as JsonObject;
  if (REFUSED_IN_STRICT.some((key) => key in record)) return false;
  const { properties, required } = record;
  if (record['type'] === 'object' || properties !== undefined) {
    const names = Object.keys((properties ?? {}) as JsonObject);
    const needed = Array.isArray(required) ? required : [];
    if (record['additionalProperties'] !== false || names.some((name) => !needed.includes(name))) return false;
  }
  return Object.entries(record).every(([key, value]) =>
    key === 'properties' || key === '$defs' || key === 'definitions'
      ? Object.values(value as JsonObject).every(isStrict)
      : !['items', 'anyOf'].includes(key) || isStrict(value),
  );
}
