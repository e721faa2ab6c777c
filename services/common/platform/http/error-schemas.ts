import { z } from 'zod';

/** Bodies of errors: the two families of the contract (auth-integrations.md §1.4), and the list of invalid fields. */

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
export const errorAnswer = z.union([errorDetail, errorMessage]);

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
export const validationAnswer = z
  .looseObject({
    detail: z.array(validationError),
    body: z.unknown().optional().describe('What was sent, shortened; secrets are masked'),
  })
  .meta({ id: 'HTTPValidationError' });

export const anyErrorAnswer = z.union([validationAnswer, errorDetail, errorMessage]);
