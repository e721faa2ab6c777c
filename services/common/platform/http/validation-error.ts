import { z } from 'zod';
import { isRecord } from '../../kernel/objects.ts';
import { isSecretName, MASK, type RedactBudget, redact, redactText } from '../observability/redact.ts';
import type { JsonFault } from './json-syntax.ts';
import {
  discriminatorOf,
  isIntegerSchema,
  isUuidSchema,
  type Place,
  quoted,
  stepInto,
  tagsOf,
  variantName,
} from './schema-walk.ts';
import { unwrap } from './wire-keys.ts';

/** One fault of a request, as the contract prints it (auth-integrations.md §1.4). */
export interface ValidationItem {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** Answered with 400 `{"detail":[…],"body":…}`. */
export class RequestValidationError extends Error {
  override readonly name = 'RequestValidationError';
  readonly items: readonly ValidationItem[];
  /** Input of the client: the parsed body, its raw text, or null. */
  readonly body: unknown;

  constructor(items: readonly ValidationItem[], body: unknown) {
    super(items.map((item) => `${item.loc.join('.')}: ${item.msg}`).join('; '));
    this.items = items;
    this.body = body;
  }
}

export type Part = 'body' | 'query' | 'path';

/** Zod's findings about one part of a request in the contract's words, with the client's spelling and own values. */
export function validationItems(
  error: { readonly issues: readonly z.core.$ZodIssue[] },
  request: { readonly part: Part; readonly schema: z.core.$ZodType; readonly sent: unknown },
): ValidationItem[] {
  const { part, schema, sent } = request;
  const root: Place = { value: sent, holder: null, loc: [part], schema };
  return error.issues
    .slice(0, MAX_ITEMS)
    .flatMap((issue) => itemsOf(issue, root))
    .slice(0, MAX_ITEMS);
}

/** Most faults in an answer; a list may have one in each of its values. */
const MAX_ITEMS = 100;

export function missingBody(): RequestValidationError {
  return new RequestValidationError([{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }], null);
}

/** Error for a field that may come in several ways, of which none was there. */
export function missingField(name: string, body: unknown): RequestValidationError {
  return new RequestValidationError(
    [{ type: 'missing', loc: ['body', name], msg: 'Field required', input: null }],
    body,
  );
}

export function notAnObject(body: unknown): RequestValidationError {
  return new RequestValidationError([{ ...NOT_AN_OBJECT, loc: ['body'], input: body }], body);
}

export function invalidJson(fault: JsonFault, text: string): RequestValidationError {
  const item = {
    type: 'json_invalid',
    loc: ['body', fault.offset],
    msg: 'JSON decode error',
    input: {},
    ctx: { error: fault.reason },
  };
  return new RequestValidationError([item], text);
}

/** A body is refused before it is read into values: there is nothing of it to show. */
export function tooManyValues(most: number): RequestValidationError {
  const item = { type: 'too_long', loc: ['body'], msg: `The body should have at most ${most} values`, input: null };
  return new RequestValidationError([{ ...item, ctx: { max_length: most } }], null);
}

/** Enough for every honest request; keeps an answer from growing with a hostile one. */
const ECHO_LIMITS = { depth: 16, textLength: 10_000 };

/** Limit of what one answer shows of its request. */
const ECHO_LENGTH = 64 * 1024;

/** The wire form: secrets masked, also inside raw text. */
export function validationBody(error: RequestValidationError): unknown {
  const budget = { left: ECHO_LENGTH };
  return {
    // The input of a missing field is the object that lacks it: it is masked by its own names.
    detail: error.items.map((item) => ({
      ...item,
      input: echo(item.input, budget, item.type === 'missing' ? undefined : item.loc.at(-1)),
    })),
    body: echo(error.body, budget),
  };
}

function echo(value: unknown, budget: RedactBudget, name?: string | number): unknown {
  if (typeof name === 'string' && isSecretName(name) && value !== null) return MASK;
  return redact(typeof value === 'string' ? redactText(value.slice(0, ECHO_LIMITS.textLength * 2)) : value, {
    ...ECHO_LIMITS,
    budget,
  });
}

const NOT_AN_OBJECT = {
  type: 'model_attributes_type',
  msg: 'Input should be a valid dictionary or object to extract fields from',
};

interface Finding {
  readonly type: string;
  readonly msg: string;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

function itemsOf(issue: z.core.$ZodIssue, root: Place): ValidationItem[] {
  if (issue.code === 'invalid_union' && issue.discriminator !== undefined) {
    return [tagFault(issue.path.slice(0, -1).reduce(stepInto, root), issue.discriminator)];
  }
  const place = issue.path.reduce(stepInto, root);
  if (place.value === undefined) {
    const input = root.loc[0] === 'body' ? place.holder : null;
    return [{ type: 'missing', loc: place.loc, msg: 'Field required', input }];
  }
  if (issue.code === 'invalid_union') return unionItems(issue.errors, place);
  // When all variants but one have the wrong type, zod reports that one alone, as if there were no union.
  const variants = variantsOf(place.schema);
  // A list that is too long is refused whichever variant it is for.
  const isTooLong = issue.code === 'too_big' && Array.isArray(place.value);
  if (variants.length > 1 && !isRecord(place.value) && !isTooLong) {
    return unionItems(
      variants.map((variant) => z.safeParse(variant, place.value).error?.issues ?? []),
      place,
    );
  }
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const { loc, value } = stepInto(place, key);
      return { type: 'extra_forbidden', loc, msg: 'Extra inputs are not permitted', input: value };
    });
  }
  return [{ ...findingOf(issue, place), loc: place.loc, input: place.value }];
}

/** Every variant reports, each under its name. */
function unionItems(errors: readonly (readonly z.core.$ZodIssue[])[], place: Place): ValidationItem[] {
  if (errors.length === 0 || place.schema === undefined) {
    const msg = 'Input does not match any of the expected variants';
    return [{ type: 'union_tag_invalid', loc: place.loc, msg, input: place.value }];
  }
  const variants = variantsOf(place.schema);
  return errors.flatMap((issues, index) => {
    const schema = variants[index];
    const loc = [...place.loc, schema === undefined ? String(index) : variantName(schema)];
    return issues.flatMap((one) => itemsOf(one, { ...place, loc, schema }));
  });
}

function variantsOf(schema: z.core.$ZodType | undefined): readonly z.core.$ZodType[] {
  if (schema === undefined) return [];
  const { def } = unwrap(schema)._zod;
  // Of a tagged union only the variant that is named has anything to say.
  if (discriminatorOf(schema) !== undefined) return [];
  return def.type === 'union' ? (def as z.core.$ZodUnionDef).options : [];
}

function tagFault({ value, loc, schema }: Place, discriminator: string): ValidationItem {
  const tag = isRecord(value) ? value[discriminator] : undefined;
  const name = quoted(discriminator);
  if (tag === undefined) {
    const msg = `Unable to extract tag using discriminator ${name}`;
    return { type: 'union_tag_not_found', loc, msg, input: value, ctx: { discriminator: name } };
  }
  const expected = schema === undefined ? '' : tagsOf(schema, discriminator).map(quoted).join(', ');
  const msg = `Input tag ${quoted(tag)} found using ${name} does not match any of the expected tags: ${expected}`;
  const ctx = { discriminator: name, tag, expected_tags: expected };
  return { type: 'union_tag_invalid', loc, msg, input: value, ctx };
}

function findingOf(issue: z.core.$ZodIssue, place: Place): Finding {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue.expected, place);
    case 'invalid_value': {
      const expected = alternatives(issue.values.map(quoted));
      const isEnum = place.schema !== undefined && unwrap(place.schema)._zod.def.type !== 'literal';
      return { type: isEnum ? 'enum' : 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } };
    }
    case 'too_small':
      return outOfRange(issue, { limit: Number(issue.minimum), isLower: true }, place);
    case 'too_big':
      return outOfRange(issue, { limit: Number(issue.maximum), isLower: false }, place);
    case 'invalid_format':
      return wrongFormat(issue, place);
    case 'not_multiple_of':
      return {
        type: 'multiple_of',
        msg: `Input should be a multiple of ${issue.divisor}`,
        ctx: { multiple_of: issue.divisor },
      };
    case 'custom': {
      const { type, ctx } = (issue.params ?? {}) as { type?: string; ctx?: Record<string, unknown> };
      if (type !== undefined) return { type, msg: issue.message, ...(ctx === undefined ? {} : { ctx }) };
      return { type: 'value_error', msg: `Value error, ${issue.message}`, ctx: { error: {} } };
    }
    default:
      return { type: 'value_error', msg: `Value error, ${issue.message}`, ctx: { error: {} } };
  }
}

function wrongType(expected: string, place: Place): Finding {
  const isText = typeof place.value === 'string';
  switch (expected) {
    case 'string':
      return isUuidSchema(place.schema)
        ? { type: 'uuid_type', msg: 'UUID input should be a string, bytes or UUID object' }
        : { type: 'string_type', msg: 'Input should be a valid string' };
    case 'boolean':
      return isText || typeof place.value === 'number'
        ? { type: 'bool_parsing', msg: 'Input should be a valid boolean, unable to interpret input' }
        : { type: 'bool_type', msg: 'Input should be a valid boolean' };
    case 'int':
    case 'number':
      return wrongNumber(expected === 'int' || isIntegerSchema(place.schema), place.value);
    case 'array':
      return { type: 'list_type', msg: 'Input should be a valid list' };
    case 'record':
      return { type: 'dict_type', msg: 'Input should be a valid dictionary' };
    case 'object':
      return NOT_AN_OBJECT;
    case 'null':
      return { type: 'none_required', msg: 'Input should be None' };
    default:
      return { type: `${expected}_type`, msg: `Input should be a valid ${expected}` };
  }
}

function wrongNumber(isInteger: boolean, value: unknown): Finding {
  if (!isInteger) {
    return typeof value === 'string'
      ? { type: 'float_parsing', msg: 'Input should be a valid number, unable to parse string as a number' }
      : { type: 'float_type', msg: 'Input should be a valid number' };
  }
  if (typeof value === 'string') {
    return { type: 'int_parsing', msg: 'Input should be a valid integer, unable to parse string as an integer' };
  }
  return typeof value === 'number'
    ? { type: 'int_from_float', msg: 'Input should be a valid integer, got a number with a fractional part' }
    : { type: 'int_type', msg: 'Input should be a valid integer' };
}

/** Issue that zod calls too small or too big, with the bound that it names. */
interface RangeIssue {
  readonly origin: string;
  readonly inclusive?: boolean | undefined;
}

function outOfRange(issue: RangeIssue, bound: { readonly limit: number; readonly isLower: boolean }, place: Place) {
  const { limit, isLower } = bound;
  if (issue.origin === 'string') {
    const units = `character${limit === 1 ? '' : 's'}`;
    return isLower
      ? {
          type: 'string_too_short',
          msg: `String should have at least ${limit} ${units}`,
          ctx: { min_length: limit },
        }
      : { type: 'string_too_long', msg: `String should have at most ${limit} ${units}`, ctx: { max_length: limit } };
  }
  if (issue.origin === 'array' || issue.origin === 'set') {
    const actual = Array.isArray(place.value) ? place.value.length : null;
    const units = `item${limit === 1 ? '' : 's'} after validation, not ${actual}`;
    const ctx = { field_type: 'List', [isLower ? 'min_length' : 'max_length']: limit, actual_length: actual };
    return isLower
      ? { type: 'too_short', msg: `List should have at least ${limit} ${units}`, ctx }
      : { type: 'too_long', msg: `List should have at most ${limit} ${units}`, ctx };
  }
  const word = isLower ? 'greater' : 'less';
  const sign = isLower ? 'g' : 'l';
  return issue.inclusive === false
    ? { type: `${word}_than`, msg: `Input should be ${word} than ${limit}`, ctx: { [`${sign}t`]: limit } }
    : {
        type: `${word}_than_equal`,
        msg: `Input should be ${word} than or equal to ${limit}`,
        ctx: { [`${sign}e`]: limit },
      };
}

function wrongFormat(issue: z.core.$ZodIssueInvalidStringFormat, place: Place): Finding {
  if (issue.format === 'guid' || issue.format === 'uuid') {
    const error = uuidFault(String(place.value));
    return { type: 'uuid_parsing', msg: `Input should be a valid UUID, ${error}`, ctx: { error } };
  }
  if (issue.format === 'regex') {
    const pattern = issue.pattern ?? '';
    return { type: 'string_pattern_mismatch', msg: `String should match pattern '${pattern}'`, ctx: { pattern } };
  }
  return { type: 'value_error', msg: `Value error, ${issue.message}`, ctx: { error: {} } };
}

function uuidFault(text: string): string {
  const bad = text.search(/[^0-9a-f-]/i);
  return bad < 0
    ? `invalid length: found ${text.length}`
    : `invalid character: found \`${[...text.slice(bad)][0]}\` at ${bad}`;
}

/** `'a', 'b' or 'c'` */
function alternatives(values: readonly string[]): string {
  const last = values.at(-1) ?? '';
  return values.length < 2 ? last : `${values.slice(0, -1).join(', ')} or ${last}`;
}
