import { z } from 'zod';

export const createApiKeyBody = z.object({ name: z.string().nullish() });

export const apiKeyParams = z.object({ apiKeyId: z.guid() });

export const apiKeyRecord = z.object({
  key: z.string(),
  label: z.string(),
  name: z.string().nullable(),
  id: z.string(),
});
