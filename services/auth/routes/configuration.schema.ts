import { z } from 'zod';
import type { JsonObject } from '../../common/kernel/json.ts';
import { uuid } from '../../common/platform/http/schema.ts';

const MAX_NAME_LENGTH = 255;

/** An object as it was sent. Not a record of the library, which makes a copy without the names it finds dangerous. */
const anyObject = z
  .unknown()
  .superRefine((value, context) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
    context.addIssue({ code: 'custom', message: 'Input should be a valid dictionary', params: { type: 'dict_type' } });
  })
  .meta({ type: 'object', additionalProperties: true })
  .transform((value) => value as JsonObject);

export const storeConfigurationBody = z
  .object({ name: z.string().max(MAX_NAME_LENGTH), config: anyObject })
  .meta({ id: 'StorePrincipalConfigurationPayloadDTO' });

export const configurationParams = z.object({ configId: uuid() });

export const configurationRecord = z
  .object({
    id: z.string(),
    ownerId: z.string(),
    name: z.string(),
    configuration: z.record(z.string(), z.unknown()),
    createdAt: z.string(),
    updatedAt: z.string().nullable(),
  })
  .meta({ id: 'StoredConfiguration' });
