import type { z } from 'zod';
import { append } from '../../kernel/long-lists.ts';
import type { ReceivedBody } from './body.ts';
import { collect, type FormBody } from './form-body.ts';
import type { Route, UploadedFile } from './route.ts';
import {
  missingBody,
  notAnObject,
  type Part,
  RequestValidationError,
  type ValidationItem,
  validationItems,
} from './validation-error.ts';
import { applyKeyPlan, type KeyPlan, keyPlanOf, snakeCase } from './wire-keys.ts';

/** A request as it was received. */
interface RawInput {
  readonly params: Readonly<Record<string, string>>;
  /** The query without its question mark. */
  readonly search: string;
  readonly body: ReceivedBody;
}

export interface CheckedInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly files: readonly UploadedFile[];
}

/** Reads path, query and body by the route's schemas; all faults are reported together. */
export function createInputCheck(route: Route): (input: RawInput) => CheckedInput {
  const { params, query, body } = route;
  const readParams = params === undefined ? null : createReader(params, 'path');
  const readQuery = query === undefined ? null : createReader(query, 'query');
  const readBody = body === undefined ? null : createReader(body.schema, 'body');
  const isRequired = body?.required ?? true;

  return (input) => {
    const items: ValidationItem[] = [];
    const checkedParams = readParams === null ? {} : readParams.read(snakeNames(input.params), items);
    const checkedQuery =
      readQuery === null ? {} : readQuery.read(readQuery.fromFields(collect(new URLSearchParams(input.search))), items);
    if (readBody === null) return finish(items, null, { params: checkedParams, query: checkedQuery, body: undefined });
    if (input.body.kind === 'bytes') {
      return finish(items, null, { params: checkedParams, query: checkedQuery, body: input.body.bytes });
    }
    const sent = sentValue(input.body, readBody);
    if (sent === undefined || (sent === null && !isRequired)) {
      if (isRequired) throw missingBody();
      return finish(items, null, { params: checkedParams, query: checkedQuery, body: undefined });
    }
    const checkedBody = readBody.read(sent, items);
    const form = input.body.kind === 'form' ? input.body.form : null;
    const echo = form === null ? sent : echoOf(form);
    const files = form?.files ?? [];
    return finish(items, echo, { params: checkedParams, query: checkedQuery, body: checkedBody, files });
  };
}

function finish(
  items: readonly ValidationItem[],
  body: unknown,
  input: Omit<CheckedInput, 'files'> & { readonly files?: readonly UploadedFile[] },
): CheckedInput {
  if (items.length > 0) throw new RequestValidationError(items, body);
  return { files: [], ...input };
}

type Reader = ReturnType<typeof createReader>;

function createReader(schema: z.ZodType, part: Part) {
  const plan = keyPlanOf(schema);
  const arity = new Map(plan?.fields.flatMap((field) => field.spellings.map((name) => [name, field.arity] as const)));
  return {
    /** Fields and query parameters as an object, in the client's spelling. */
    fromFields(fields: ReadonlyMap<string, readonly string[]>) {
      const object: Record<string, unknown> = {};
      for (const [name, values] of fields) {
        if (name === '__proto__') continue;
        const kind = arity.get(name) ?? 'one';
        const last = values.at(-1);
        // In a form an empty scalar means "not given".
        if (kind === 'one' && last === '' && part === 'body') continue;
        object[name] = kind === 'many' || (kind === 'either' && values.length > 1) ? values : last;
      }
      return object;
    },
    /** The schema's output, or undefined after adding to `items`. */
    read(sent: unknown, items: ValidationItem[]) {
      const result = schema.safeParse(named(sent, plan));
      if (result.success) return result.data;
      append(items, validationItems(result.error, { part, schema, sent }));
      return undefined;
    },
  };
}

function named(sent: unknown, plan: KeyPlan | null): unknown {
  return plan === null ? sent : applyKeyPlan(sent, plan);
}

/** Undefined when there is no body. */
function sentValue(body: Exclude<ReceivedBody, { readonly kind: 'bytes' }>, reader: Reader): unknown {
  switch (body.kind) {
    case 'none':
      return undefined;
    case 'json':
      return body.value;
    case 'raw':
      throw notAnObject(body.text);
    case 'form':
      return reader.fromFields(body.form.fields);
  }
}

/** Parameters of a path are reported as the OpenAPI document names them: `["path","dataset_id"]`. */
function snakeNames(params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [snakeCase(name), value]));
}

function echoOf(form: FormBody): Record<string, unknown> {
  const echo = new Map<string, unknown>();
  for (const [name, values] of form.fields) echo.set(name, values.length > 1 ? values : values[0]);
  for (const { field, fileName, sizeBytes, mimeType } of form.files) {
    echo.set(field, { filename: fileName, size: sizeBytes, headers: { 'content-type': mimeType } });
  }
  return Object.fromEntries(echo);
}
