import { z } from 'zod';
import { uuid } from '../../common/http/schema.ts';

export const createApiKeyBody = z.object({ name: z.string().nullish() });

export const apiKeyParams = z.object({ apiKeyId: uuid() });

export const apiKeyRecord = z.object({
  key: z.string(),
  label: z.string(),
  name: z.string().nullable(),
  id: z.string(),
});
