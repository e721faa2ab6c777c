import { z } from 'zod';
import { takesIdempotencyKey } from './repeated-requests.ts';
import type { Route } from './route.ts';

// Bodies of errors: the two families of the contract (auth-integrations.md §1.4), and the list of invalid fields.

const errorDetail = z
  .looseObject({
    detail: z.union([z.string(), z.object({ code: z.string(), reason: z.string() })]).meta({
      description: 'What is wrong. The class of a service error stands in brackets at its end.',
      examples: ['Dataset not found. [DatasetNotFoundError]'],
    }),
  })
  .meta({ id: 'ErrorDetail' });

const errorMessage = z
  .looseObject({
    error: z.union([z.string(), z.object({ message: z.string() })]).meta({ examples: ['Internal server error'] }),
    detail: z.string().nullish(),
  })
  .meta({ id: 'ErrorMessage' });

/** The body of an error: `detail`, or `error` on routes with bodies of their own. */
const errorAnswer = z.union([errorDetail, errorMessage]);

const validationError = z
  .looseObject({
    loc: z.array(z.union([z.string(), z.int()])).meta({
      description: 'Where: the part of the request, then the way to the value',
      examples: [['body', 'query']],
    }),
    msg: z.string().meta({ examples: ['Field required'] }),
    type: z.string().meta({ examples: ['missing'] }),
    input: z.unknown().optional(),
    ctx: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'ValidationError' });

/** Every fault of an invalid request. */
const validationAnswer = z
  .looseObject({
    detail: z.array(validationError),
    body: z.unknown().optional().describe('What was sent, shortened; secrets are masked'),
  })
  .meta({ id: 'HTTPValidationError' });

const anyErrorAnswer = z.union([validationAnswer, errorDetail, errorMessage]);

interface ErrorAnswer {
  readonly description: string;
  readonly schema: z.ZodType;
  readonly example?: unknown;
}

function error(description: string, detail: string): ErrorAnswer {
  return { description, schema: errorAnswer, example: { detail } };
}

const INVALID = {
  detail: [{ type: 'missing', loc: ['body', 'query'], msg: 'Field required', input: { top_k: 10 } }],
  body: { top_k: 10 },
};

/** Answers of the server before and beside its routes: the responses that operations share, by their names. */
export const SHARED_ERRORS = {
  InvalidRequest: { description: 'The request is not valid', schema: anyErrorAnswer, example: INVALID },
  NotAuthenticated: error(
    'No credential, or one that is not valid',
    'Authentication required (auth posture: required).',
  ),
  NotPermitted: error('Not permitted, or not with this credential', 'Permission denied. [PermissionDeniedError]'),
  DatasetNotFound: error('There is no such dataset', 'Dataset not found. [DatasetNotFoundError]'),
  TooLarge: error('The body is larger than the server takes', 'The request body is larger than 4194304 bytes.'),
  KeyInUse: error(
    'The first request with this Idempotency-Key is still being carried out',
    'Conflict. [ConflictError]',
  ),
  NotReadable: error(
    'The body has an encoding that the server does not take',
    'Content-Encoding gzip is not accepted.',
  ),
  // Clients look for the list of faults here; on the wire its status is 400 (auth-integrations.md §1.1).
  ValidationFailed: {
    description: 'A value that cannot be taken; the list of invalid fields is sent with status 400',
    schema: anyErrorAnswer,
    example: INVALID,
  },
  RateLimited: error('Too many requests; `Retry-After` says when to try again', 'Too many requests. [RateLimitError]'),
  ServerError: {
    description: 'An error of the server',
    schema: errorAnswer,
    example: { error: 'Internal server error', detail: null },
  },
  NotAvailable: error('A part of the server is down; `Retry-After` says when to try again', 'Try again. [Unavailable]'),
} as const satisfies Readonly<Record<string, ErrorAnswer>>;

/** The errors of a route by status: what the route says of one comes first, else the name of a shared one. */
export function errorsOf(route: Route): Readonly<Record<string, ErrorAnswer | keyof typeof SHARED_ERRORS>> {
  const { auth, permission, body, errorSchema } = route;
  const takesInput = route.params !== undefined || route.query !== undefined || body !== undefined;
  const shared: Readonly<Record<string, keyof typeof SHARED_ERRORS>> = {
    ...(takesInput ? { 400: 'InvalidRequest', 422: 'ValidationFailed' } : {}),
    ...(auth === 'none' ? {} : { 401: 'NotAuthenticated', 403: 'NotPermitted', 429: 'RateLimited' }),
    ...(permission.over === 'datasets' ? { 404: 'DatasetNotFound' } : {}),
    ...(takesIdempotencyKey(route) ? { 409: 'KeyInUse', 422: 'ValidationFailed' } : {}),
    ...(body === undefined ? {} : { 413: 'TooLarge', 415: 'NotReadable' }),
    500: 'ServerError',
    503: 'NotAvailable',
  };
  const own = Object.entries(route.responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([status, { description, schema }]) => {
      const usual = errorSchema ?? (status === '400' || status === '422' ? anyErrorAnswer : errorAnswer);
      const example = schema === undefined && errorSchema === undefined ? { example: { detail: description } } : {};
      return [status, { description, schema: schema ?? usual, ...example }] as const;
    });
  const others = Object.entries(shared)
    .filter(([status]) => status !== '422' || errorSchema === undefined)
    .map(([status, name]) => {
      const { description } = SHARED_ERRORS[name];
      return [status, errorSchema === undefined ? name : { description, schema: errorSchema }] as const;
    });
  return { ...Object.fromEntries(others), ...Object.fromEntries(own) };
}
